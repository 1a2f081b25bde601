import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { UsageCall } from '../../../src/core/contract/index.js';
import { loadPrices } from '../../../src/core/usage/index.js';
import { prompt } from '../../support/claude-lines.js';
import { usageCalls, usageSessions } from '../../support/counted.js';
import { reply, usage } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { type Message, openWriter, type Shape } from '../../support/request-records.js';

beforeAll(() => loadPrices());

function chainWith(lines: readonly string[]) {
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, lines.join(''));
  importInto(chain, path);
  return chain;
}

interface Turn {
  /** Minutes after the first call. */
  readonly at: number;
  readonly counts: Readonly<Record<string, unknown>>;
  readonly model?: string;
}

/** A session with a prompt and a reply for each turn. */
const turns = (...all: readonly Turn[]): string[] =>
  all.flatMap(({ at, counts, model }, n) => {
    const time = (seconds: number): string => new Date(Date.parse('2026-01-05T12:00:00.000Z') + at * 60_000 + seconds * 1_000).toISOString();
    return [
      prompt(`p${n}`, 'go on', { parent: n === 0 ? null : `a${n - 1}`, at: time(0) }),
      reply(`a${n}`, { parent: `p${n}`, at: time(4), usage: counts, ...(model !== undefined && { model }) }),
    ];
  });

const callsOf = (lines: readonly string[]): UsageCall[] => usageCalls(chainWith(lines), {}).calls;
const lastOf = (...all: readonly Turn[]): UsageCall => callsOf(turns(...all)).at(-1) as UsageCall;

describe('costs', () => {
  test('[N6] price each kind of token at the rate of the date', () => {
    const { cost } = lastOf({ at: 0, counts: usage(1_000, 50_000, 40_000, 100) });
    // Opus 4.5, dollars per million: input 5, cache read 0.5, cache write 6.25, output 25.
    expect(cost?.amount).toBeCloseTo((1_000 * 5 + 50_000 * 0.5 + 40_000 * 6.25 + 100 * 25) / 1e6, 12);
    expect(cost).toMatchObject({ currency: 'USD', priceDate: '2026-09-23' });
  });

  test('[N6] one-hour cache writes have their own price', () => {
    const counts = { ...usage(0, 0, 40_000, 0), cache_creation: { ephemeral_5m_input_tokens: 10_000, ephemeral_1h_input_tokens: 30_000 } };
    const { cost, tokens } = lastOf({ at: 0, counts });
    expect(tokens).toMatchObject({ cacheWrite: 40_000, cacheWrite1h: 30_000 });
    expect(cost?.amount).toBeCloseTo((10_000 * 6.25 + 30_000 * 10) / 1e6, 12);
  });

  test('[N6] a large input has the price of its tier, and the price of its date', () => {
    const large = { counts: usage(10_000, 290_000, 0, 10), model: 'claude-opus-4-6' };
    expect(lastOf({ at: 0, ...large }).cost?.amount).toBeCloseTo((10_000 * 10 + 290_000 * 1 + 10 * 37.5) / 1e6, 12);
    const later = 60 * 24 * 90;
    expect(lastOf({ at: later, ...large }).cost?.amount).toBeCloseTo((10_000 * 5 + 290_000 * 0.5 + 10 * 25) / 1e6, 12);
  });

  test('[N6] an unknown model has no price, and sums say how many calls have none', () => {
    const chain = chainWith(turns({ at: 0, counts: usage(100, 0, 0, 10), model: 'nobody-7b' }, { at: 1, counts: usage(100, 0, 0, 10) }));
    expect(usageCalls(chain, {}).calls.map(({ cost }) => cost === null)).toEqual([true, false]);
    expect(usageSessions(chain, {}).totals.cost).toMatchObject({ unpriced: 1 });
  });

  test('[N6] a call without an output count costs at least its input', () => {
    const chain = chainWith([prompt('p', 'go'), reply('a', { parent: 'p', stop: null, usage: usage(1_000, 0, 0, 3) })]);
    expect(usageCalls(chain, {}).calls[0]?.cost).toMatchObject({ amount: 0.005, atLeast: true });
    expect(usageSessions(chain, {}).totals.cost).toMatchObject({ atLeast: true });
  });

  test('[N4] a call that is older than its model has no price', () => {
    const call = lastOf({ at: -60 * 24 * 400, counts: usage(100, 0, 0, 10) });
    expect(call).toMatchObject({ cost: null, flaw: 'the call is dated before its model' });
  });

  test('[N6] a person’s own prices and windows replace those of the lists', () => {
    const chain = chainWith(turns({ at: 0, counts: usage(100, 0, 0, 10), model: 'nobody-7b' }));
    expect(usageCalls(chain, {}).calls[0]).toMatchObject({ cost: null, limit: null });
    Object.assign(chain, { usageSettings: () => JSON.stringify({ models: { 'nobody-*': { input: 1, output: 2, limit: 8_000 } } }) });
    expect(usageCalls(chain, {}).calls[0]).toMatchObject({ cost: { amount: 0.00012 }, limit: 8_000 });
    expect(usageSessions(chain, {}).totals.cost?.amount).toBeCloseTo(0.00012, 12);
  });

  test.each([
    ['[', /not a JSON object/],
    ['{"model":{}}', /unknown member "model"/],
    ['{"models":{"a":{"input":-1}}}', /models.a.input is -1, and must be a number of 0 or more/],
    ['{"models":{"a":{"price":1}}}', /must be one of input, output/],
    ['{"budgets":{"day":"5"}}', /budgets.day is "5"/],
  ])('[N6] the settings %s are refused', (text, reason) => {
    const chain = chainWith(turns({ at: 0, counts: usage(100, 0, 0, 10) }));
    Object.assign(chain, { usageSettings: () => text });
    expect(() => usageCalls(chain, {})).toThrow(reason);
  });
});

