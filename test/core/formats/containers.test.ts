import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, JsonObject } from '../../../src/core/base/index.js';
import { entries, fork, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { importableFormats } from '../../../src/core/formats/index.js';
import { zipEntries } from '../../../src/core/formats/shared/zip.js';
import { detect, foundSessions, listSources } from '../../../src/core/import/index.js';
import { listRequests } from '../../../src/core/requests/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { bytesOfFile, importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';
import { survivesAnyBytes } from './each-byte.js';

const fixture = (name: string): string => join(root, 'test/fixtures', name);
const imported = (name: string): WriteChain => {
  const chain = emptyChain();
  importInto(chain, name.startsWith('/') ? name : fixture(name));
  return chain;
};
const tip = (chain: WriteChain, at = 0): ContextId => tips(chain, {})[at]?.id as ContextId;
const tokens = (chain: WriteChain, id: ContextId) => listRequests(chain, { id, stop: 'root' }).map((row) => row.tokens);
const keys = (chain: WriteChain, id: ContextId): EntryKey[] => entries(chain, { id }).entries.map(({ key }) => key);

/** Each sample with its format and the number of its conversations. */
const samples = [
  ['cline/sdk-session.messages.json', 'cline-v1', 1],
  ['cline/sdk-agentic.compaction.json', 'cline-v1', 1],
  ['vscode-chat/copilot_session_simple.json', 'vscode-chat-v1', 1],
  ['vscode-chat/copilot_session_simple.jsonl', 'vscode-chat-v1', 1],
  ['vscode-chat/agentviz-test-vscode-chat.json', 'vscode-chat-v1', 1],
  ['cursor/agent-transcript-simple.jsonl', 'cursor-v1', 1],
  ['inspect-eval/log_formats.eval', 'inspect-eval-v1', 1],
  ['inspect-eval/log_formats.json', 'inspect-eval-v1', 1],
  ['inspect-eval/log_message_deduplication.eval', 'inspect-eval-v1', 1],
  ['inspect-eval/log_tool_call_error.json', 'inspect-eval-v1', 1],
  ['otlp/sample-1_VSGitHubCopilot_traces.jsonl', 'otlp-v1', 1],
] as const;

describe.each(samples)('%s', (name, format, sessions) => {
  test('[F21, F41] comes back byte for byte, and importing it again adds nothing', () => {
    const path = fixture(name);
    expect(detect([path])).toMatchObject([{ format, sessions, confidence: 1 }]);
    const chain = emptyChain();
    const first = importInto(chain, path);
    expect({ skipped: first.skipped, sessions: first.sessions }).toEqual({ skipped: [], sessions });
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    expect(importInto(chain, path).commits).toBe(0);
  });

  test('[F12, F13] has the same keys in every import and cut', () => {
    const [one, other] = [imported(name), imported(name)];
    const id = tip(one);
    const all = keys(one, id);
    expect(new Set(all).size).toBe(all.length);
    expect(keys(other, tip(other))).toEqual(all);
    // A fork refuses results without their calls, and this sample has no others.
    if (name.includes('log_tool_call_error')) return;
    for (const at of [0, Math.floor(all.length / 2), all.length - 1])
      expect(keys(one, fork(one, { id, at: all[at] as EntryKey }).id)).toEqual(all.slice(0, at + 1));
  });

  test('[F10] any bytes anywhere do no harm', () => {
    const chain = imported(name);
    const reader = importableFormats.find(({ id }) => id === format);
    const member = listSources(chain).find(({ path }) => path.includes('#'));
    if (reader) survivesAnyBytes(reader, bytesOfFile(chain, member?.path ?? ''));
    const bytes = readFileSync(fixture(name));
    for (let end = 0; end < bytes.length; end += Math.ceil(bytes.length / 60))
      for (const one of reader?.exports?.members(bytes.subarray(0, end)) ?? []) one.lines();
  });
});

test('[F36, F41] a session of Cline has its system prompt, its calls and their counts', () => {
  const chain = imported('cline/sdk-session.messages.json');
  const lines = said(chain, tip(chain));
  expect(lines.slice(0, 6).map((line) => line.slice(0, 32))).toEqual(
    [
      'system text  You are Cline, an AI coding',
      'user text  can you update @apps/examples',
      'user text  /Users/example/dev/cline/apps',
      "assistant text  I'll look at the `Threa",
      'assistant tool_call editor ',
      'tool tool_result editor {"query":',
    ].map((line) => line.slice(0, 32)),
  );
  expect(tokens(chain, tip(chain))[1]).toEqual({ input: 1580, output: 164, cacheRead: 34332, cacheWrite: 0 });
});

test('[F46] a session of Cline is read together with its compaction and title', () => {
  const folder = fixture('cline/compacted');
  const chain = emptyChain();
  expect(detect([folder]).map(({ sessions }) => sessions)).toEqual([1]);
  expect(importInto(chain, folder)).toMatchObject({ sessions: 1, skipped: [], notes: [] });
  for (const name of readdirSync(folder)) expect(bytesOfFile(chain, join(folder, name))).toEqual(readFileSync(join(folder, name)));
  expect(listSources(chain).find(({ path }) => path.includes('#'))).toMatchObject({ title: 'Fix the queue retry (fork)', cwd: '/work/demo' });
  const [end] = tips(chain, {});
  expect(said(chain, end?.id as ContextId).slice(0, 4)).toEqual([
    'user summary  Context summary:',
    'system text  You are Cline, an AI coding agent.',
    'assistant tool_call editor ',
    'tool tool_result editor {"query":"edit:/work/demo/src/queue.js",',
  ]);
  expect(said(chain, end?.id as ContextId, 'root').filter((line) => line.startsWith('user text'))[0]).toBe('user text  Fix the queue retry');
  expect(importInto(chain, folder)).toMatchObject({ commits: 0, skipped: [] });
  const [compaction = ''] = readdirSync(folder).filter((name) => name.includes('compaction'));
  expect(importInto(emptyChain(), join(folder, compaction)).skipped[0]?.reason).toMatch(/^it is a part of .*\.messages\.json: import that file$/);
});

test('[F44] a session of Cline that is not imported yet is named by its title and folder', () => {
  const home = scratch();
  cpSync(fixture('cline/compacted'), join(home, 'data/sessions/one'), { recursive: true });
  expect([...foundSessions({ agent: 'cline', root: home }, () => false)]).toMatchObject([
    { sessionId: '1795490136957_0j7o0', title: 'Fix the queue retry (fork)', cwd: '/work/demo', subagents: 0 },
  ]);
});

test('[F46] a subagent of Cline belongs to the session that started it', () => {
  const folder = scratch();
  const write = (name: string, more: object): void =>
    writeFileSync(join(folder, `${name}.messages.json`), JSON.stringify({ version: 1, updated_at: '2026-01-01T00:00:00Z', ...more }));
  const said = (id: string, text: string) => ({ id, role: 'user', content: [{ type: 'text', text }] });
  const call = { type: 'tool_use', id: 'call_1', name: 'spawn_agent', input: { task: 'Read the queue' } };
  write('s1', { agent: 'lead', sessionId: 's1', messages: [said('a', 'Look at it'), { id: 'c', role: 'assistant', content: [call] }] });
  const origin = { mode: 'subagent', parentThreadId: 's1' };
  write('agent_1', { agent: 'subagent', sessionId: 's1__agent_1', origin, messages: [said('b', 'Read the queue')] });
  const chain = emptyChain();
  importInto(chain, folder);
  expect(listSessions(chain, {}).sessions.map(({ sessionId, parentSessionId }) => [sessionId, parentSessionId])).toEqual([
    ['s1', undefined],
    ['s1__agent_1', 's1'],
  ]);
});

test('[F41] a chat of VS Code is read by its rounds, and what was cut is a branch', () => {
  const path = join(scratch(), 'chat.jsonl');
  const request = (id: string, text: string): object => ({
    requestId: id,
    timestamp: 1_770_000_000_000,
    message: { text },
    response: [{ value: `${text}!` }],
    result: {},
  });
  const log = [
    { kind: 0, v: { version: 3, sessionId: 's', creationDate: 1, requests: [request('a', 'One'), request('b', 'Two')] } },
    { kind: 2, k: ['requests'], i: 1, v: [request('c', 'Three')] },
  ];
  writeFileSync(path, log.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const chain = imported(path);
  const all = tips(chain, {}).map(({ id }) =>
    said(chain, id)
      .filter((line) => line.startsWith('user'))
      .join(),
  );
  expect(all.sort()).toEqual(['user text  One,user text  Three', 'user text  One,user text  Two']);
  const simple = imported('vscode-chat/copilot_session_simple.json');
  expect(said(simple, tip(simple)).slice(2, 6)).toEqual([
    'user text  Change Bonjour World to hello world',
    'assistant text  I\'ll change "Bonjour World" to "hello wo',
    'assistant tool_call replace_string_in_file ',
    'tool tool_result replace_string_in_file The following files were successfully ed',
  ]);
});

test('[F33, F41] a composer of Cursor is read in the order of its headers', () => {
  const chain = imported('cursor/composer-global-state.vscdb');
  expect(said(chain, tip(chain))).toEqual([
    'user text  Synthetic question alpha.',
    'assistant text  Composer owns the synthetic collision id',
    'assistant text  Synthetic answer beta.',
    'assistant tool_call read_file ',
    'tool tool_result read_file synthetic read result',
    'assistant tool_call search ',
    'tool tool_result search synthetic search result',
    'user text  Synthetic empty-ID compatibility turn.',
  ]);
  expect(listSources(chain)).toMatchObject([{ format: 'cursor-v1', title: 'Synthetic v0.16 Composer session', cwd: '/fixture/v016/project' }]);
});

test('[F41] a log of Inspect compressed by zstd, with a damaged sample, is read', () => {
  const chain = imported('inspect-eval/log_message_deduplication.eval');
  expect(said(chain, tip(chain)).slice(0, 4)).toEqual([
    'user text  Guess the number',
    "assistant text  Executing bash with args: {'cmd': 'ls'}",
    'assistant tool_call bash ',
    'tool tool_result bash bin',
  ]);
  // A program may write an entry in several frames.
  const text = JSON.stringify({ id: 1, epoch: 1, messages: [{ id: 'm', role: 'user', content: 'Hello' }] });
  const content = Buffer.concat([zstdCompressSync(text.slice(0, 20)), zstdCompressSync(text.slice(20))]);
  const archive = storedZip('samples/1_epoch_1.json', content, 93);
  const path = join(scratch(), 'log.eval');
  writeFileSync(path, archive);
  const read = imported(path);
  expect(said(read, tip(read))).toEqual(['user text  Hello']);
});

test('[F41] a database of OpenClaw gives one source for each window', () => {
  const path = join(scratch(), 'openclaw-agent.sqlite');
  const database = new Database(path);
  database.exec('CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)');
  const at = '2026-11-22T09:00:00.000Z';
  const events: JsonObject[] = [
    { type: 'session', version: 4, id: 's1', timestamp: at, cwd: '/work' },
    { type: 'message', id: 'a', parentId: null, timestamp: at, message: { role: 'user', content: 'Hello' } },
    {
      type: 'message',
      id: 'b',
      parentId: 'a',
      timestamp: at,
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'Hi' }],
        api: 'openai-completions',
        provider: 'p',
        model: 'm',
        usage: { input: 5, output: 2, cacheRead: 0, cacheWrite: 0 },
        stopReason: 'stop',
      },
    },
  ];
  const insert = database.prepare('INSERT INTO transcript_events VALUES (?, ?, ?, ?)');
  for (const [seq, event] of events.entries())
    insert.run('s1', seq, seq === 2 ? null : JSON.stringify(event), seq === 2 ? zstdCompressSync(Buffer.from(JSON.stringify(event))) : null);
  database.close();
  const chain = imported(path);
  expect(said(chain, tip(chain))).toEqual(['user text  Hello', 'assistant text  Hi']);
  expect(listSources(chain)).toMatchObject([{ format: 'openclaw-v1', cwd: '/work' }]);
  expect(tokens(chain, tip(chain))).toEqual([{ input: 5, output: 2, cacheRead: 0, cacheWrite: 0 }]);
});

