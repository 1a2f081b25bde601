import type { CommitSeq, EntryKey } from '../base/index.js';
import { stringAt, timestampOf } from '../base/index.js';
import { idsAt } from '../cards/index.js';
import type { Chain } from '../chain/index.js';
import type { CallCount } from '../formats/index.js';
import { callsOfTurn, turnsOfCommits } from '../handover/index.js';

/** Marks the ids of calls that Stemma recorded while a card turn ran. `request.get` knows them by the same ids. */
export const cardCallPrefix = 'card:';

/**
 * The calls of a card turn, as they were recorded while it ran, for the commit that ends it. Its other commits have none, and no commit of a
 * card turn has calls beside these: the writer of a card is an agent, not a model. Undefined for a commit of no card turn.
 */
export function callsOfCards(chain: Chain, seq: CommitSeq): CallCount[] | undefined {
  const row = turnsOfCommits(chain, [seq]).get(seq);
  if (!row) return undefined;
  const end = chain.db.one<{ endCommit: CommitSeq | null }>('SELECT endCommit FROM agentTurn WHERE no = ?', row.no)?.endCommit;
  if (end !== seq) return [];
  const output = idsAt(chain, row.output);
  return callsOfTurn(chain, row).map(({ requestId, at, body, reply, outputs }): CallCount => {
    const { input = null, cacheRead = null, cacheWrite = null, output: written = null } = reply?.tokens ?? {};
    return {
      id: requestId,
      key: `${output[outputs] ?? output.at(-1) ?? requestId}.0` as EntryKey,
      model: stringAt(body, 'model') ?? null,
      at: timestampOf(at),
      ...(reply?.ms != null && { endedAt: timestampOf(at + reply.ms) }),
      askedAt: timestampOf(at),
      input,
      cacheRead,
      cacheWrite,
      cacheWrite1h: null,
      output: written,
      reasoning: null,
    };
  });
}
