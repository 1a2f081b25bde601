import type { CommitSeq, ContextId } from '../base/index.js';
import { commitAt, findCommit, lineage, type ReadChain } from '../chain/index.js';
import type { UsageSides, UsageSums } from '../contract/index.js';
import { requireContents } from './backfill.js';
import { addCall } from './facts.js';
import { allCallsIn, type CallRow } from './rows.js';
import { noSums, shownSums } from './sessions.js';

/**
 * The cost of two branches: of the calls that both share, which were paid once, and of the calls of each branch after the fork. @throws NOT_FOUND for
 * an unknown commit.
 */
export function usageSides(chain: ReadChain, [a, b]: readonly [ContextId, ContextId]): UsageSides {
  requireContents(chain);
  const [left, right] = [historyOf(chain, a), historyOf(chain, b)];
  const commits = new Set(left.seqs);
  const base = right.seqs.findLast((seq) => commits.has(seq));
  const [ofLeft, ofRight] = [left, right].map(({ calls }) => new Set(calls.map(({ no }) => no)));
  return {
    base: base === undefined ? null : commitAt(chain, base).id,
    shared: sumsOf(left.calls.filter(({ no }) => ofRight?.has(no))),
    sides: [sumsOf(left.calls.filter(({ no }) => !ofRight?.has(no))), sumsOf(right.calls.filter(({ no }) => !ofLeft?.has(no)))],
  };
}

/** The commits from the root to a commit, and the calls in them, each once. */
function historyOf(chain: ReadChain, id: ContextId): { readonly seqs: readonly CommitSeq[]; readonly calls: readonly CallRow[] } {
  const seqs = lineage(chain, findCommit(chain, id)).map(({ seq }) => seq);
  return { seqs, calls: [...new Map(allCallsIn(chain, seqs).map((call) => [call.no, call])).values()] };
}

function sumsOf(calls: readonly CallRow[]): UsageSums {
  const total = noSums();
  for (const call of calls) {
    addCall(total, call, call.cost);
    total.sessions.add(call.session);
  }
  return shownSums(total);
}