describe.each(['otlp-v1', 'inspect-eval-v1'])('an export as %s', (format) => {
  test('[F40] is imported again with the same entries and keys', () => {
    const chain = imported('pi/tour.jsonl');
    for (const { id } of tips(chain, {})) {
      const path = join(scratch(), format === 'otlp-v1' ? 'spans.json' : 'log.eval');
      exportContext(chain, { id, format, path });
      const again = imported(path);
      expect(listSources(again).map((source) => source.format)).toContain(format);
      const facts = (one: WriteChain, at: ContextId): unknown =>
        entries(one, { id: at }).entries.map(({ key, role, kind, text, toolCallId, isError }) => ({ key, role, kind, text, toolCallId, isError }));
      expect(facts(again, tip(again))).toEqual(facts(chain, id));
      const second = join(scratch(), 'again');
      exportContext(chain, { id, format, path: second });
    }
  });
});

test('[F40] spans name their calls with counts, and their ids are the same in every export', () => {
  const chain = imported('pi/tour.jsonl');
  const id = tips(chain, {}).find((one) => said(chain, one.id).length > 6)?.id as ContextId;
  const spansOf = (): JsonObject[] => {
    const text = exportContext(chain, { id, format: 'otlp-v1' }).text ?? '';
    const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: JsonObject[] }[] }[] };
    return resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  };
  const [one, other] = [spansOf(), spansOf()];
  expect(one.map(({ spanId }) => spanId)).toEqual(other.map(({ spanId }) => spanId));
  expect(new Set(one.map(({ spanId }) => spanId)).size).toBe(one.length);
  expect(one.every(({ traceId, spanId }) => /^[0-9a-f]{32}$/.test(String(traceId)) && /^[0-9a-f]{16}$/.test(String(spanId)))).toBe(true);
  const names = one.flatMap(({ attributes }) => (attributes as unknown as { key: string }[]).map(({ key }) => key));
  expect(names).toContain('gen_ai.usage.input_tokens');
  expect(one.some(({ name }) => String(name).startsWith('execute_tool'))).toBe(true);
});

