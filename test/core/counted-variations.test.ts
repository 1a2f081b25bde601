// Histories of the same kinds as those in fixtures/cases, with other values: what a provider counts in a way of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ContextId } from '../../src/core/base/index.js';
import { tips, type WriteChain } from '../../src/core/chain/index.js';
import { listSessions } from '../../src/core/sessions/index.js';
import { loadPrices, usageOfContext, usageSeries } from '../../src/core/usage/index.js';
import { usageCalls, usageSessions } from '../support/counted.js';
import { importInto } from '../support/imports.js';
import { emptyChain, scratch } from '../support/project.js';

beforeAll(() => loadPrices());

type Line = Record<string, unknown>;
const jsonl = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** Imports files in this order into an empty project. */
function imported(...files: readonly (readonly [name: string, lines: readonly object[]])[]): WriteChain {
  const folder = scratch();
  const chain = emptyChain();
  for (const [name, lines] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, jsonl(lines));
    importInto(chain, path);
  }
  return chain;
}

function sumsOf(chain: WriteChain): { calls: number; input: number; output: number; cost: string } {
  const { tokens, cost } = usageSessions(chain, { groupBy: null }).totals;
  const calls = usageCalls(chain, {}).total;
  return { calls, input: tokens.input + tokens.cacheRead + tokens.cacheWrite, output: tokens.output, cost: (cost?.amount ?? 0).toFixed(4) };
}

const sessionId = '6d8ed83d-f314-4c88-a486-9f991ddb2a08';
const claudeFile = `${sessionId}.jsonl`;
const at = (second: number): string => new Date(Date.parse('2026-09-03T09:00:00.000Z') + second * 1_000).toISOString();

/** A prompt and its reply, as Claude Code writes them. */
const turn = (no: number, usage: Line, more: { message?: Line; line?: Line; parent?: string | null } = {}): Line[] => {
  const common = { sessionId, cwd: '/w/app', version: '2.1.300', ...more.line };
  const parentUuid = more.parent === undefined ? (no > 1 ? `a${no - 1}` : null) : more.parent;
  return [
    { ...common, type: 'user', uuid: `u${no}`, parentUuid, timestamp: at(no * 10), message: { role: 'user', content: `Question ${no}` } },
    {
      ...{ ...common, type: 'assistant', uuid: `a${no}`, parentUuid: `u${no}`, requestId: `req_${no}`, timestamp: at(no * 10 + 1) },
      message: {
        ...{ id: `msg_${no}`, type: 'message', role: 'assistant', model: 'claude-opus-4-8', stop_reason: 'end_turn' },
        ...{ content: [{ type: 'text', text: `Answer ${no}` }], usage, ...more.message },
      },
    },
  ];
};
const million = 1_000_000;

