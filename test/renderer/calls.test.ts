import './page.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EntryKey, UsageCall, UsageSeries } from '../../src/core/contract/index.js';
import { partKinds } from '../../src/core/contract/usage.js';
import { colorOf, shares } from '../../src/renderer/parts/kinds.js';
import { marksOf, missTitle, nextPlace, numbersOf, placesOf, totalsOf } from '../../src/renderer/views/request/calls.js';
import { layers, stackOf, topOf, unrecorded } from '../../src/renderer/views/request/fill.js';
import { root } from '../support/source.js';

const call = (more: Partial<UsageCall>): UsageCall => ({
  requestId: 'r' as never,
  at: '2026-01-01T00:00:00.000Z' as never,
  commit: 'ctx-00000000' as never,
  replyKey: 'k.0' as never,
  model: 'm',
  trigger: 'Read a.ts',
  triggerKind: 'tool',
  tokens: { input: 1, cacheRead: 90, cacheWrite: 9, output: 5 },
  window: 100,
  limit: 1_000,
  added: 10,
  cost: null,
  waitMs: 5,
  cache: { hit: true },
  ...more,
});

test('[N16] misses, compactions and changes of the model are marked', () => {
  const marked = marksOf([
    call({ requestId: 'a' as never, cache: { hit: false, cause: 'first' } }),
    call({ requestId: 'b' as never }),
    call({ requestId: 'beside' as never, beside: 'compaction', model: 'other' }),
    call({ requestId: 'c' as never, cache: { hit: false, cause: 'first' } }),
    call({ requestId: 'd' as never, model: 'other', cache: { hit: false, cause: 'model' } }),
    call({ requestId: 'e' as never, model: null }),
  ]);
  expect([...marked]).toEqual([
    ['c', { miss: false, cut: true, model: undefined }],
    ['d', { miss: true, cut: false, model: 'other' }],
  ]);
});

describe('the list of calls', () => {
  const calls = [
    call({ cache: { hit: false, cause: 'first' }, added: 90_000 }),
    call({ trigger: 'Bash make' }),
    call({ cache: { hit: false, cause: 'expired', idleMs: 33 * 60_000 } }),
    call({ added: 5_000 }),
  ];

  test('[N16] numbers calls as the chart does, without those beside the conversation', () => {
    expect(numbersOf([call({}), call({ beside: 'compaction' }), call({})])).toEqual([1, undefined, 2]);
  });

  test('[N7] filters misses and large jumps; the first call is neither', () => {
    expect(placesOf(calls, { shown: 'misses', filter: '' })).toEqual([2]);
    const uncounted = call({ cache: { hit: false, cause: 'unknown' }, tokens: { input: 100, cacheRead: null, cacheWrite: null, output: 5 } });
    expect(placesOf([uncounted], { shown: 'misses', filter: '' })).toEqual([]);
    expect(placesOf([call({ cache: { hit: false } })], { shown: 'misses', filter: '' })).toEqual([]);
    expect(placesOf(calls, { shown: 'jumps', filter: '' })).toEqual([3]);
    expect(placesOf(calls, { shown: 'all', filter: 'make' })).toEqual([1]);
  });

  test('[N7] the next match is searched from the selected call on, then from the beginning', () => {
    const misses = ({ cache }: UsageCall): boolean => cache.cause === 'expired';
    expect(nextPlace(calls, 0, misses)).toBe(2);
    expect(nextPlace(calls, 2, misses)).toBe(2);
    expect(nextPlace(calls, 1, misses, -1)).toBe(2);
    expect([3, 2, 0].map((from) => nextPlace(calls, from, (each) => each !== calls[1], -1))).toEqual([2, 0, 3]);
    expect(nextPlace([], 0, misses)).toBeUndefined();
  });

  test('[N7] a miss is named by its cause', () => {
    expect(calls.map((each, at) => missTitle(each, at === 0))).toEqual([
      'First call of the conversation',
      'The prefix changed; why is not recorded',
      'The cache expired after 33 min',
      'The prefix changed; why is not recorded',
    ]);
  });
});

test('[N6, N7] the calls of a branch add up, and so do the losses of its misses', () => {
  const money = { amount: 0.5, currency: 'USD', priceDate: '2026-09-23' };
  const totals = totalsOf([
    call({ cost: money }),
    call({ cost: { ...money, atLeast: true }, tokens: { input: 1, cacheRead: 1, cacheWrite: 1, output: null } }),
    call({ cost: null, cache: { hit: false, cause: 'model', lostTokens: 70, lostCost: money } }),
    call({ cache: { hit: true, lostTokens: 5, lostCost: money } }),
  ]);
  expect(totals).toEqual({
    cost: { ...money, amount: 1, atLeast: true },
    unpriced: 2,
    unknownOutputs: 1,
    lostTokens: 70,
    lostCost: money,
  });
});

test('[N8] the layers of the chart add up to the counted total', () => {
  const series: UsageSeries = {
    kinds: ['user', 'tool_call', 'tool_result'],
    basis: 'calibrated',
    calls: [
      { requestId: 'a', replyKey: 'k' as EntryKey, counted: 1_000, limit: 2_000, parts: [100, 200, 300], notRecorded: null },
      { requestId: 'b', replyKey: 'k' as EntryKey, counted: null, limit: null, parts: [1, 2, 3], notRecorded: null, cut: true },
    ],
  };
  const { tokens, heights, limit, cuts } = stackOf(series);
  expect(tokens[0]?.[unrecorded]).toBe(400);
  expect(heights.at(-1)?.[0]).toBe(1_000);
  expect(tokens[1]?.[unrecorded]).toBe(0);
  expect([limit, cuts, layers.length]).toEqual([2_000, [1], 8]);
});

test('[W56] the chart has the layers and colors of every other bar, in light and in dark', () => {
  const tokens = readFileSync(join(root, 'src/renderer/app/tokens.css'), 'utf8');
  const colors = [...shares.map(colorOf), '--f-none'];
  expect(layers.map(({ color }) => color)).toEqual(colors);
  expect(layers.flatMap(({ kinds }) => kinds).toSorted()).toEqual([...partKinds].toSorted());
  for (const color of colors) expect([color, tokens.split(`${color}: `).length - 1]).toEqual([color, 2]);
  // No other style sheet defines a color for a kind of entry.
  for (const style of readdirSync(join(root, 'src/renderer'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css')))
    if (!style.endsWith('tokens.css')) expect([style, readFileSync(join(root, 'src/renderer', style), 'utf8')].join('\n')).not.toMatch(/--f-\w+: *#/);
});

test('[W56] the limit line is at the window of the last model', () => {
  const called = (limit: number | null): UsageSeries['calls'][number] => ({
    requestId: 'r',
    replyKey: 'k' as EntryKey,
    counted: 1,
    limit,
    parts: [],
    notRecorded: null,
  });
  const stack = (...limits: (number | null)[]) => stackOf({ kinds: [], basis: 'counted', calls: limits.map(called) });
  const limitOf = (...limits: (number | null)[]): number | null => stack(...limits).limit;
  // The share of a call is of its own window.
  expect(stack(1_000_000, null, 200_000).windows).toEqual([1_000_000, null, 200_000]);
  expect([limitOf(200_000, 1_000_000), limitOf(200_000, null), limitOf(null)]).toEqual([1_000_000, 200_000, null]);
  expect(topOf(80_000, 200_000)).toBeGreaterThan(200_000);
  expect(topOf(79_999, 200_000)).toBeLessThan(200_000);
  expect(topOf(250_000, 200_000)).toBeGreaterThan(250_000);
});