describe('the cache', () => {
  const warm: Turn = { at: 0, counts: usage(3, 0, 90_000, 10) };

  test('[N7] a call that reads what its predecessor left is a hit', () => {
    expect(lastOf(warm, { at: 1, counts: usage(3, 90_000, 500, 10) }).cache).toEqual({ hit: true });
  });

  test('[N7] the first call of a conversation is a miss without a loss', () => {
    expect(lastOf(warm).cache).toEqual({ hit: false, cause: 'first' });
  });

  test('[N7] a cache that was idle for too long expired, and the loss has a price', () => {
    const { cache } = lastOf(warm, { at: 33, counts: usage(3, 0, 91_000, 10) });
    expect(cache).toMatchObject({ hit: false, cause: 'expired', lostTokens: 90_000 });
    expect(cache.idleMs).toBe(33 * 60_000 - 4_000);
    expect(cache.lifetimeMs).toBe(5 * 60_000);
    expect(cache.lostCost?.amount).toBeCloseTo((90_000 * (6.25 - 0.5)) / 1e6, 12);
  });

  test('[N7] a one-hour cache does not expire after half an hour', () => {
    const counts = { ...usage(3, 0, 90_000, 10), cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 90_000 } };
    expect(lastOf({ at: 0, counts }, { at: 33, counts: usage(3, 0, 91_000, 10) }).cache.cause).toBe('unknown');
    expect(lastOf({ at: 0, counts }, { at: 66, counts: usage(3, 0, 91_000, 10) }).cache).toMatchObject({ cause: 'expired', lifetimeMs: 60 * 60_000 });
  });

  test('[N7] another model cannot read the cache', () => {
    expect(lastOf(warm, { at: 1, counts: usage(3, 0, 91_000, 10), model: 'claude-sonnet-4-5-20250929' }).cache.cause).toBe('model');
  });

  test('[N7] a miss without evidence has an unknown cause', () => {
    expect(lastOf(warm, { at: 1, counts: usage(3, 20_000, 71_000, 10) }).cache).toMatchObject({ hit: false, cause: 'unknown', lostTokens: 70_000 });
  });

  test('[N7] a call whose cache reads were not counted is no miss, and loses nothing', () => {
    const uncounted = { input_tokens: 91_003, output_tokens: 10 };
    const chain = chainWith(turns(warm, { at: 1, counts: uncounted }, { at: 2, counts: {} }));
    expect(usageCalls(chain, {}).calls.map(({ cache }) => cache)).toEqual([
      { hit: false, cause: 'first' },
      { hit: false, cause: 'unknown' },
      { hit: false, cause: 'unknown' },
    ]);
    expect(usageCalls(chain, { filter: { miss: true } }).total).toBe(1);
    expect(usageCalls(chain, { filter: { miss: false } }).total).toBe(2);
  });

  test('[N7] a call for which nothing was left in the cache is no miss', () => {
    const [, second] = callsOf(turns({ at: 0, counts: usage(800, 0, 0, 10) }, { at: 1, counts: usage(900, 0, 0, 10) }));
    expect(second?.cache).toEqual({ hit: false });
  });

  test.each([
    ['shrank and was read whole', usage(7, 152_897, 2_333, 10), usage(10, 127_765, 18, 10), false],
    ['shrank and lost most of its cache', usage(7, 152_897, 2_333, 10), usage(10, 27_000, 100_783, 10), true],
    ['lost less than what is new', usage(10, 100_000, 0, 10), usage(10, 97_000, 8_000, 10), false],
    ['lost more than what is new', usage(10, 100_000, 0, 10), usage(10, 97_000, 3_500, 10), true],
  ])('[N7] a call that %s', (_, before, counts, isMiss) => {
    const { cache } = lastOf({ at: 0, counts: before }, { at: 600, counts });
    expect(cache).toMatchObject(isMiss ? { hit: false, cause: 'expired' } : { hit: true });
    expect('cause' in cache).toBe(isMiss);
  });

  test('[N7] a provider that never read from a cache is not said to have one', () => {
    const model = 'gpt-5.1';
    const plain = { counts: usage(9_000, 0, 0, 10), model };
    expect(lastOf({ at: 0, ...plain }, { at: 1, ...plain }).cache).toEqual({ hit: false });
    const read = { counts: usage(1_000, 8_000, 0, 10), model };
    expect(lastOf({ at: 0, ...plain }, { at: 1, ...read }, { at: 2, ...plain }).cache).toMatchObject({ cause: 'unknown', lostTokens: 8_960 });
  });

  test('[N7] two recorded requests state the cause with the first differing text', () => {
    const text = (content: string) => ({ type: 'text', text: content });
    const shape: Shape = {
      system: [text(`You are careful. ${'Rule. '.repeat(20)}Today is Monday.`)],
      tools: [{ name: 'Read', input_schema: { type: 'object' } }],
    };
    const first: Message[] = [{ role: 'user', content: [text('Fix the login.')] }];
    const then = (reply: Message): Message[] => [...first, reply, { role: 'user', content: [text('And the logout.')] }];
    const missAfter = (change: { shape?: Shape; first?: Message[]; params?: Record<string, number | string> }): UsageCall['cache'] | undefined => {
      const writer = openWriter('s');
      writer.prompt('Fix the login.');
      writer.send(shape, first);
      const reply = writer.reply([text('Done.')]);
      writer.prompt('And the logout.');
      const sent = change.first ? [...change.first, ...then(reply).slice(1)] : then(reply);
      writer.send(change.shape ?? shape, sent, { params: { model: 'claude-test', max_tokens: 100, ...change.params } });
      writer.reply([text('Done too.')]);
      return usageCalls(chainWith([writer.text()]), {}).calls.at(-1)?.cache;
    };
    expect(missAfter({ shape: { ...shape, system: [text(`You are careful. ${'Rule. '.repeat(20)}Today is Tuesday.`)] } })).toMatchObject({
      cause: 'system',
      brokenAt: 'system[0]',
      brokenText: { before: expect.stringMatching(/^….*Today is Monday\.$/), after: expect.stringMatching(/^….*Today is Tuesday\.$/) },
    });
    expect(missAfter({ shape: { ...shape, tools: [{ name: 'Write', input_schema: { type: 'object' } }] } })).toMatchObject({
      cause: 'tools',
      brokenText: { before: expect.stringContaining('Read'), after: expect.stringContaining('Write') },
    });
    expect(missAfter({ first: [{ role: 'user', content: [text('Fix the logon.')] }] })).toMatchObject({
      cause: 'message',
      brokenAt: 'messages[0].content[0]',
      brokenText: { before: 'Fix the login.', after: 'Fix the logon.' },
    });
    expect(missAfter({ params: { thinking: 'enabled' } })).toMatchObject({ cause: 'parameters' });
  });

  test('[N7] misses can be listed alone', () => {
    const chain = chainWith(turns(warm, { at: 1, counts: usage(3, 90_000, 500, 10) }, { at: 40, counts: usage(3, 0, 91_000, 10) }));
    expect(usageCalls(chain, { filter: { miss: true } }).calls.map(({ cache }) => cache.cause)).toEqual(['first', 'expired']);
    expect(usageCalls(chain, { filter: { miss: false } }).total).toBe(1);
  });
});

