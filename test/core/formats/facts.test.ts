import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { Mapping } from '../../../src/core/contract/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import { promptLine } from '../../../src/core/formats/shared/headline.js';
import { importPaths } from '../../../src/core/import/paths.js';
import { atOnce } from '../../../src/core/project/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { usageSessions } from '../../../src/core/usage/index.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const file = (name: string, content: string): string => {
  const path = join(scratch(), name);
  writeFileSync(path, content);
  return path;
};
const jsonl = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const sessionsIn = (chain: WriteChain) => listSessions(chain, { sort: 'title' }).sessions;
/** For the first commit of each subagent, by its title: the title of the commit with the call that started it. */
function starters(chain: WriteChain): Record<string, string | undefined> {
  const { rows } = graph(chain, { offset: 0, limit: 100 });
  const titles = new Map(rows.map(({ commit }) => [commit.id, commit.summary]));
  return Object.fromEntries(rows.flatMap(({ commit, startedBy }) => (startedBy ? [[commit.summary, titles.get(startedBy.commit)]] : [])));
}

describe('the title of a prompt', () => {
  test.each([
    ['<user_query>\nFix the retry\n</user_query>', 'Fix the retry'],
    ['<current_datetime>now</current_datetime>\n\nFix the retry', 'Fix the retry'],
    ['<environment_info>macOS</environment_info>\n<userMemory>none</userMemory>\n<userRequest>\nFix it\n</userRequest>', 'Fix it'],
    ['<USER_REQUEST>\nList\n</USER_REQUEST>\n<USER_SETTINGS>x</USER_SETTINGS>', 'List'],
    ['<div>Center this</div> please', '<div>Center this</div> please'],
    ['<git-context>main</git-context>', 'main'],
    ['<user_query></user_query>', '<user_query></user_query>'],
  ])('[F47] %j is named %j', (text, line) => expect(promptLine(text)).toBe(line));

  test('[F47] a text that only an agent added has no title where another follows', () =>
    expect(promptLine('<environment_info>macOS</environment_info>', true)).toBeUndefined());
});

test('[F43, F47] a mapped session has its tool as agent, and texts of the tool begin no turn', () => {
  const mapping: Mapping = {
    stemmaMapping: 1,
    name: 'my-tool',
    entries: [
      { when: "@.who == 'system'", kind: 'text', role: 'system', text: '$.said' },
      { when: "@.who == 'user'", kind: 'text', role: 'user', text: '$.said', isAdded: "search(@.said, '^Output:')" },
      { when: "@.who == 'bot'", kind: 'text', text: '$.said' },
    ],
  };
  const said = (who: string, text: string) => ({ who, said: text });
  const lines = [
    said('system', 'Be kind'),
    said('user', 'Fix it'),
    said('bot', 'ls'),
    said('user', 'Output: a.txt'),
    said('bot', 'Done'),
    { tick: 1 },
  ];
  const chain = emptyChain();
  atOnce(importPaths(chain, { paths: [file('chat.jsonl', jsonl(lines))], mapping }));
  expect(sessionsIn(chain)).toMatchObject([{ agent: 'my-tool', title: 'Fix it', turns: 1 }]);
  expect(sessionsIn(chain)[0]).not.toHaveProperty('subagent');
  expect(usageSessions(chain, { groupBy: 'agent' }).rows.map(({ key }) => key)).toEqual(['my-tool']);
});

const event = (type: string, id: string, data: object, more: object = {}) => ({
  type,
  id,
  parentId: null,
  timestamp: '2026-11-25T10:00:00.000Z',
  data,
  ...more,
});

