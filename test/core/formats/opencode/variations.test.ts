// Databases of OpenCode with a table, a column or a log that is missing or that no version has: read as far as they can be, and the rest is named.
import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { tips, type WriteChain } from '../../../../src/core/chain/index.js';
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
