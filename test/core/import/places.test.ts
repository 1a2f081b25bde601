import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { tips } from '../../../src/core/chain/index.js';
import type { SourceAgent } from '../../../src/core/contract/index.js';
import { agentPlaces, foundSessions, foundSources, listSources } from '../../../src/core/import/index.js';
import { importOrder } from '../../../src/core/import/paths.js';
import { prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { recorded, writeDatabase } from '../../support/opencode.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

/** Where each agent keeps a session below its own folder, and a real file of it. */
const kept: readonly (readonly [agent: SourceAgent, place: string, fixture: string])[] = [
  ['cline', 'data/sessions/1795/1795.messages.json', 'cline/sdk-session.messages.json'],
  ['cline', 'sessions/1795/1795.messages.json', 'cline/sdk-session.messages.json'],
  ['copilot', 'session-state/1/events.jsonl', 'copilot-cli/git-ai-session_events.jsonl'],
  ['qwen', 'projects/-work/chats/1.jsonl', 'qwen-code/019f0000-001.jsonl'],
  ['vscode', 'workspaceStorage/a1/chatSessions/1.json', 'vscode-chat/copilot_session_simple.json'],
  ['vscode', 'globalStorage/emptyWindowChatSessions/2.jsonl', 'vscode-chat/copilot_session_simple.jsonl'],
  ['cursor', 'globalStorage/state.vscdb', 'cursor/composer-global-state.vscdb'],
  ['cursor', 'chats/a/b/store.db', 'cursor/cli-store.db'],
  ['cursor', 'projects/p/agent-transcripts/t.jsonl', 'cursor/agent-transcript-simple.jsonl'],
  ['droid', 'sessions/-work/1.jsonl', 'mapped/droid.jsonl'],
  ['goose', 'sessions/sessions.db', 'mapped/goose.db'],
  ['kimi', 'sessions/wd_p_1/session_1/agents/main/wire.jsonl', 'mapped/kimi.wire.jsonl'],
  ['antigravity', 'brain/1/.system_generated/logs/transcript.jsonl', 'mapped/antigravity.jsonl'],
];

test.each(kept)('[F44] a session of %s is found at %s, and the folder imports it', (agent, place, fixture) => {
  const home = scratch();
  const path = join(home, place);
  mkdirSync(dirname(path), { recursive: true });
  cpSync(join(root, 'test', 'fixtures', fixture), path);
  const [source] = foundSources([{ agent, root: home }]);
  expect(source).toMatchObject({ agent, root: home });
  expect(source?.sessions).toBeGreaterThan(0);
  const found = [...foundSessions({ agent, root: home }, () => false)];
  expect(found).toHaveLength(source?.sessions ?? 0);
  const chain = emptyChain();
  expect(importInto(chain, ...(source?.folders ?? []))).toMatchObject({ skipped: [], sessions: source?.sessions });
  // The conversation of Cursor's command line in this file has no message.
  if (!place.endsWith('store.db')) expect(tips(chain, {}).length).toBeGreaterThan(0);
});

test('[F44] a folder that holds the sessions themselves is a source', () => {
  const place = { agent: 'cline', root: scratch(), holdsSessions: true } as const;
  const path = join(place.root, '1795', '1795.messages.json');
  mkdirSync(dirname(path), { recursive: true });
  cpSync(join(root, 'test/fixtures/cline/sdk-session.messages.json'), path);
  expect(foundSources([place])).toMatchObject([{ agent: 'cline', folders: [place.root], sessions: 1 }]);
  expect([...foundSessions(place, () => false)]).toMatchObject([{ path }]);
});

test('[F44] sessions of Roo, Kilo and OpenClaw are found and imported', () => {
  const homes = { roo: scratch(), kilo: scratch(), openclaw: scratch() };
  const task = join(homes.roo, 'tasks', '1', 'api_conversation_history.json');
  mkdirSync(dirname(task), { recursive: true });
  writeFileSync(task, JSON.stringify([{ role: 'user', content: [{ type: 'text', text: 'Hello' }], ts: 1_770_000_000_000 }]));
  const kilo = join(homes.kilo, 'kilo.db');
  writeDatabase(kilo, recorded('tour'));
  const own = new Database(kilo);
  own.exec('CREATE TABLE kilo_board (id text)');
  own.close();
  const claw = join(homes.openclaw, 'agents', 'main', 'agent', 'openclaw-agent.sqlite');
  mkdirSync(dirname(claw), { recursive: true });
  const database = new Database(claw);
  const event = (value: object): string => JSON.stringify({ timestamp: '2026-11-22T09:00:00.000Z', ...value });
  database.exec('CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)');
  const insert = database.prepare('INSERT INTO transcript_events VALUES (?, ?, ?)');
  insert.run('s1', 0, event({ type: 'session', version: 4, id: 's1', cwd: '/work' }));
  insert.run('s1', 1, event({ type: 'message', id: 'a', parentId: null, message: { role: 'user', content: 'Hello' } }));
  database.close();
  for (const [agent, format] of [
    ['roo', 'cline-v1'],
    ['kilo', 'kilo-v1'],
    ['openclaw', 'openclaw-v1'],
  ] as const) {
    const [source] = foundSources([{ agent, root: homes[agent] }]);
    expect(source?.sessions).toBeGreaterThan(0);
    const chain = emptyChain();
    expect(importInto(chain, ...(source?.folders ?? []))).toMatchObject({ sessions: source?.sessions });
    expect(new Set(listSources(chain).map((one) => one.format))).toEqual(new Set([format]));
    expect(tips(chain, {}).length).toBeGreaterThan(0);
  }
});

/** Histories of agents by content that is made here: each is found, and the folder imports it. */
const made: readonly (readonly [agent: SourceAgent, place: string, write: (path: string) => void])[] = [
  ['amp', 'threads/T-019ca1ce-3ae2-7686-a41e-ccc078837f8a.json', (path) => writeFileSync(path, JSON.stringify(ampThread))],
  ['continue', 'sessions/c-1.json', (path) => writeFileSync(path, JSON.stringify(continueSession))],
  [
    'kiro',
    'data.sqlite3',
    (path) => written(path, 'CREATE TABLE conversations (key TEXT, value TEXT)', ['conversations', '/w', JSON.stringify(kiroValue)]),
  ],
  [
    'zed',
    'threads/threads.db',
    (path) =>
      written(path, 'CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)', [
        'threads',
        't-1',
        'Title',
        '2026-09-01T10:00:00Z',
        'json',
        JSON.stringify({ messages: [{ User: { id: 'u', content: [{ Text: 'Hello' }] } }] }),
      ]),
  ],
  ['crush', 'crush.db', (path) => crush(path)],
];
const ampThread = { v: 1, id: 'T-1', title: 'Amp', messages: [{ role: 'user', messageId: 0, content: [{ type: 'text', text: 'Hello' }] }] };
const continueSession = { sessionId: 'c-1', title: 'Continue', workspaceDirectory: '/w', history: [{ message: { role: 'user', content: 'Hello' } }] };
const kiroValue = { conversation_id: 'k-1', history: [{ user: { content: { Prompt: { prompt: 'Hello' } } } }] };

function written(path: string, sql: string, [table, ...values]: readonly string[]): void {
  const db = new Database(path);
  db.exec(sql);
  db.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values);
  db.close();
}