test('[F35, F36, F47] Copilot: counts, the call of a subagent, turns by a compaction', () => {
  const call = { toolCallId: 'call_1', name: 'task', arguments: { prompt: 'look' } };
  const lines = [
    event('session.start', 'e1', { sessionId: 's', context: { cwd: '/work' } }),
    event('session.resume', 'e2', {}),
    event('system.message', 'e3', { role: 'system', content: 'You are Copilot.' }),
    event('session.compaction_complete', 'e4', { success: true, summaryContent: 'Before' }),
    event('user.message', 'e5', { content: 'Fix it', transformedContent: '<current_datetime>now</current_datetime>\nFix it' }),
    event('assistant.message', 'e6', { messageId: 'm1', content: 'Let me ask', model: 'm', outputTokens: 12, toolRequests: [call] }),
    event('user.message', 'e7', { content: 'look', parentToolCallId: 'call_1' }, { agentId: 'a' }),
    event('assistant.message', 'e8', { messageId: 'm2', content: 'Fine', model: 'm', outputTokens: 3, parentToolCallId: 'call_1' }, { agentId: 'a' }),
    event('tool.execution_complete', 'e9', { toolCallId: 'call_1', success: true, result: { content: 'Fine' } }),
    event('assistant.message', 'e10', { messageId: 'm3', content: 'Done', model: 'm', outputTokens: 4, toolRequests: [] }),
    event('session.compaction_complete', 'e11', { success: true, summaryContent: 'All done' }),
    event('session.shutdown', 'e12', {}),
  ];
  const chain = emptyChain();
  importInto(chain, file('events.jsonl', jsonl(lines)));
  expect(sessionsIn(chain)).toMatchObject([
    { sessionId: 's', title: 'Fix it', turns: 1 },
    { title: 'look', turns: 1, parentSessionId: 's' },
  ]);
  expect(starters(chain)).toEqual({ look: 'Fix it' });
  expect(usageSessions(chain, {}).totals).toMatchObject({ calls: 3, tokens: { output: 19 } });
});

test('[F36, F39] ATIF: calls without answers count, and subagents have parents', () => {
  const step = (number: number, source: string, message: string, more: object = {}) => ({ step_id: number, source, message, ...more });
  const ref = { source_call_id: 'c1', content: 'Fine', subagent_trajectory_ref: [{ trajectory_id: 'child' }] };
  const agent = { name: 'a', version: '1' };
  const document = {
    schema_version: 'ATIF-v1.7',
    session_id: 'run',
    trajectory_id: 'root',
    agent,
    steps: [
      step(1, 'user', 'Fix it'),
      step(2, 'agent', 'Dispatching', { llm_call_count: 0 }),
      step(3, 'agent', '', {
        metrics: { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4 },
        observation: { results: [{ content: 'seen' }] },
      }),
      step(4, 'agent', 'Asking', {
        tool_calls: [{ tool_call_id: 'c1', function_name: 'task', arguments: {} }],
        observation: { results: [ref] },
        metrics: { prompt_tokens: 20, completion_tokens: 3 },
      }),
    ],
    subagent_trajectories: [
      { schema_version: 'ATIF-v1.7', trajectory_id: 'child', session_id: 'run', agent, steps: [step(1, 'user', 'look'), step(2, 'agent', 'Fine')] },
    ],
  };
  const chain = emptyChain();
  importInto(chain, file('trajectory.json', JSON.stringify(document)));
  expect(sessionsIn(chain)).toMatchObject([
    { sessionId: 'run', title: 'Fix it', turns: 1 },
    { sessionId: 'child', title: 'look', parentSessionId: 'run' },
  ]);
  expect(starters(chain)).toEqual({ look: 'Fix it' });
  // The subagent's call has no counts.
  expect(usageSessions(chain, {}).totals).toMatchObject({ calls: 3, tokens: { input: 26, cacheRead: 4, output: 5 } });
});

const messages = (...list: readonly (readonly [role: string, ...parts: object[]])[]): string =>
  JSON.stringify(list.map(([role, ...parts]) => ({ role, parts })));
const text = (content: string) => ({ type: 'text', content });

