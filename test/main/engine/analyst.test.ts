import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openAnalyst } from '../../../src/main/engine/analyst.js';
import { ensureBuilt } from '../../support/built.js';
import { root } from '../../support/machine.js';
import { emptyProject } from '../../support/project.js';
import { laterRefusal } from '../../support/refusal.js';

beforeAll(ensureBuilt);

const ask = (sql: string, ms = 60_000, signal?: AbortSignal): Promise<unknown> => {
  const { place } = emptyProject();
  if (!place) throw new Error('the project has no place');
  const analyst = openAnalyst([process.execPath, join(root, 'out', 'cli', 'stemma.js')], process.env);
  return analyst({ place, ask: { kind: 'rows', statement: { sql, values: [] } } }, { ms, signal });
};

const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';

describe('the process that answers SQL', () => {
  test('[Q2] answers and refuses as the engine would', { tags: 'long' }, async () => {
    expect(await ask('SELECT 1 AS one')).toEqual({ columns: ['one'], rows: [[1]], truncated: false });
    expect(await laterRefusal(ask('DELETE FROM calls'))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'sql' } });
  });

  test('[Q2] is killed after its time, while this process goes on', { tags: 'long' }, async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 20);
    const from = performance.now();
    expect(await laterRefusal(ask(endless, 2_000))).toMatchObject({ code: 'UNAVAILABLE', data: { reason: 'time' } });
    clearInterval(timer);
    expect(performance.now() - from).toBeGreaterThan(1_900);
    expect(ticks).toBeGreaterThan(10);
  });

  test('[Q2] is killed when the caller cancels', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 500);
    await expect(ask(endless, 60_000, stop.signal)).rejects.toThrow();
  });

  test('[Q2] has a limit of memory for sorting and grouping', { tags: 'long' }, async () => {
    const many = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(DISTINCT hex(i) || hex(zeroblob(20000))) FROM n';
    expect(await laterRefusal(ask(many))).toMatchObject({ code: 'UNAVAILABLE', data: { reason: 'memory' } });
  });
});
