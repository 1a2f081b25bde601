import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AnalysisSums } from '../../../src/core/contract/index.js';
import { door } from '../../support/door.js';

const fixture = (name: string): string => join(import.meta.dirname, '..', '..', 'fixtures', name);

/** The sum of a column over all rows. */
const total = (rows: readonly (readonly unknown[])[], at: number): number => rows.reduce((sum, row) => sum + Number(row[at] ?? 0), 0);

test('[Q8] the kept sums equal those of the views, in every column and for every session', { tags: 'long' }, async () => {
  const { client } = door();
  const paths = ['usage', 'codex', 'gemini', 'subagents'].map(fixture);
  for await (const _ of await client.import.run({ paths }));
  const sums = JSON.parse((await client.analysis.sums({})).packed) as AnalysisSums;
  const ask = async (sql: string) => (await client.analysis.sql({ sql, limit: 100_000 })).rows;
  const calls = await ask(
    `SELECT day, ifnull(session_id, ''), agent, ifnull(model, ''), sum(calls), sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
       sum(output_tokens), sum(cost), sum(unpriced_calls), sum(uncounted_inputs), sum(uncounted_outputs), sum(misses), sum(lost_cost), sum(wait_ms)
     FROM costs GROUP BY 1, 2, 3, 4`,
  );
  expect(calls.length).toBeGreaterThan(4);
  expect(new Set(sums.calls.map((row) => JSON.stringify(row)))).toEqual(new Set(calls.map((row) => JSON.stringify(row))));
  const [[counted]] = (await ask('SELECT count(*) FROM calls')) as [[number]];
  expect(total(sums.calls, 4)).toBe(counted);

  const tools = await ask(
    `SELECT substr(at, 1, 10), session_id, agent, ifnull(model, ''), name, count(*), count(is_error), ifnull(sum(is_error), 0), ifnull(sum(duration_ms), 0)
     FROM tool_calls GROUP BY 1, 2, 3, 4, 5`,
  );
  expect(tools.length).toBeGreaterThan(4);
  expect(new Set(sums.tools.map((row) => JSON.stringify(row)))).toEqual(new Set(tools.map((row) => JSON.stringify(row))));
  expect(sums.sessions.length).toBe(((await ask('SELECT count(*) FROM sessions')) as [[number]])[0][0]);
});

test('[Q8] a deleted session keeps its calls, as in usage, and loses its tool calls', { tags: 'long' }, async () => {
  const { client } = door();
  for await (const _ of await client.import.run({ paths: [fixture('usage')] }));
  const read = async () => JSON.parse((await client.analysis.sums({})).packed) as AnalysisSums;
  const before = await read();
  const [session] = before.sessions;
  await client.session.delete({ sessionId: String(session?.[0]) });
  const after = await read();
  expect(after.sessions.length).toBe(before.sessions.length - 1);
  expect(total(after.calls, 4)).toBe((await client.usage.sessions({ groupBy: null })).totals.calls);
  const { rows } = await client.analysis.sql({ sql: 'SELECT count(*) FROM tool_calls' });
  expect(rows).toEqual([[total(after.tools, 5)]]);
  expect(after.tools.filter((row) => row[1] === session?.[0])).toEqual([]);
});