// Skeletons of real sessions: ids, times, models and counts, without their texts. Each ledger was compared once, line by line, with an
// independent reading of the whole session.
describe('ledgers of real sessions', () => {
  test.each(['one-hour-cache', 'two-models', 'branches'])('[N7] %s', (name) => {
    const folder = join(import.meta.dirname, '../../fixtures/usage');
    const chain = emptyChain();
    importInto(chain, join(folder, `${name}.jsonl`));
    const { calls } = usageCalls(chain, {});
    const lines = calls.flatMap(({ cache, tokens, cost }, n) =>
      cache.hit
        ? []
        : `${n + 1} ${cache.cause} read ${tokens.cacheRead} wrote ${tokens.cacheWrite} lost ${cache.lostTokens ?? 0} $${(cache.lostCost?.amount ?? 0).toFixed(4)} of $${cost?.amount.toFixed(4)}${cache.idleMs === undefined ? '' : ` after ${Math.round(cache.idleMs / 1_000)} s`}`,
    );
    const { totals } = usageSessions(chain, {});
    const ledger = [...lines, `${totals.calls} calls ${Object.values(totals.tokens).join(' ')} $${totals.cost?.amount.toFixed(4)}`, ''].join('\n');
    const file = join(folder, `${name}.ledger.txt`);
    if (process.env.UPDATE_LEDGERS) writeFileSync(file, ledger);
    expect(ledger).toBe(readFileSync(file, 'utf8'));
  });
});
