import './page.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRoute } from '../../src/renderer/state/route.js';
import { sumListed } from '../../src/renderer/views/sessions/spending.js';
import { sessionsIn } from '../../src/renderer/views/usage/facts.js';
import { barsOf, dayAfter, isDay, lengthOf, rangeBefore, rangeNameOf, rangeOf, rangeWords, unitOf } from '../../src/renderer/views/usage/ranges.js';
import { selectionOf } from '../../src/renderer/views/usage/selection.js';
import { callSlices, inRange, matching, namesOf, toolSlices } from '../../src/renderer/views/usage/slices.js';
import { callsSql, quoted, toolCallsSql } from '../../src/renderer/views/usage/statements.js';
import {
  addSlices,
  barAt,
  barHeight,
  chosenOf,
  chosenText,
  countValues,
  hitShare,
  isBound,
  noSums,
  rest,
  seriesOf,
  stacksOf,
  sumGroups,
  ticksOf,
} from '../../src/renderer/views/usage/sums.js';
import { changePercent, changeWords, groupName, measuredSum, tokensIn } from '../../src/renderer/views/usage/words.js';
import { packedSessions, packedSums, packedTools, type SumRows } from '../support/sums.js';

const sessions = sessionsIn(
  packedSessions([
    ['a', 'Move orders', '/work/orders', 'laptop', 'claude-code', 'ctx-0000000a', null, 'main'],
    ['b', 'Load test', '/work/shop', null, 'codex', null, null],
    ['c', null, null, null, 'codex', null, 'b'],
  ]),
);
/** Day, session, agent, model, calls, input, cache read, cache write, output, cost, no price, no input, no output, misses, loss, wait. */
const ofCalls = [
  ['2026-01-05', 'a', 'claude-code', 'opus', 4, 100, 900, 50, 30, 2, 0, 0, 1, 1, 0.5, 4_000],
  ['2026-01-06', 'a', 'claude-code', 'opus', 1, 10, 0, 0, 3, 1, 0, 0, 0, 0, 0, 1_000],
  ['2026-01-06', 'b', 'codex', 'gpt', 2, 20, 0, null, 6, 0, 2, 0, 0, 0, null, 500],
  ['2026-01-12', 'c', 'codex', null, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0],
  ['2025-12-29', 'a', 'claude-code', 'opus', 3, 30, 0, 0, 9, 4, 0, 0, 0, 0, 0, 0],
];
/** Day, session, agent, model, tool, calls, results, errors, time. */
const ofTools = [
  ['2026-01-05', 'a', 'claude-code', 'opus', 'Bash', 10, 9, 3, 900],
  ['2026-01-06', 'b', 'codex', 'gpt', 'shell', 5, 5, 1, 100],
];
const slicesOf = (calls: SumRows, tools: SumRows) => callSlices(packedSums(calls, tools), sessions);
const [calls, tools] = [slicesOf(ofCalls, []), toolSlices(packedTools(ofTools), sessions)];
const all = slicesOf(ofCalls, ofTools);
const january = { from: '2026-01-01', to: '2026-01-31' };