test('[F40] a log has the entries that Inspect requires', () => {
  const chain = imported('pi/tour.jsonl');
  const { data } = exportContext(chain, { id: tip(chain), format: 'inspect-eval-v1' });
  const archive = zipEntries(Buffer.from(data ?? '', 'base64'));
  expect([...(archive?.keys() ?? [])]).toEqual([
    '_journal/start.json',
    'samples/1_epoch_1.json',
    '_journal/summaries/1.json',
    'summaries.json',
    'header.json',
  ]);
  const header = JSON.parse(Buffer.from(archive?.get('header.json')?.read() ?? []).toString()) as JsonObject;
  expect(header).toMatchObject({ version: 2, status: 'success', eval: { dataset: {}, config: {} }, stats: {} });
});

/** An archive of one entry with bytes that are compressed already. */
function storedZip(name: string, packed: Buffer, method: number): Buffer {
  const title = Buffer.from(name);
  const size = Buffer.alloc(26);
  size.writeUInt16LE(method, 4);
  size.writeUInt32LE(packed.length, 14);
  size.writeUInt32LE(1_000, 18);
  size.writeUInt16LE(title.length, 22);
  const local = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), size, title]);
  const listed = Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), size, Buffer.alloc(14), title]);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(local.length + packed.length, 16);
  return Buffer.concat([local, packed, listed, end]);
}
