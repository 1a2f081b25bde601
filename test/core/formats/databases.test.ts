import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { tips } from '../../../src/core/chain/index.js';
import { importableFormats } from '../../../src/core/formats/index.js';
import { listSources } from '../../../src/core/import/index.js';
import { bytesOfFile, importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

const fixture = (name: string): string => join(root, 'test', 'fixtures', name);

test('[F43] a database of Goose has sessions, a summary, tool results and counts', () => {
  const chain = emptyChain();
  const path = join(scratch(), 'sessions.db');
  copyFileSync(fixture('mapped/goose.db'), path);
  expect(importInto(chain, path)).toMatchObject({ sessions: 2, skipped: [] });
  const [main] = tips(chain, { sessionId: '20261122_1' });
  expect(said(chain, main?.id as never, 'root')).toEqual([
    'user text  Fix the retry',
    'assistant thinking  I should look first.',
    'assistant text  Let me look.',
    'assistant tool_call developer__text_editor ',
    'tool tool_result developer__text_editor export const retry = (n) => n * 2;',
    'assistant tool_call developer__shell ',
    'tool tool_result developer__shell Command exited with 1',
    'assistant text  It doubles.',
  ]);
  // What the model sees begins with the summary.
  expect(said(chain, main?.id as never)).toEqual(['user summary  Summary of what went before: the retry w', 'assistant text  It doubles.']);
  expect(chain.db.all('SELECT input, output FROM usageCall WHERE input IS NOT NULL')).toEqual([{ input: 150, output: 10 }]);
  const source = listSources(chain).find(({ sessionId }) => sessionId === '20261122_1');
  expect(source).toMatchObject({ title: 'Fix the retry', cwd: '/home/u/repo', format: 'mapped-v1' });
  // A message more adds one commit, also while Goose writes.
  const goose = new Database(path);
  goose.exec(`INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp)
    VALUES ('msg_9', '20261122_1', 'user', '[{"type": "text", "text": "Thanks"}]', 1795340009)`);
  expect(importInto(chain, path)).toMatchObject({ commits: 1, entries: 1 });
  goose.close();
});

test('[F43] sessions of the OpenAI Agents SDK share the first messages of their branches', () => {
  const chain = emptyChain();
  expect(importInto(chain, fixture('mapped/openai-agents.db'))).toMatchObject({ sessions: 1, entries: 9, skipped: [] });
  const shared = [
    'user text  What is the weather in Paris?',
    'assistant thinking  I need the tool.',
    'assistant tool_call get_weather ',
    'tool tool_result get_weather rainy, 14 degrees',
    'assistant text  Rainy, 14 degrees.',
  ];
  const branches = tips(chain, {}).map(({ id }) => said(chain, id, 'root'));
  expect(branches.toSorted((a, b) => String(a[5]).localeCompare(String(b[5])))).toEqual([
    [...shared, 'user text  And in Oslo?', 'assistant text  Snow.'],
    [...shared, 'user text  And in Rome?', 'assistant text  Sunny.'],
  ]);
});

test('[F43] a database of ADK: a rewind begins a branch, and pickled actions are not read', () => {
  const path = join(scratch(), 'session.db');
  const database = new Database(path);
  database.exec(`CREATE TABLE sessions (app_name TEXT, user_id TEXT, id TEXT, state TEXT);
    CREATE TABLE events (id TEXT, session_id TEXT, invocation_id TEXT, timestamp TEXT, event_data TEXT, actions BLOB);
    INSERT INTO sessions VALUES ('hello', 'me', 's1', '{}')`);
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)');
  const event = (id: string, turn: string, content: unknown, more: object = {}): unknown =>
    insert.run(id, 's1', turn, `2026-01-01 00:00:0${id}`, JSON.stringify({ author: 'a', content, ...more }), Buffer.from([0x80, 4, 0x95]));
  const text = (role: string, said: string) => ({ role, parts: [{ text: said }] });
  event('1', 'i1', text('user', 'One'));
  event('2', 'i1', { role: 'model', parts: [{ function_call: { name: 'look', args: {} } }] });
  event('3', 'i1', { role: 'user', parts: [{ function_response: { name: 'look', response: { found: 1 } } }] });
  event('4', 'i2', text('user', 'Two'));
  event('5', 'i3', undefined, { actions: { rewind_before_invocation_id: 'i2' } });
  event('6', 'i4', text('user', 'Three'));
  database.close();
  const chain = emptyChain();
  expect(importInto(chain, path)).toMatchObject({ sessions: 1, skipped: [] });
  const all = tips(chain, {}).map(({ id }) => said(chain, id, 'root'));
  const shared = ['user text  One', 'assistant tool_call look ', 'tool tool_result look {"found":1}'];
  expect(all.toSorted((a, b) => String(a[3]).localeCompare(String(b[3])))).toEqual([
    [...shared, 'user text  Three'],
    [...shared, 'user text  Two'],
  ]);
});

