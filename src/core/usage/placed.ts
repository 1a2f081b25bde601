import { type CommitSeq, type ContextId, once } from '../base/index.js';
import { type ContextRow, earlierParent, findCommit, lineage, type ReadChain } from '../chain/index.js';
import type { InputOf } from '../contract/index.js';
import { requireContents } from './backfill.js';
import {
  allCallsIn,
  type CacheFacts,
  type CallRow,
  type CallScope,
  cacheFactsOf,
  callPage,
  callsMadeIn,
  callsNumbered,
  countsIn,
  isBeside,
  readCalls,
} from './rows.js';

/** A call and the previous call of the conversation. A call outside the conversation has no predecessor. */
export type Placed<Row> = Row & {
  readonly before: Placed<Row> | undefined;
  /** True if a compaction or the beginning lies between `before` and the call. */
  readonly begins: boolean;
};
export type PlacedCall = Placed<CallRow>;

/** The calls of a session or of the project, each with its predecessor, as far as the cache is concerned. */
export function placedFacts(chain: ReadChain, sessionId: string | undefined): Placed<CacheFacts>[] {
  requireContents(chain);
  return placed(chain, cacheFactsOf(chain, sessionId));
}

/** The calls with these numbers, each with its predecessor in a session or in the project. */
export const placedNumbers = (chain: ReadChain, sessionId: string | undefined, numbers: readonly number[]): PlacedCall[] =>
  linked(chain, sessionId, callsNumbered(chain, numbers));

/** The calls of a query, each with its predecessor. */
export function placedCalls(chain: ReadChain, { id, sessionId }: Pick<InputOf<'usage.calls'>, 'id' | 'sessionId'>): PlacedCall[] {
  requireContents(chain, id);
  if (id === undefined) return placed(chain, readCalls(chain, sessionId));
  const seqs = lineage(chain, findCommit(chain, id)).map(({ seq }) => seq);
  const calls = allCallsIn(chain, seqs).filter((call) => sessionId === undefined || call.session === sessionId);
  const seen = new Set<number>();
  const each = calls.filter(({ no }) => !seen.has(no) && seen.add(no));
  return placed(chain, inOrder(each, seqs));
}

/** The calls by the order of their commits in the conversation and not by time, because a clock that ran backwards would mix its turns. */
function inOrder(calls: readonly CallRow[], seqs: readonly CommitSeq[]): CallRow[] {
  const order = new Map(seqs.map((seq, at) => [seq, at] as const));
  const orderOf = ({ context }: CallRow): number => order.get(context) ?? 0;
  return calls.toSorted((a, b) => orderOf(a) - orderOf(b));
}

/** Some calls in order, and the number of all. */
export interface CallPage {
  readonly total: number;
  readonly calls: PlacedCall[];
}

/**
 * A page of the calls on the way from the root to a commit; a negative offset counts from the end. Undefined if commits on the way repeat calls of others:
 * then all of them must be read to list each call once.
 */
export function placedAlong(chain: ReadChain, id: ContextId, offset: number, limit: number): CallPage | undefined {
  requireContents(chain, id);
  const seqs = lineage(chain, findCommit(chain, id)).map(({ seq }) => seq);
  const counts = countsIn(chain, seqs);
  if (!counts) return undefined;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const from = offset < 0 ? Math.max(0, total + offset) : offset;
  const some: CommitSeq[] = [];
  let [first, before] = [0, 0];
  for (const seq of seqs) {
    const count = counts.get(seq) ?? 0;
    if (before < from + limit && before + count > from) {
      if (some.length === 0) first = before;
      some.push(seq);
    }
    before += count;
  }
  const calls = inOrder(allCallsIn(chain, some), some);
  return { total, calls: linked(chain, undefined, calls.slice(from - first, from - first + limit)) };
}

/**
 * A page of the calls of a session or of the project. The predecessor of a call is looked up when it is asked for, so that a page does not read the
 * calls before it.
 */
