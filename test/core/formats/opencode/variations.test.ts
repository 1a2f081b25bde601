// Databases of OpenCode with a table, a column or a log that is missing or that no version has: read as far as they can be, and the rest is named.
import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { graph, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { listSessions } from '../../../../src/core/sessions/index.js';
import { usageSessions } from '../../../../src/core/usage/index.js';
import { importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

const tokens = { input: 100, output: 10, reasoning: 0, cache: { read: 0, write: 0 } };
const model = { id: 'claude-opus-4-8', providerID: 'anthropic' };

/** The tables of both versions, with one session that version 2 copied and continued. */
const tables = `
  CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, time_created integer, time_updated integer);
  CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
  CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
  CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text, title text, time_created integer, time_updated integer);
  CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, time_updated integer, data text);
  INSERT INTO session VALUES ('ses_1', NULL, '/home/dev/app', 'First', 1000, 2000);
  INSERT INTO session_v2 VALUES ('ses_1', NULL, '/home/dev/app', 'Second', 1000, 2000);`;

function database(path: string, change = ''): string {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec(tables);
  const old = (id: string, at: number, data: object, part: object): void => {
    db.prepare("INSERT INTO message VALUES (?, 'ses_1', ?, ?)").run(id, at, JSON.stringify({ ...data, time: { created: at, completed: at } }));
    db.prepare("INSERT INTO part VALUES (?, ?, 'ses_1', ?)").run(`${id}-0`, id, JSON.stringify(part));
  };
  old('msg_1', 1_000, { role: 'user' }, { type: 'text', text: 'First' });
  old('msg_2', 1_001, { role: 'assistant', finish: 'stop', modelID: model.id, providerID: 'anthropic', tokens }, { type: 'text', text: 'One' });
  const add = (id: string, type: string, at: number, data: object): void => {
    const json = JSON.stringify({ ...data, time: { created: at, completed: at } });
    db.prepare("INSERT INTO session_message VALUES (?, 'ses_1', ?, ?, ?, ?, ?)").run(id, type, at, at, at, json);
  };
  add('msg_1', 'user', 1_000, { text: 'First' });
  add('msg_2', 'assistant', 1_001, { agent: 'build', model, finish: 'stop', tokens, content: [{ type: 'text', text: 'One' }] });
  add('msg_3', 'user', 1_002, { text: 'Second' });
  add('msg_4', 'assistant', 1_003, { agent: 'build', model, finish: 'stop', tokens, content: [{ type: 'text', text: 'Two' }] });
  if (change !== '') db.exec(change);
  db.close();
  return path;
}

const read = (path: string) => {
  const chain: WriteChain = emptyChain();
  const { notes, skipped } = importInto(chain, path);
  return {
    said: tips(chain, {}).flatMap(({ id }) => said(chain, id, 'root').map((line) => line.replace(/^\w+ text {2}/, ''))),
    calls: usageSessions(chain, { groupBy: null }).totals.calls,
    told: [...notes, ...skipped].map(({ reason }) => reason.replaceAll('"', '')).join('; '),
  };
};
const both = ['First', 'One', 'Second', 'Two'];

test.each([
  ['nothing', '', both, 2, /.*/],
  ['extra columns', "ALTER TABLE session_v2 ADD COLUMN mood text; ALTER TABLE session_message ADD COLUMN extra text DEFAULT 'x'", both, 2, /.*/],
  [
    'an extra table of messages',
    "CREATE TABLE session_note (session_id text, content text); INSERT INTO session_note VALUES ('ses_1', 'x')",
    both,
    2,
    /session_note is not read/,
  ],
  [
    'a third table of sessions',
    "CREATE TABLE session_v3 (id text, title text); INSERT INTO session_v3 VALUES ('ses_9', 'x')",
    both,
    2,
    /session_v3 is not read/,
  ],
  ['no messages of version 2', 'DROP TABLE session_message', ['First', 'One'], 1, /session_v2 is not read/],
  ['no sessions of version 2', 'DROP TABLE session_v2', both, 2, /.*/],
  ['no parts of version 1', 'DROP TABLE part', both, 2, /message is not read/],
  ['no sessions of version 1', 'DROP TABLE session', both, 2, /(?:message|part) is not read/],
  ['no tables of version 1', 'DROP TABLE session; DROP TABLE message; DROP TABLE part', both, 2, /.*/],
  ['a copied reply with other counts', `UPDATE message SET data = replace(data, '"input":100', '"input":7') WHERE id = 'msg_2'`, both, 2, /.*/],
  ['neither messages nor sessions', 'DROP TABLE session; DROP TABLE session_message; DROP TABLE session_v2', [], 0, /without the tables of an agent/],
])('[F43] a database of OpenCode with %s', (_, change, texts, calls, told) => {
  const found = read(database(join(scratch(), 'opencode.db'), change));
  expect(found).toMatchObject({ said: texts, calls });
  expect(found.told).toMatch(told);
});

test('[F53] a database of OpenCode in a read-only folder is read, with or without its log', () => {
  const folder = scratch();
  const path = join(folder, 'opencode.db');
  const open = new Database(database(join(folder, 'source.db')));
  open.pragma('wal_autocheckpoint = 0');
  open.exec("UPDATE session_v2 SET title = 'In the log'");
  mkdirSync(join(folder, 'poor'));
  const [missing, there] = [join(folder, 'poor', 'opencode.db'), path];
  copyFileSync(join(folder, 'source.db'), missing);
  copyFileSync(join(folder, 'source.db'), there);
  copyFileSync(join(folder, 'source.db-wal'), `${there}-wal`);
  chmodSync(join(folder, 'poor'), 0o555);
  for (const one of [missing, there]) expect(read(one)).toMatchObject({ said: both, calls: 2 });
  expect(existsSync(`${missing}-wal`) || existsSync(`${missing}-shm`)).toBe(false);
  chmodSync(join(folder, 'poor'), 0o755);
  open.close();
});

const done = (finish: string | undefined, more: object = {}): string =>
  JSON.stringify({ role: 'assistant', finish, modelID: 'm', providerID: 'anthropic', tokens, time: { created: 1_002, completed: 1_003 }, ...more });

test.each([
  ['without parts', done('stop'), 2],
  ['of which only the steps were recorded', done('stop'), 2, '{"type":"step-start"}'],
  ['that failed after its end', done('length', { error: { name: 'MessageOutputLengthError' } }), 2, '{"type":"text","text":"Half"}'],
  ['that never ended', done(undefined), 1],
])('[N30] in OpenCode, an answer %s is counted if it ended', (_, data, calls, ...parts) => {
  const change = parts.map((part) => `INSERT INTO part VALUES ('msg_3-0', 'msg_3', 'ses_1', '${part}');`).join('');
  const path = database(
    join(scratch(), 'opencode.db'),
    `DROP TABLE session_v2; DROP TABLE session_message; ${change}
    INSERT INTO message VALUES ('msg_3', 'ses_1', 1002, '${data}');`,
  );
  const chain: WriteChain = emptyChain();
  importInto(chain, path);
  const { totals } = usageSessions(chain, { groupBy: null });
  expect(totals).toMatchObject({ calls, tokens: { input: 100 * calls, output: 10 * calls } });
});

test.each([
  ['1', 'DROP TABLE session_v2; DROP TABLE session_message;', 'session'],
  ['2', 'DROP TABLE session; DROP TABLE message; DROP TABLE part;', 'session_v2'],
])('[F52] a session of OpenCode %s that no call started belongs to its parent', (_, change, table) => {
  const [id, call] = ['msg_9', '{"id":"c1","type":"tool","name":"task","state":{"status":"completed","metadata":{"sessionId":"ses_3"}}}'];
  const rows = ['ses_2', 'ses_3', 'ses_4'].map((child) =>
    table === 'session'
      ? `INSERT INTO message VALUES ('m${child}', '${child}', 1010, '{"role":"user"}');
         INSERT INTO part VALUES ('p${child}', 'm${child}', '${child}', '{"type":"text","text":"${child}"}');`
      : `INSERT INTO session_message VALUES ('m${child}', '${child}', 'user', 1, 1010, 1010, '{"text":"${child}"}');`,
  );
  const caller =
    table === 'session'
      ? `INSERT INTO message VALUES ('${id}', 'ses_1', 1005, '${done('tool-calls')}');
         INSERT INTO part VALUES ('p', '${id}', 'ses_1', '${call.replace('"id"', '"callID"')}');`
      : `INSERT INTO session_message VALUES ('${id}', 'ses_1', 'assistant', 2000, 1005, 1005, '{"finish":"tool-calls","time":{"created":1005,"completed":1006},"content":[${call}]}');`;
  const parents = { ses_2: 'ses_1', ses_3: 'ses_1', ses_4: 'ses_3' };
  const children = Object.entries(parents).map(
    ([child, parent]) => `INSERT INTO ${table} VALUES ('${child}', '${parent}', '/home/dev/app', 'Child', 1000, 2000);`,
  );
  const path = database(join(scratch(), 'opencode.db'), [change, ...children, ...rows, caller].join(''));
  const chain: WriteChain = emptyChain();
  importInto(chain, path);
  const sessions = listSessions(chain, {}).sessions.map(({ parentSessionId }) => parentSessionId);
  expect(sessions.sort()).toEqual(['ses_1', 'ses_1', 'ses_3', undefined]);
  const started = graph(chain, { offset: 0, limit: 100 }).rows.flatMap(({ startedBy }) => startedBy?.toolCallId ?? []);
  expect(started).toEqual(['c1']);
});

test('[N24] the call that wrote a summary counts', () => {
  const message = (id: string, at: number, data: object, part: object): string =>
    `INSERT INTO message VALUES ('${id}', 'ses_1', ${at}, '${JSON.stringify({ ...data, time: { created: at, completed: at } })}');
     INSERT INTO part VALUES ('${id}-0', '${id}', 'ses_1', '${JSON.stringify(part)}');`;
  const summary = { role: 'assistant', mode: 'compaction', summary: true, finish: 'stop', modelID: model.id, providerID: 'anthropic', tokens };
  const change = `DROP TABLE session_message; DROP TABLE session_v2;
    ${message('msg_3', 1_002, { role: 'user' }, { type: 'compaction', auto: false })}
    ${message('msg_4', 1_003, summary, { type: 'text', text: 'In short' })}
    ${message('msg_5', 1_004, { role: 'user' }, { type: 'text', text: 'Go on' })}`;
  const chain = emptyChain();
  importInto(chain, database(join(scratch(), 'opencode.db'), change));
  expect(usageSessions(chain, { groupBy: null }).totals).toMatchObject({ calls: 2, tokens: { input: 200, output: 20 } });
  expect(tips(chain, {}).map(({ id }) => said(chain, id).at(-1))).toEqual(['user text  Go on']);
});
