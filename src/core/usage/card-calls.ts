import { type CommitSeq, type EntryKey, stringAt, toTimestamp } from '../base/index.js';
import { idsAt } from '../cards/index.js';
import type { ReadChain } from '../chain/index.js';
import type { CallCount } from '../formats/index.js';
import { callsOfTurn, turnsOfCommits } from '../handover/index.js';

/** Marks the ids of calls that Stemma recorded while a card turn ran. `request.get` accepts the same ids. */
export const cardCallPrefix = 'card:';

/**
 * For the commit that ends a card turn: the calls that were recorded while it ran. Other commits of a card turn have no calls, because an agent and
 * not a model wrote their cards. Undefined for a commit outside of card turns.
 */
export function callsOfCards(chain: ReadChain, seq: CommitSeq): CallCount[] | undefined {
  const row = turnsOfCommits(chain, [seq]).get(seq);
  if (!row) return undefined;
  if (chain.db.value('SELECT endCommit FROM agentTurn WHERE no = ?', row.no) !== seq) return [];
  const output = idsAt(chain, row.output);
  return callsOfTurn(chain, row).map(({ requestId, at, body, reply, outputs }): CallCount => {
    const { input = null, cacheRead = null, cacheWrite = null, output: written = null } = reply?.tokens ?? {};
    return {
      id: requestId,
      key: `${output[outputs] ?? output.at(-1) ?? requestId}.0` as EntryKey,
      model: stringAt(body, 'model') ?? null,
      at: toTimestamp(at),
      ...(reply?.ms != null && { endedAt: toTimestamp(at + reply.ms) }),
      askedAt: toTimestamp(at),
      input,
      cacheRead,
      cacheWrite,
      cacheWrite1h: null,
      output: written,
      reasoning: null,
    };
  });
}
