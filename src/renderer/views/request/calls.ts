import type { UsageCall, UsageFiller } from '../../../core/contract/index.js';
import { say } from '../../parts';

/** Which calls the list shows. */
export type Shown = 'all' | 'misses' | 'jumps';

/** A growth from this many tokens on is a large jump. */
export const largeJump = 5_000;

/** Whether the call could not read what the call before left in the cache. Where nothing was left, or reads were not counted, it has no cause. */
export const isMiss = ({ cache, tokens }: UsageCall): boolean =>
  !cache.hit && cache.cause !== undefined && cache.cause !== 'first' && tokens.cacheRead !== null;
/** Whether the input grew by much since the call before. */
export const isJump = ({ added, cache }: UsageCall): boolean => added !== null && added >= largeJump && cache.cause !== 'first';

/** The miss that cost most: by its price, and by its tokens where it has none. */
export function costliestMiss(calls: readonly UsageCall[]): UsageCall | undefined {
  const weight = ({ cache }: UsageCall): readonly [number, number] => [cache.lostCost?.amount ?? 0, cache.lostTokens ?? 0];
  return calls.filter(isMiss).toSorted((a, b) => weight(b)[0] - weight(a)[0] || weight(b)[1] - weight(a)[1])[0];
}

/** The places of the calls that match, among all calls. */
export function placesOf(calls: readonly UsageCall[], shown: Shown, filter: string): number[] {
  const wanted = filter.trim().toLowerCase();
  return calls.flatMap((call, at) => {
    if (shown === 'misses' && !isMiss(call)) return [];
    if (shown === 'jumps' && !isJump(call)) return [];
    return wanted === '' || `${call.trigger ?? ''} ${call.beside ?? ''} ${call.model ?? ''} ${call.cache.cause ?? ''}`.toLowerCase().includes(wanted)
      ? [at]
      : [];
  });
}

/** The numbers of calls, as the chart counts them. A call beside the conversation has none. */
export function numbersOf(calls: readonly UsageCall[]): readonly (number | undefined)[] {
  let number = 0;
  return calls.map(({ beside }) => (beside === undefined ? ++number : undefined));
}

/** The nearest place after one (`by` 1) or before it (-1) at which a call matches. After an end, the search continues at the other. */
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

/** What filled a window, one row for each file; everything else by itself. */
export interface Culprit {
  readonly name: string;
  /** Whether it is what a tool was given, or what it returned. */
  readonly side: string | undefined;
  readonly kind: UsageFiller['kind'];
  /** Where it stands. Tools and the system prompt stand in no entry. */
  readonly key: UsageFiller['key'];
  readonly tokens: number;
  readonly calls: number;
  readonly tokenCalls: number;
  /** How often the file was read, and how many of the reads repeat an earlier one. Of a group, its members. */
  readonly times: number;
  readonly duplicates: number;
  /** The number of tools that were offered and never used. */
  readonly unused: number;
}

/** Adds up fillers by file and by group, the largest first. */
export function culpritsOf(fillers: readonly UsageFiller[], most: number): Culprit[] {
  const found = new Map<string, Culprit>();
  for (const { key, path, tool, kind, head, tokens, calls, tokenCalls, duplicateOf, group, unused } of fillers) {
    const isOfFile = path !== undefined && kind !== 'tool_call';
    const name = group ?? (isOfFile ? path : `${tool ?? ''} ${path ?? (head === tool ? '' : (head ?? ''))}`.trim() || kindWords[kind] || kind);
    const side = group === undefined && !isOfFile && tool !== undefined ? sideWords[kind] : undefined;
    const id = group ?? (isOfFile ? `file ${path}` : `entry ${key ?? name}`);
    const before = found.get(id);
    found.set(id, {
      name,
      side,
      kind,
      key: before?.key ?? key,
      tokens: (before?.tokens ?? 0) + tokens,
      calls: Math.max(before?.calls ?? 0, calls),
      tokenCalls: (before?.tokenCalls ?? 0) + tokenCalls,
      times: (before?.times ?? 0) + 1,
      duplicates: (before?.duplicates ?? 0) + (duplicateOf === undefined ? 0 : 1),
      unused: (before?.unused ?? 0) + (unused ? 1 : 0),
    });
  }
  // What came after the last call filled no window yet.
  return [...found.values()]
    .filter(({ tokenCalls }) => tokenCalls > 0)
    .sort((a, b) => b.tokenCalls - a.tokenCalls)
    .slice(0, most);
}

const sideWords: Partial<Record<UsageFiller['kind'], string>> = { tool_call: 'call', tool_result: 'result' };
/** Names of fillers that have no text of their own. */
const kindWords: Partial<Record<UsageFiller['kind'], string>> = { system: 'System prompt', tools: 'Tools', image: 'Image' };

/** What the calls of a list cost together, and what their misses lost. */
export interface Totals {
  readonly cost: UsageCall['cost'];
  readonly unpriced: number;
  readonly unknownOutputs: number;
  readonly lostTokens: number;
  readonly lostCost: UsageCall['cost'];
}

/** Adds up the calls of a list. */
export function totalsOf(calls: readonly UsageCall[]): Totals {
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

/** The sentence for a miss. */
export function missTitle({ cache }: UsageCall, isFirst = false): string {
  switch (cache.cause) {
    case 'first':
      return isFirst ? 'First call of the conversation' : 'First call after a compaction';
    case 'expired':
      return cache.idleMs === undefined ? 'The cache expired' : `The cache expired after ${say.duration(Math.round(cache.idleMs / 60_000) * 60_000)}`;
    case 'system':
      return 'The system prompt changed';
    case 'tools':
      return 'The tools changed';
    case 'message':
      return 'A message was edited or removed';
    case 'model':
      return 'Another model was called';
    case 'parameters':
      return 'A parameter changed';
    case 'unknown':
    case undefined:
      return 'The prefix changed; why is not recorded';
  }
}
