import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../../src/core/base/index.js';
import { checkpoint, fork, tips } from '../../../src/core/chain/index.js';
import { groupings } from '../../../src/core/contract/index.js';
import { listRequests } from '../../../src/core/requests/index.js';
import { backfillBatch, pendingCommits } from '../../../src/core/usage/index.js';
import { prompt, result } from '../../support/claude-lines.js';
import { usageCalls, usageOfContext, usageSessions } from '../../support/counted.js';
import { reply, session, usage } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

/** Imports files with these lines, in this order, into one new project. */
function imported(...files: readonly (readonly string[])[]) {
  const chain = emptyChain();
  const dir = scratch();
  files.forEach((lines, n) => {
    const folder = join(dir, String(n));
    mkdirSync(folder);
    const path = join(folder, 'session.jsonl');
    writeFileSync(path, lines.join(''));
    importInto(chain, path);
  });
  return chain;
}

const tokensOf = (chain: ReturnType<typeof emptyChain>) => usageCalls(chain, {}).calls.map(({ tokens }) => tokens);

describe('calls', () => {
  test('[N1] have the tokens that the provider counted, each with its growth', () => {
    const chain = imported(session('a', 3));
    const { total, calls } = usageCalls(chain, {});
    expect(total).toBe(3);
    expect(calls.map(({ window }) => window)).toEqual([1_003, 2_003, 3_003]);
    expect(calls.map(({ added }) => added)).toEqual([1_003, 1_000, 1_000]);
    expect(calls.map(({ tokens }) => tokens.output)).toEqual([20, 21, 22]);
    expect(calls.map(({ trigger, triggerKind, waitMs }) => [trigger, triggerKind, waitMs])).toEqual(
      [0, 1, 2].map((n) => [`question ${n} of a`, 'prompt', 5_000]),
    );
  });

  test('[N1] have the ids and commits that request.list has', () => {
    const chain = imported(session('a', 3));
    const listed = listRequests(chain, {});
    expect(usageCalls(chain, {}).calls.map(({ requestId, commit, replyKey }) => ({ requestId, commit, replyKey }))).toEqual(
      listed.map(({ requestId, commit, replyKey }) => ({ requestId, commit, replyKey })),
    );
  });

  test('[N2] count once, however many lines, files and branches hold the reply', () => {
    const lines = session('a', 3);
    const checkpoints = [lines.slice(0, 4), lines, lines.slice(0, 2)];
    // A fork of an older version: the same replies under new ids.
    const copied = lines.map((line) => line.replaceAll('"a-', '"copy-').replaceAll('"s1"', '"s2"').replaceAll('msg_copy-', 'msg_a-'));
    const { totals } = usageSessions(imported(...checkpoints, copied), {});
    expect(totals.calls).toBe(3);
    expect(totals.tokens).toEqual({ input: 9, cacheRead: 3_000, cacheWrite: 3_000, output: 63 });
  });

  test('[N2] totals do not depend on the order of imports', { tags: 'long' }, () => {
    const one = session('a', 4);
    const two = session('b', 3);
    const forked = [...one.slice(0, 4).map((line) => line.replaceAll('"sessionId":"a"', '"sessionId":"f"')), ...session('f', 2, 'f')];
    const files = [one, two, one.slice(0, 6), forked];
    const totalsOf = (order: readonly number[]): unknown => usageSessions(imported(...order.map((n) => files[n] ?? [])), { groupBy: null }).totals;
    const expected = totalsOf([0, 1, 2, 3]);
    expect(expected).toMatchObject({ calls: 9 });
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }), (order, again) => {
        expect({ ...(totalsOf([...order, ...again]) as object), sessions: 0 }).toEqual({ ...(expected as object), sessions: 0 });
      }),
      { numRuns: 8 },
    );
  });

  test('[N3] a count from the beginning of a stream is not recorded', () => {
    const stub = (uuid: string, parent: string): string => reply(uuid, { parent, id: 'msg_1', stop: null, usage: usage(3, 0, 900, 4) });
    const chain = imported([prompt('p', 'go'), stub('a', 'p'), stub('b', 'a')]);
    expect(tokensOf(chain)).toEqual([{ input: 3, cacheRead: 0, cacheWrite: 900, output: null }]);
    expect(usageSessions(chain, {}).totals).toMatchObject({ tokens: { output: 0 }, unknownInputs: 0, unknownOutputs: 1 });
    expect(listRequests(chain, {}).map(({ tokens }) => tokens.output)).toEqual([null]);
  });

  test('[N24] output that a later sum of the agent takes back leaves the sums of the session', () => {
    const stub = (uuid: string, parent: string): string => reply(uuid, { parent, stop: null, usage: usage(3, 0, 900, 4) });
    const sum = (inputTokens: number): string => {
      const modelUsage = { 'claude-opus-4-5': { inputTokens, outputTokens: 50, cacheReadInputTokens: 0, cacheCreationInputTokens: 1_800 } };
      return `${JSON.stringify({ type: 'cost-state', sessionId: 's1', timestamp: '2026-03-01T00:00:00.000Z', modelUsage })}\n`;
    };
    const lines = [prompt('p', 'go'), stub('a', 'p'), stub('b', 'a'), sum(6)];
    const outputs = (...files: string[][]) => usageSessions(imported(...files), {}).totals;
    expect(outputs(lines)).toMatchObject({ tokens: { output: 50 }, unknownOutputs: 1 });
    const more = [prompt('q', 'go on', { parent: 'b' }), reply('c', { parent: 'q', usage: usage(3, 0, 900, 7) }), sum(1)];
    expect(outputs(lines, [...lines, ...more])).toMatchObject({ tokens: { output: 7 }, unknownOutputs: 2 });
  });

  test('[N3] a line with a stop reason, or a count that rose, has the final count', () => {
    const lines = (last: Parameters<typeof reply>[1]): string[] => [
      prompt('p', 'go'),
      reply('a', { parent: 'p', id: 'msg_1', stop: null, usage: usage(3, 0, 900, 4) }),
      reply('b', { parent: 'a', id: 'msg_1', ...last }),
    ];
    expect(tokensOf(imported(lines({ stop: 'tool_use', usage: usage(3, 0, 900, 4) })))[0]?.output).toBe(4);
    expect(tokensOf(imported(lines({ stop: null, usage: usage(3, 0, 900, 250) })))[0]?.output).toBe(250);
  });

  test('[N4] impossible counts are not shown, and the reason is', () => {
    const bad = [-1, 1.5, 1e15, '7', Number.MAX_SAFE_INTEGER + 1];
    const lines = bad.flatMap((count, n) => [
      prompt(`p${n}`, 'go', { parent: n === 0 ? null : `a${n - 1}` }),
      reply(`a${n}`, { parent: `p${n}`, usage: { ...usage(3, 10, 20, 30), cache_read_input_tokens: count } }),
    ]);
    const { calls } = usageCalls(imported(lines), {});
    // The other parts of the input would pass for all of it.
    expect(calls.map(({ tokens, window, cost }) => [tokens, window, cost])).toEqual(
      bad.map(() => [{ input: null, cacheRead: null, cacheWrite: null, output: 30 }, null, null]),
    );
    for (const { flaw } of calls) expect(flaw).toMatch(/impossible count: cache read/);
  });

  test('[N4] names a split of cache writes that does not add up', () => {
    const split = (short: number, long: number) => ({
      ...usage(1, 0, 500, 5),
      cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    });
    const flaws = [split(100, 400), split(400, 400), split(0, 600)].map(
      (counts) => usageCalls(imported([prompt('p', 'go'), reply('a', { parent: 'p', usage: counts })]), {}).calls[0]?.flaw,
    );
    expect(flaws).toEqual([
      undefined,
      'cache writes for five minutes (400) and an hour (400) are not all cache writes (500)',
      'one-hour cache writes (600) exceed all cache writes (500)',
    ]);
  });

  test('[N4] of a branch keep the order of the conversation where the clock ran backwards', () => {
    const lines = [30, 10, 20].flatMap((minute, n) => [
      prompt(`p${n}`, `question ${n}`, { parent: n === 0 ? null : `a${n - 1}`, at: `2026-01-02T10:${minute}:00.000Z` }),
      reply(`a${n}`, { parent: `p${n}`, at: `2026-01-02T10:${minute}:05.000Z`, usage: usage(1, 0, 0, 5) }),
    ]);
    const chain = imported(lines);
    const { calls } = usageCalls(chain, { id: tips(chain, {})[0]?.id });
    expect(calls.map(({ trigger }) => trigger)).toEqual(['question 0', 'question 1', 'question 2']);
  });

  test('[N4] a call whose record counts no input at all has no counts', () => {
    const chain = imported([prompt('p', 'go'), reply('a', { parent: 'p', usage: usage(0, 0, 0, 0) })]);
    expect(usageCalls(chain, {}).calls).toMatchObject([
      { tokens: { input: null, cacheRead: null, cacheWrite: null, output: null }, window: null, cost: null, flaw: 'the record counts no input' },
    ]);
  });

  test('[N14] are named by what a person typed, without the elements of the agent', () => {
    const command = '<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>';
    const framed = '<current_datetime>2026-01-01</current_datetime>\n\nFix the login';
    const texts = [command, framed, 'Use <b> here'];
    const lines = texts.flatMap((text, n) => [
      prompt(`p${n}`, text, { parent: n === 0 ? null : `a${n - 1}` }),
      reply(`a${n}`, { parent: `p${n}`, usage: usage(10, 0, 0, 1) }),
    ]);
    expect(usageCalls(imported(lines), {}).calls.map(({ trigger }) => trigger)).toEqual(['/model opus', 'Fix the login', 'Use <b> here']);
  });

  test('[N4] two files that contradict each other are named', () => {
    const file = (sessionId: string, input: number): string[] => [
      prompt(`${sessionId}-p`, 'go', { extra: { sessionId } }),
      reply(`${sessionId}-a`, { parent: `${sessionId}-p`, id: 'msg_same', extra: { sessionId }, usage: usage(input, 0, 5, 9) }),
    ];
    for (const order of [
      [3, 4],
      [4, 3],
    ] as const) {
      const { calls, total } = usageCalls(imported(file('x', order[0]), file('y', order[1])), {});
      expect(total).toBe(1);
      expect(calls[0]?.flaw).toBe('files record different counts of this call');
    }
  });

  test.each([
    ['a clock that runs backwards', '2026-01-02T09:00:00.000Z'],
    ['one time for a prompt and its reply', '2026-01-02T10:00:00.000Z'],
  ])('[N4] %s makes the wait unknown', (_what, at) => {
    const chain = imported([prompt('p', 'go', { at: '2026-01-02T10:00:00.000Z' }), reply('a', { parent: 'p', at, usage: usage(1, 0, 0, 5) })]);
    expect(usageCalls(chain, {}).calls[0]?.waitMs).toBeNull();
  });
});

