import { type CommitSeq, type ContextId, toTimestamp } from '../base/index.js';
import { commitAt, contextEntries, type ReadChain } from '../chain/index.js';
import { type CallCount, doesOf, type ParsedEntry, partOfEntries } from '../formats/index.js';
import { type OwnCall, ownId } from '../requests/index.js';
import { changedSql } from '../store/index.js';

/** The calls that Stemma made for the reply in a commit, as the provider counted them; undefined for a commit without such calls. */
export function callsOfRun(chain: ReadChain, seq: CommitSeq): CallCount[] | undefined {
  const run = chain.db.one<{ base: CommitSeq; model: string; calls: string }>(
    `SELECT base, model, calls FROM modelRun r
      WHERE context = ? AND provider <> 'recorded' AND NOT (${changedSql(chain.db, 'modelRun', 'r') ?? 'FALSE'})`,
    seq,
  );
  if (!run) return undefined;
  const { id } = commitAt(chain, seq);
  const replies = ownEntries(chain, id);
  const asked = ownEntries(chain, commitAt(chain, run.base).id).findLast(({ role }) => role === 'user');
  return (JSON.parse(run.calls) as OwnCall[]).flatMap((call, number, all): CallCount[] => {
    const said = replies.slice(call.replies, all[number + 1]?.replies);
    const [first] = said;
    if (!first) return [];
    const { input, cacheRead, cacheWrite, output } = call.tokens;
    return [
      {
        id: ownId(id, number),
        key: first.key,
        model: run.model,
        at: toTimestamp(call.at),
        endedAt: toTimestamp(call.at + call.ms),
        askedAt: toTimestamp(call.at),
        prompt: asked && number === 0 ? partOfEntries([asked])?.prompt : undefined,
        does: doesOf(said),
        ...{ input, cacheRead, cacheWrite, cacheWrite1h: null, output, reasoning: null },
      },
    ];
  });
}

const ownEntries = (chain: ReadChain, id: ContextId): ParsedEntry[] => contextEntries(chain, { id, stop: id }).map(({ entry }) => entry);
