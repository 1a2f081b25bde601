// Every view of SQL beside what the procedures of the contract answer.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { door } from '../../support/door.js';

const fixture = (name: string): string => join(import.meta.dirname, '..', '..', 'fixtures', name);
const folders = ['usage', 'codex', 'pi', 'subagents', 'copilot-cli', 'gemini'];

async function imported() {
  const opened = door();
  for await (const _ of await opened.client.import.run({ paths: folders.map(fixture) }));
  const { client } = opened;
  const ask = async (sql: string): Promise<unknown[][]> => (await client.analysis.sql({ sql, limit: 100_000 })).rows;
  return { client, chain: opened.chain, ask, tips: await client.context.tips({}) };
}

const sorted = (rows: Iterable<readonly unknown[]>): unknown[] => [...new Set([...rows].map((row) => JSON.stringify(row)))].sort();

test('[Q3] turns are those of turn.list, from every tip', { tags: 'long' }, async () => {
  const { client, ask, tips } = await imported();
  const listed = (await Promise.all(tips.map(({ id }) => client.turn.list({ id })))).flat();
  const commits = new Set((await ask("SELECT DISTINCT commit_id FROM entries WHERE commit_type = 'delta'")).map(([id]) => id));
  const view = await ask('SELECT turn_id, tokens, errors FROM turns');
  expect(listed.length).toBeGreaterThan(20);
  const turns = listed.filter(({ turnId }) => commits.has(turnId)).map(({ turnId, tokens, errors }) => [turnId, tokens, errors]);
  expect(sorted(view.filter(([id]) => commits.has(id)))).toEqual(sorted(turns));
});

test('[Q3] files are those that tool calls name, and the arguments contain the path', { tags: 'long' }, async () => {
  const { ask } = await imported();
  const calls = await ask('SELECT session_id, path, class, is_error, at, arguments FROM tool_calls WHERE path IS NOT NULL');
  const files = Map.groupBy(calls, ([session, path]) => JSON.stringify([session, path]));
  expect(files.size).toBeGreaterThan(3);
  const count = (rows: unknown[][], isOne: (row: unknown[]) => boolean): number => rows.filter(isOne).length;
  expect(sorted(await ask('SELECT session_id, path, reads, writes, errors, first_at, last_at FROM files'))).toEqual(
    sorted(
      [...files.values()].map((rows) => {
        const times = rows.map((row) => String(row[4])).sort();
        return [
          ...(rows[0] ?? []).slice(0, 2),
          count(rows, (row) => row[2] === 'read'),
          count(rows, (row) => row[2] === 'write' || row[2] === 'edit'),
          count(rows, (row) => row[3] === 1),
          times[0],
          times.at(-1),
        ];
      }),
    ),
  );
  const unnamed = calls.filter((row) => !String(row.at(-1)).includes(JSON.stringify(row[1]).slice(1, -1)));
  expect(unnamed).toEqual([]);
});

test('[Q3] tool calls are those of context.entries, once, with their results', { tags: 'long' }, async () => {
  const { client, ask, tips } = await imported();
  const calls = new Map<string, Set<number>>();
  for (const { id } of tips) {
    const { entries } = await client.context.entries({ id, stop: 'root', limit: 10_000 });
    const results = new Map(entries.flatMap((one) => (one.kind === 'tool_result' ? [[one.toolCallId, one.isError ? 1 : 0] as const] : [])));
    for (const { kind, key, toolName = '', toolCallId, arguments: given } of entries) {
      if (kind !== 'tool_call') continue;
      const call = JSON.stringify([key, toolName, given ?? null]);
      // A branch may end at a call whose result is on another one.
      const errors = calls.get(call) ?? new Set();
      const result = results.get(toolCallId);
      calls.set(call, result === undefined ? errors : errors.add(result));
    }
  }
  expect(calls.size).toBeGreaterThan(20);
  const view = await ask('SELECT entry_key, name, arguments, is_error FROM tool_calls');
  const named = (key: unknown, name: unknown, given: unknown) => JSON.stringify([key, name, given]);
  expect([...new Set(view.map(([key, name, given]) => named(key, name, JSON.parse(String(given)))))].sort()).toEqual([...calls.keys()].sort());
  const wrong = view.filter(([key, name, given, error]) => {
    const errors = calls.get(named(key, name, JSON.parse(String(given))));
    return errors === undefined || (errors.size === 0 ? error !== null : !errors.has(Number(error)));
  });
  expect(wrong).toEqual([]);
});