export function placedPage(chain: ReadChain, scope: CallScope, offset: number, limit: number): CallPage {
  requireContents(chain);
  const { total, rows } = callPage(chain, scope, offset, limit);
  return { total, calls: linked(chain, scope.sessionId, rows) };
}

/** The calls of a page, each with its predecessor among the calls of a session or of the project. */
function linked(chain: ReadChain, sessionId: string | undefined, page: readonly CallRow[]): PlacedCall[] {
  const { own: links, linkOf } = openLinks(chain, page);
  const commits = [...new Set(links.flatMap(({ seq, parent }) => (parent === null ? [seq] : [seq, parent])))];
  const isAsked = (call: CallRow): boolean => !isBeside(call) && (sessionId === undefined || call.session === sessionId);
  const made = new Map<CommitSeq, CallRow[]>(commits.map((commit) => [commit, []]));
  for (const call of callsMadeIn(chain, commits)) if (isAsked(call)) made.get(call.context)?.push(call);
  const madeIn = (commit: CommitSeq): readonly CallRow[] => {
    const calls = made.get(commit) ?? callsMadeIn(chain, [commit]).filter(isAsked);
    made.set(commit, calls);
    return calls;
  };
  const find = (call: CallRow): Pick<PlacedCall, 'before' | 'begins'> => {
    if (isBeside(call)) return { before: undefined, begins: false };
    const own = madeIn(call.context);
    const earlier = own[own.findIndex(({ no }) => no === call.no) - 1];
    if (earlier) return { before: link(earlier), begins: false };
    let at = linkOf(call.context);
    let begins = at?.type !== 'delta';
    for (let parent = at?.parent ?? null; parent !== null; parent = at?.parent ?? null) {
      at = linkOf(parent);
      begins ||= at?.type === 'compaction';
      const last = madeIn(parent).at(-1);
      if (last) return { before: link(last), begins };
    }
    return { before: undefined, begins: true };
  };
  const link = (call: CallRow): PlacedCall => {
    const place = once(() => find(call));
    return {
      ...call,
      get before() {
        return place().before;
      },
      get begins() {
        return place().begins;
      },
    };
  };
  return page.map(link);
}

type Link = Pick<ContextRow, 'seq' | 'parent' | 'type'>;

/** The commits of calls, and what finds these and others. */
function openLinks({ db }: ReadChain, calls: readonly Pick<CallRow, 'context'>[]) {
  const select = `SELECT seq, ${earlierParent}, type FROM commits WHERE seq`;
  const wanted = JSON.stringify([...new Set(calls.map(({ context }) => context))]);
  const own = db.all<Link>(`${select} IN (SELECT value FROM json_each(?))`, wanted);
  const links = new Map(own.map((link) => [link.seq, link] as const));
  const linkOf = (seq: CommitSeq): Link | undefined => {
    const link = links.get(seq) ?? db.one<Link>(`${select} = ?`, seq);
    if (link) links.set(seq, link);
    return link;
  };
  return { own, linkOf };
}

/** Finds the predecessor of each call, and adds it to the call: the previous call in its commit, else the last call of the nearest ancestor with a call. */
function placed<Row extends CacheFacts>(chain: ReadChain, calls: readonly Row[]): Placed<Row>[] {
  const { linkOf } = openLinks(chain, calls);
  const last = new Map<CommitSeq, Placed<Row>>();
  const ordered = calls.toSorted((a, b) => a.context - b.context || a.at - b.at || a.no - b.no);
  for (const call of ordered) {
    if (isBeside(call)) {
      Object.assign(call, { before: undefined, begins: false });
      continue;
    }
    let before = last.get(call.context);
    let begins = before === undefined && linkOf(call.context)?.type !== 'delta';
    for (let at = linkOf(call.context)?.parent ?? null; !before && at !== null; at = linkOf(at)?.parent ?? null) {
      begins ||= linkOf(at)?.type === 'compaction';
      before = last.get(at);
    }
    // The row is extended, because copying a hundred thousand of them takes longer than reading them.
    const one: Placed<Row> = Object.assign(call, { before, begins: begins || before === undefined });
    last.set(call.context, one);
  }
  return calls as Placed<Row>[];
}
