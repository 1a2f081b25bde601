import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entries, graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { Entry } from '../../../src/core/contract/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { loadPrices, prepareUsage, usageCalls, usageSessions } from '../../../src/core/usage/index.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

function imported(path: string): WriteChain {
  const chain = emptyChain();
  expect(importInto(chain, path)).toMatchObject({ skipped: [], notes: [] });
  expect(importInto(chain, path)).toMatchObject({ commits: 0 });
  return chain;
}

const fixture = (name: string): WriteChain => imported(join(root, 'test/fixtures/inspect-eval', name));
const everything = (chain: WriteChain): readonly Entry[] =>
  tips(chain, {}).flatMap(({ id }) => entries(chain, { id, stop: 'root', hidden: true }).entries);
const branches = (chain: WriteChain): string[][] =>
  tips(chain, {})
    .map(({ id }) => said(chain, id).filter((line) => !line.startsWith('system event') && line !== 'assistant text  '))
    .sort((a, b) => (a.join() < b.join() ? -1 : 1));
const at = '2026-01-01T00:00:00Z';
const message = (id: string, role: string, content: string, more: object = {}): object => ({ id, role, content, ...more });

/** A log of one sample. */
function logOf(sample: object): WriteChain {
  const path = join(scratch(), 'log.json');
  const log = {
    version: 2,
    status: 'success',
    eval: { eval_id: 'e', task: 'demo', created: at, model: 'm' },
    samples: [{ id: 1, epoch: 1, ...sample }],
  };
  writeFileSync(path, JSON.stringify(log));
  return imported(path);
}

const model = (span: string, input: readonly object[], answer: object): object => ({
  event: 'model',
  span_id: span,
  timestamp: at,
  model: 'm',
  input,
  output: { choices: [{ message: answer }], usage: { input_tokens: 5, output_tokens: 1 } },
});
const span = (id: string, type: string, parent: string | null): object => ({
  event: 'span_begin',
  id,
  name: id,
  type,
  parent_id: parent,
  timestamp: at,
});

const [asked, looked] = [message('u', 'user', 'Solve it'), message('a', 'assistant', 'Looking')];
const [first, second] = [message('b1', 'assistant', 'One way'), message('b2', 'assistant', 'Another way')];

test('[F49] a branch of a sample leaves its conversation where it says, and nothing is repeated', () => {
  const events = [
    span('main', 'agent', null),
    model('main', [asked], looked),
    span('try', 'branch', 'main'),
    { event: 'branch', span_id: 'try', from_anchor: 'a', timestamp: at },
    model('try', [asked, looked], first),
    { event: 'span_end', id: 'try', timestamp: at },
    model('main', [asked, looked], second),
  ];
  const chain = logOf({ messages: [asked, looked, second], events, scores: { exact: { value: 1 } } });
  expect(branches(chain)).toEqual([
    ['user text  Solve it', 'assistant text  Looking', 'assistant text  Another way'],
    ['user text  Solve it', 'assistant text  Looking', 'assistant text  One way'],
  ]);
});

test('[F49] the agent that a tool started is a subagent of the call', () => {
  const call = message('a', 'assistant', '', { tool_calls: [{ id: 'c1', function: 'helper', arguments: {}, type: 'function' }] });
  const result = message('t', 'tool', 'Found', { tool_call_id: 'c1', function: 'helper' });
  const events = [
    span('main', 'agent', null),
    model('main', [asked], call),
    { event: 'tool', span_id: 'main', id: 'c1', function: 'helper', agent_span_id: 'inner', timestamp: at },
    span('inner', 'agent', 'main'),
    model('inner', [message('x', 'user', 'Find')], message('y', 'assistant', 'Found')),
    { event: 'span_end', id: 'inner', timestamp: at },
    model('main', [asked, call, result], second),
  ];
  const chain = logOf({ messages: [asked, call, result, second], events });
  expect(listSessions(chain, {}).sessions.map(({ sessionId, parentSessionId, subagent }) => ({ sessionId, parentSessionId, subagent }))).toEqual([
    { sessionId: 'e:1_epoch_1', parentSessionId: undefined, subagent: undefined },
    { sessionId: 'e:1_epoch_1/inner', parentSessionId: 'e:1_epoch_1', subagent: 'inner' },
  ]);
  const { rows } = graph(chain, { offset: 0, limit: 10 });
  expect(rows.flatMap(({ startedBy }) => startedBy?.toolCallId ?? [])).toEqual(['c1']);
});

