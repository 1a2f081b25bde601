import { badRequest, toTimestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { CallsFilter, InputOf, UsageCall } from '../contract/index.js';
import { sentSize } from '../requests/index.js';
import { cacheOf, isMiss } from './cache.js';
import { ledgerIsDue } from './ledger.js';
import { type CallPage, type Placed, type PlacedCall, placedAlong, placedCalls, placedFacts, placedNumbers, placedPage } from './placed.js';
import { windowOfCall } from './price-table.js';
import { moneyOf } from './prices.js';
import { type CacheFacts, type CallScope, isBeside, missesOf, type RequestIds, requestIds, termsOf, waitOf } from './rows.js';

/** Lists calls in the order sent. @throws NOT_FOUND for an unknown commit. */
export function usageCalls(chain: ReadChain, query: InputOf<'usage.calls'>): { total: number; calls: UsageCall[] } {
  const { total, calls } = selectPage(chain, query);
  const ids = requestIds(chain, [...calls, ...calls.flatMap(({ before }) => before ?? [])]);
  return { total, calls: calls.map((call) => shown(chain, call, ids)) };
}

/** The most calls of a project in an answer without a limit. */
const maxCalls = 1_000;

/** The calls to show. Only a question about a context, or about misses, looks at other calls too. */
function selectPage(chain: ReadChain, { id, sessionId, filter, offset = 0, limit: given, last }: InputOf<'usage.calls'>): CallPage {
  if (last !== undefined && (id === undefined || given !== undefined || filter))
    throw badRequest('last', 'last needs id, and takes no limit and no filter.');
  if (id !== undefined && sessionId === undefined && !filter && (given ?? last) !== undefined) {
    const found = placedAlong(chain, id, last === undefined ? offset : -last, given ?? last ?? 0);
    if (found) return found;
  }
  const limit = given ?? (id === undefined && sessionId === undefined && filter?.miss === undefined ? maxCalls : undefined);
  if (id === undefined && limit !== undefined && filter?.miss === undefined) return placedPage(chain, scopeOf(sessionId, filter), offset, limit);
  if (id === undefined && filter?.miss !== undefined) {
    const isKnown = filter.miss && !ledgerIsDue(chain);
    const { total, numbers } = isKnown
      ? missesOf(chain, scopeOf(sessionId, filter), offset, limit ?? Number.MAX_SAFE_INTEGER)
      : numbersOf(placedFacts(chain, sessionId), filter, offset, limit);
    return { total, calls: placedNumbers(chain, sessionId, numbers) };
  }
  const all = placedCalls(chain, { id, sessionId });
  const matching = filter ? all.filter((call) => matches(call, filter)) : all;
  const from = last === undefined ? offset : Math.max(0, matching.length - last);
  return { total: matching.length, calls: matching.slice(from, from + (limit ?? matching.length)) };
}

/** The numbers of a page of the calls that match a filter. */
function numbersOf(calls: readonly Placed<CacheFacts>[], filter: CallsFilter, offset: number, limit = Number.POSITIVE_INFINITY) {
  const found = calls.filter((call) => matches(call, filter));
  return { total: found.length, numbers: found.slice(offset, offset + limit).map(({ no }) => no) };
}

const scopeOf = (sessionId: string | undefined, { model, from, to }: CallsFilter = {}): CallScope => ({
  sessionId,
  model,
  from: from === undefined ? from : Date.parse(from),
  to: to === undefined ? to : Date.parse(to),
});

function matches(call: Placed<CacheFacts>, filter: CallsFilter): boolean {
  const { model, at } = call;
  return (
    (filter.model === undefined || model === filter.model) &&
    (filter.miss === undefined || filter.miss === isMiss(call)) &&
    (filter.from === undefined || at >= Date.parse(filter.from)) &&
    (filter.to === undefined || at < Date.parse(filter.to))
  );
}

function shown(chain: ReadChain, call: PlacedCall, { idOf, recordedId }: RequestIds): UsageCall {
  const { commitId, key, session, subagent, model, before, input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, flaw } = call;
  const window = sentSize(call);
  const windowBefore = before && sentSize(before);
  return {
    requestId: idOf(call),
    at: toTimestamp(call.at),
    commit: commitId,
    replyKey: key,
    ...(session !== '' && { sessionId: session }),
    ...(subagent !== '' && { subagent }),
    model,
    ...(isBeside(call) ? { trigger: null, triggerKind: 'other', beside: call.prompt ?? '' } : findTrigger(call)),
    tokens: { input, cacheRead, cacheWrite, ...(cacheWrite1h !== null && { cacheWrite1h }), output, ...(reasoning !== null && { reasoning }) },
    window,
    limit: windowOfCall(chain, call, window),
    added: window === null || windowBefore === null || isBeside(call) ? null : window - (windowBefore ?? 0),
    // Without an output count, the cost of the input is a lower bound of the call's cost.
    cost: moneyOf(call.cost, output !== null),
    waitMs: waitOf(call),
    cache: cacheOf(chain, call, recordedId),
    ...(flaw !== null && { flaw }),
    ...(call.replayed !== null && { replayed: true }),
    ...termsOf(call),
  };
}

/** The cause of a call: a new prompt, else the result of the tool that the previous call requested. */
function findTrigger({ prompt, before, begins }: PlacedCall): Pick<UsageCall, 'trigger' | 'triggerKind'> {
  if (prompt !== null) return { trigger: prompt, triggerKind: 'prompt' };
  if (before && before.does !== null && !begins) return { trigger: before.does, triggerKind: 'tool' };
  return { trigger: null, triggerKind: 'other' };
}