describe('replies of Claude Code', () => {
  test('[N23] a summary that the provider wrote before the reply is a call beside it', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 100_000, cache_read_input_tokens: 80_000, output_tokens: 3_500 },
      { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
    ];
    const chain = imported([claudeFile, turn(1, { input_tokens: 23_000, output_tokens: 1_000, iterations })]);
    // 5 and 25 dollars a million, a tenth of that for a cache read.
    const cost = (123_000 * 5 + 80_000 * 0.5 + 4_500 * 25) / million;
    expect(sumsOf(chain)).toEqual({ calls: 2, input: 203_000, output: 4_500, cost: cost.toFixed(4) });
    expect(usageCalls(chain, {}).calls.map(({ beside, window, model }) => [beside, window, model])).toEqual([
      ['compaction', 180_000, 'claude-opus-4-8'],
      [undefined, 23_000, 'claude-opus-4-8'],
    ]);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 1, peakTokens: 23_000 }]);
  });

  test('[N23] a summary has the speed of its reply, and a model that declined costs nothing', () => {
    const iterations = [
      { type: 'compaction', input_tokens: million, output_tokens: 0 },
      { type: 'message', model: 'claude-opus-5', input_tokens: 70_000, output_tokens: 9 },
      { type: 'fallback_message', model: 'claude-opus-4-8', input_tokens: 1_000, output_tokens: 1_000 },
    ];
    const chain = imported([claudeFile, turn(1, { input_tokens: 1_000, output_tokens: 1_000, speed: 'fast', iterations })]);
    expect(sumsOf(chain)).toEqual({
      calls: 2,
      input: 1_001_000,
      output: 1_000,
      cost: ((million * 10 + 1_000 * 10 + 1_000 * 50) / million).toFixed(4),
    });
    expect(usageCalls(chain, {}).calls.find(({ beside }) => beside === undefined)).toMatchObject({ window: 1_000 });
  });

  test.each([
    ['batch', { service_tier: 'batch', input_tokens: million, output_tokens: million }, 15],
    ['standard', { service_tier: 'standard', input_tokens: million, output_tokens: million }, 30],
    ['priority', { service_tier: 'priority', input_tokens: million, output_tokens: million }, 30],
    ['in the US', { inference_geo: 'us', input_tokens: million, output_tokens: million }, 33],
    [
      'fast, with the cache',
      { speed: 'fast', input_tokens: 0, cache_read_input_tokens: million, cache_creation_input_tokens: million, output_tokens: 0 },
      13.5,
    ],
    ['fast, in the US', { speed: 'fast', inference_geo: 'us', input_tokens: million, output_tokens: million }, 66],
    [
      'an hour and five minutes, in a batch',
      {
        ...{ service_tier: 'batch', input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: million },
        cache_creation: { ephemeral_5m_input_tokens: 600_000, ephemeral_1h_input_tokens: 400_000 },
      },
      3.875,
    ],
    [
      'with searches, in a batch',
      { service_tier: 'batch', input_tokens: million, output_tokens: 0, server_tool_use: { web_search_requests: 7 } },
      2.57,
    ],
    [
      'with pages, which cost no fee',
      { input_tokens: million, output_tokens: 0, server_tool_use: { web_fetch_requests: 9, web_search_requests: 0 } },
      5,
    ],
    [
      'only the split of what was written',
      { input_tokens: 0, output_tokens: 0, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: million } },
      10,
    ],
  ])('[N23] the price of a call: %s', (_, usage, cost) => {
    expect(sumsOf(imported([claudeFile, turn(1, usage)])).cost).toBe(cost.toFixed(4));
  });

  test.each([
    ['anthropic/claude-opus-4.8', 5],
    ['us.anthropic.claude-opus-4-8-v1:0', 5],
    ['claude-opus-4-8@20260101', 5],
    ['gemini-3-pro', 4],
  ])('[N23] the price of a model under the name %s', (model, cost) => {
    expect(sumsOf(imported([claudeFile, turn(1, { input_tokens: million, output_tokens: 0 }, { message: { model } })])).cost).toBe(cost.toFixed(4));
  });

  test('[N23] searches of a reply in several lines count once', () => {
    const [prompt, reply] = turn(1, { input_tokens: 1_000, output_tokens: 100, server_tool_use: { web_search_requests: 3 } }) as [Line, Line];
    const message = reply.message as Line;
    const blocks = [
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [{ type: 'web_search_result', title: 'Found it', url: 'https://a.example' }] },
      { type: 'text', text: 'Answer' },
    ];
    const lines = blocks.map((block, no) => ({
      ...reply,
      uuid: `a${no}`,
      parentUuid: no > 0 ? `a${no - 1}` : 'u1',
      message: { ...message, content: [block] },
    }));
    expect(sumsOf(imported([claudeFile, [prompt, ...lines]]))).toEqual({ calls: 1, input: 1_000, output: 100, cost: (0.0075 + 0.03).toFixed(4) });
  });

  test('[N22] the window is what was recorded, else what a count shows, else that of the model', () => {
    const limitOf = (model: string, input: number, more: readonly Line[] = []): number | null | undefined =>
      listSessions(imported([claudeFile, [...turn(1, { input_tokens: input, output_tokens: 1 }, { message: { model } }), ...more]]), {}).sessions[0]
        ?.limit;
    expect(limitOf('claude-sonnet-4-5', 150_000)).toBe(200_000);
    expect(limitOf('claude-sonnet-4-5', 250_000)).toBe(million);
    expect(limitOf('claude-sonnet-4-5[1m]', 1_000)).toBe(million);
    expect(limitOf('claude-haiku-4-5', 1_000)).toBe(200_000);
    expect(limitOf('claude-opus-5', 1_000)).toBe(million);
    expect(limitOf('anthropic/claude-opus-4.8', 150_000)).toBe(million);
    expect(limitOf('unheard-of-model', 1_000) ?? null).toBe(null);
  });

  test('[N24] the sum of an agent holds what helpers used, by model, and each model once', () => {
    const state = (more: Line): Line => ({ type: 'cost-state', sessionId, timestamp: at(100), totalCostUSD: 9, ...more });
    const usage = { input_tokens: 1_000, cache_read_input_tokens: 500, output_tokens: 100 };
    const of = (inputTokens: number, outputTokens: number, cacheReadInputTokens = 0) => ({
      ...{ inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens: 0 },
      costUSD: 1,
    });
    const modelUsage = { 'claude-opus-4-8': of(1_000, 100, 500), 'claude-haiku-4-5-20251001': of(7_000, 70), 'claude-sonnet-4-6': of(20, 2) };
    const lines = turn(1, usage);
    expect(sumsOf(imported([claudeFile, [...lines, state({ modelUsage })]]))).toMatchObject({ calls: 3, input: 1_500 + 7_020, output: 172 });
    // A later sum of the same session replaces the earlier one, also after more calls.
    const later = { ...modelUsage, 'claude-opus-4-8': of(2_000, 200, 1_000), 'claude-haiku-4-5-20251001': of(7_500, 75) };
    const grown = [...lines, state({ modelUsage }), ...turn(2, usage), state({ modelUsage: later })];
    expect(sumsOf(imported([claudeFile, grown]))).toMatchObject({ calls: 4, input: 3_000 + 7_520, output: 277 });
  });

  test('[N24] the sum of a fork goes on from the sum of its session, or begins anew', () => {
    const usage = { input_tokens: 1_000, output_tokens: 100 };
    const of = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 });
    const state = (opus: number, haiku: number, id = sessionId): Line => ({
      ...{ type: 'cost-state', sessionId: id, timestamp: at(100) },
      modelUsage: { 'claude-opus-4-8': of(1_000 * opus, 100 * opus), 'claude-haiku-4-5': of(10 * haiku, haiku) },
    });
    const whole = [...turn(1, usage), ...turn(2, usage)];
    const forked = (fork: string, no: number, opus: number, haiku: number): readonly [string, Line[]] => [
      `${fork}.jsonl`,
      [
        ...whole.map((line) => ({ ...line, sessionId: fork })),
        ...turn(no, usage, { parent: 'a2', line: { sessionId: fork } }),
        state(opus, haiku, fork),
      ],
    ];
    const [one, other] = ['7d8ed83d-f314-4c88-a486-9f991ddb2a09', '8d8ed83d-f314-4c88-a486-9f991ddb2a10'];
    const session = [claudeFile, [...whole, state(2, 7)]] as const;
    const sums = (calls: number, opus: number, haiku: number) => ({ calls, input: 1_000 * opus + 10 * haiku, output: 100 * opus + haiku });
    expect(sumsOf(imported(session, forked(one, 3, 3, 9)))).toMatchObject(sums(5, 3, 9));
    // The two calls of the session and what it used beside them are in the sums of both forks.
    const both = imported(session, forked(one, 3, 3, 9), forked(other, 4, 3, 8));
    expect(sumsOf(both)).toMatchObject(sums(7, 4, 7 + 2 + 1));
    expect(listSessions(both, {}).sessions.map(({ drift }) => drift)).toEqual([undefined, undefined, undefined]);
    // An agent that was killed before it wrote its sum begins anew in the fork.
    expect(sumsOf(imported(session, forked(one, 3, 1, 5)))).toMatchObject(sums(5, 3, 7 + 5));
    // A session that went on after it was forked.
    const longer = [claudeFile, [...whole, state(2, 7), ...turn(5, usage, { parent: 'a2' }), state(3, 8)]] as const;
    expect(sumsOf(imported(session, forked(one, 3, 3, 9), longer))).toMatchObject(sums(6, 4, 8 + 2));
    // In another order, what it used beside the lines after the fork is not told from what it used before.
    expect(sumsOf(imported(longer, forked(one, 3, 3, 9)))).toMatchObject(sums(6, 4, 8 + 1));
    expect(sumsOf(imported(forked(one, 3, 3, 9), longer))).toMatchObject(sums(5, 4, 9));
  });

  test('[N24] searches and hour-long cache writes of helpers have their own prices', () => {
    const haiku = {
      ...{ inputTokens: 7_000, outputTokens: 70, cacheReadInputTokens: 0, cacheCreationInputTokens: 10_000, costUSD: 0.04435 },
      ...{ cacheCreationEphemeral5mInputTokens: 4_000, cacheCreationEphemeral1hInputTokens: 6_000, webSearchRequests: 2 },
    };
    const opus = {
      inputTokens: 1_000,
      outputTokens: 100,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: 0,
      webSearchRequests: 3,
      costUSD: 0.0375,
    };
    const state = { type: 'cost-state', sessionId, timestamp: at(100), modelUsage: { 'claude-opus-4-8': opus, 'claude-haiku-4-5-20251001': haiku } };
    // The reply names one of its three searches: the others stand in no line.
    const lines = [...turn(1, { input_tokens: 1_000, output_tokens: 100, server_tool_use: { web_search_requests: 1 } }), state];
    const chain = imported([claudeFile, lines]);
    expect(sumsOf(chain)).toEqual({ calls: 3, input: 18_000, output: 170, cost: (0.0375 + 0.04435).toFixed(4) });
    expect(
      usageCalls(chain, {})
        .calls.map(({ serverTools, beside }) => [serverTools?.webSearch, beside !== undefined])
        .sort(),
    ).toEqual([
      [1, false],
      [2, true],
      [2, true],
    ]);
  });

  test('[N20] the same session in two files counts once, in each order', () => {
    const usage = { input_tokens: 1_000, output_tokens: 100 };
    const whole = [...turn(1, usage), ...turn(2, usage), ...turn(3, usage)];
    const fork = '7d8ed83d-f314-4c88-a486-9f991ddb2a09';
    const copy = [...whole.slice(0, 4).map((line) => ({ ...line, sessionId: fork })), ...turn(4, usage, { parent: 'a2', line: { sessionId: fork } })];
    for (const files of [
      [
        [claudeFile, whole],
        [`${fork}.jsonl`, copy],
      ],
      [
        [`${fork}.jsonl`, copy],
        [claudeFile, whole],
      ],
    ] as const)
      expect(sumsOf(imported(...files))).toMatchObject({ calls: 4, input: 4_000, output: 400 });
  });

  test('[N20] replies without ids of requests or messages count once each', () => {
    const usage = { input_tokens: 1_000, output_tokens: 100 };
    const bare = [...turn(1, usage), ...turn(2, usage)].map(({ requestId: _, ...line }) => {
      const { id: __, ...message } = line.message as Line;
      return { ...line, message };
    });
    expect(sumsOf(imported([claudeFile, [...bare, ...bare]]))).toMatchObject({ calls: 2, input: 2_000, output: 200 });
  });
});

