import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { push } from '../../../src/core/sync/index.js';
import { prepareUsage, usageSessions } from '../../../src/core/usage/index.js';
import { exportFacts } from '../../../src/main/hub/index.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** The rows of all files of a table. */
async function rowsOf(to: string, table: string): Promise<Record<string, unknown>[]> {
  const files = readdirSync(join(to, 'facts', table), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'));
  const rows = await Promise.all(
    files.map((name) => {
      const bytes = readFileSync(join(to, 'facts', table, name));
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      return parquetReadObjects({ file, compressors: { ZSTD: (packed) => zstdDecompressSync(packed) } });
    }),
  );
  return rows.flat();
}

describe('usage facts of a hub', () => {
  test('[E37] Parquet files hold what the project counts, by month, and a second run replaces them', { tags: 'long' }, async () => {
    const mine = emptyChain();
    const fixtures = join(import.meta.dirname, '../../fixtures');
    importInto(mine, join(fixtures, 'usage'), join(fixtures, 'codex'), join(fixtures, 'pi'));
    await push(mine, await hub.project('facts'));
    const { token } = await hub.client().members.add({ project: 'facts', name: 'facts', role: 'reader' });
    const options = { hub: hub.address, project: 'facts', token, to: scratch(), data: scratch(), dataDir: scratch() };
    const first = await exportFacts(options);
    expect(await exportFacts(options)).toEqual(first);
    const calls = await rowsOf(options.to, 'calls');
    await prepareUsage(mine);
    const { totals } = usageSessions(mine, { groupBy: null });
    const sum = (name: string): number => calls.reduce((all, row) => all + Number(row[name] ?? 0), 0);
    expect(calls.length).toBe(totals.calls);
    expect(calls.length).toBeGreaterThan(3);
    expect(sum('output')).toBe(totals.tokens.output);
    expect(sum('cache_read')).toBe(totals.tokens.cacheRead);
    expect(sum('cost')).toBeGreaterThan(0);
    expect(sum('cost')).toBeCloseTo(totals.cost?.amount ?? 0, 6);
    expect(new Set(calls.map(({ call }) => call)).size).toBe(calls.length);
    const sessions = await rowsOf(options.to, 'sessions');
    expect(sessions.reduce((all, { calls: n }) => all + Number(n), 0)).toBe(calls.length);
    const tools = await rowsOf(options.to, 'tool_calls');
    expect(tools.length).toBe(first.tool_calls?.rows);
    expect(tools.some(({ tool, is_error }) => typeof tool === 'string' && is_error === false)).toBe(true);
    // A file is in the folder of its month.
    const months = readdirSync(join(options.to, 'facts/calls/project=facts')).map((name) => name.replace('month=', ''));
    expect(new Set(calls.map(({ at }) => (at as Date).toISOString().slice(0, 7)))).toEqual(new Set(months));
    // Names and counts only: no file holds a prompt.
    expect(Object.keys(calls[0] ?? {})).not.toContain('prompt');
  });
});