test('[Q3] entries of every commit are those of context.entries', { tags: 'long' }, async () => {
  const { client, ask } = await imported();
  const view = Map.groupBy(
    await ask('SELECT commit_id, entry_key, role, kind, tokens FROM entries WHERE NOT is_hidden ORDER BY commit_id, entry_index'),
    ([id]) => String(id),
  );
  expect(view.size).toBeGreaterThan(20);
  for (const [id, rows] of view) {
    const { entries } = await client.context.entries({ id: id as never, stop: id as never, limit: 10_000 });
    const own = entries.filter(({ source }) => source.commit === id);
    expect(
      rows.map((row) => row.slice(1)),
      id,
    ).toEqual(own.map(({ key, role, kind, tokens }) => [key, role, kind, tokens]));
  }
});

test('[Q3] sessions have the numbers of session.list', { tags: 'long' }, async () => {
  const { client, ask } = await imported();
  const { sessions } = await client.session.list({ limit: 1_000 });
  const view = await ask('SELECT session_id, branches, errors, peak_tokens, window_limit, round(cost, 6), is_archived, tip FROM sessions');
  expect(sorted(view)).toEqual(
    sorted(
      sessions.map((one) => [
        one.sessionId,
        one.branches,
        one.errors,
        one.peakTokens,
        one.limit,
        one.cost ? Number(one.cost.amount.toFixed(6)) : null,
        one.archived ? 1 : 0,
        one.tips[0] ?? null,
      ]),
    ),
  );
});

test('[Q3] tools by day, session, model and name are the tool calls', { tags: 'long' }, async () => {
  const { ask } = await imported();
  const columns = "session_id, agent, ifnull(model, ''), name";
  const sums = await ask(`SELECT day, ${columns}, sum(calls), sum(results), sum(errors), sum(duration_ms) FROM tools GROUP BY 1, 2, 3, 4, 5`);
  const calls = await ask(
    `SELECT substr(at, 1, 10), ${columns}, count(*), count(is_error), ifnull(sum(is_error), 0), ifnull(sum(duration_ms), 0)
       FROM tool_calls WHERE session_id IN (SELECT session_id FROM sessions) GROUP BY 1, 2, 3, 4, 5`,
  );
  expect(calls.length).toBeGreaterThan(10);
  expect(sorted(sums)).toEqual(sorted(calls));
});

test('[Q3] the numbers of entries that are stored are those that are read from outlines', { tags: 'long' }, async () => {
  const { chain, ask } = await imported();
  const sql = 'SELECT commit_id, entry_index, kind, role, tokens, is_hidden, is_error, tool_name FROM entries';
  const stored = await ask(sql);
  expect(stored.length).toBeGreaterThan(100);
  expect(stored.filter((row) => row[2] === 'tool_result' && row[7] !== null).length).toBeGreaterThan(5);
  chain.db.run('DELETE FROM usageEntry');
  expect(sorted(await ask(sql))).toEqual(sorted(stored));
});

test('[Q3] costs by day, model and agent are those of usage.sessions', { tags: 'long' }, async () => {
  const { client, ask } = await imported();
  for (const by of ['day', 'model', 'agent'] as const) {
    const { rows } = await client.usage.sessions({ groupBy: by, timeZone: 'UTC', limit: 1_000 });
    expect(rows.length).toBeGreaterThan(1);
    const view = await ask(
      `SELECT ifnull(${by}, ''), sum(calls), sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(output_tokens), round(sum(cost), 6) FROM costs GROUP BY 1`,
    );
    expect(sorted(view), by).toEqual(
      sorted(
        rows.map(({ key, calls, tokens, cost }) => [
          key,
          calls,
          tokens.input,
          tokens.cacheRead,
          tokens.cacheWrite,
          tokens.output,
          Number((cost?.amount ?? 0).toFixed(6)),
        ]),
      ),
    );
  }
});

test('[Q3] tickets are those of ticket.list', { tags: 'long' }, async () => {
  const { client, ask, tips } = await imported();
  const parent = await client.ticket.create({ title: 'Whole', type: 'epic', labels: ['a', 'b "c"'], assignee: '@ann', contextId: tips[0]?.id });
  await client.ticket.create({ title: 'Part', type: 'task', parent: parent.ticketId, body: 'Words\nand more', assignee: '@ann' });
  await client.ticket.transition({ ticketId: parent.ticketId, to: 'in_progress', by: '@ann' });
  const view = await ask(
    'SELECT ticket_id, title, type, status, assignee, parent_id, commit_id, resolution, created_at, body, labels FROM tickets ORDER BY created_at',
  );
  expect(sorted(view.map((row) => [...row.slice(0, -1), ...JSON.parse(String(row.at(-1)))]))).toEqual(
    sorted(
      (await client.ticket.list({})).map((one) => [
        ...[one.ticketId, one.title, one.type, one.status, one.assignee, one.parent, one.contextId, one.resolution, one.createdAt, one.body],
        ...one.labels,
      ]),
    ),
  );
});
