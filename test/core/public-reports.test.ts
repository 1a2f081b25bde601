// Small histories of the kinds of public bug reports of 2026, with the values that a person works out.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { listSessions } from '../../src/core/sessions/index.js';
import { loadPrices } from '../../src/core/usage/index.js';
import { usageCalls, usageSessions } from '../support/counted.js';
import { importInto } from '../support/imports.js';
import { emptyChain, scratch } from '../support/project.js';

beforeAll(() => loadPrices());

type Line = Record<string, unknown>;
type Files = Readonly<Record<string, readonly Line[]>>;

/** What Stemma says of some files, imported in this order. */
function valuesOf(files: Files) {
  const folder = scratch();
  const chain = emptyChain();
  for (const [name, lines] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    importInto(chain, path);
  }
  const { input, cacheRead, cacheWrite, output } = usageSessions(chain, { groupBy: null }).totals.tokens;
  const { sessions } = listSessions(chain, {});
  return {
    sessions: sessions.filter(({ parentSessionId }) => parentSessionId === undefined).length,
    turns: Math.max(...sessions.map(({ turns }) => turns)),
    branches: Math.max(...sessions.map(({ branches }) => branches)),
    calls: usageCalls(chain, {}).total,
    in: input + cacheRead + cacheWrite,
    out: output,
  };
}

const at = (second: number): string => new Date(Date.parse('2026-10-05T09:00:00.000Z') + second * 1_000).toISOString();
const claudeId = '5d8ed83d-f314-4c88-a486-9f991ddb2a01';
const claude = (uuid: string, parentUuid: string | null, second: number, more: Line): Line => ({
  ...{ parentUuid, isSidechain: false, cwd: '/w/app', sessionId: claudeId, version: '2.1.310', uuid, timestamp: at(second), ...more },
});
const asks = (uuid: string, parent: string | null, second: number, content: unknown): Line =>
  claude(uuid, parent, second, { type: 'user', message: { role: 'user', content } });
const says = (uuid: string, parent: string, second: number, id: string, block: object, usage: object, more: Line = {}): Line =>
  claude(uuid, parent, second, {
    type: 'assistant',
    requestId: `req_${id}`,
    message: { id, type: 'message', role: 'assistant', model: 'claude-opus-4-8', content: [block], stop_reason: null, usage, ...more },
  });
const text = (words: string) => ({ type: 'text', text: words });
const counts = (input: number, output: number, read = 0) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: 0,
});
const claudeFile = `${claudeId}.jsonl`;

const thread = '7d864dd1-8e22-48e4-a1a0-e0c316e35772';
const rollout = `rollout-2026-10-05T09-00-00-${thread}.jsonl`;
let second = 0;
const line = (type: string, payload: object): Line => ({ timestamp: at(second++), type, payload });
const meta = () => line('session_meta', { id: thread, timestamp: at(0), cwd: '/w/app', cli_version: '0.150.0' });
const started = (id: string) => line('event_msg', { type: 'task_started', turn_id: id, model_context_window: 258_400 });
const ctx = (id: string, model: string) => line('turn_context', { turn_id: id, cwd: '/w/app', model });
const ask = (words: string) => line('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] });
const say = (words: string) => line('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words }] });
const usage = ([input, cached, output]: readonly number[]) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: (input ?? 0) + (output ?? 0),
});
const count = (total: readonly number[], last: readonly number[]) =>
  line('event_msg', { type: 'token_count', info: { total_token_usage: usage(total), last_token_usage: usage(last), model_context_window: 258_400 } });

const gem = (type: string, id: string, sec: number, more: object): Line => ({ id, timestamp: at(sec), type, ...more });
const gemHead = { sessionId: 'ab109b86-bb34-4dfd-84e6-5f4082750b6d', projectHash: 'f1', startTime: at(0), lastUpdated: at(0), kind: 'main' };
const gemTokens = (input: number, output: number, cached = 0, thoughts = 0) => ({
  input,
  output,
  cached,
  thoughts,
  tool: 0,
  total: input + output + thoughts,
});

const cop = (type: string, id: string, sec: number, data: object): Line => ({ type, id, parentId: null, timestamp: at(sec), data });

