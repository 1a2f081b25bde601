import { isObject, type Json } from '../base/index.js';
import { commitAt, type ReadChain, readOutline } from '../chain/index.js';
import type { MissCause, UsageCache } from '../contract/index.js';
import { diffRequests, getRequest, sentSize } from '../requests/index.js';
import type { Placed, PlacedCall } from './placed.js';
import { moneyOf, ratesOf } from './prices.js';
import { type CacheFacts, isBeside, type RequestIds } from './rows.js';

/**
 * The share of the cached input that may be missing where the new part of a call is unknown, or where the provider caches automatically: it then
 * often caches the newest messages one call later.
 */
const smallLoss = 0.1;
/** Providers that cache automatically do so in steps of this many tokens, and report no writes. */
const step = 128;
const shortLifetimeMs = 5 * 60_000;
const longLifetimeMs = 60 * 60_000;

const isClaude = ({ model }: CacheFacts): boolean => /claude/i.test(model ?? '');

/** Whether the agent says what to cache. Other providers cache automatically, and report no writes. */
const writesCache = (call: CacheFacts): boolean => isClaude(call) || (call.cacheWrite ?? 0) > 0;

/** The tokens that the previous call left in the cache as a prefix of this call. Zero after a compaction, which replaces the prefix. */
function cachedBefore({ before, begins }: Placed<CacheFacts>): number {
  if (!before || begins) return 0;
  if (writesCache(before)) return Math.min((before.cacheRead ?? 0) + (before.cacheWrite ?? 0), before.windowTokens ?? Number.POSITIVE_INFINITY);
  const window = sentSize(before) ?? 0;
  return isCaching(before) ? window - (window % step) : 0;
}

/** Whether this or an earlier call read from the cache. Otherwise, nothing shows that the provider caches at all. */
function isCaching(call: Placed<CacheFacts>): boolean {
  for (let at: Placed<CacheFacts> | undefined = call; at && at.cacheRead !== null; at = at.before) if (at.cacheRead > 0) return true;
  return false;
}

/** The input of a call, or of its last step if the provider made it in several steps. */
const sentIn = (call: CacheFacts): number | null => call.windowTokens ?? sentSize(call);

/** The tokens that a call could read: what the previous call left in the cache, and at most what the call sent. */
const expected = (call: Placed<CacheFacts>): number => Math.min(cachedBefore(call), sentIn(call) ?? Number.POSITIVE_INFINITY);

/** Expected tokens that the call did not read. */
const unread = (call: Placed<CacheFacts>): number => Math.max(0, expected(call) - (call.cacheRead ?? 0));

/** The missed tokens that the call had to pay again. The others were not sent again. */
const lostTokens = (call: Placed<CacheFacts>): number => Math.min(unread(call), (call.cacheWrite ?? 0) + (call.input ?? 0));

/** The tokens that a call may leave unread: as many as are new in it. */
function allowed(call: Placed<CacheFacts>): number {
  const [from, to] = [call.before && sentIn(call.before), sentIn(call)];
  const added = from == null || to === null ? 0 : to - from;
  const isExact = added > 0 && call.before !== undefined && writesCache(call.before);
  return isExact ? added : Math.max(added, expected(call) * smallLoss);
}

/**
 * Whether a call is known to have missed the cache: its cache reads were counted, and it read less than the cache held for it by more than what is
 * new. The first call of a conversation misses if it read nothing. For a call outside the conversation, the cached tokens are unknown.
 */
export function isMiss(call: Placed<CacheFacts>): boolean {
  if (call.cacheRead === null || isBeside(call)) return false;
  return call.before === undefined || call.begins ? call.cacheRead === 0 : unread(call) > allowed(call);
}

type RecordedId = RequestIds['recordedId'];

/** Whether a call read from the cache; if not, the cause and the price of the loss. */
export function cacheOf(chain: ReadChain, call: PlacedCall, recordedId: RecordedId): UsageCache {
  // Without a count of its cache reads, only the existence of cached tokens is known.
  if (isBeside(call)) return { hit: (call.cacheRead ?? 0) > 0 };
  if (call.cacheRead === null) return { hit: false, cause: !call.before || call.begins ? 'first' : 'unknown' };
  const missed = isMiss(call);
  const lost = lostTokens(call);
  const lifetimeMs = missed ? documentedLifetime(call) : undefined;
  return {
    hit: !missed && call.cacheRead > 0,
    ...(missed && causeOf(chain, call, recordedId)),
    ...(lifetimeMs !== undefined && { lifetimeMs }),
    ...(lost > 0 && { lostTokens: lost, ...costOfLoss(chain, call, lost) }),
  };
}