function crush(path: string): void {
  const db = new Database(path);
  db.exec(`CREATE TABLE sessions (id TEXT, title TEXT, prompt_tokens INTEGER); INSERT INTO sessions VALUES ('x-1', 'Crush', 0);
    CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER, updated_at INTEGER);
    INSERT INTO messages VALUES ('m-1', 'x-1', 'user', '[{"type":"text","data":{"text":"Hello"}}]', 1788000000, 1788000000)`);
  db.close();
}

test.each(made)('[F44] a history of %s is found at %s, and the folder imports it', (agent, place, write) => {
  const home = scratch();
  const path = join(home, place);
  mkdirSync(dirname(path), { recursive: true });
  write(path);
  const [source] = foundSources([{ agent, root: home }]);
  expect(source).toMatchObject({ agent, sessions: 1 });
  expect([...foundSessions({ agent, root: home }, () => false)]).toHaveLength(1);
  const chain = emptyChain();
  expect(importInto(chain, ...(source?.folders ?? []))).toMatchObject({ skipped: [], sessions: 1 });
  expect(tips(chain, {})).toHaveLength(1);
});

test('[F44] histories of Aider and Crush in a repository are found once it is known', () => {
  const repository = scratch();
  writeFileSync(join(repository, '.aider.chat.history.md'), '# aider chat started at 2026-06-09 14:01:00\n\n#### add a retry\n\nDone.\n');
  mkdirSync(join(repository, '.crush'));
  crush(join(repository, '.crush', 'crush.db'));
  const chain = emptyChain();
  expect(agentPlaces([], chain)).toEqual([]);
  const path = join(scratch(), 'a.jsonl');
  writeFileSync(path, prompt('u1', 'Hello', { parent: null, extra: { cwd: repository } }));
  importInto(chain, path);
  const places = agentPlaces([], chain);
  expect(foundSources(places)).toMatchObject([
    { agent: 'aider', root: repository, sessions: 1 },
    { agent: 'crush', root: join(repository, '.crush'), sessions: 1 },
  ]);
  expect(importInto(chain, ...foundSources(places).flatMap(({ folders }) => folders))).toMatchObject({ sessions: 2, skipped: [] });
});