test('[F43] a conversation of OpenHands 1.x is a folder, and each of its files comes back', () => {
  const folder = join(scratch(), 'conversations', 'a1b2');
  mkdirSync(join(folder, 'events'), { recursive: true });
  writeFileSync(join(folder, 'base_state.json'), '{"id": "a1b2"}');
  const events = readFileSync(fixture('mapped/openhands-v1.jsonl'), 'utf8').trim().split('\n');
  const put = (at: number): void => writeFileSync(join(folder, 'events', `event-${String(at).padStart(5, '0')}-${at}.json`), events[at] ?? '');
  for (let at = 0; at < events.length - 1; at++) put(at);
  const chain = emptyChain();
  expect(importInto(chain, folder)).toMatchObject({ sessions: 1, skipped: [] });
  const before = tips(chain, {}).length;
  put(events.length - 1);
  importInto(chain, folder);
  expect(importInto(chain, folder)).toMatchObject({ commits: 0 });
  expect(tips(chain, {})).toHaveLength(before);
  expect(tips(chain, {})[0]).toMatchObject({ sessionId: 'a1b2', template: 'openhands' });
  const one = join(folder, 'events', 'event-00003-3.json');
  expect(bytesOfFile(chain, one).equals(readFileSync(one))).toBe(true);
});

test('[F43] files of one name in two folders share no record that differs', () => {
  const folder = scratch();
  const wire = readFileSync(fixture('mapped/kimi.wire.jsonl'), 'utf8');
  for (const [name, content] of [
    ['a', wire],
    ['b', wire.replaceAll('"think":"', '"think":"Other: ')],
  ] as const) {
    mkdirSync(join(folder, `session_${name}`, 'agents', 'main'), { recursive: true });
    writeFileSync(join(folder, `session_${name}`, 'agents', 'main', 'wire.jsonl'), content);
  }
  const chain = emptyChain();
  expect(importInto(chain, folder)).toMatchObject({ sessions: 2, skipped: [] });
  expect(tips(chain, {}).map(({ sessionId }) => sessionId)).toHaveLength(2);
  expect(new Set(tips(chain, {}).map(({ sessionId }) => sessionId)).size).toBe(2);
});

/** By hand from the files: the first texts, the number of pairs of a call and its result, and all counts. */
const observed = [
  ['langfuse-adk.json', ['user text  hi', 'assistant tool_call say_hello '], { calls: 2, input: 67, output: 9 }],
  [
    'langfuse-openai-agents.json',
    ["user text  What's the weather in Tokyo?", 'assistant tool_call get_weather '],
    { calls: 2, input: 140, output: 44 },
  ],
  ['langsmith.json', ['user text  howdy', 'assistant text  Howdy! How can I assist you today?'], { calls: 1, input: 9, output: 9 }],
] as const;

test.each(observed)('[F40, F45] %s is read by its calls, and comes back byte for byte', (file, first, counts) => {
  const chain = emptyChain();
  const path = fixture(`otlp/${file}`);
  expect(importInto(chain, path)).toMatchObject({ sessions: 1, skipped: [] });
  const told = said(chain, tips(chain, {})[0]?.id as never, 'root').filter((line) => !line.startsWith('system'));
  expect(told.slice(0, 2)).toEqual(first);
  expect(told.filter((line) => line.startsWith('tool tool_result'))).toHaveLength(told.filter((line) => line.includes('tool_call')).length);
  expect(chain.db.all('SELECT count(*) AS calls, sum(input) AS input, sum(output) AS output FROM usageCall')).toEqual([counts]);
  expect(bytesOfFile(chain, path).equals(readFileSync(path))).toBe(true);
  expect(importInto(chain, path)).toMatchObject({ commits: 0 });
});

test('[F45] the runs of three agents in one trace of Langfuse are three conversations', () => {
  const chain = emptyChain();
  expect(importInto(chain, fixture('otlp/langfuse-pydantic-ai.json'))).toMatchObject({ sessions: 3, skipped: [] });
  const all = tips(chain, {}).map(({ id }) => said(chain, id, 'root'));
  const joke = all.find((lines) => lines.filter((line) => line.includes('tool_result')).length === 3);
  expect(joke?.filter((line) => line.includes('tool_call')).map((line) => line.trim())).toEqual([
    'assistant tool_call get_pun_suggestion',
    'assistant tool_call get_dad_joke_suggestion',
    'assistant tool_call get_one_liner_suggestion',
  ]);
});

