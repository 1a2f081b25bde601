import type { CommitSeq } from '../base/index.js';
import { holderOf, type ReadChain } from '../chain/index.js';
import type { KnownRecords } from '../formats/index.js';
import type { SourceRow } from './sources.js';

/** The records that commits of other sessions contain. */
export const recordsOfOthers = (chain: ReadChain, { sessionId }: SourceRow): KnownRecords => ({
  has: (record) =>
    chain.db.one(
      'SELECT 1 FROM record r JOIN context c ON c.seq = r.context WHERE r.project = ? AND r.record = ? AND c.sessionId IS NOT ?',
      chain.project,
      record,
      sessionId,
    ) !== undefined,
});

/**
 * The records that the project contains, except those of the commits of `except`. `isStillTrue` tells whether the records that a plan found missing are
 * still missing.
 */
export function trackedRecords(
  chain: ReadChain,
  except: ReadonlySet<CommitSeq>,
): { readonly known: KnownRecords; readonly isStillTrue: (made: readonly CommitSeq[]) => boolean } {
  const has = (record: string): boolean => {
    const holder = holderOf(chain, record);
    return holder !== undefined && !except.has(holder);
  };
  const unknown: string[] = [];
  const ask = (record: string): boolean => {
    const isKnown = has(record);
    if (!isKnown) unknown.push(record);
    return isKnown;
  };
  const isStillTrue = (made: readonly CommitSeq[]): boolean =>
    !chain.db.one(
      `SELECT 1 FROM record WHERE project = ? AND record IN (SELECT value FROM json_each(?))
          AND context NOT IN (SELECT value FROM json_each(?)) LIMIT 1`,
      chain.project,
      JSON.stringify(unknown),
      JSON.stringify([...made, ...except]),
    );
  return { known: { has: ask }, isStillTrue };
}