test('[F5, F49] a compaction of a sample is what the call after it was sent', () => {
  const [more, summary] = [message('u2', 'user', 'And then?'), message('s', 'user', 'Summary of the earlier conversation: looked')];
  const events = [
    model('', [asked], looked),
    { event: 'compaction', type: 'summary', uuid: 'k', timestamp: at },
    model('', [summary, more], first),
    model('', [summary, more, first], second),
  ];
  const chain = logOf({ messages: [asked, looked, more, first, second], events });
  expect(branches(chain)).toEqual([
    ['user summary  Summary of the earlier conversation: loo', 'user text  And then?', 'assistant text  One way', 'assistant text  Another way'],
  ]);
  const [tip] = tips(chain, {});
  expect(entries(chain, { id: tip?.id as never, stop: 'root' }).entries.some(({ text }) => text === 'Looking')).toBe(true);
});

test('[F49] a try that failed is a session of its own, with the attachments of a sample', () => {
  const hash = 'a'.repeat(32);
  const retried = { message: 'Timeout', events: [model('', [message('u', 'user', `Solve attachment://${hash}!`)], first)] };
  const chain = logOf({ messages: [asked, second], attachments: { [hash]: 'it' }, error_retries: [retried] });
  expect(branches(chain)).toContainEqual(['user text  Solve it!', 'assistant text  One way']);
  expect(listSessions(chain, {}).sessions.map(({ title }) => title)).toEqual(['demo · 1, epoch 1', 'demo · 1, epoch 1, try 1']);
  expect(everything(chain).some(({ text, isError }) => text === 'Timeout' && isError)).toBe(true);
});

test('[F36, F49] lists of events are conversations: branches, a compaction, and nested agents', async () => {
  await loadPrices();
  const total = (chain: WriteChain): number => {
    const { input, output } = usageSessions(chain, {}).totals.tokens;
    return input + output;
  };
  const branched = fixture('events_branch_explicit.json');
  const start = ['system text  You are an orchestrator.', 'user text  Solve the task.'];
  const tried = [...start, 'assistant text  Searching...', 'tool tool_result  Found result.'];
  expect(branches(branched)).toEqual([[...start, 'assistant text  Judged result.'], tried, tried]);
  expect(total(branched)).toBe(900);
  const compacted = fixture('events_compaction_boundary.json');
  expect(branches(compacted)).toEqual([
    [
      'system text  You are an assistant',
      'user summary  Solve the task',
      'assistant text  Approach B',
      'user text  Elaborate',
      'assistant text  Details here',
    ],
  ]);
  expect(total(compacted)).toBe(600);
  const nested = fixture('events_nested_agents.json');
  expect(listSessions(nested, {}).sessions.map(({ subagent }) => subagent)).toEqual([undefined, 'researcher']);
  expect(total(nested)).toBe(340);
});

test('[F49, N16] calls of scorers and calls without a message count beside the conversation', async () => {
  const [critique, grade] = [message('c', 'assistant', 'Too short'), message('g', 'assistant', 'GRADE: C')];
  const chain = logOf({
    messages: [asked, looked],
    events: [
      span('solvers', 'solvers', null),
      model('solvers', [asked], looked),
      model('solvers', [looked], critique),
      span('scorers', 'scorers', null),
      span('judge', 'scorer', 'scorers'),
      model('judge', [looked], grade),
    ],
  });
  await prepareUsage(chain);
  expect(branches(chain)).toEqual([['user text  Solve it', 'assistant text  Looking']]);
  const { calls } = usageCalls(chain, {});
  expect(calls.map(({ beside, model: named, tokens }) => [beside, named, tokens.input, tokens.output])).toEqual([
    [undefined, 'm', 5, 1],
    ['solvers', 'm', 5, 1],
    ['judge', 'm', 5, 1],
  ]);
  // Without a list of messages, the calls of a scorer are still no part of the conversation.
  const bare = logOf({ events: [span('judge', 'scorer', null), model('solvers', [asked], looked), model('judge', [looked], grade)] });
  expect(branches(bare)).toEqual([['user text  Solve it', 'assistant text  Looking']]);
  expect(usageSessions(bare, {}).totals).toMatchObject({ calls: 2, tokens: { input: 10, output: 2 } });
});

test('[F41] a timeline of a sample is kept, and repeats none of its events', () => {
  const events = [{ ...model('main', [asked], looked), uuid: 'e1' }];
  const root = { type: 'span', id: 'main', name: 'main', content: [{ type: 'event', event: 'e1' }], branches: [] };
  const plain = logOf({ input: 'Solve it', messages: [asked, looked], events });
  const chain = logOf({ input: 'Solve it', messages: [asked, looked], events, timelines: [{ name: 'Review', description: 'By hand', root }] });
  expect(branches(chain)).toEqual([['user text  Solve it', 'assistant text  Looking']]);
  const facts = (one: WriteChain) => everything(one).map(({ key, text }) => [key, text]);
  const more = facts(chain).filter(([key]) => !facts(plain).some(([other]) => other === key));
  expect(more).toEqual([[expect.stringContaining('timeline-0'), 'timeline']]);
});
