import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { catchUpTools, storeSums } from '../../../src/core/analysis/index.js';
import type { AnalysisSums, AnalysisTools } from '../../../src/core/contract/index.js';
import { desk } from '../../support/desk.js';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';
import { namedRows } from '../../support/sums.js';

const fixture = (name: string): string => join(import.meta.dirname, '..', '..', 'fixtures', name);

type Client = ReturnType<typeof door>['client'];
const readSums = async (client: Client) => JSON.parse((await client.analysis.sums({})).packed) as AnalysisSums;
const readTools = async (client: Client) => JSON.parse((await client.analysis.tools({})).packed) as AnalysisTools;

const sum = (column: readonly number[] = []): number => column.reduce((total, value) => total + value, 0);

test('[Q8] the kept sums equal those of the views, in every column and for every session', { tags: 'long' }, async () => {
  const { client } = door();
  const paths = ['usage', 'codex', 'gemini', 'subagents'].map(fixture);
  for await (const _ of await client.import.run({ paths }));
  const [tip] = await client.context.tips({});
  await client.context.fork({ id: tip?.id ?? '', edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Again' } }] } as never);
  const [sums, ofTools] = [await readSums(client), await readTools(client)];
  const ask = async (sql: string) => (await client.analysis.sql({ sql, limit: 100_000 })).rows;
  const calls = await ask(
    `SELECT day, ifnull(session_id, ''), agent, ifnull(model, ''), sum(calls), sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
       sum(output_tokens), sum(cost), sum(unpriced_calls), sum(uncounted_inputs), sum(uncounted_outputs), sum(misses), sum(lost_cost), sum(wait_ms)
     FROM costs GROUP BY 1, 2, 3, 4`,
  );
  expect(calls.length).toBeGreaterThan(4);
  const texts = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
  const rows = namedRows(sums.names, sums.calls, 4);
  // Rows without a call to a model only hold tool calls.
  expect(texts(rows.filter((row) => row[4] !== 0).map((row) => row.slice(0, 16)))).toEqual(texts(calls));
  const [[counted]] = (await ask('SELECT count(*) FROM calls')) as [[number]];
  expect(sum(sums.calls[4])).toBe(counted);

  const tools = await ask(
    `SELECT substr(at, 1, 10), session_id, agent, ifnull(model, ''), name, count(*), count(is_error), ifnull(sum(is_error), 0), ifnull(sum(duration_ms), 0)
     FROM tool_calls GROUP BY 1, 2, 3, 4, 5`,
  );
  expect(tools.length).toBeGreaterThan(4);
  expect(texts(namedRows(ofTools.names, ofTools.tools, 5))).toEqual(texts(tools));
  const together = await ask(
    `SELECT substr(at, 1, 10), session_id, agent, ifnull(model, ''), count(*), count(is_error), ifnull(sum(is_error), 0), ifnull(sum(duration_ms), 0)
     FROM tool_calls GROUP BY 1, 2, 3, 4`,
  );
  expect(texts(rows.filter((row) => row[16] !== 0).map((row) => [...row.slice(0, 4), ...row.slice(16)]))).toEqual(texts(together));
  // The window counts the sessions of a group by their beginnings.
  for (const [, sessions = []] of [sums.calls, ofTools.tools])
    expect(sessions.filter((session, at) => session !== sessions[at - 1])).toHaveLength(new Set(sessions).size);
  const forks = 'SELECT substr(at, 1, 10), session_id, turn_id, calls, cost FROM turns WHERE is_fork ORDER BY at DESC';
  const compactions = `SELECT substr(committed_at, 1, 10), session_id, commit_id FROM entries
    WHERE commit_type = 'compaction' AND entry_index = 0 ORDER BY committed_at DESC`;
  expect([sums.forks, sums.compactions]).toEqual([await ask(forks), await ask(compactions)]);
  expect([sums.forks.length, sums.compactions.length].every((count) => count > 0)).toBe(true);
  expect(sums.sessions.ids.length).toBe(((await ask('SELECT count(*) FROM sessions')) as [[number]])[0][0]);
});

test('tool calls that an ended run stored and did not sum are in the next sums', async () => {
  const dir = scratch();
  const { engine, call } = desk(dir);
  await call.project.create({ dir: join(dir, 'p.stemma') });
  for await (const _ of await call.import.run({ paths: ['usage', 'codex'].map(fixture) })) void _;
  const { chain } = engine.held(join(dir, 'p.stemma')) as NonNullable<ReturnType<typeof engine.held>>;
  catchUpTools(chain).next();
  const { tools } = await readTools(call);
  const { rows } = await call.analysis.sql({ sql: 'SELECT count(*), sum(is_error) FROM tool_calls' });
  expect([[sum(tools[5]), sum(tools[7])]]).toEqual(rows);
  expect(sum(tools[5])).toBeGreaterThan(0);
});

test('the progress counts the commits that a question must read first', async () => {
  const { client } = door();
  expect(await client.analysis.progress({})).toEqual({ done: 0, total: 0 });
  for await (const _ of await client.import.run({ paths: [fixture('usage')] }));
  const { commits } = (await client.project.info({})).counts;
  const before = await client.analysis.progress({});
  expect([before.total, before.done < commits]).toEqual([commits, true]);
  expect((await client.analysis.sums({})).left).toBe(0);
  expect(await client.analysis.progress({})).toEqual({ done: commits, total: commits });
});

test('[Q8] a deleted session keeps its calls, as in usage, and loses its tool calls', { tags: 'long' }, async () => {
  const { client } = door();
  for await (const _ of await client.import.run({ paths: [fixture('usage')] }));
  const before = await readSums(client);
  const sessionId = String(before.names[before.sessions.ids[0] ?? -1]);
  await client.session.delete({ sessionId });
  const [after, tools] = [await readSums(client), await readTools(client)];
  expect(after.sessions.ids.length).toBe(before.sessions.ids.length - 1);
  expect(sum(after.calls[4])).toBe((await client.usage.sessions({ groupBy: null })).totals.calls);
  const { rows } = await client.analysis.sql({ sql: 'SELECT count(*) FROM tool_calls' });
  expect(rows).toEqual([[sum(tools.tools[5])]]);
  expect(rows).toEqual([[sum(after.calls[16])]]);
  expect(namedRows(tools.names, tools.tools, 5).filter((row) => row[1] === sessionId)).toEqual([]);
});

test('[Q8] a session belongs to the branch of git that was checked out last', async () => {
  const { client } = door();
  const folder = scratch();
  const write = (name: string, lines: readonly object[]): void =>
    writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const at = (second: number): string => `2026-03-01T10:00:0${second}.000Z`;
  const turn = (id: string, second: number, parentUuid: string | null, gitBranch?: string) => [
    { type: 'user', uuid: `${id}-p`, parentUuid, sessionId: 's1', gitBranch, timestamp: at(second), message: { role: 'user', content: `Do ${id}` } },
    {
      ...{ type: 'assistant', uuid: `${id}-a`, parentUuid: `${id}-p`, sessionId: 's1', gitBranch, timestamp: at(second + 1) },
      message: { id: `m-${id}`, role: 'assistant', model: 'claude-opus-4-5', content: [{ type: 'text', text: 'Done' }], stop_reason: 'end_turn' },
    },
  ];
  write('s1.jsonl', [...turn('one', 1, null, 'main'), ...turn('two', 3, 'one-a', 'feature/x'), ...turn('three', 5, 'two-a')]);
  const item = (second: number, role: string, text: string) => ({
    ...{ timestamp: at(second), type: 'response_item' },
    payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
  });
  write('rollout-2026-03-01T10-00-00-00000000-0000-4000-8000-000000000001.jsonl', [
    {
      ...{ timestamp: at(0), type: 'session_meta' },
      payload: {
        id: '00000000-0000-4000-8000-000000000001',
        cwd: '/w',
        timestamp: at(0),
        originator: 'x',
        git: { branch: 'topic', commit_hash: 'a' },
      },
    },
    ...[item(1, 'user', 'First'), item(2, 'assistant', 'One'), item(3, 'user', 'Second'), item(4, 'assistant', 'Two')],
  ]);
  for await (const _ of await client.import.run({ paths: [folder] }));
  const branches = new Map([
    ['s1', 'feature/x'],
    ['00000000-0000-4000-8000-000000000001', 'topic'],
  ]);
  const sums = await readSums(client);
  expect(new Map(sums.sessions.ids.map((id, at) => [sums.names[id], sums.names[sums.sessions.places[4]?.[at] ?? -1]]))).toEqual(branches);
  expect(new Map((await client.analysis.sql({ sql: 'SELECT session_id, branch FROM sessions' })).rows as [string, string][])).toEqual(branches);
});

test('[T42] the stored text of the sums is the one that is written now, after every change', { tags: 'long' }, async () => {
  const { client, chain } = door();
  const stored = () => chain.db.one<{ data: string }>('SELECT data FROM usagePacked')?.data;
  const read = async () => (await client.analysis.sums({})).packed;
  const compare = async (): Promise<void> => {
    const written = await read();
    expect(stored()).toBeUndefined();
    storeSums(chain);
    expect(stored()).toBe(written);
    expect(await read()).toBe(written);
  };
  for await (const _ of await client.import.run({ paths: [fixture('usage')] }));
  await compare();
  for await (const _ of await client.import.run({ paths: [fixture('subagents')] }));
  await compare();
  const { names, sessions } = await readSums(client);
  const sessionId = String(names[sessions.ids[0] ?? -1]);
  await client.session.rename({ sessionId, title: 'Renamed' });
  expect(await read()).toContain('Renamed');
  await compare();
  await client.session.delete({ sessionId });
  expect(await read()).not.toContain('Renamed');
  await compare();
});
