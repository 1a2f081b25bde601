import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { tips } from '../../../src/core/chain/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { usageCalls } from '../../../src/core/usage/index.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const image = Buffer.from('\x89PNG').toString('base64');
const result = (id: string, content: unknown) => ({ tool_use_id: id, tool_name: 'terminal', is_error: false, content, output: null });
const use = (id: string) => ({ ToolUse: { id, name: 'terminal', raw_input: '{}', input: { command: 'ls' }, is_input_complete: true } });

/** A thread of version 0.3.0 as Zed writes it (crates/agent/src/db.rs). */
const thread = {
  version: '0.3.0',
  title: 'Fix it',
  updated_at: '2026-09-01T10:00:00Z',
  model: { provider: 'anthropic', model: 'claude-sonnet-4-6' },
  cumulative_token_usage: { input_tokens: 300, output_tokens: 30 },
  request_token_usage: { 'u-1': { input_tokens: 200, output_tokens: 20, cache_read_input_tokens: 50 } },
  messages: [
    {
      User: {
        id: 'u-1',
        content: [{ Text: 'Look' }, { Mention: { uri: { File: { abs_path: '/a' } }, content: 'inside' } }, { Image: { source: image } }],
      },
    },
    { Agent: { content: [{ Thinking: { text: 'hm', signature: 'sig' } }, use('c-1')], tool_results: { 'c-1': result('c-1', [{ Text: 'a.txt' }]) } } },
    { Agent: { content: [{ RedactedThinking: 'x' }, { Text: 'Done' }], tool_results: {} } },
    'Resume',
  ],
};
const older = {
  version: '0.2.0',
  summary: 'Old',
  messages: [
    { id: 0, role: 'user', segments: [{ type: 'text', text: 'Before' }], context: 'a file' },
    {
      id: 1,
      role: 'assistant',
      segments: [{ type: 'text', text: 'OK' }],
      tool_uses: [{ id: 'o-1', name: 'read', input: {} }],
      tool_results: [result('o-1', 'x')],
    },
  ],
};

test('[F43] Zed: threads of both forms, a subagent, the counts of a turn, and a damaged one', () => {
  const path = join(scratch(), 'threads.db');
  const db = new Database(path);
  db.exec(`CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, data_type TEXT NOT NULL, data BLOB NOT NULL);
    ALTER TABLE threads ADD COLUMN parent_id TEXT; ALTER TABLE threads ADD COLUMN folder_paths TEXT`);
  const insert = db.prepare('INSERT INTO threads (id, summary, updated_at, data_type, data, parent_id, folder_paths) VALUES (?, ?, ?, ?, ?, ?, ?)');
  const day = '2026-09-01T10:00:00Z';
  const packed = (value: object) => zstdCompressSync(Buffer.from(JSON.stringify(value)));
  insert.run('t-1', 'Fix it', day, 'zstd', packed(thread), null, '/home/dev/app\n/home/dev/lib');
  insert.run('t-2', 'Sub', day, 'zstd', packed({ ...thread, messages: thread.messages.slice(0, 1) }), 't-1', '/home/dev/app');
  insert.run('t-3', 'Old', day, 'json', Buffer.from(JSON.stringify(older)), null, null);
  insert.run('t-4', 'Damaged', day, 'zstd', Buffer.from('no zstd'), null, null);
  db.close();
  const chain = emptyChain();
  expect(importInto(chain, path)).toMatchObject({ sessions: 4, skipped: [] });
  const { sessions } = listSessions(chain, {});
  expect(
    sessions.map(({ sessionId, agent, title, parentSessionId, repository }) => [sessionId, agent, title, parentSessionId, repository]).sort(),
  ).toEqual([
    ['t-1', 'zed', 'Fix it', undefined, '/home/dev/app'],
    ['t-2', 'zed', 'Look', 't-1', '/home/dev/app'],
    ['t-3', 'zed', 'Old', undefined, null],
    ['t-4', 'zed', 'Damaged', undefined, null],
  ]);
  const words = (sessionId: string) => tips(chain, { sessionId }).flatMap(({ id }) => said(chain, id, 'root'));
  expect(words('t-1')).toEqual([
    'user text  Look',
    'user text  inside',
    'user image  ',
    'assistant thinking  hm',
    'assistant tool_call terminal ',
    'tool tool_result terminal a.txt',
    'assistant text  Done',
  ]);
  expect(words('t-3')).toEqual([
    'user text  a file',
    'user text  Before',
    'assistant text  OK',
    'assistant tool_call read ',
    'tool tool_result read x',
  ]);
  const counted = usageCalls(chain, {}).calls.filter(({ window }) => window !== null);
  expect(counted).toMatchObject([{ model: 'claude-sonnet-4-6', tokens: { input: 200, cacheRead: 50, output: 20 } }]);
});

test('[F43] Kiro: conversations of both of its tables are read, each once', () => {
  const path = join(scratch(), 'data.sqlite3');
  const db = new Database(path);
  db.exec(
    'CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, updated_at INTEGER)',
  );
  const value = (id: string, words: string) =>
    JSON.stringify({
      conversation_id: id,
      history: [{ user: { content: { Prompt: { prompt: words } } }, assistant: { Response: { content: 'ok' } } }],
    });
  db.prepare('INSERT INTO conversations VALUES (?, ?)').run('/w/a', value('k-1', 'both'));
  db.prepare('INSERT INTO conversations VALUES (?, ?)').run('/w/b', value('k-2', 'old only'));
  db.prepare('INSERT INTO conversations_v2 VALUES (?, ?, ?, 1)').run('/w/a', 'k-1', value('k-1', 'both'));
  db.close();
  const chain = emptyChain();
  expect(importInto(chain, path)).toMatchObject({ sessions: 2 });
  expect(
    listSessions(chain, {})
      .sessions.map(({ sessionId, title }) => [sessionId, title])
      .sort(),
  ).toEqual([
    ['k-1', 'both'],
    ['k-2', 'old only'],
  ]);
});
