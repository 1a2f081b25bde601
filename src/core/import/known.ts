import type { CommitSeq } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
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

/** The records that the project contains. `isStillTrue` tells whether the records that a plan found missing are still missing. */
export function trackedRecords(chain: ReadChain): { readonly known: KnownRecords; readonly isStillTrue: (made: readonly CommitSeq[]) => boolean } {
  const { has } = knownRecords(chain);
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
      JSON.stringify(made),
    );
  return { known: { has: ask }, isStillTrue };
}

/** The records that the project contains. */
const knownRecords = (chain: ReadChain): KnownRecords => ({
  has: (record) => chain.db.one('SELECT 1 FROM record WHERE project = ? AND record = ?', chain.project, record) !== undefined,
});
