import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { analysisViews } from '../../../src/core/contract/index.js';
import { door } from '../../support/door.js';
import { laterRefusal } from '../../support/refusal.js';

const fixture = (...names: string[]): string => join(import.meta.dirname, '..', '..', 'fixtures', ...names);

/** A project with calls of several agents. */
async function imported(...names: string[]) {
  const opened = door();
  for await (const _ of await opened.client.import.run({ paths: names.map((name) => fixture(name)) }));
  return opened;
}

const notAllowed = [
  ['a table behind the views', 'SELECT * FROM artifact'],
  ['a table of which no column is read', 'SELECT count(*) FROM artifact'],
  ['a table behind a subquery with the name of a view', 'WITH sessions AS (SELECT hash FROM artifact) SELECT * FROM sessions'],
  ['a table behind an alias with the name of a view', 'SELECT * FROM (SELECT hash FROM artifact) AS calls'],
  ['a table in a condition', 'SELECT 1 WHERE EXISTS (SELECT 1 FROM ticket)'],
  ['the schema', 'SELECT * FROM sqlite_schema'],
  ['the temporary schema', 'SELECT sql FROM sqlite_temp_schema'],
  ['a PRAGMA as a table', "SELECT * FROM pragma_table_info('artifact')"],
  ['a PRAGMA', 'PRAGMA user_version = 1'],
  ['pages', 'SELECT * FROM dbstat'],
  ['a function of the views', "SELECT stemma_text(1, 'claude-code-v1', 'x')"],
  ['an extension', "SELECT load_extension('x')"],
  ['a write', 'DELETE FROM sessions'],
  ['a write to a table', "UPDATE artifact SET contentType = ''"],
  ['an insert with a result', "INSERT INTO progress VALUES (1, 'x', 1) RETURNING *"],
  ['a new table', 'CREATE TEMP TABLE x (y)'],
  ['another file', "ATTACH '/tmp/x.db' AS x"],
  ['a copy of the file', "VACUUM INTO '/tmp/stemma-copy.db'"],
  ['a transaction', 'BEGIN IMMEDIATE'],
  ['two statements', 'SELECT 1; DELETE FROM artifact'],
  ['no statement', '-- nothing'],
  ['an unknown column', 'SELECT nope FROM calls'],
  ['an unknown table', 'SELECT * FROM nope'],
  ['a mistake', 'SELEC 1'],
  ['a table in another schema', 'SELECT * FROM main.artifact'],
  ['a quoted schema', 'SELECT * FROM "derived" /* x */ . usageCall'],
  ['a schema in brackets', 'SELECT * FROM [main].[artifact], `main`.ticket'],
  ['a table after a comma', 'SELECT * FROM calls, artifact'],
  ['a table after a variable that hides it', "SELECT $a(') FROM main.artifact --'), 1"],
  ['a table after a byte order mark', 'SELECT * FROM main \ufeff.artifact'],
  ['a table of search', 'SELECT * FROM searchWords_data'],
  ['a quoted name of a table of SQLite', "SELECT * FROM 'sqlite_master'"],
  ['a quoted function of the views', "SELECT \"stemma_text\" (1, 'claude-code-v1', 'x')"],
  ['a write after a subquery', 'WITH x AS (SELECT 1) DELETE FROM calls'],
] as const;

/** The prototype of databases, which in Node 22 has no authorizer. */
const databases: { setAuthorizer?: DatabaseSync['setAuthorizer'] } = DatabaseSync.prototype;
const { setAuthorizer } = databases;

