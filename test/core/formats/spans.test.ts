import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { entries, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

/** Spans as the JavaScript SDK writes them, one after the other, printed over many lines. */
interface Made {
  readonly id: string;
  readonly attributes: object;
  readonly events?: readonly { readonly name: string; readonly attributes: object }[];
}

function imported(spans: readonly Made[], logs: readonly object[] = []): WriteChain {
  const path = join(scratch(), 'spans.json');
  const own = spans.map(({ id, attributes, events = [] }, at) => ({
    type: 'span',
    traceId: 'a'.repeat(32),
    spanId: id,
    parentSpanId: '',
    name: 'chat m',
    startTime: [1_790_000_000 + at, 0],
    endTime: [1_790_000_000 + at, 5],
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.conversation.id': 'talk', ...attributes },
    events,
  }));
  const text = own.map((span) =>
    JSON.stringify(span, null, 2)
      .replace(/^\{\s*/, '{')
      .replace(/^\{"type": "span",\s*/, '{"type":"span",')
      .replace('"traceId": ', '"traceId":'),
  );
  writeFileSync(path, [...text, ...logs.map((log) => JSON.stringify(log, null, 2))].join('\n'));
  const chain = emptyChain();
  expect(importInto(chain, path)).toMatchObject({ skipped: [] });
  return chain;
}

const branches = (chain: WriteChain): string[][] =>
  tips(chain, {})
    .map(({ id }) => said(chain, id))
    .sort((a, b) => (a.join() < b.join() ? -1 : 1));
const message = (role: string, content: string): object => ({ role, parts: [{ type: 'text', content }] });
const call = (id: string, input: readonly object[], output: string, more: object = {}): Made => ({
  id,
  attributes: { 'gen_ai.input.messages': JSON.stringify(input), 'gen_ai.output.messages': JSON.stringify([message('assistant', output)]), ...more },
});

const asked = 'user text  List files';
const listed = ['assistant tool_call ls ', 'tool tool_result ls a.txt', 'assistant text  One file.'];

test('[F49] messages in the events of spans are read, of both generations', () => {
  const event = (name: string, attributes: object) => ({ name, attributes });
  const tool = { id: 'c1', type: 'function', function: { name: 'ls', arguments: '{"path":"."}' } };
  const early = [
    event('gen_ai.system.message', { content: 'You help.' }),
    event('gen_ai.user.message', { content: 'List files' }),
    event('gen_ai.choice', { index: 0, message: JSON.stringify({ role: 'assistant', tool_calls: [tool] }) }),
  ];
  const late = [
    ...early.slice(0, 2),
    event('gen_ai.assistant.message', { tool_calls: JSON.stringify([tool]) }),
    event('gen_ai.tool.message', { id: 'c1', content: 'a.txt' }),
    event('gen_ai.choice', { index: 0, message: JSON.stringify({ content: 'One file.' }) }),
  ];
  expect(
    branches(
      imported([
        { id: 'one', attributes: {}, events: early },
        { id: 'two', attributes: {}, events: late },
      ]),
    ),
  ).toEqual([['system text  You help.', asked, ...listed]]);
  const details = {
    'gen_ai.input.messages': JSON.stringify([message('user', 'List files')]),
    'gen_ai.output.messages': JSON.stringify([message('assistant', 'None.')]),
  };
  expect(branches(imported([{ id: 'one', attributes: {}, events: [event('gen_ai.client.inference.operation.details', details)] }]))).toEqual([
    [asked, 'assistant text  None.'],
  ]);
  const attributes = Object.entries(details).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const logRecords = [{ eventName: 'gen_ai.client.inference.operation.details', spanId: 'one', attributes }];
  expect(branches(imported([{ id: 'one', attributes: {} }], [{ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }]))).toEqual([
    [asked, 'assistant text  None.'],
  ]);
});

test('[F49] a list of events in one attribute is read, and an agent without calls is one', () => {
  const told = [
    { 'event.name': 'gen_ai.user.message', role: 'user', content: 'List files' },
    { 'event.name': 'gen_ai.choice', message: { role: 'assistant', content: 'None.' } },
  ];
  const expected = [[asked, 'assistant text  None.']];
  expect(branches(imported([{ id: 'one', attributes: { events: JSON.stringify(told) } }]))).toEqual(expected);
  const agent = { 'gen_ai.operation.name': 'invoke_agent' };
  expect(branches(imported([{ id: 'one', attributes: { ...agent, all_messages_events: JSON.stringify(told) } }]))).toEqual(expected);
  const all = [message('user', 'List files'), message('assistant', 'None.')];
  expect(branches(imported([{ id: 'one', attributes: { ...agent, 'pydantic_ai.all_messages': JSON.stringify(all) } }]))).toEqual(expected);
  // Where the calls have spans, the agent's messages are theirs once more.
  const both = [
    { id: 'agent', attributes: { ...agent, 'gen_ai.input.messages': JSON.stringify(all) } },
    call('one', [message('user', 'List files')], 'None.'),
  ];
  expect(branches(imported(both))).toEqual(expected);
});

test.each([
  ['OpenInference', 'llm.input_messages', 'llm.output_messages', 'message.', 'tool_call.function.', 'tool_call.id'],
  ['OpenLLMetry', 'gen_ai.prompt', 'gen_ai.completion', '', '', 'id'],
])('[F49] calls of tools that %s writes as attributes are read', (_, input, output, own, named, id) => {
  const calls = (at: string): object => ({
    [`${at}.${own}role`]: 'assistant',
    [`${at}.${own}tool_calls.0.${id}`]: 'c1',
    [`${at}.${own}tool_calls.0.${named}name`]: 'ls',
    [`${at}.${own}tool_calls.0.${named}arguments`]: '{"path":"."}',
  });
  const prompt = { [`${input}.0.${own}role`]: 'user', [`${input}.0.${own}content`]: 'List files' };
  const result = { [`${input}.2.${own}role`]: 'tool', [`${input}.2.${own}content`]: 'a.txt', [`${input}.2.${own}tool_call_id`]: 'c1' };
  const answer = { [`${output}.0.${own}role`]: 'assistant', [`${output}.0.${own}content`]: 'One file.' };
  const chain = imported([
    { id: 'one', attributes: { ...prompt, ...calls(`${output}.0`) } },
    { id: 'two', attributes: { ...prompt, ...calls(`${input}.1`), ...result, ...answer } },
  ]);
  expect(branches(chain)).toEqual([[asked, ...listed]]);
  const [tip] = tips(chain, {});
  expect(entries(chain, { id: tip?.id as ContextId }).entries[1]).toMatchObject({ toolCallId: 'c1', arguments: { path: '.' } });
});

test('[F49] a call whose input departs from the conversation begins a branch', () => {
  const [system, first, answer] = [message('system', 'Be kind'), message('user', 'One'), message('assistant', 'Uno')];
  const chain = imported([
    call('a', [system, first], 'Uno'),
    call('b', [system, first, answer, message('user', 'Two')], 'Dos'),
    call('c', [system, first, answer, message('user', 'Three')], 'Tres'),
    call('d', [system, message('user', 'Other')], 'Otro'),
    // The answer comes back shorter than it was.
    call('e', [system, first, answer, message('user', 'Two'), message('assistant', ''), message('user', 'Four')], 'Quatro'),
  ]);
  expect(branches(chain).map((lines) => lines.map((line) => line.split('  ')[1]))).toEqual([
    ['Be kind', 'One', 'Uno', 'Three', 'Tres'],
    ['Be kind', 'One', 'Uno', 'Two', 'Dos', 'Four', 'Quatro'],
    ['Be kind', 'Other', 'Otro'],
  ]);
});

test.each([{ 'gen_ai.conversation.compacted': true }, {}])('[F49] a call whose input begins with a summary is a compaction (%j)', (mark) => {
  const chain = imported([
    call('a', [message('user', 'One')], 'Uno'),
    call('b', [message('user', 'One'), message('assistant', 'Uno'), message('user', 'Two')], 'Dos'),
    call('c', [message('user', 'Summary of the earlier conversation so far: numbers'), message('user', 'Three')], 'Tres', mark),
  ]);
  expect(branches(chain)).toEqual([['user summary  Summary of the earlier conversation so f', 'user text  Three', 'assistant text  Tres']]);
});

test('[F49] messages that Copilot records over many lines are not repeated', () => {
  const chain = emptyChain();
  importInto(chain, join(root, 'test/fixtures/otel/copilot-cli/otlp-http-traces.jsonl'));
  const prompts = tips(chain, {}).map(({ id }) =>
    entries(chain, { id, stop: 'root' }).entries.flatMap(({ role, text }) => (role === 'user' ? (text ?? '') : [])),
  );
  // The prompt of a subagent is the argument of the call that started it.
  expect(prompts.map(({ length }) => length).sort()).toEqual([0, 3]);
  expect(new Set(prompts.flat()).size).toBe(3);
});

test('[F10] a span that is cut off is named by its line, and the others are read', () => {
  const span = (id: string): string =>
    JSON.stringify({
      type: 'span',
      traceId: 'a'.repeat(32),
      spanId: id,
      parentSpanId: '',
      name: 'chat m',
      startTime: [1_790_000_000, 0],
      endTime: [1_790_000_001, 0],
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}]}]' },
    });
  const path = join(scratch(), 'spans.jsonl');
  writeFileSync(path, `${span('1'.repeat(16))}\n${span('2'.repeat(16)).slice(0, 150)}`);
  const chain = emptyChain();
  expect(importInto(chain, path)).toMatchObject({ sessions: 1, skipped: [{ path, line: 2, reason: expect.stringContaining('does not end') }] });
  expect(tips(chain, {}).map(({ id }) => said(chain, id))).toEqual([['assistant text  Hello']]);
});