describe('a context', () => {
  test('[N1] has the count of its last call, and parts that add up to it', () => {
    const chain = imported(session('a', 3));
    const [tip] = tips(chain, {});
    const found = usageOfContext(chain, tip?.id as never);
    expect(found).toMatchObject({ counted: 3_003, limit: 200_000, model: 'claude-opus-4-5-20251101' });
    expect(found.requestId).toBe(usageCalls(chain, {}).calls.at(-1)?.requestId);
    expect(found.parts.reduce((sum, { tokens }) => sum + tokens, 0) + (found.notRecorded ?? 0)).toBe(3_003);
  });

  test('[N1] parts are scaled down where their estimates exceed the count', () => {
    const chain = imported([prompt('p', 'word '.repeat(1_000)), reply('a', { parent: 'p', usage: usage(100, 0, 0, 5) })]);
    const found = usageOfContext(chain, tips(chain, {})[0]?.id as never);
    expect(found.parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(100);
    expect(found.notRecorded).toBe(0);
  });

  test('[N1] has no count after an edit that no call has seen', () => {
    const chain = imported(session('a', 3));
    const tip = tips(chain, {})[0]?.id as never;
    const edited = fork(chain, { id: tip, edits: [{ op: 'replace', key: 'a-p1.0' as never, entry: { role: 'user', kind: 'text', text: 'other' } }] });
    expect(usageOfContext(chain, edited.id)).toMatchObject({ counted: null, since: { counted: expect.any(Number) } });
    const appended = fork(chain, { id: tip, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'more' } }] });
    expect(usageOfContext(chain, appended.id).counted).toBeNull();
  });

  test('[N1] keeps the count after a fork that only cuts', () => {
    const block = { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/a' } };
    const chain = imported([
      prompt('p', 'go'),
      reply('a', { parent: 'p', block, usage: usage(500, 0, 0, 5) }),
      result('r', 't1', 'content', { parent: 'a' }),
      reply('b', { parent: 'r', usage: usage(700, 0, 0, 5) }),
    ]);
    const tip = tips(chain, {})[0]?.id as never;
    expect(usageOfContext(chain, tip).counted).toBe(700);
    expect(usageOfContext(chain, fork(chain, { id: tip, at: 'r.0' as never }).id).counted).toBe(500);
  });
});