test('[F33] a database of Cursor is read while Cursor writes to it, and stays as it was', () => {
  const path = join(scratch(), 'state.vscdb');
  copyFileSync(fixture('cursor/composer-global-state.vscdb'), path);
  const cursor = new Database(path);
  cursor.pragma('journal_mode = WAL');
  cursor.pragma('wal_autocheckpoint = 0');
  const composer = '00000000-0016-4016-8016-000000000016';
  const add = (id: string, text: string): void => {
    const row = cursor.prepare('SELECT value FROM cursorDiskKV WHERE key = ?').get(`composerData:${composer}`) as { value: string };
    const data = JSON.parse(row.value);
    data.fullConversationHeadersOnly.push({ bubbleId: id, type: 1 });
    cursor.prepare('UPDATE cursorDiskKV SET value = ? WHERE key = ?').run(JSON.stringify(data), `composerData:${composer}`);
    cursor.prepare('INSERT INTO cursorDiskKV VALUES (?, ?)').run(`bubbleId:${composer}:${id}`, JSON.stringify({ type: 1, bubbleId: id, text }));
  };
  add('new-1', 'Written a moment ago');
  const chain = emptyChain();
  const told = (): string[] => said(chain, tips(chain, {})[0]?.id as never, 'root');
  // One message is in the log beside the database only, and one in a transaction that is not over.
  cursor.exec('BEGIN IMMEDIATE');
  add('new-2', 'Not written yet');
  const before = readFileSync(path);
  expect(importInto(chain, path)).toMatchObject({ sessions: 1, skipped: [] });
  expect(told().at(-1)).toBe('user text  Written a moment ago');
  expect(readFileSync(path).equals(before)).toBe(true);
  cursor.exec('COMMIT');
  expect(importInto(chain, path)).toMatchObject({ commits: 1, entries: 1 });
  expect(told().slice(-2)).toEqual(['user text  Written a moment ago', 'user text  Not written yet']);
  cursor.close();
});

test('[F33] a chat of Cursor without messages says so, and a missing message is named', () => {
  const path = join(scratch(), 'store.db');
  copyFileSync(fixture('cursor/cli-store.db'), path);
  expect(importInto(emptyChain(), path)).toMatchObject({ commits: 0, notes: [{}, { path, reason: expect.stringMatching(/no messages/) }] });
  const ids = ['11', '22'].map((two) => two.repeat(32));
  const store = new Database(path);
  const put = store.prepare('INSERT INTO blobs VALUES (?, ?)');
  put.run('deadbeef', Buffer.concat(ids.map((id) => Buffer.concat([Buffer.from([0x0a, 32]), Buffer.from(id, 'hex')]))));
  put.run(ids[0], JSON.stringify({ role: 'user', content: 'Hello' }));
  store.close();
  const chain = emptyChain();
  const { notes } = importInto(chain, path);
  expect(said(chain, tips(chain, {})[0]?.id as never, 'root')).toEqual(['user text  Hello']);
  expect(notes.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/22222222.* is not in the database|22222222.* not in the database/));
});

test('[F33] the keys of a database are read row by row, and rows are not collected', () => {
  const sessions = 3;
  const composer = JSON.stringify({ conversation: [{ type: 1, text: 'hi' }] });
  // A list of these rows would hold the last row many times, because there is only one object.
  function* each(table: string, columns: readonly string[], where?: Readonly<Record<string, string>>) {
    const row: Record<string, string | number> = {};
    for (let at = 0; at < (where ? 1 : 10_000); at++) {
      if (table === 'cursorDiskKV') Object.assign(row, where ? { value: composer } : { key: `${at < sessions ? 'composerData' : 'other'}:${at}` });
      else if (columns.includes('session_id')) Object.assign(row, { session_id: `${at % sessions}`, seq: at });
      yield row;
    }
  }
  const membersOf = (format: string, tables: Readonly<Record<string, readonly string[]>>) => {
    const reader = importableFormats.find(({ id }) => id === format)?.database;
    return [...(reader?.members({ tables: new Map(Object.entries(tables)), each }) ?? [])].map(({ id, stamp }) => [id, stamp]);
  };
  expect(membersOf('cursor-v1', { cursorDiskKV: ['key', 'value'] }).map(([id]) => id)).toEqual(['0', '1', '2']);
  expect(membersOf('openclaw-v1', { transcript_events: ['session_id', 'seq', 'event_json'] })).toEqual([
    ['0', '9999'],
    ['1', '9997'],
    ['2', '9998'],
  ]);
});