const histories: readonly (readonly [string, () => Files, object])[] = [
  [
    'Claude: tool results between the lines of one reply',
    () => ({
      [claudeFile]: [
        asks('u1', null, 0, 'Go'),
        says('a1', 'u1', 1, 'm1', { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'a' } }, counts(100, 5)),
        asks('r1', 'a1', 2, [{ type: 'tool_result', tool_use_id: 't1', content: 'A' }]),
        says('a2', 'a1', 3, 'm1', { type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'b' } }, counts(100, 40), {
          stop_reason: 'tool_use',
        }),
        asks('r2', 'a2', 4, [{ type: 'tool_result', tool_use_id: 't2', content: 'B' }]),
        says('a3', 'r2', 5, 'm2', text('Done'), counts(200, 7), { stop_reason: 'end_turn' }),
      ],
    }),
    { sessions: 1, turns: 1, calls: 2, in: 300, out: 47 },
  ],
  [
    'Claude: an error of the API that the agent wrote as a reply',
    () => ({
      [claudeFile]: [
        asks('u1', null, 0, 'Go'),
        claude('a1', 'u1', 1, {
          type: 'assistant',
          isApiErrorMessage: true,
          message: { id: 'x1', role: 'assistant', model: '<synthetic>', content: [text('API Error: 529')], usage: counts(0, 0) },
        }),
        asks('u2', 'a1', 5, 'Again'),
        says('a2', 'u2', 6, 'm1', text('Ok'), counts(50, 3), { stop_reason: 'end_turn' }),
      ],
    }),
    { turns: 2, calls: 1, in: 50, out: 3 },
  ],
  [
    'Claude: a resumed session that repeats its records in a new file',
    () => {
      const first = [asks('u1', null, 0, 'Go'), says('a1', 'u1', 1, 'm1', text('Ok'), counts(50, 3), { stop_reason: 'end_turn' })];
      const other = '6d8ed83d-f314-4c88-a486-9f991ddb2a02';
      const copy = first.map((one) => ({ ...one, sessionId: other }));
      const more = [asks('u2', 'a1', 9, 'On'), says('a2', 'u2', 10, 'm2', text('Two'), counts(70, 4), { stop_reason: 'end_turn' })].map((one) => ({
        ...one,
        sessionId: other,
      }));
      return { [claudeFile]: first, [`${other}.jsonl`]: [...copy, ...more] };
    },
    { calls: 2, in: 120, out: 7 },
  ],
  [
    'Claude: the last line says fewer output tokens than the one before',
    () => ({
      [claudeFile]: [
        asks('u1', null, 0, 'Go'),
        says('a1', 'u1', 1, 'm1', text('One'), counts(100, 80), { stop_reason: 'end_turn' }),
        says('a1b', 'a1', 2, 'm1', text('Two'), counts(100, 80), { stop_reason: 'end_turn' }),
      ],
    }),
    { calls: 1, in: 100, out: 80 },
  ],
  [
    'Claude: a prompt that is edited is a branch, and both replies are counted',
    () => ({
      [claudeFile]: [
        asks('u1', null, 0, 'Go'),
        says('a1', 'u1', 1, 'm1', text('One'), counts(10, 1), { stop_reason: 'end_turn' }),
        asks('u2', 'a1', 2, 'Left'),
        says('a2', 'u2', 3, 'm2', text('L'), counts(20, 2), { stop_reason: 'end_turn' }),
        asks('u3', 'a1', 4, 'Right'),
        says('a3', 'u3', 5, 'm3', text('R'), counts(30, 3), { stop_reason: 'end_turn' }),
      ],
    }),
    { branches: 2, calls: 3, in: 60, out: 6 },
  ],
  [
    'Codex: the same sums twice, because only the limits changed',
    () => ({
      [rollout]: [
        meta(),
        started('t1'),
        ctx('t1', 'gpt-5.5'),
        ask('One'),
        say('1'),
        count([100, 20, 10], [100, 20, 10]),
        count([100, 20, 10], [100, 20, 10]),
        started('t2'),
        ctx('t2', 'gpt-5.5'),
        ask('Two'),
        say('2'),
        count([300, 60, 25], [200, 40, 15]),
      ],
    }),
    { turns: 2, calls: 2, in: 300, out: 25 },
  ],
  [
    'Codex: a count without info, before the first call',
    () => ({
      [rollout]: [
        meta(),
        started('t1'),
        ctx('t1', 'gpt-5.5'),
        ask('One'),
        line('event_msg', { type: 'token_count', info: null, rate_limits: {} }),
        say('1'),
        count([100, 0, 10], [100, 0, 10]),
      ],
    }),
    { turns: 1, calls: 1, in: 100, out: 10 },
  ],
  [
    'Codex: a session that was resumed writes its header again',
    () => ({
      [rollout]: [
        meta(),
        started('t1'),
        ctx('t1', 'gpt-5.5'),
        ask('One'),
        say('1'),
        count([100, 0, 10], [100, 0, 10]),
        meta(),
        started('t2'),
        ctx('t2', 'gpt-5.5'),
        ask('Two'),
        say('2'),
        count([250, 0, 30], [150, 0, 20]),
      ],
    }),
    { sessions: 1, turns: 2, calls: 2, in: 250, out: 30 },
  ],
  [
    'Codex: the same prompt in two turns',
    () => ({
      [rollout]: [
        meta(),
        started('t1'),
        ctx('t1', 'gpt-5.5'),
        ask('continue'),
        say('1'),
        count([100, 0, 10], [100, 0, 10]),
        started('t2'),
        ctx('t2', 'gpt-5.5'),
        ask('continue'),
        say('1'),
        count([200, 0, 20], [100, 0, 10]),
      ],
    }),
    { turns: 2, calls: 2, in: 200, out: 20 },
  ],
  [
    'Gemini: a message that is written again with its calls',
    () => ({
      'session-2026-10-05T09-00-ab109b86.jsonl': [
        gemHead,
        gem('user', 'g1', 1, { content: [{ text: 'Go' }] }),
        gem('gemini', 'g2', 2, { content: 'Look', thoughts: [], tokens: gemTokens(100, 10, 40, 5), model: 'gemini-3-pro' }),
        gem('gemini', 'g2', 2, {
          content: 'Look',
          thoughts: [],
          tokens: gemTokens(100, 10, 40, 5),
          model: 'gemini-3-pro',
          toolCalls: [
            {
              id: 'c1',
              name: 'ls',
              args: {},
              status: 'success',
              result: [{ functionResponse: { id: 'c1', name: 'ls', response: { output: 'a' } } }],
            },
          ],
        }),
        gem('gemini', 'g3', 3, { content: 'Done', thoughts: [], tokens: gemTokens(150, 5), model: 'gemini-3-pro' }),
      ],
    }),
    { turns: 1, calls: 2, in: 250, out: 20 },
  ],
  [
    'Gemini: two prompts with one text',
    () => ({
      'session-2026-10-05T09-00-ab109b86.jsonl': [
        gemHead,
        gem('user', 'g1', 1, { content: [{ text: 'go on' }] }),
        gem('gemini', 'g2', 2, { content: 'One', thoughts: [], tokens: gemTokens(100, 10), model: 'gemini-3-pro' }),
        gem('user', 'g3', 3, { content: [{ text: 'go on' }] }),
        gem('gemini', 'g4', 4, { content: 'One', thoughts: [], tokens: gemTokens(120, 10), model: 'gemini-3-pro' }),
      ],
    }),
    { turns: 2, calls: 2, in: 220, out: 20 },
  ],
  [
    'Copilot: replies count their output, the totals at the end the input',
    () => ({
      'session-state/1ea34016-7bd2-4195-a1fe-8c55036c5831/events.jsonl': [
        cop('session.start', 'e0', 0, {
          sessionId: '1ea34016-7bd2-4195-a1fe-8c55036c5831',
          version: 1,
          producer: 'copilot-agent',
          copilotVersion: '1.0.102',
          startTime: at(0),
          context: { cwd: '/w/app' },
        }),
        { ...cop('user.message', 'e1', 1, { content: 'Go' }), parentId: 'e0' },
        {
          ...cop('assistant.message', 'e2', 2, { messageId: 'm1', content: 'Ok', toolRequests: [], outputTokens: 12, model: 'claude-sonnet-4.5' }),
          parentId: 'e1',
        },
        {
          ...cop('session.shutdown', 'e3', 3, {
            shutdownType: 'routine',
            modelMetrics: {
              'claude-sonnet-4.5': {
                requests: { count: 1, cost: 1 },
                usage: { inputTokens: 900, outputTokens: 12, cacheReadTokens: 300, cacheWriteTokens: 0 },
              },
            },
          }),
          parentId: 'e2',
        },
      ],
    }),
    { turns: 1, in: 900, out: 12 },
  ],
  [
    'Copilot: a reply that stands twice',
    () => {
      const lines = [
        cop('session.start', 'e0', 0, {
          sessionId: '1ea34016-7bd2-4195-a1fe-8c55036c5832',
          version: 1,
          producer: 'copilot-agent',
          copilotVersion: '1.0.102',
          startTime: at(0),
          context: { cwd: '/w/app' },
        }),
        { ...cop('user.message', 'e1', 1, { content: 'Go' }), parentId: 'e0' },
        {
          ...cop('assistant.message', 'e2', 2, { messageId: 'm1', content: 'Ok', toolRequests: [], outputTokens: 12, model: 'claude-sonnet-4.5' }),
          parentId: 'e1',
        },
      ];
      return { 'session-state/1ea34016-7bd2-4195-a1fe-8c55036c5832/events.jsonl': [...lines, ...lines.slice(-1)] };
    },
    { turns: 1, calls: 1, out: 12 },
  ],
];

test.each(histories)('[N20] %s', (_, files, right) => {
  second = 0;
  expect(valuesOf(files())).toMatchObject(right);
});