describe.each(['as Node has it', 'without an authorizer'])('SQL over the views, %s', (how) => {
  beforeEach(() => {
    if (how === 'without an authorizer') delete databases.setAuthorizer;
  });
  afterEach(() => {
    if (setAuthorizer) databases.setAuthorizer = setAuthorizer;
  });

  test.each(notAllowed)('[Q1] %s is refused by name', async (_, sql) => {
    const { client } = door();
    expect(await laterRefusal(client.analysis.sql({ sql }))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'sql' } });
  });

  test('[Q1] a table is named, and names in texts and of columns are allowed', { tags: 'long' }, async () => {
    const { client } = await imported('usage');
    expect(await laterRefusal(client.analysis.sql({ sql: 'SELECT hash FROM artifact' }))).toMatchObject({ message: /reads the table artifact/ });
    const texts =
      "WITH commits AS (SELECT 'sqlite_%' AS source, 'ticket' AS \"main\", ']' AS [a'b]) SELECT source, \"main\", [a'b] FROM commits -- '";
    expect((await client.analysis.sql({ sql: texts })).rows).toEqual([['sqlite_%', 'ticket', ']']]);
    for (const name of analysisViews) expect((await client.analysis.sql({ sql: `SELECT count(*) AS n FROM ${name}` })).columns).toEqual(['n']);
    expect((await client.analysis.sql({ sql: 'SELECT sum(calls) > 0 FROM sessions' })).rows).toEqual([[1]]);
  });
});

describe('SQL over the views', () => {
  test('[Q1] every view answers with every column that its schema names', { tags: 'long' }, async () => {
    const { client } = await imported('usage', 'codex');
    const { views } = await client.analysis.schema({});
    expect(views.map(({ name }) => name)).toEqual([...analysisViews]);
    for (const { name, columns } of views) {
      const answer = await client.analysis.sql({ sql: `SELECT * FROM ${name}`, limit: 3 });
      expect(answer.columns).toEqual(columns.map((column) => column.name));
    }
  });

  test('[Q1] comments, a semicolon, subqueries and JSON functions are allowed', async () => {
    const { client } = door();
    expect((await client.analysis.sql({ sql: 'SELECT 1 AS one; -- the end\n /* really */' })).rows).toEqual([[1]]);
    const recursive = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT count(*) FROM n';
    expect((await client.analysis.sql({ sql: recursive })).rows).toEqual([[5]]);
    expect((await client.analysis.sql({ sql: "SELECT value FROM json_each('[3]')" })).rows).toEqual([[3]]);
  });

  test('[Q2] an answer has at most the rows that were asked for, and says that there are more', async () => {
    const { client } = door();
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
    expect(await client.analysis.sql({ sql: endless, limit: 2 })).toMatchObject({ columns: ['i'], rows: [[1], [2]], truncated: true });
    expect((await client.analysis.sql({ sql: endless })).rows).toHaveLength(10_000);
    expect(await client.analysis.sql({ sql: 'SELECT 1', limit: 1 })).toMatchObject({ truncated: false });
  });

  test('[Q2] a value or an answer that is too large is refused or cut', async () => {
    const { client } = door();
    expect(await laterRefusal(client.analysis.sql({ sql: 'SELECT zeroblob(1000000000)' }))).toMatchObject({
      code: 'UNAVAILABLE',
      data: { reason: 'memory' },
    });
    const wide = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hex(zeroblob(1000000)) FROM n';
    const answer = await client.analysis.sql({ sql: wide });
    expect(answer.truncated).toBe(true);
    expect(answer.rows.length).toBeLessThan(20);
  });

  test('[Q1] an integer that a number cannot hold is a text, and bytes are base64', async () => {
    const { client } = door();
    expect((await client.analysis.sql({ sql: "SELECT 9223372036854775807, x'0102', 1.5, NULL" })).rows).toEqual([
      ['9223372036854775807', 'AQI=', 1.5, null],
    ]);
  });
});