test('[F41] spans of VS Code: chat sessions, failed tools, and no repeated answers', () => {
  const path = join(scratch(), 'agent-traces.db');
  const store = new Database(path);
  store.exec(`CREATE TABLE spans (span_id TEXT PRIMARY KEY, trace_id TEXT, parent_span_id TEXT, name TEXT, start_time_ms INTEGER, end_time_ms INTEGER,
      status_code INTEGER, status_message TEXT);
    CREATE TABLE span_attributes (span_id TEXT, key TEXT, value TEXT, PRIMARY KEY (span_id, key))`);
  const call = { type: 'tool_call', id: 'c1', name: 'edit', arguments: { path: 'a' } };
  const span = (id: string, name: string, status: number, attributes: object): void => {
    store.prepare('INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?)').run(id, 't', 'agent', name, Number(id), Number(id) + 1, status, null);
    for (const [key, value] of Object.entries({ 'copilot_chat.chat_session_id': 'chat-1', ...attributes }))
      store.prepare('INSERT INTO span_attributes VALUES (?, ?, ?)').run(id, key, String(value));
  };
  const chat = (id: string, input: string, output: string): void =>
    span(id, 'chat gpt', 1, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': `answer-${id}`,
      'gen_ai.response.model': 'gpt',
      'gen_ai.system_instructions': JSON.stringify([text('Be kind')]),
      'gen_ai.input.messages': input,
      'gen_ai.output.messages': output,
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 4,
    });
  const asked = [['system', text('Be kind')] as const, ['user', text('<userRequest>Fix it</userRequest>')] as const];
  span('1', 'execute_tool todo', 1, { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'todo', 'gen_ai.tool.call.result': 'none' });
  chat('2', messages(...asked), messages(['assistant', { type: 'reasoning', content: 'Hm' }, { ...call, arguments: '{"path":"a"}' }]));
  span('3', 'execute_tool edit', 2, { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'edit', 'gen_ai.tool.call.id': 'c1' });
  const result = { type: 'tool_call_response', id: 'c1', response: 'no such file' };
  chat('4', messages(...asked, ['assistant', call], ['tool', result]), messages(['assistant', text('It failed')]));
  store.close();
  const chain = emptyChain();
  importInto(chain, path);
  expect(sessionsIn(chain)).toMatchObject([{ sessionId: 'chat-1', title: 'Fix it', turns: 1, errors: 1 }]);
  expect(usageSessions(chain, {}).totals).toMatchObject({ calls: 2, tokens: { input: 12, cacheRead: 8, output: 4 } });
  const [tip] = tips(chain, {});
  expect(said(chain, tip?.id as never)).toEqual([
    'assistant tool_call todo ',
    'tool tool_result todo none',
    'system text  Be kind',
    'user text  <userRequest>Fix it</userRequest>',
    'assistant thinking  Hm',
    'assistant tool_call edit ',
    'tool tool_result edit no such file',
    'assistant text  It failed',
  ]);
});

test('[F41] spans that belong to an agent inside of a tool are a subagent of the call', () => {
  const span = (spanId: string, parentSpanId: string, name: string, attributes: Record<string, string>) => ({
    traceId: 'a'.repeat(32),
    spanId,
    parentSpanId,
    name,
    startTimeUnixNano: `${spanId.charCodeAt(0)}000000000`,
    endTimeUnixNano: `${spanId.charCodeAt(0)}000000001`,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } })),
  });
  const chat = (input: string, output: string) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.input.messages': input,
    'gen_ai.output.messages': output,
  });
  const spans = [
    span('a', '', 'invoke_agent main', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': 'talk' }),
    span('b', 'a', 'chat', chat(messages(['user', text('Fix it')]), messages(['assistant', { type: 'tool_call', id: 'c1', name: 'task' }]))),
    span('c', 'a', 'execute_tool task', { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'task', 'gen_ai.tool.call.id': 'c1' }),
    span('d', 'c', 'invoke_agent helper', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'helper' }),
    span('e', 'd', 'chat', chat(messages(['user', text('look')]), messages(['assistant', text('Fine')]))),
  ];
  const chain = emptyChain();
  importInto(chain, file('spans.json', JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })));
  expect(sessionsIn(chain)).toMatchObject([
    { sessionId: 'talk', title: 'Fix it' },
    { title: 'look', parentSessionId: 'talk', subagent: 'helper' },
  ]);
  expect(starters(chain)).toEqual({ look: 'Fix it' });
});

test.each([
  ['otlp-v1', (own: object[]) => ({ call: {}, entries: own })],
  ['inspect-eval-v1', (own: object[]) => ({ role: 'user', content: 'Hi', metadata: { stemma: { entries: own } } })],
])('[F10] %s: an entry that lost its key has the number of its place', (format, record) => {
  const own = [
    { key: 'kept.0', role: 'user', kind: 'text', text: 'one' },
    { role: 'user', kind: 'text', text: 'two' },
  ];
  const line = { source: format, in: 's', id: 'r', record: record(own) };
  const { entries } = requireFormat(format).parse(Buffer.from(jsonl([line])));
  expect(entries.map(({ key, text }) => [key, text])).toEqual([
    ['kept.0', 'one'],
    ['s:r.1', 'two'],
  ]);
});