function causeOf(chain: ReadChain, call: PlacedCall, recordedId: RecordedId): Pick<UsageCache, 'cause' | 'brokenAt' | 'brokenText' | 'idleMs'> {
  const { before, begins } = call;
  if (!before || begins) return { cause: 'first' };
  if (before.model !== call.model) return { cause: 'model' };
  const different = firstDifference(chain, recordedId(before), recordedId(call));
  if (different) return different;
  const idleMs = (call.askedAt ?? call.at) - before.at;
  // Only Claude's cache lifetimes are documented. Without renewal, no provider keeps a cache longer than an hour.
  if (idleMs > (documentedLifetime(call) ?? longLifetimeMs)) return { cause: 'expired', idleMs };
  const [elision] = readOutline(chain, commitAt(chain, call.context)).elisions;
  return elision ? { cause: 'message', brokenAt: `result of ${elision.toolCallIds[0]}` } : { cause: 'unknown' };
}

/** How long the cache of the previous call lived; undefined if its provider documents no lifetime, or for a first call. */
function documentedLifetime(call: PlacedCall): number | undefined {
  const { before, begins } = call;
  if (!before || begins || !isClaude(call)) return undefined;
  return hasLongLifetime(before) ? longLifetimeMs : shortLifetimeMs;
}

/** Whether the last earlier cache write had a lifetime of one hour. */
function hasLongLifetime(call: PlacedCall): boolean {
  for (let at: PlacedCall | undefined = call; at; at = at.before) if ((at.cacheWrite ?? 0) > 0) return (at.cacheWrite1h ?? 0) > 0;
  return false;
}

/** The first difference of two recorded calls, by their ids, in the order in which the cache reads their parts. */
function firstDifference(chain: ReadChain, a: string | undefined, b: string | undefined) {
  if (a === undefined || b === undefined) return undefined;
  const { brokenAt } = diffRequests(chain, a, b).cache;
  return brokenAt === null ? undefined : { cause: causeAt(brokenAt), brokenAt, brokenText: differingText(chain, a, b, brokenAt) };
}

function causeAt(path: string): MissCause {
  if (path.startsWith('tools')) return 'tools';
  if (path.startsWith('system')) return 'system';
  if (path.startsWith('messages')) return 'message';
  return path === 'model' ? 'model' : 'parameters';
}

/** The number of characters to show before and after the first difference. */
const shown = { before: 24, after: 120 };

/** The text at a place of two requests, from a little before its first difference on. */
function differingText(chain: ReadChain, a: string, b: string, path: string): NonNullable<UsageCache['brokenText']> {
  const [before, after] = [textAt(getRequest(chain, a).body as Json, path), textAt(getRequest(chain, b).body as Json, path)];
  let same = 0;
  while (before !== null && after !== null && same < before.length && before[same] === after[same]) same++;
  const from = before === null || after === null ? 0 : Math.max(0, same - shown.before);
  const end = from + shown.before + shown.after;
  const around = (text: string | null): string | null =>
    text === null ? null : `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`.toWellFormed();
  return { before: around(before), after: around(after) };
}

/**
 * The value at a path such as `messages[2].content[0]` as text. If the body has a text in place of a list of blocks, the text counts as the first
 * block.
 */
function textAt(body: Json, path: string): string | null {
  let value: Json | undefined = body;
  for (const [name] of path.matchAll(/[^.[\]]+/g)) {
    if (typeof value === 'string' && name === '0') continue;
    value = Array.isArray(value) ? value[Number(name)] : isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  if (value === undefined || typeof value === 'string') return value ?? null;
  return isObject(value) && typeof value.text === 'string' ? value.text : JSON.stringify(value);
}

/** The additional price of paying for tokens again instead of reading them from the cache. */
function costOfLoss(chain: ReadChain, call: PlacedCall, lost: number): Pick<UsageCache, 'lostCost'> {
  const rates = ratesOf(chain, call);
  if (!rates) return {};
  const written = Math.min(lost, call.cacheWrite ?? 0);
  const writtenLong = Math.min(written, call.cacheWrite1h ?? 0);
  const paid = writtenLong * rates.cacheWrite1h + (written - writtenLong) * rates.cacheWrite + (lost - written) * rates.input;
  const lostCost = moneyOf(Math.max(0, paid - lost * rates.cacheRead) / 1_000_000);
  return lostCost ? { lostCost } : {};
}
