import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { listSessions } from '../../../src/core/sessions/index.js';
import { usageCalls, usageSessions } from '../../../src/core/usage/index.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { reordered } from '../../support/reordered.js';

const fixtures = join(import.meta.dirname, '../../fixtures');
const cases = join(fixtures, 'cases');

function read(path: string) {
  const chain = emptyChain();
  const { skipped, notes } = importInto(chain, path);
  const { sessions } = listSessions(chain, {});
  return {
    skipped,
    notes,
    agents: sessions.map(({ agent }) => agent),
    turns: sessions.map(({ turns }) => turns),
    said: sessions.flatMap(({ tips }) => tips.flatMap((tip) => said(chain, tip, 'root'))),
    tokens: usageSessions(chain, { groupBy: null }).totals.tokens,
    calls: usageCalls(chain, {}).total,
  };
}

test('[F43] the log of codex exec is a turn with its command, answer and counts', () => {
  expect(read(join(cases, 'codex-exec-json/out.jsonl'))).toMatchObject({
    agents: ['codex'],
    turns: [1],
    said: [
      'assistant thinking  **Looking**',
      'assistant tool_call command_execution ',
      'tool tool_result command_execution a.txt',
      'assistant text  There is a.txt',
    ],
    tokens: { input: 500, cacheRead: 500, output: 20 },
  });
});

test('[F43] the logs of Gemini and Cursor are turns with prompt, tools and answer', () => {
  expect(read(join(cases, 'gemini-stream-json/gemini.jsonl'))).toMatchObject({
    agents: ['gemini'],
    said: ['user text  list files', 'assistant tool_call list_directory ', 'tool tool_result list_directory a.txt', 'assistant text  a.txt'],
    tokens: { input: 200, output: 50 },
  });
  expect(read(join(cases, 'gemini-stream-json/cursor.jsonl'))).toMatchObject({ agents: ['cursor'], turns: [1] });
});

/** A log of Claude Code without a terminal: a replayed prompt, a subagent, an answer and the sums. */
const headless = [
  { type: 'system', subtype: 'init', cwd: '/home/dev/app', session_id: 's-1', tools: ['Bash'], model: 'claude-sonnet-4-6' },
  {
    type: 'user',
    message: { role: 'user', content: [{ type: 'text', text: 'Look around' }] },
    parent_tool_use_id: null,
    session_id: 's-1',
    isReplay: true,
  },
  said1('m1', [{ type: 'tool_use', id: 'tu1', name: 'Task', input: { prompt: 'Count' } }], null),
  { type: 'user', message: { role: 'user', content: 'Count' }, parent_tool_use_id: 'tu1', session_id: 's-1' },
  said1('m2', [{ type: 'text', text: 'Three' }], 'tu1'),
  {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tu1', content: 'Three' }] },
    parent_tool_use_id: null,
    session_id: 's-1',
  },
  said1('m3', [{ type: 'text', text: 'Done' }], null),
  {
    type: 'result',
    subtype: 'success',
    session_id: 's-1',
    total_cost_usd: 0.5,
    modelUsage: {
      'claude-sonnet-4-6': { inputTokens: 30, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, outputTokens: 60, costUSD: 0.4 },
      'claude-haiku-4-5': { inputTokens: 500, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, outputTokens: 40, costUSD: 0.1 },
    },
  },
];

function said1(id: string, content: object[], agent: string | null) {
  const usage = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 2 };
  return {
    type: 'assistant',
    message: { id, role: 'assistant', model: 'claude-sonnet-4-6', content, stop_reason: null, usage },
    parent_tool_use_id: agent,
    session_id: 's-1',
  };
}