describe('rollouts of Codex', () => {
  const thread = '91864dd1-8e22-48e4-a1a0-e0c316e35772';
  const name = (id: string): string => `rollout-2026-09-03T09-00-00-${id}.jsonl`;
  let second = 0;
  const line = (type: string, payload: Line): Line => ({ timestamp: at(second++), type, payload });
  const meta = (id = thread, more: Line = {}): Line =>
    line('session_meta', {
      id,
      timestamp: at(0),
      cwd: '/w/app',
      originator: 'codex-tui',
      cli_version: '0.142.5',
      source: 'cli',
      model_provider: 'openai',
      ...more,
    });
  const context = (id: string, model: string, more: Line = {}): Line =>
    line('turn_context', {
      turn_id: id,
      cwd: '/w/app',
      approval_policy: 'never',
      sandbox_policy: { mode: 'danger-full-access' },
      model,
      effort: 'high',
      ...more,
    });
  const started = (id: string): Line => line('event_msg', { type: 'task_started', turn_id: id });
  const ask = (text: string): Line => line('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
  const say = (text: string, id?: string): Line =>
    line('response_item', { type: 'message', ...(id && { id }), role: 'assistant', content: [{ type: 'output_text', text }] });
  const run = (call: string): Line[] => [
    line('response_item', { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: call }),
    line('response_item', { type: 'function_call_output', call_id: call, output: 'a.txt' }),
  ];
  const search = (action: Line): Line => line('response_item', { type: 'web_search_call', status: 'completed', action });
  const usageOf = ([input, cached, output]: readonly number[]) => ({
    ...{ input_tokens: input, cached_input_tokens: cached, output_tokens: output, reasoning_output_tokens: 0 },
    total_tokens: (input ?? 0) + (output ?? 0),
  });
  const count = (total: readonly number[], last: readonly number[], window = 258_400): Line =>
    line('event_msg', {
      type: 'token_count',
      info: { total_token_usage: usageOf(total), last_token_usage: usageOf(last), model_context_window: window },
    });

  test('[N23] searches cost a fee each, and pages that were opened none', () => {
    const lines = [
      ...[meta(), started('t1'), context('t1', 'gpt-5.4'), ask('Look it up')],
      ...[search({ type: 'search', query: 'a' }), search({ type: 'open_page', url: 'https://a.example' }), search({ type: 'search', query: 'b' })],
      ...[say('Found', 'msg_1'), count([10_000, 0, 1_000], [10_000, 0, 1_000])],
    ];
    const chain = imported([name(thread), lines]);
    expect(usageCalls(chain, {}).calls).toMatchObject([{ serverTools: { webSearch: 2 } }]);
    const without = imported([name(thread), lines.filter(({ payload }) => (payload as Line).type !== 'web_search_call')]);
    expect(Number(sumsOf(chain).cost)).toBeCloseTo(Number(sumsOf(without).cost) + 0.02, 6);
  });

  test('[N20] repeated counts, counts without sums and an aborted reply are no calls', () => {
    const chain = imported([
      name(thread),
      [
        ...[meta(), started('t1'), context('t1', 'gpt-5.5'), ask('Do it'), ...run('c1'), count([1_000, 0, 50], [1_000, 0, 50])],
        ...[count([1_000, 0, 50], [1_000, 0, 50]), line('event_msg', { type: 'token_count', info: null, rate_limits: {} })],
        ...[
          say('half an ans'),
          line('event_msg', { type: 'turn_aborted', turn_id: 't1', reason: 'interrupted' }),
          count([1_000, 0, 50], [1_000, 0, 50]),
        ],
        ...[started('t2'), context('t2', 'gpt-5.5'), ask('Again'), say('Done'), count([2_500, 900, 90], [1_500, 900, 40])],
      ],
    ]);
    expect(sumsOf(chain)).toMatchObject({ input: 2_500, output: 90 });
    expect(usageCalls(chain, {}).calls.map(({ tokens }) => tokens.output)).toEqual([50, null, 40]);
  });

  test('[N20] the model of each turn is that of its context, also for prompts while it runs', () => {
    const chain = imported([
      name(thread),
      [
        ...[meta(), started('t1'), context('t1', 'gpt-5.5'), ask('One'), ...run('c1'), count([1_000, 0, 10], [1_000, 0, 10])],
        ...[ask('also blue'), say('Blue'), count([3_000, 0, 20], [2_000, 0, 10])],
        ...[started('t2'), context('t2', 'gpt-5.4-mini'), ask('Two'), say('Two'), count([6_000, 0, 30], [3_000, 0, 10])],
        ...[ask('also green'), say('Green'), count([10_000, 0, 40], [4_000, 0, 10])],
      ],
    ]);
    expect(usageCalls(chain, {}).calls.map(({ model, window, cost }) => [model, window, cost !== null])).toEqual([
      ['gpt-5.5', 1_000, true],
      ['gpt-5.5', 2_000, true],
      ['gpt-5.4-mini', 3_000, true],
      ['gpt-5.4-mini', 4_000, true],
    ]);
  });

  test('[N20] calls around compactions add up to the sums, with nothing to tell replies apart', () => {
    const lines: Line[] = [meta(), started('t1'), context('t1', 'gpt-5.5'), ask('Work')];
    const total = [0, 0, 0];
    const add = (last: readonly number[]): Line => {
      for (const [no, part] of last.entries()) total[no] = (total[no] ?? 0) + part;
      return count([...total], last);
    };
    for (let no = 0; no < 3; no++) {
      lines.push(line('response_item', { type: 'reasoning', summary: [] }), say('No completion yet.'), ...run('call_1'), add([1_000 + no, 100, 10]));
      lines.push(line('response_item', { type: 'reasoning', summary: [] }), say('No completion yet.'), add([2_000 + no, 200, 20]));
      lines.push(
        line('compacted', { message: '', replacement_history: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Work' }] }] }),
      );
      lines.push(ask(`also ${no}`));
    }
    lines.push(say('No completion yet.'), add([4_000, 0, 5]));
    const chain = imported([name(thread), lines]);
    expect(sumsOf(chain)).toMatchObject({ calls: 7, input: total[0], output: total[2] });
  });

  test('[N20] older copies of a rollout that grew are neither branches nor counted twice', () => {
    const lines = [meta(), started('t1'), context('t1', 'gpt-5.5'), ask('One'), say('One', 'm1'), count([1_000, 0, 10], [1_000, 0, 10])];
    const grown = [...lines, started('t2'), context('t2', 'gpt-5.5'), ask('Two'), say('Two', 'm2'), count([3_000, 0, 20], [2_000, 0, 10])];
    for (const files of [
      [
        ['old/', lines],
        ['', grown],
      ],
      [
        ['', grown],
        ['old/', lines],
      ],
      [
        ['a/', lines],
        ['b/', grown.slice(0, 9)],
        ['', grown],
      ],
    ] as const) {
      const chain = imported(...files.map(([folder, all]) => [`${folder}${name(thread)}`, all] as const));
      expect(sumsOf(chain)).toMatchObject({ calls: 2, input: 3_000, output: 20 });
      expect(listSessions(chain, {}).sessions).toMatchObject([{ branches: 1, turns: 2 }]);
    }
  });

  test('[N20] a child of a child counts only its own calls, in each order', () => {
    const [child, grandchild] = ['a1864dd1-8e22-48e4-a1a0-e0c316e35772', 'b1864dd1-8e22-48e4-a1a0-e0c316e35772'];
    const one = () => [started('t1'), context('t1', 'gpt-5.5'), ask('One'), say('One', 'm1'), count([1_000, 0, 10], [1_000, 0, 10])];
    const two = () => [started('t2'), context('t2', 'gpt-5.5'), ask('Two'), say('Two', 'm2'), count([3_000, 0, 30], [2_000, 0, 20])];
    const three = () => [started('t3'), context('t3', 'gpt-5.5'), ask('Three'), say('Three', 'm3'), count([6_000, 0, 60], [3_000, 0, 30])];
    second = 0;
    const parent = [meta(), ...one()];
    second = 1_000;
    const first = [meta(child, { forked_from_id: thread, timestamp: at(1_000) }), meta(), ...one(), ...two()];
    second = 2_000;
    const last = [
      meta(grandchild, { forked_from_id: child, timestamp: at(2_000) }),
      meta(child, { forked_from_id: thread }),
      meta(),
      ...one(),
      ...two(),
      ...three(),
    ];
    const files = [
      [name(thread), parent],
      [name(child), first],
      [name(grandchild), last],
    ] as const;
    for (const order of [files, [...files].reverse()]) expect(sumsOf(imported(...order))).toMatchObject({ input: 6_000, output: 60 });
  });

  test('[N22] the window that a rollout records comes first', () => {
    const chain = imported([
      name(thread),
      [meta(), started('t1'), context('t1', 'gpt-5.5'), ask('One'), say('One'), count([1_000, 0, 10], [1_000, 0, 10], 123_456)],
    ]);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ limit: 123_456, peakTokens: 1_000 }]);
  });

  test.each([
    ['gpt-5.5', 150_000, 272_000],
    ['gpt-5.5', 300_000, 1_050_000],
    ['unheard-of-model', 150_000, null],
    ['gpt-5.5', 2_000_000, null],
  ])('[N25] a count above the recorded window means another one: %s with %i', (model, input, limit) => {
    const chain = imported([
      name(thread),
      [meta(), started('t1'), context('t1', model), ask('One'), say('One'), count([input, 0, 10], [input, 0, 10], 123_456)],
    ]);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ limit, peakTokens: input }]);
    const id = tips(chain, {})[0]?.id as ContextId;
    expect(usageOfContext(chain, id)).toMatchObject({ counted: input, limit });
    expect(usageSeries(chain, id).calls).toMatchObject([{ counted: input, limit }]);
    expect(usageCalls(chain, { id }).calls).toMatchObject([{ window: input, limit }]);
  });

  test('[N20] sums that go back are named, and nothing is lost', () => {
    const chain = imported([
      name(thread),
      [
        ...[meta(), started('t1'), context('t1', 'gpt-5.5'), ask('One'), say('One', 'm1'), count([5_000, 0, 50], [5_000, 0, 50])],
        ...[started('t2'), context('t2', 'gpt-5.5'), ask('Two'), say('Two', 'm2'), count([800, 0, 8], [800, 0, 8])],
        ...[started('t3'), context('t3', 'gpt-5.5'), ask('Three'), say('Three', 'm3'), count([1_700, 0, 17], [900, 0, 9])],
      ],
    ]);
    expect(sumsOf(chain)).toMatchObject({ calls: 3, input: 6_700, output: 67 });
    expect(usageCalls(chain, {}).calls.map(({ flaw }) => /went back/.test(flaw ?? ''))).toEqual([false, true, false]);
  });
});