describe('[Q8] the sums of the place Usage', () => {
  test('every group adds up to the total, whatever it is grouped by', () => {
    const total = addSlices(inRange(all, january));
    expect(total).toMatchObject({ calls: 8, cost: 3, unpriced: 3, uncountedOutputs: 2, toolCalls: 15, errors: 4, misses: 1 });
    for (const by of ['day', 'model', 'repository', 'agent', 'person', 'branch', 'session'] as const) {
      const groups = [...sumGroups(inRange(all, january), by).values()];
      for (const name of ['calls', 'cost', 'input', 'unpriced', 'errors', 'waitMs'] as const)
        expect([by, name, groups.reduce((sum, one) => sum + one[name], 0)]).toEqual([by, name, total[name]]);
    }
    expect([...sumGroups(tools, 'tool')].map(([tool, { errors, calls: n }]) => [tool, errors, n])).toEqual([
      ['Bash', 3, 0],
      ['shell', 1, 0],
    ]);
  });

  test('a session counts once in a group, also with calls and tool calls on several days', () => {
    expect(sumGroups(all, 'agent').get('claude-code')?.sessions).toBe(1);
    expect([...namesOf(matching(all, { agent: ['claude-code'] }), 'session')]).toEqual(['a']);
    expect(addSlices(all).sessions).toBe(3);
  });

  test('facets narrow all sums, and count the sessions of their values under the other facets', () => {
    expect(addSlices(matching(all, { agent: ['codex'] })).calls).toBe(3);
    expect(addSlices(matching(all, { agent: ['codex'], model: [''] })).calls).toBe(1);
    expect(addSlices(matching(all, { repository: [] })).calls).toBe(addSlices(all).calls);
    expect(countValues(all, { model: ['gpt'] }, 'agent')).toEqual([['codex', 1]]);
    expect(countValues(all, { model: ['gpt'] }, 'model')).toEqual([
      ['', 1],
      ['gpt', 1],
      ['opus', 1],
    ]);
  });

  test('what was not recorded has a name, and a sum with it is a lower bound', () => {
    const groups = sumGroups(inRange(all, january), 'model');
    expect(groupName('', 'model', sessions)).toBe('Model not recorded');
    expect([...sumGroups(inRange(all, january), 'branch')].map(([key, { calls: n }]) => [groupName(key, 'branch', sessions), n])).toEqual([
      ['main', 5],
      ['Branch not recorded', 3],
    ]);
    expect(isBound(addSlices(calls), 'cost')).toBe(true);
    expect(measuredSum(groups.get('opus') ?? addSlices(slicesOf([], [])), 'cost')).toBe('≥ $3.00');
    expect(measuredSum(groups.get('gpt') ?? addSlices(slicesOf([], [])), 'cost')).toBe('no price');
    // Tokens are a lower bound where a count is missing, not where a price is.
    expect(['opus', 'gpt', ''].map((model) => tokensIn(groups.get(model) ?? addSlices(slicesOf([], []))))).toEqual(['≥ 1.09k', '26', 'not counted']);
    expect(measuredSum(groups.get('opus') ?? addSlices(slicesOf([], [])), 'tokens')).toBe(
      tokensIn(groups.get('opus') ?? addSlices(slicesOf([], []))),
    );
    expect(measuredSum(groups.get('opus') ?? addSlices(slicesOf([], [])), 'errors')).not.toContain('≥');
    expect(hitShare(addSlices(slicesOf([], [])))).toBeUndefined();
    expect(hitShare(addSlices(slicesOf(ofCalls.slice(0, 1), [])))).toBeCloseTo(900 / 1_050);
    expect(groupName('c', 'session', sessions)).toBe('c');
  });

  test('two repositories of one name are told apart by the folders that contain them', () => {
    const known = sessionsIn(
      packedSessions(['/work/orders', '/home/me/orders', '/work/shop'].map((folder, n) => [`s${n}`, null, folder, null, 'codex', null, null])),
    );
    const names = ['/work/orders', '/home/me/orders', '/work/shop', '', '/gone/orders'].map((key) => groupName(key, 'repository', known));
    expect(names).toEqual(['work/orders', 'me/orders', 'shop', 'Not in a repository', 'orders']);
  });

  test('bars add up to the total, and the smallest groups are drawn as one', () => {
    const many = slicesOf(
      Array.from({ length: 9 }, (_, n) => ['2026-01-05', 'a', 'x', `m${n}`, 1, 1, 0, 0, 0, 9 - n, 0, 0, 0, 0, 0, 0]),
      [],
    );
    const bars = barsOf(january);
    const series = seriesOf(sumGroups(many, 'model'), 'cost', 'model');
    expect(series).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', rest]);
    const stack = stacksOf(many, bars, 'model', series, 'cost')[barAt(bars, '2026-01-05')];
    expect(stack).toEqual([9, 8, 7, 6, 5, 10]);
    expect(seriesOf(sumGroups(calls, 'model'), 'tokens', 'model')).toEqual(['opus', 'gpt']);
    expect(barHeight(addSlices(tools), 'time', 'tool')).toBe(1_000);
  });

  test('changes are compared with the range of the same length before', () => {
    const range = { from: '2026-01-05', to: '2026-01-11' };
    expect(rangeBefore(range)).toEqual({ from: '2025-12-29', to: '2026-01-04' });
    const [now, before] = [addSlices(inRange(calls, range)), addSlices(inRange(calls, rangeBefore(range)))];
    expect(changeWords(now, before, 'cost')).toBe('≈ −$1.00');
    expect(changePercent(now, before, 'cost')).toBe('−25.0 %');
    expect(changePercent(now, noSums(), 'cost')).toBeUndefined();
    const unpriced = { ...noSums(), calls: 3, unpriced: 3 };
    expect(changeWords(unpriced, before, 'cost')).toBe('–');
    expect(changeWords(now, unpriced, 'cost')).toBe('–');
    expect(changePercent(unpriced, before, 'cost')).toBeUndefined();
  });
});

