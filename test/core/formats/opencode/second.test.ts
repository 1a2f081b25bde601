import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { resumeIn } from '../../../../src/core/export/index.js';
import { follow } from '../../../../src/core/follow/index.js';
import { listSessions } from '../../../../src/core/sessions/index.js';
import { usageSessions } from '../../../../src/core/usage/index.js';
import { importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

const model = { id: 'claude-opus-4-8', providerID: 'anthropic' };
const tokens = { input: 100, output: 10, reasoning: 0, cache: { read: 0, write: 0 } };
type Message = readonly [id: string, type: string, data: object];

const user = (id: string, text: string, at: number, more: object = {}): Message => [id, 'user', { text, time: { created: at }, ...more }];
const answer = (id: string, content: object[], at: number, finish = 'stop'): Message => [
  id,
  'assistant',
  { agent: 'build', model, time: { created: at, completed: at + 1 }, finish, tokens, content },
];
const text = (words: string) => ({ type: 'text', text: words });
const tool = (id: string, output: string, at: number) => ({
  type: 'tool',
  id,
  name: 'shell',
  state: { status: 'completed', input: { command: id }, content: [text(output)], metadata: { exit: 0 } },
  time: { created: at, completed: at + 1 },
});

/** A database of OpenCode 2 with one session, as its own code creates the tables (packages/core/src/session/sql.ts). */
function second(path: string, messages: readonly Message[], session = 'ses_1'): Database.Database {
  const db = new Database(path);
  db.exec(`CREATE TABLE IF NOT EXISTS session_v2 (id text PRIMARY KEY, project_id text, parent_id text, directory text NOT NULL, title text, time_created integer, time_updated integer);
    CREATE TABLE IF NOT EXISTS session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL, time_created integer, time_updated integer, data text NOT NULL)`);
  db.prepare('INSERT INTO session_v2 VALUES (?, ?, NULL, ?, ?, 1000, 2000)').run(session, 'p', '/home/dev/app', 'Second');
  add(db, messages, session);
  return db;
}

function add(db: Database.Database, messages: readonly Message[], session = 'ses_1'): void {
  const last = (db.prepare('SELECT COUNT(*) AS count FROM session_message').get() as { count: number }).count;
  messages.forEach(([id, type, data], at) => {
    const created = (data as { time: { created: number } }).time.created;
    db.prepare('INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)').run(id, session, type, last + at, created, created, JSON.stringify(data));
  });
}

/** The same session in the tables of version 1. */
function first(path: string, messages: readonly (readonly [id: string, role: string, words: string, at: number])[]): void {
  const db = new Database(path);
  db.exec(`CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text)`);
  db.prepare("INSERT INTO session VALUES ('ses_1', NULL, '/home/dev/app', 'First', 1000, 2000)").run();
  for (const [id, role, words, at] of messages) {
    const data =
      role === 'user'
        ? { role, time: { created: at } }
        : { role, time: { created: at, completed: at + 1 }, finish: 'stop', modelID: model.id, providerID: 'anthropic', tokens };
    db.prepare("INSERT INTO message VALUES (?, 'ses_1', ?, ?)").run(id, at, JSON.stringify(data));
    const parts = role === 'user' ? [text(words)] : [{ type: 'step-start' }, text(words), { type: 'step-finish', reason: 'stop', tokens }];
    for (const [number, part] of parts.entries())
      db.prepare("INSERT INTO part VALUES (?, ?, 'ses_1', ?)").run(`${id}-${number}`, id, JSON.stringify(part));
  }
  db.close();
}

const counts = (chain: WriteChain) => {
  const { calls, tokens: sums } = usageSessions(chain, { groupBy: null }).totals;
  return { calls, input: sums.input, output: sums.output };
};
const branches = (chain: WriteChain): string[][] => tips(chain, {}).map(({ id }) => said(chain, id, 'root'));

test('[F43] OpenCode 2: every kind of message is what the agent sends for it', () => {
  const path = join(scratch(), 'opencode.db');
  second(path, [
    ['msg_0', 'agent-switched', { agent: 'build', time: { created: 999 } }],
    user('msg_1', 'Look', 1_000, {
      files: [{ mime: 'text/plain', data: Buffer.from('inside').toString('base64'), name: 'a.txt', source: { type: 'inline' } }],
    }),
    ['msg_2', 'shell', { shellID: 's', command: 'ls', status: 'exited', output: { output: 'a.txt' }, time: { created: 1_001 } }],
    ['msg_3', 'skill', { skill: 'x', name: 'x', text: 'Be careful', time: { created: 1_002 } }],
    ['msg_4', 'location-switched', { location: { directory: '/tmp/x' }, time: { created: 1_003 } }],
    answer('msg_5', [{ type: 'reasoning', text: 'hm', state: { signature: 'sig' } }, tool('call_1', 'out', 1_004)], 1_004, 'tool-calls'),
    [
      'msg_6',
      'assistant',
      { agent: 'build', model, time: { created: 1_006, completed: 1_007 }, error: { type: 'aborted', message: 'stopped' }, content: [text('half')] },
    ],
    ['msg_7', 'compaction', { status: 'completed', reason: 'auto', summary: 'SUMMARY', recent: 'RECENT', time: { created: 1_008 } }],
    user('msg_8', 'Go on', 1_009),
    answer('msg_9', [text('Done')], 1_010),
    ['msg_a', 'idle', { outcome: 'succeeded', time: { created: 1_012 } }],
    ['msg_b', 'compaction', { status: 'running', reason: 'auto', summary: '', recent: '', time: { created: 1_013 } }],
    ['msg_c', 'new-kind', { time: { created: 1_014 } }],
  ]).close();
  const chain = emptyChain();
  const { skipped } = importInto(chain, path);
  expect(skipped).toMatchObject([{ reason: expect.stringContaining('msg_c') }]);
  expect(branches(chain)).toEqual([
    [
      'user text  Look',
      'user text  ',
      'user text  The following shell command was executed',
      'user text  Be careful',
      'user text  The working directory has been changed t',
      'assistant thinking  hm',
      'assistant tool_call shell ',
      'tool tool_result shell out',
      'assistant text  half',
      'user text  Go on',
      'assistant text  Done',
    ],
  ]);
  expect(tips(chain, {}).map(({ id }) => said(chain, id))).toEqual([
    ['user summary  <conversation-checkpoint>', 'user text  Go on', 'assistant text  Done'],
  ]);
  expect(listSessions(chain, {}).sessions).toMatchObject([{ sessionId: 'ses_1', title: 'Second', turns: 2, repository: '/home/dev/app' }]);
});

test('[F43] OpenCode 2: a session that both versions hold is read once, in one step or two', () => {
  const path = join(scratch(), 'opencode.db');
  const both = [
    ['msg_1', 'user', 'First', 1_000],
    ['msg_2', 'assistant', 'One', 1_001],
  ] as const;
  first(path, both);
  const before = emptyChain();
  importInto(before, path);
  expect(counts(before)).toEqual({ calls: 1, input: 100, output: 10 });
  const copied: Message[] = [
    user('msg_1', 'First', 1_000),
    answer('msg_2', [text('One')], 1_001),
    ['msg_i', 'idle', { outcome: 'succeeded', time: { created: 1_002 } }],
    user('msg_3', 'Second', 1_003),
    answer('msg_4', [text('Two')], 1_004),
  ];
  second(path, copied).close();
  for (const chain of [before, emptyChain()]) {
    importInto(chain, path);
    expect(counts(chain)).toEqual({ calls: 2, input: 200, output: 20 });
    expect(branches(chain)).toEqual([['user text  First', 'assistant text  One', 'user text  Second', 'assistant text  Two']]);
  }
});

test('[F43] OpenCode 2: rows that contradict each other are named, and none is lost', () => {
  const path = join(scratch(), 'opencode.db');
  first(path, [
    ['msg_1', 'user', 'First', 1_000],
    ['msg_2', 'assistant', 'One', 1_001],
    ['msg_x', 'user', 'Written by version 1 later', 1_005],
    ['msg_y', 'assistant', 'Old answer', 1_006],
  ]);
  second(path, [
    user('msg_1', 'First', 1_000),
    answer('msg_2', [text('Another one')], 1_001),
    user('msg_3', 'New', 1_010),
    answer('msg_4', [text('Two')], 1_011),
  ]).close();
  const chain = emptyChain();
  const { notes } = importInto(chain, path);
  expect(notes.map(({ reason }) => reason)).toEqual(
    expect.arrayContaining([expect.stringContaining('msg_2 differs'), expect.stringContaining('has 2 messages of this session')]),
  );
  expect(branches(chain).sort()).toEqual([
    ['user text  First', 'assistant text  Another one', 'user text  New', 'assistant text  Two'],
    ['user text  First', 'assistant text  Another one', 'user text  Written by version 1 later', 'assistant text  Old answer'],
  ]);
  expect(counts(chain).calls).toBe(3);
});

test('[F43] a session without messages in the new tables is read from the old ones', () => {
  const path = join(scratch(), 'opencode.db');
  first(path, [
    ['msg_1', 'user', 'First', 1_000],
    ['msg_2', 'assistant', 'One', 1_001],
  ]);
  second(path, []).close();
  const chain = emptyChain();
  importInto(chain, path);
  expect(branches(chain)).toEqual([['user text  First', 'assistant text  One']]);
});

test.each([
  ['opencode.db', 'CREATE TABLE session_message_v3 (id text, session_id text, data text)', 'session_message_v3'],
  ['opencode.db', 'CREATE TABLE transcript (thread_id text, content text)', 'transcript'],
])('[F43] %s with a table that no reader knows says so: %s', (name, sql, table) => {
  const path = join(scratch(), name);
  const db = second(path, [user('msg_1', 'First', 1_000), answer('msg_2', [text('One')], 1_001)]);
  db.exec(sql);
  db.exec(`INSERT INTO ${table} SELECT ${table === 'transcript' ? "'t', 'words'" : "'m', 'ses_1', '{}'"}`);
  db.exec("CREATE TABLE todo (session_id text, content text); INSERT INTO todo VALUES ('ses_1', 'x')");
  db.close();
  const { notes, skipped } = importInto(emptyChain(), path);
  expect(skipped).toEqual([]);
  expect(notes.filter(({ reason }) => /is not read/.test(reason)).map(({ reason }) => reason)).toEqual([expect.stringContaining(table)]);
});

test('[L1] OpenCode 2: a followed session is recorded turn by turn', async () => {
  const path = join(scratch(), 'opencode.db');
  const db = second(path, []);
  onTestFinished(() => void db.close());
  db.pragma('journal_mode = WAL');
  const chain = emptyChain(() => performance.timeOrigin + performance.now());
  const times = { settle: 5, maxWait: 40, rest: 60, quiet: 120, patience: 600_000 };
  const live = await follow(chain, { places: [{ path, agent: 'opencode' }], from: 'now', granularity: 'turn_boundary', times });
  onTestFinished(() => live.close());
  const soon = (lines: string[][]) => vi.waitFor(() => expect(branches(chain)).toEqual(lines), { timeout: 60_000, interval: 10 });
  add(db, [user('msg_1', 'First', 1_000), answer('msg_2', [text('One')], 1_001)]);
  await soon([['user text  First', 'assistant text  One']]);
  // The session's own row does not change with its messages.
  add(db, [user('msg_3', 'Second', 1_003), answer('msg_4', [tool('call_1', 'out', 1_004)], 1_004, 'tool-calls')]);
  add(db, [answer('msg_5', [text('Two')], 1_006), ['msg_6', 'idle', { outcome: 'succeeded', time: { created: 1_008 } }]]);
  const whole = [
    'user text  First',
    'assistant text  One',
    'user text  Second',
    'assistant tool_call shell ',
    'tool tool_result shell out',
    'assistant text  Two',
  ];
  await soon([whole]);
});

test('[F14] OpenCode 2: a resumed session is a document of its own version, and is read again', () => {
  const folder = scratch();
  const path = join(folder, 'opencode.db');
  second(path, [
    user('msg_1', 'Look', 1_000),
    answer('msg_2', [{ type: 'reasoning', text: 'hm', state: { signature: 'sig' } }, tool('call_1', 'out', 1_001)], 1_001, 'tool-calls'),
    answer('msg_3', [text('Done')], 1_003),
  ]).close();
  const chain = emptyChain();
  importInto(chain, path);
  const [tip] = tips(chain, {});
  const made = resumeIn(chain, [{ agent: 'opencode', root: folder }], { id: tip?.id as never, agent: 'opencode', cwd: folder });
  expect(existsSync(made.path)).toBe(true);
  const document = JSON.parse(readFileSync(made.path, 'utf8')) as { info: Record<string, unknown>; messages: Record<string, unknown>[] };
  expect(document.info).toMatchObject({ id: expect.stringMatching(/^ses_/), location: { directory: folder }, tokens: { input: 0 } });
  expect(document.messages).toMatchObject([
    { id: expect.stringMatching(/^msg_/), type: 'user', text: 'Look', time: { created: 1_000 } },
    {
      type: 'assistant',
      model,
      content: [
        { type: 'reasoning', text: 'hm', state: { signature: 'sig' } },
        { type: 'tool', id: 'call_1', name: 'shell', state: { status: 'completed', input: { command: 'call_1' }, content: [text('out')] } },
      ],
      finish: 'tool-calls',
    },
    { type: 'assistant', content: [text('Done')], finish: 'stop' },
  ]);
  rmSync(path);
  const again = emptyChain();
  writeFileSync(join(folder, 'again.json'), readFileSync(made.path));
  importInto(again, join(folder, 'again.json'));
  expect(branches(again)).toEqual(branches(chain));
});