test.each([
  ['claude-code', {}, { days: 30, setting: null }],
  ['claude-code', { cleanupPeriodDays: 365 }, { days: 365, setting: 'settings.json' }],
  ['claude-code', { cleanupPeriodDays: 'never' }, { days: 30, setting: null }],
  ['claude-code', { cleanupPeriodDays: 0 }, { days: 0, setting: 'settings.json' }],
  ['claude-code', '{"cleanupPeriodDays":1e999}', { days: 30, setting: null }],
  ['gemini', {}, undefined],
  ['gemini', { general: { sessionRetention: { enabled: true, maxAge: '2w' } } }, { days: 14, setting: 'settings.json' }],
  ['gemini', { general: { sessionRetention: { enabled: false, maxAge: '2w' } } }, undefined],
] as const)('[F44] %s with the settings %j deletes its histories after %j', (agent, settings, deletes) => {
  const home = scratch();
  writeFileSync(join(home, 'settings.json'), typeof settings === 'string' ? settings : JSON.stringify(settings));
  const right = deletes && { ...deletes, setting: deletes.setting && join(home, deletes.setting) };
  expect(foundSources([{ agent, root: home }])[0]?.deletes).toEqual(right);
});

test('[F44] an editor without chats is no source', () => {
  const home = scratch();
  mkdirSync(join(home, 'workspaceStorage', 'a1'), { recursive: true });
  expect(foundSources([{ agent: 'vscode', root: home }])).toEqual([]);
});

test('[F44] a file that no format recognizes says in the list why it cannot be imported', () => {
  const home = scratch();
  const folder = join(home, 'projects', '-work');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'empty.jsonl'), '');
  writeFileSync(join(folder, 'strange.jsonl'), '{"nothing": "known"}\n');
  writeFileSync(join(folder, 'good.jsonl'), prompt('u1', 'Hello', { parent: null }));
  const found = [...foundSessions({ agent: 'claude-code', root: home }, () => false)];
  const problems = Object.fromEntries(found.map(({ path, problem }) => [basename(path), problem]));
  expect(problems).toEqual({ 'empty.jsonl': 'it is empty', 'strange.jsonl': 'it is in no format that Stemma imports', 'good.jsonl': undefined });
  // What the list says is what the import says.
  const { skipped } = importInto(emptyChain(), folder);
  expect(Object.fromEntries(skipped.map(({ path, reason }) => [basename(path), reason]))).toMatchObject({ 'empty.jsonl': 'it is empty' });
  expect(skipped).toHaveLength(2);
});

test('[F44] an import begins with the newest folder, and a folder with its oldest file', () => {
  const file = (path: string, modifiedAt: number) => ({ root: '/h', path, bytes: 1, modifiedAt });
  const order = importOrder([
    file('/h/projects/old/1.jsonl', 1),
    file('/h/projects/new/2.jsonl', 2),
    file('/h/sessions/2026/01/03/3.jsonl', 3),
    file('/h/projects/old/4.jsonl', 4),
    file('/h/projects/new/2/subagents/a.jsonl', 5),
    file('/h/sessions/2026/02/06/6.jsonl', 6),
  ]);
  expect(order.map(({ path }) => basename(path, '.jsonl'))).toEqual(['3', '6', '2', 'a', '1', '4']);
  // A session and its fork, each in a folder of its own.
  for (const [session, fork] of [
    ['ffffffff-4768-4662-b298-1ff6380475bf', '00000000-bc42-4a14-b8ac-027c694d4d96'],
    ['1796142449311_ede1e', '1796142388735_itpts'],
  ])
    expect(importOrder([file(`/h/s/${fork}/b.json`, 8), file(`/h/s/${session}/a.json`, 7)]).map(({ modifiedAt }) => modifiedAt)).toEqual([7, 8]);
});
