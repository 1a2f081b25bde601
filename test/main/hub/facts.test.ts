import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { catchUpTools } from '../../../src/core/analysis/index.js';
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

const fixtures = join(import.meta.dirname, '../../fixtures');
/** A rollout of Codex with compactions, whose counts depend on earlier turns. */
const rollout = 'rollout-agentv-46_c11fcf0c5c_0.jsonl';

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

  test('[E37] facts need no clone: contents are freed, and a session that grows is counted on', { tags: 'long' }, async () => {
    const mine = emptyChain();
    const file = join(scratch(), 'rollout-2026-01-02T10-00-00-7b8f4b1c-0000-4000-8000-000000000001.jsonl');
    const lines = readFileSync(join(fixtures, 'codex-2026', rollout), 'utf8').split('\n');
    const grow = async (count: number): Promise<void> => {
      writeFileSync(file, `${lines.slice(0, count).join('\n')}\n`);
      importInto(mine, file);
      await push(mine, await hub.project('grown'));
    };
    importInto(mine, join(fixtures, 'usage'));
    await grow(Math.floor(lines.length / 2));
    const { token } = await hub.client().members.add({ project: 'grown', name: 'grown', role: 'reader' });
    const options = { hub: hub.address, project: 'grown', token, to: scratch(), data: scratch(), dataDir: scratch(), mostBytes: 0 };
    await exportFacts(options);
    await grow(lines.length);
    await exportFacts(options);
    await prepareUsage(mine);
    for (const _ of catchUpTools(mine));
    const { totals } = usageSessions(mine, { groupBy: null });
    const calls = await rowsOf(options.to, 'calls');
    const sum = (name: string): number => calls.reduce((all, row) => all + Number(row[name] ?? 0), 0);
    expect([calls.length, sum('output'), sum('cache_read'), sum('input')]).toEqual([
      totals.calls,
      totals.tokens.output,
      totals.tokens.cacheRead,
      totals.tokens.input,
    ]);
    expect(sum('cost')).toBeCloseTo(totals.cost?.amount ?? 0, 6);
    const tools = await rowsOf(options.to, 'tool_calls');
    const mineTools = mine.db.one<{ n: number; failed: number }>('SELECT COUNT(*) AS n, SUM(isError) AS failed FROM usageTool');
    expect([tools.length, tools.filter(({ is_error }) => is_error === true).length]).toEqual([mineTools?.n, mineTools?.failed]);
    const kept = new Database(join(options.data, 'grown.stemma', 'stemma.db'), { readonly: true });
    onTestFinished(() => void kept.close());
    const { stored, all } = kept
      .prepare(
        'SELECT COUNT(DISTINCT a.no) FILTER (WHERE a.gone IS NULL) AS stored, COUNT(DISTINCT a.no) AS "all" FROM commits c JOIN artifact a ON a.no = c.artifact',
      )
      .get() as { stored: number; all: number };
    // The first commits of sessions are there for lists.
    expect(stored).toBeLessThan(all / 2);
  });
});
