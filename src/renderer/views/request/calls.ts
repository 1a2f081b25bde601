import type { UsageCall } from '../../../core/contract/index.js';
import { say } from '../../parts';

/** Which calls are listed. */
export interface Wanted {
  readonly shown: 'all' | 'misses' | 'jumps';
  readonly filter: string;
}

/** A growth from this many tokens on is a large jump. */
export const largeJump = 5_000;

/** Whether the call missed the cache of the previous call. A call has no miss if the cache was empty or its reads were not counted. */
export const isMiss = ({ cache, tokens }: UsageCall): boolean =>
  !cache.hit && cache.cause !== undefined && cache.cause !== 'first' && tokens.cacheRead !== null;
/** Whether the input is much larger than the input of the previous call. */
export const isJump = ({ added, cache }: UsageCall): boolean => added !== null && added >= largeJump && cache.cause !== 'first';

/** The most expensive miss, by price; misses without a price are compared by tokens. */
export function costliestMiss(calls: readonly UsageCall[]): UsageCall | undefined {
  const weight = ({ cache }: UsageCall): readonly [number, number] => [cache.lostCost?.amount ?? 0, cache.lostTokens ?? 0];
  return calls.filter(isMiss).toSorted((a, b) => weight(b)[0] - weight(a)[0] || weight(b)[1] - weight(a)[1])[0];
}

/** The places of the calls that match, among all calls. */
export function placesOf(calls: readonly UsageCall[], { shown, filter }: Wanted): number[] {
  const wanted = filter.trim().toLowerCase();
  return calls.flatMap((call, at) => {
    if (shown === 'misses' && !isMiss(call)) return [];
    if (shown === 'jumps' && !isJump(call)) return [];
    return wanted === '' || `${call.trigger ?? ''} ${call.beside ?? ''} ${call.model ?? ''} ${call.cache.cause ?? ''}`.toLowerCase().includes(wanted)
      ? [at]
      : [];
  });
}

/** The numbers of calls, as in the chart. A call outside the conversation has no number. */
export function numbersOf(calls: readonly UsageCall[]): readonly (number | undefined)[] {
  let number = 0;
  return calls.map(({ beside }) => (beside === undefined ? ++number : undefined));
}

/** What stands out at a call: it missed the cache, it is the first after a compaction, or it went to another model than the call before. */
export interface CallMark {
  readonly miss: boolean;
  readonly cut: boolean;
  readonly model: string | undefined;
}

/** The marks of the calls, by request. */
export function marksOf(calls: readonly UsageCall[]): ReadonlyMap<string, CallMark> {
  const marks = new Map<string, CallMark>();
  let before: UsageCall | undefined;
  for (const call of calls) {
    if (call.beside !== undefined) continue;
    const isOther = before !== undefined && call.model !== null && before.model !== null && call.model !== before.model;
    const mark = {
      miss: isMiss(call),
      cut: before !== undefined && call.cache.cause === 'first',
      model: isOther ? (call.model ?? undefined) : undefined,
    };
    if (mark.miss || mark.cut || mark.model !== undefined) marks.set(call.requestId, mark);
    before = call;
  }
  return marks;
}

/** The nearest position after (`by` 1) or before (-1) a position at which a call matches. The search wraps around at both ends. */
export function nextPlace(calls: readonly UsageCall[], from: number, matches: (call: UsageCall) => boolean, by: 1 | -1 = 1): number | undefined {
  for (let step = 1; step <= calls.length; step++) {
    const at = (from + by * step + calls.length) % calls.length;
    const call = calls[at];
    if (call && matches(call)) return at;
  }
  return undefined;
}

/** The share of a call's input that was read from the cache. */
export const readShare = ({ tokens, window }: UsageCall): number | null =>
  window === null || window === 0 || tokens.cacheRead === null ? null : tokens.cacheRead / window;

/** Adds up the calls of a list. */
export function totalsOf(calls: readonly UsageCall[]) {
  const sum = (prices: readonly (UsageCall['cost'] | undefined)[]): UsageCall['cost'] => {
    const known = prices.flatMap((price) => price ?? []);
    const [first] = known;
    if (!first) return null;
    const { atLeast: _, ...money } = first;
    const isLeast = known.length < prices.length || known.some(({ atLeast }) => atLeast);
    return { ...money, amount: known.reduce((total, { amount }) => total + amount, 0), ...(isLeast && { atLeast: true }) };
  };
  const misses = calls.filter(isMiss);
  return {
    cost: sum(calls.map(({ cost }) => cost)),
    unpriced: calls.filter(({ cost }) => cost === null).length,
    unknownOutputs: calls.filter(({ tokens }) => tokens.output === null).length,
    lostTokens: misses.reduce((total, { cache }) => total + (cache.lostTokens ?? 0), 0),
    lostCost: sum(misses.filter(({ cache }) => cache.lostTokens).map(({ cache }) => cache.lostCost)),
  };
}

const missTitles: Readonly<Record<Exclude<NonNullable<UsageCall['cache']['cause']>, 'first'>, string>> = {
  expired: 'The cache expired',
  system: 'The system prompt changed',
  tools: 'The tools changed',
  message: 'A message was edited or removed',
  model: 'Another model was called',
  parameters: 'A parameter changed',
  unknown: 'The prefix changed; why is not recorded',
};

/** The sentence for a miss. */
export function missTitle({ cache: { cause = 'unknown', idleMs } }: UsageCall, isFirst = false): string {
  if (cause === 'first') return isFirst ? 'First call of the conversation' : 'First call after a compaction';
  if (cause === 'expired' && idleMs !== undefined) return `${missTitles.expired} after ${say.duration(Math.round(idleMs / 60_000) * 60_000)}`;
  return missTitles[cause];
}