test.each([
  ['as lines', (records: object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('')],
  ['as a list', (records: object[]) => JSON.stringify(records, null, 2)],
  [
    'with ids',
    (records: object[]) => records.map((one, at) => `${JSON.stringify({ ...one, uuid: `00000000-0000-4000-8000-00000000000${at}` })}\n`).join(''),
  ],
])('[F43] the log of claude -p %s is one chain with its subagent, its prompt and its sums', (_, written) => {
  const path = join(scratch(), 'out.json');
  writeFileSync(path, written(headless));
  const log = read(path);
  expect(log).toMatchObject({ skipped: [], agents: ['claude-code', 'claude-code'], turns: [1, 1] });
  expect(log.said).toEqual([
    'user text  Look around',
    'assistant tool_call Task ',
    'tool tool_result Task Three',
    'assistant text  Done',
    'user text  Count',
    'assistant text  Three',
  ]);
  // The calls of Haiku stand in no line.
  expect(log).toMatchObject({ calls: 4, tokens: { input: 30 + 500 } });
});

test('[N24] of several results in one log the last one has the sums', () => {
  const path = join(scratch(), 'out.jsonl');
  const more = { ...headless.at(-1), modelUsage: { 'claude-haiku-4-5': { inputTokens: 900, outputTokens: 90, costUSD: 0.2 } } };
  writeFileSync(path, [...headless, more].map((one) => `${JSON.stringify(one)}\n`).join(''));
  expect(read(path).tokens).toMatchObject({ input: 30 + 900 });
});

test.each([
  ['more than the replies', { input_tokens: 500, cache_read_input_tokens: 40, output_tokens: 70 }, [4, 500, 'calls that stand in no line']],
  ['as much as the replies', { input_tokens: 30, output_tokens: 6 }, [3, 30, undefined]],
  ['less than the replies', { input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 6 }, [3, 30, undefined]],
] as const)('[N24] a result that names no models and counts %s', (_, usage, [calls, input, beside]) => {
  const path = join(scratch(), 'out.jsonl');
  const { modelUsage: __, ...result } = headless.at(-1) as { modelUsage: object };
  writeFileSync(path, [...headless.slice(0, -1), { ...result, usage }].map((one) => `${JSON.stringify(one)}\n`).join(''));
  const chain = emptyChain();
  importInto(chain, path);
  expect(usageSessions(chain, { groupBy: null }).totals).toMatchObject({ calls, tokens: { input } });
  const added = usageCalls(chain, {}).calls.filter((call) => call.beside !== undefined);
  expect(added.map((call) => [call.beside, call.model])).toEqual(beside === undefined ? [] : [[beside, 'claude-sonnet-4-6']]);
  // A result that names the models comes first, whichever was read before.
  const { [headless.length - 1]: named } = headless;
  writeFileSync(path, `${JSON.stringify(named)}\n`, { flag: 'a' });
  importInto(chain, path);
  expect(usageSessions(chain, { groupBy: null }).totals).toMatchObject({ calls: 4, tokens: { input: 30 + 500 } });
});

test('[F43] an answer in pieces is one answer, a repeated one is read once, and sums count', () => {
  const gemini = join(scratch(), 'gemini.jsonl');
  const piece = (content: string) => JSON.stringify({ type: 'message', role: 'assistant', content, delta: true });
  writeFileSync(
    gemini,
    [
      '{"type":"init","session_id":"g","model":"gemini-3-pro"}',
      '{"type":"message","role":"user","content":"hi"}',
      piece('Hello'),
      piece(' you'),
      '',
    ].join('\n'),
  );
  expect(read(gemini).said).toEqual(['user text  hi', 'assistant text  Hello you']);
  const droid = join(scratch(), 'droid.jsonl');
  const lines = [
    { type: 'system', session_id: 'd', model: 'claude-opus-4-8', cwd: '/w' },
    { type: 'message', session_id: 'd', role: 'user', text: 'hi', id: 'm1' },
    { type: 'message', session_id: 'd', role: 'assistant', text: 'Hello', id: 'm2' },
    { type: 'completion', session_id: 'd', finalText: 'Hello', id: 'e', usage: { input_tokens: 7, output_tokens: 3 } },
  ];
  writeFileSync(droid, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  expect(read(droid)).toMatchObject({ said: ['user text  hi', 'assistant text  Hello'], tokens: { input: 7, output: 3 } });
});

test('[F43] OpenCode 2: a session is read from the new tables alone', () => {
  expect(read(join(cases, 'opencode-v2-only/opencode/opencode.db'))).toMatchObject({
    agents: ['opencode'],
    turns: [1],
    said: [
      'user text  new question in v2',
      'assistant thinking  let me look',
      'assistant tool_call shell ',
      'tool tool_result shell a.txt',
      'assistant text  new answer in v2',
    ],
    calls: 2,
    tokens: { input: 2_000, output: 80 },
  });
});

test('[F43] a file from which nothing was read says why', () => {
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, readFileSync(join(cases, 'claude-no-uuid/session.jsonl')));
  const { turns, skipped, notes } = read(path);
  expect(turns[0] === 1 || skipped.length + notes.length > 0).toBe(true);
});

test('[F43] threads of Amp and logs of Droid', () => {
  expect(read(join(fixtures, 'amp'))).toMatchObject({ agents: ['amp'] });
  expect(read(join(fixtures, 'droid-stream'))).toMatchObject({ agents: ['droid'] });
});

test.each(['codex-exec-json/out.jsonl', 'gemini-stream-json/gemini.jsonl', 'gemini-stream-json/cursor.jsonl', 'claude-stream-json/out.jsonl'])(
  '[F43] %s after what a terminal printed, and with its members in another order',
  (name) => {
    const path = join(scratch(), basename(name));
    const text = readFileSync(join(cases, name), 'utf8');
    // A result that is JSON is shown as it stands.
    const readShort = (one: string) => {
      const { said, tokens } = read(one);
      return { tokens, said: said.map((line) => line.replace(/\{.*/, '{')) };
    };
    const right = readShort(join(cases, name));
    for (const changed of [`Reading additional input from stdin...\n\n${text}`, reordered(text)]) {
      writeFileSync(path, changed);
      expect(readShort(path)).toEqual(right);
    }
  },
);

test('[F43] a log as one list, with two runs: each is a session with its sums and their model', () => {
  const path = join(scratch(), 'gemini.json');
  const run = (id: string, input: number): object[] => [
    { type: 'init', session_id: id, model: 'gemini-2.5-pro' },
    { type: 'message', role: 'user', content: `Prompt ${id}` },
    { type: 'message', role: 'assistant', content: 'Done' },
    { type: 'result', status: 'success', stats: { input_tokens: input, output_tokens: 5 } },
  ];
  const failed = [
    { type: 'init', session_id: 'c', model: 'gemini-2.5-pro' },
    { type: 'message', role: 'user', content: 'Prompt c' },
  ];
  const zero = { type: 'result', status: 'error', stats: { input_tokens: 0, output_tokens: 0, cached: 0 } };
  writeFileSync(path, JSON.stringify([...run('a', 100), ...run('b', 20), ...failed, zero]));
  const chain = emptyChain();
  importInto(chain, path);
  expect(listSessions(chain, {}).sessions).toHaveLength(3);
  const counted = usageCalls(chain, {}).calls.filter(({ window }) => window !== null);
  expect(counted.map(({ model, window }) => [model, window]).sort()).toEqual([
    ['gemini-2.5-pro', 100],
    ['gemini-2.5-pro', 20],
  ]);
});

test('[F43] Cursor: a thought in pieces is one, and an answer in pieces and whole is one', () => {
  const path = join(scratch(), 'cursor.jsonl');
  const said = (text: string): object => ({ type: 'assistant', session_id: 'c', message: { role: 'assistant', content: [{ type: 'text', text }] } });
  const thought = (text: string): object => ({ type: 'thinking', subtype: 'delta', session_id: 'c', text });
  const records = [
    { type: 'system', subtype: 'init', session_id: 'c', cwd: '/w', model: 'gpt-5.5' },
    ...[thought('Let me '), thought('look.'), said('It '), said('is so.'), said('It is so.')],
  ];
  writeFileSync(path, records.map((one) => `${JSON.stringify(one)}\n`).join(''));
  expect(read(path).said).toEqual(['assistant thinking  Let me look.', 'assistant text  It is so.']);
});

test('[F43] a log of Droid can name its tools, and a log without messages says so', () => {
  const path = join(scratch(), 'droid.jsonl');
  const init = { type: 'system', subtype: 'init', cwd: '/w', session_id: 'd', tools: ['Read'], model: 'claude-opus-4-8' };
  const said = (role: string, text: string): object => ({ type: 'message', role, id: role, text, session_id: 'd' });
  writeFileSync(path, [init, said('user', 'hi'), said('assistant', 'Hello')].map((one) => `${JSON.stringify(one)}\n`).join(''));
  expect(read(path)).toMatchObject({ agents: ['droid'], said: ['user text  hi', 'assistant text  Hello'] });
  const empty = join(scratch(), 'empty.jsonl');
  writeFileSync(empty, `${JSON.stringify(init)}\n`);
  expect(read(empty).notes).toMatchObject([{ path: empty, reason: expect.stringContaining('no messages') }]);
});

test('[N24] two processes that ran a session into one log: the sums of both count', () => {
  const path = join(scratch(), 'out.jsonl');
  const again = (text: string): string => text.replaceAll(/"(m\d|tu1)"/g, '"again-$1"');
  const records = headless.map((one) => JSON.stringify(one));
  writeFileSync(path, [...records, ...records.map(again)].map((line) => `${line}\n`).join(''));
  expect(read(path).tokens).toMatchObject({ input: 2 * (30 + 500) });
});

test('[N24] the output that only the result counts is that of the last call', () => {
  const path = join(scratch(), 'out.jsonl');
  writeFileSync(path, readFileSync(join(cases, 'claude-stream-json/out.jsonl')));
  const chain = emptyChain();
  importInto(chain, path);
  expect(usageSessions(chain, { groupBy: null }).totals).toMatchObject({
    calls: 2,
    tokens: { input: 13, cacheRead: 2_100, cacheWrite: 150, output: 29 },
  });
  expect(usageCalls(chain, {}).calls.map(({ tokens, flaw }) => [tokens.output, flaw])).toEqual([
    [null, undefined],
    [29, expect.stringContaining('together')],
  ]);
});