describe('sums', () => {
  test('[N5] group by session, day in a time zone, model, repository and agent', () => {
    const chain = imported(session('a', 2), session('b', 1));
    const keys = (groupBy: 'session' | 'day' | 'model' | 'repository' | 'agent', timeZone?: string): unknown =>
      usageSessions(chain, { groupBy, timeZone }).rows.map(({ key, calls }) => [key, calls]);
    expect(keys('session')).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(keys('day')).toEqual([['2026-01-02', 3]]);
    expect(keys('day', 'America/New_York')).toEqual([['2026-01-01', 3]]);
    expect(keys('model')).toEqual([['claude-opus-4-5-20251101', 3]]);
    expect(keys('repository')).toEqual([
      ['/repo/a', 2],
      ['/repo/b', 1],
    ]);
    expect(keys('agent')).toEqual([['claude-code', 3]]);
    expect(usageSessions(chain, { groupBy: null }).rows).toEqual([]);
    expect(() => usageSessions(chain, { timeZone: 'Mars' })).toThrow(/is not a time zone/);
  });

  test('[N5] the calls of a subagent are in the sums of its session, and apart', () => {
    const chain = emptyChain();
    importInto(chain, join(import.meta.dirname, '../../../resources/sample/larder'));
    const { rows } = usageSessions(chain, { groupBy: 'session' });
    const withSubagents = rows.filter(({ subagents }) => subagents !== undefined);
    expect(withSubagents).not.toEqual([]);
    for (const { key, calls, tokens, subagents } of withSubagents) {
      const all = usageCalls(chain, { sessionId: key }).calls;
      const own = all.filter(({ subagent }) => subagent !== undefined);
      const outputOf = (some: typeof all): number => some.reduce((sum, call) => sum + (call.tokens.output ?? 0), 0);
      expect([calls, tokens.output]).toEqual([all.length, outputOf(all)]);
      expect([subagents?.calls, subagents?.tokens.output]).toEqual([own.length, outputOf(own)]);
      expect(own.length).toBeGreaterThan(0);
      expect(own.length).toBeLessThan(all.length);
    }
  });

  test('[N5] a filter by time counts call by call', () => {
    const chain = imported(session('a', 3));
    const { totals } = usageSessions(chain, { filter: { from: '2026-01-02T00:01:00.000Z' as never, to: '2026-01-02T00:02:00.000Z' as never } });
    expect(totals).toMatchObject({ calls: 1, tokens: { output: 21 } });
  });

  test('[N5] calls without a model are counted in a part of a quarter of an hour', () => {
    const lines = session('a', 3).map((line) => line.replaceAll(/"model":"[^"]*",?/g, ''));
    const chain = imported(lines);
    const filter = { from: '2026-01-02T00:00:01.000Z' as Timestamp, to: '2026-01-02T00:10:00.000Z' as Timestamp };
    const { totals, rows } = usageSessions(chain, { filter, groupBy: 'model' });
    expect(totals.calls).toBe(3);
    expect(rows.map(({ key, calls }) => [key, calls])).toEqual([['', 3]]);
  });

  test('[N5] a span of time has the same sums as its calls, wherever it begins and ends', { tags: 'long' }, () => {
    const chain = imported(session('a', 40), session('b', 50));
    const { calls } = usageCalls(chain, {});
    const first = Date.parse(calls[0]?.at ?? '');
    fc.assert(
      fc.property(
        fc.integer({ min: -2, max: 3_100 }),
        fc.integer({ min: 0, max: 3_100 }),
        fc.constantFrom(...groupings),
        (begin, length, groupBy) => {
          const [from, to] = [begin, begin + length].map((seconds) => new Date(first + seconds * 1_000).toISOString() as Timestamp);
          const inside = calls.filter(({ at }) => at >= (from as string) && at < (to as string));
          const { totals, rows } = usageSessions(chain, { filter: { from, to }, groupBy });
          expect(totals.calls).toBe(inside.length);
          expect(totals.tokens.output).toBe(inside.reduce((sum, { tokens }) => sum + (tokens.output ?? 0), 0));
          expect(rows.reduce((sum, row) => sum + row.calls, 0)).toBe(inside.length);
        },
      ),
    );
  });
});

function forgetFacts({ db }: ReturnType<typeof emptyChain>): void {
  for (const table of ['usageCall', 'usageCopy', 'usageQuarter', 'usageSum', 'derivedProgress']) db.run(`DELETE FROM ${table}`);
}

describe('facts', () => {
  test('[N2] are read again in a project that has none, with the same result', () => {
    const chain = imported(session('a', 3), session('b', 2));
    const before = [usageCalls(chain, {}), usageSessions(chain, {})];
    expect(pendingCommits(chain)).toBe(0);
    forgetFacts(chain);
    expect(pendingCommits(chain)).toBeGreaterThan(0);
    while (backfillBatch(chain));
    expect([usageCalls(chain, {}), usageSessions(chain, {})]).toEqual(before);
  });

  test('[N2] are the same when read again after a session became a continuation', () => {
    const cases = join(import.meta.dirname, '../../fixtures/cases');
    const chain = emptyChain();
    importInto(chain, join(cases, 'codex-fork-child-alone'));
    importInto(chain, join(cases, 'codex-fork-replay'));
    const before = [usageCalls(chain, {}), usageSessions(chain, {})];
    forgetFacts(chain);
    while (backfillBatch(chain));
    expect([usageCalls(chain, {}), usageSessions(chain, {})]).toEqual(before);
    expect(usageCalls(chain, {}).calls.some(({ replayed }) => replayed)).toBe(false);
  });

  test('[N2] cover commits that a caller checkpoints', () => {
    const chain = emptyChain();
    const text = session('a', 1).join('');
    const { id } = checkpoint(chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text,
      template: 'claude-code',
      checkpoint: 'explicit',
    } as never);
    expect(usageOfContext(chain, id).counted).toBe(1_003);
  });
});
