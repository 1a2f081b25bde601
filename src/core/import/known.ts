import type { CommitSeq } from '../base/index.js';
import { holderOf, type ReadChain } from '../chain/index.js';
import type { KnownRecords } from '../formats/index.js';
import type { SourceRow } from './sources.js';

/** The records that commits of other sessions contain. */
export const recordsOfOthers = (chain: ReadChain, { sessionId }: SourceRow): KnownRecords => ({
  has: (record) =>
    chain.db.one('SELECT 1 FROM record r JOIN commits c ON c.seq = r.context WHERE r.project = ? AND r.record = ? AND c.sessionId IS NOT ?', [
      chain.project,
      record,
      sessionId,
    ]) !== undefined,
});

/** The records that a plan asks for. */
export type TrackedRecords = ReturnType<typeof trackedRecords>;

/** The records that the project contains, except those of the commits of `except`. `missing` were asked for before, and not found. */
export function trackedRecords(chain: ReadChain, except: ReadonlySet<CommitSeq>, missing: readonly string[] = []) {
  const unknown = [...missing];
  /** The commits that hold the records which the plan found. */
  const holders = new Set<CommitSeq>();
  const ask = (record: string): boolean => {
    const holder = holderOf(chain, record);
    const isKnown = holder !== undefined && !except.has(holder);
    if (isKnown) holders.add(holder);
    else unknown.push(record);
    return isKnown;
  };
  /** Whether the records that the plan found missing are still missing, except in the commits that were made of it. */
  const isStillTrue = (made: readonly CommitSeq[]): boolean =>
    !chain.db.one(
      `SELECT 1 FROM record WHERE project = ? AND record IN (SELECT value FROM json_each(?))
          AND context NOT IN (SELECT value FROM json_each(?)) LIMIT 1`,
      [chain.project, JSON.stringify(unknown), JSON.stringify([...made, ...except])],
    );
  return { known: { has: ask }, holders, isStillTrue };
}