describe('[Q9] ranges', () => {
  const day = fc.integer({ min: 0, max: 4_000 }).map((n) => dayAfter('2020-01-01', n));
  test('the bars of any range follow each other without a gap and cover it', () => {
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 3_000 }), (from, days) => {
        const range = { from, to: dayAfter(from, days) };
        const bars = barsOf(range);
        expect(bars[0]?.from).toBe(range.from);
        expect(bars.at(-1)?.to).toBe(range.to);
        for (const [at, bar] of bars.entries()) if (at > 0) expect(bar.from).toBe(dayAfter(bars[at - 1]?.to ?? '', 1));
        expect(bars.length).toBeLessThanOrEqual(101);
        expect(barAt(bars, range.to)).toBe(bars.length - 1);
      }),
    );
  });

  test('weeks begin on Monday, months on the first', () => {
    expect(unitOf({ from: '2026-01-01', to: '2026-03-31' })).toBe('week');
    expect(barsOf({ from: '2026-01-01', to: '2026-01-20' }, 'week').map(({ from }) => from)).toEqual([
      '2026-01-01',
      '2026-01-05',
      '2026-01-12',
      '2026-01-19',
    ]);
    expect(barsOf({ from: '2025-11-20', to: '2026-02-03' }, 'month').map(({ from, to }) => `${from} ${to}`)).toEqual([
      '2025-11-20 2025-11-30',
      '2025-12-01 2025-12-31',
      '2026-01-01 2026-01-31',
      '2026-02-01 2026-02-03',
    ]);
  });

  test('dates that do not exist, backward ranges and unknown words fall back to 90 days', () => {
    for (const bad of ['2026-02-01..2026-01-01', '2026-02-30..2026-03-01', 'x..y', '..', '999', '2026-01-01'])
      expect([bad, lengthOf(rangeOf(bad, '2026-03-31', undefined))]).toEqual([bad, 90]);
    expect(isDay('2024-02-29')).toBe(true);
    expect(isDay('2026-02-29')).toBe(false);
    expect(['7', 'all', '999', undefined, 'x..y'].map(rangeNameOf)).toEqual(['7', 'all', '90', '90', undefined]);
    expect(rangeOf('all', '2026-03-31', '2026-01-05')).toEqual({ from: '2026-01-05', to: '2026-03-31' });
    expect(rangeOf('all', '2026-03-31', undefined)).toEqual({ from: '2026-03-31', to: '2026-03-31' });
    expect(rangeWords({ from: '2025-12-29', to: '2026-01-04' })).toBe('29 Dec 2025 – 4 Jan 2026');
  });

  test('the lines of a chart are round and reach its top', () => {
    expect(ticksOf(231.9)).toEqual([0, 100, 200, 300]);
    expect(ticksOf(0)).toEqual([0]);
    expect(ticksOf(Number.NaN)).toEqual([0]);
    fc.assert(fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (most) => (ticksOf(most).at(-1) ?? 0) >= most * 0.999999));
  });
});

describe('[Q10] the address of Usage', () => {
  test('contains facets with any text, and reads them back', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (model) => {
        expect(chosenOf(chosenText({ model }))).toEqual({ model });
      }),
    );
    expect(chosenText({ agent: [] })).toBeUndefined();
    expect(chosenOf('__proto__=1&nonsense=2')).toEqual({});
  });

  test('ignores unknown measures and groups, and a tool has only errors and time', () => {
    const read = (hash: string) => selectionOf(parseRoute(hash), '2026-03-31', undefined);
    expect(read('#/usage?measure=love&group=moon')).toMatchObject({ measure: 'cost', group: 'repository', named: '90' });
    expect(read('#/usage?measure=tokens&group=tool')).toMatchObject({ measure: 'errors', group: 'tool' });
    expect(read('#/usage?measure=time&group=tool&range=7')).toMatchObject({ measure: 'time', named: '7' });
  });
});

describe('[Q11] statements that list the calls of a bar or a row', () => {
  test('quote every text that comes from a transcript', () => {
    expect(quoted("it's')--")).toBe("'it''s'')--'");
    const sql = callsSql(january, { model: ["x' OR 1=1 --"], repository: ['/a'] }, ['cost IS NULL']);
    expect(sql).toContain("ifnull(model, '') IN ('x'' OR 1=1 --')");
    expect(sql).toContain("session_id IN (SELECT session_id FROM sessions WHERE ifnull(repository, '') IN ('/a'))");
    expect(sql).toContain('AND cost IS NULL');
    expect(toolCallsSql(january, {})).toContain("at >= '2026-01-01' AND at < '2026-01-31~'");
    const days = { from: '2026-01-30', to: '2026-01-31' };
    expect(callsSql(days, {})).toContain("at_ms >= unixepoch('2026-01-30') * 1000 AND at_ms < unixepoch('2026-02-01') * 1000");
  });
});

test('[Q12] the footer of Sessions adds up the listed sessions and says what it left out', () => {
  const row = (key: string, cost: number | null, unknownOutputs = 0) => ({
    ...{ key, sessions: 1, calls: 2, tokens: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 } },
    ...{ unknownInputs: 0, unknownCacheReads: 0, unknownCacheWrites: 0, unknownOutputs },
    cost: cost === null ? null : { amount: cost, currency: 'USD', priceDate: '2026-01-01', unpriced: 0 },
  });
  const session = (sessionId: string) => ({ sessionId, turns: 3, errors: 1 });
  const listed = [
    { key: 'a', session: session('a'), subagents: [{ key: 'a1', session: session('a1'), subagents: [] }] },
    { key: '/x.jsonl', found: {}, subagents: [] },
  ] as unknown as Parameters<typeof sumListed>[0];
  expect(sumListed(listed, [row('a', 1), row('a1', 2), row('elsewhere', 40)])).toEqual({
    ...{ sessions: 1, turns: 6, errors: 2, notImported: 1, calls: 4, tokens: 20, cost: 3, areTokensMissing: false, isLowerBound: false },
  });
  expect(sumListed(listed, [row('a', 1, 1)])).toMatchObject({ areTokensMissing: true, isLowerBound: true });
  // A missing price changes no tokens.
  expect(sumListed(listed, [row('a', null)])).toMatchObject({ areTokensMissing: false, isLowerBound: true });
});