describe('the views', () => {
  test('[Q3] calls have the ids, counts, costs and cache of usage.calls', { tags: 'long' }, async () => {
    const { client } = await imported('usage', 'codex', 'pi', 'subagents');
    const { rows: sessions } = await client.usage.sessions({});
    const calls = (await Promise.all(sessions.map(({ key }) => client.usage.calls({ sessionId: key })))).flatMap((one) => one.calls);
    const { rows } = await client.analysis.sql({
      sql: `SELECT request_id, session_id, commit_id, model, at, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost, cache_hit, miss_cause
              FROM calls ORDER BY request_id`,
    });
    const own = calls.filter(({ replayed }) => !replayed);
    expect(own.length).toBeGreaterThan(10);
    expect(rows).toEqual(
      own
        .map((call) => [
          call.requestId,
          call.sessionId ?? null,
          call.commit,
          call.model,
          call.at,
          call.tokens.input,
          call.tokens.cacheRead,
          call.tokens.cacheWrite,
          call.tokens.output,
          call.cost?.amount ?? null,
          call.cache.hit ? 1 : 0,
          call.cache.cause ?? null,
        ])
        .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
  });

  test('[Q3] sums of calls and of costs are those of usage.sessions', { tags: 'long' }, async () => {
    const { client } = await imported('usage', 'codex', 'pi', 'qwen-code');
    const { rows } = await client.usage.sessions({ groupBy: 'session' });
    for (const sql of [
      'SELECT session_id, count(*), sum(output_tokens), round(sum(cost), 6) FROM calls GROUP BY 1 ORDER BY 1',
      'SELECT session_id, sum(calls), sum(output_tokens), round(sum(cost), 6) FROM costs GROUP BY 1 ORDER BY 1',
    ]) {
      const answer = await client.analysis.sql({ sql });
      const numbers = answer.rows.map(([key, calls, output, cost]) => [key ?? '', calls, output ?? 0, cost ?? 0]);
      expect(numbers).toEqual(
        rows
          .map(({ key, calls, tokens, cost }) => [key, calls, tokens.output, Number((cost?.amount ?? 0).toFixed(6))])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      );
    }
  });

  test('[Q3] sessions are those of session.list', { tags: 'long' }, async () => {
    const { client } = await imported('usage', 'codex', 'subagents', 'cursor');
    const { sessions } = await client.session.list({});
    const answer = await client.analysis.sql({
      sql: 'SELECT session_id, agent, title, repository, ended_at, turns, parent_session_id FROM sessions ORDER BY 1',
    });
    expect(answer.rows).toEqual(
      sessions
        .map(({ sessionId, agent, title, repository, lastAt, turns, parentSessionId }) => [
          sessionId,
          agent,
          title,
          repository,
          lastAt,
          turns,
          parentSessionId ?? null,
        ])
        .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
  });

  test('[Q3] entries are those of context.entries, with text and time from the content', { tags: 'long' }, async () => {
    const { client } = await imported('usage');
    const [tip] = await client.context.tips({});
    if (!tip) throw new Error('the project has no tip');
    const { entries } = await client.context.entries({ id: tip.id, stop: tip.id });
    const answer = await client.analysis.sql({
      sql: `SELECT entry_key, role, kind, IIF(kind = 'tool_call', tool_name, NULL), tokens, is_error, text, at FROM entries WHERE commit_id = '${tip.id}' AND NOT is_hidden ORDER BY entry_index`,
    });
    expect(answer.rows).toEqual(
      entries.map(({ key, role, kind, toolName, tokens, isError, text, arguments: given, at }) => [
        key,
        role,
        kind,
        kind === 'tool_call' ? toolName : null,
        tokens,
        isError ? 1 : 0,
        text ?? (given === undefined ? null : JSON.stringify(given)),
        at ?? null,
      ]),
    );
  });

  test('[Q3] tool calls name their tool, file, command and failure', { tags: 'long' }, async () => {
    const { client } = await imported('codex', 'usage', 'opencode');
    const answer = await client.analysis.sql({
      sql: `SELECT (SELECT count(*) FROM tool_calls), (SELECT count(*) FROM entries WHERE kind = 'tool_call'), (SELECT count(DISTINCT entry_key) FROM entries WHERE kind = 'tool_call'),
                   (SELECT count(*) FROM tool_calls WHERE command IS NOT NULL), (SELECT count(*) FROM tool_calls WHERE path IS NOT NULL)`,
    });
    const [calls, entries, keys, commands, paths] = (answer.rows[0] ?? []) as number[];
    expect(calls).toBeLessThanOrEqual(entries ?? 0);
    expect(calls).toBeGreaterThanOrEqual(keys ?? 0);
    expect(commands).toBeGreaterThan(0);
    expect(paths).toBeGreaterThan(0);
    const failed = await client.analysis.sql({ sql: 'SELECT count(*) FROM tool_calls WHERE is_error' });
    const results = await client.analysis.sql({ sql: 'SELECT count(*) FROM entries WHERE is_error' });
    expect(failed.rows).toEqual(results.rows);
  });

  test('[Q6] follow new files, names, deletions and prices', { tags: 'long' }, async () => {
    const { client, engine } = await imported('usage');
    const title = async () => (await client.analysis.sql({ sql: 'SELECT title, calls, round(cost, 4) FROM sessions ORDER BY started_at' })).rows;
    const [[, calls, cost] = []] = await title();
    await client.session.rename({ sessionId: 's', title: 'Renamed' });
    expect(await title()).toEqual([['Renamed', calls, cost]]);
    await client.price.set({ model: 'claude-*', from: '2020-01-01', rows: [{ input: 0, output: 0 }] });
    expect(await title()).toEqual([['Renamed', calls, 0]]);
    expect((await client.analysis.sql({ sql: 'SELECT sum(cost), sum(lost_cost) FROM costs' })).rows).toEqual([[0, 0]]);
    for await (const _ of await client.import.run({ paths: [fixture('pi')] }));
    expect((await title()).length).toBeGreaterThan(1);
    await client.session.delete({ sessionId: 's' });
    expect((await client.analysis.sql({ sql: "SELECT count(*) FROM sessions WHERE session_id = 's'" })).rows).toEqual([[0]]);
    expect((await client.analysis.sql({ sql: "SELECT count(*) FROM entries WHERE session_id = 's'" })).rows).toEqual([[0]]);
    expect(engine).toBeDefined();
  });
});

describe('questions without SQL', () => {
  test('[Q4] select, filter, group and sort', { tags: 'long' }, async () => {
    const { client } = await imported('usage', 'codex');
    const sums = await client.analysis.query({
      from: 'calls',
      select: ['model', 'count(*) as calls', { fn: 'sum', column: 'output_tokens', as: 'output' }],
      where: { agent: ['claude-code', 'codex'], at: { '>=': '2020-01-01' } },
      groupBy: ['model'],
      orderBy: ['-calls', 'model'],
      limit: 5,
    });
    const same = await client.analysis.sql({
      sql: "SELECT model, count(*) AS calls, sum(output_tokens) AS output FROM calls WHERE agent IN ('claude-code', 'codex') AND at >= '2020-01-01' GROUP BY model ORDER BY calls DESC, model LIMIT 5",
    });
    expect(sums.rows).toEqual(same.rows);
    expect(sums.columns).toEqual(['model', 'calls', 'output']);
    const plain = await client.analysis.query({
      from: 'sessions',
      select: 'session_id',
      where: [{ column: 'repository', op: 'is not null' }],
      orderBy: 'session_id desc',
    });
    expect(plain.rows.length).toBeGreaterThan(0);
  });

  test.each([
    [{ from: 'calls', select: ['nope'] }, 'select'],
    [{ from: 'calls', select: ['sum(nope)'] }, 'select'],
    [{ from: 'calls', select: ['sum(*)'] }, 'select'],
    [{ from: 'calls', select: ['cost; DROP TABLE artifact'] }, 'select'],
    [{ from: 'calls', select: ['cost'], where: { nope: 1 } }, 'where'],
    [{ from: 'calls', select: ['cost'], where: { cost: { in: 3 } } }, 'where'],
    [{ from: 'calls', select: ['cost'], groupBy: ['nope'] }, 'groupBy'],
    [{ from: 'calls', select: ['cost'], orderBy: ['nope'] }, 'orderBy'],
  ] as const)('[Q4] %j is refused with its field', async (question, field) => {
    const { client } = door();
    expect(await laterRefusal(client.analysis.query(question as never))).toMatchObject({ code: 'BAD_REQUEST', data: { field } });
  });

  test('[Q4] an unknown view and an unknown field are refused', async () => {
    const { client } = door();
    expect(await laterRefusal(client.analysis.query({ from: 'artifact', select: '*' } as never))).toMatchObject({ code: 'BAD_REQUEST' });
    expect(await laterRefusal(client.analysis.query({ from: 'calls', select: '*', having: 1 } as never))).toMatchObject({ code: 'BAD_REQUEST' });
  });
});
