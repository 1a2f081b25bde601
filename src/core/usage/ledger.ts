import type { ReadChain, WriteChain } from '../chain/index.js';
import { sentSize } from '../requests/index.js';
import { cacheOf, isMiss } from './cache.js';
import { batchesOf, dayMs, isCounted } from './facts.js';
import { nameIn, numberOf } from './names.js';
import { type PlacedCall, placedCalls } from './placed.js';
import { windowOfCall } from './price-table.js';
import { requestIds, waitOf } from './rows.js';

/** The calls after which a transaction ends, because other writers wait for it. */
const callsAtOnce = 5_000;

/** The sums of the sessions now, as one text per session. Another text than the stored one means that the ledger is out of date. */
const marks = /* sql */ `
SELECT session, GROUP_CONCAT(agent || subagent || model || ':' || calls || ':' || input || ':' || output || ':' || priced || ':' || cost || ':' || quarter) AS mark,
       SUM(calls) AS calls
  FROM usageSum WHERE project = :project GROUP BY session`;

interface Stale {
  readonly session: string;
  readonly mark: string;
  readonly calls: number;
}

/** The sessions whose ledger is out of date, and those that have no calls any more. */
const staleSessions = (chain: ReadChain): Stale[] =>
  chain.db.all<Stale>(
    `SELECT m.session, m.mark, m.calls FROM (${marks}) m LEFT JOIN usageSliced s ON s.project = :project AND s.session = m.session
      WHERE s.mark IS NOT m.mark
     UNION ALL
     SELECT s.session, '', 0 FROM usageSliced s WHERE s.project = :project AND s.session NOT IN (SELECT session FROM usageSum WHERE project = :project)`,
    { project: chain.project },
  );

/** Whether the ledger of every session is current. */
export const ledgerIsDue = (chain: ReadChain): boolean => staleSessions(chain).length > 0;

/**
 * Stores what the cache did for each call, and the sums that questions over many sessions are answered from. Only sessions whose sums have changed
 * are computed again. Yields after each transaction.
 */
export function* catchUpLedger(chain: WriteChain): Generator<void> {
  for (const some of batchesOf(staleSessions(chain), callsAtOnce)) {
    chain.db.transaction(() => {
      for (const each of some) storeSession(chain, each);
    });
    yield;
  }
}

/** Deletes the text of the sums of Usage, because one of them changes. It is written again when the project is idle. */
export const forgetSums = ({ db, project }: WriteChain): void => void db.run('DELETE FROM usagePacked WHERE project = ?', project);

function storeSession(chain: WriteChain, { session, mark, calls }: Stale): void {
  const { db, project } = chain;
  forgetSums(chain);
  db.run('DELETE FROM usageSlice WHERE project = ? AND session = ?', project, session);
  if (calls === 0) {
    db.run('DELETE FROM usageSliced WHERE project = ? AND session = ?', project, session);
    return;
  }
  const placed = placedCalls(chain, { sessionId: session });
  const missed = placed.filter(isMiss).flatMap((call) => [call, ...(call.before ? [call.before] : [])]);
  const { recordedId } = requestIds(chain, missed);
  for (const call of placed) storeCall(chain, call, recordedId);
  db.run(
    `INSERT INTO usageSlice
     SELECT u.project, ${nameIn('u.session')}, u.at / ${dayMs}, ${nameIn('u.agent')}, IFNULL(${nameIn('u.model')}, ''), ${nameIn('u.subagent')}, COUNT(*),
            IFNULL(SUM(u.input), 0), IFNULL(SUM(u.cacheRead), 0), IFNULL(SUM(u.cacheWrite), 0), IFNULL(SUM(u.output), 0),
            COUNT(u.input), COUNT(u.output), COUNT(u.cost), IFNULL(SUM(u.cost), 0),
            IFNULL(SUM(l.miss), 0), IFNULL(SUM(l.lostCost), 0), IFNULL(SUM(l.waitMs), 0)
       FROM usageCall u LEFT JOIN usageLedger l ON l.call = u.no
      WHERE u.project = ? AND u.session = ${numberOf('?')} AND u.${isCounted} GROUP BY 1, 2, 3, 4, 5, 6`,
    [project, session],
  );
  db.run('INSERT OR REPLACE INTO usageSliced (project, session, mark) VALUES (?, ?, ?)', project, session, mark);
}

function storeCall(chain: WriteChain, call: PlacedCall, recordedId: Parameters<typeof cacheOf>[2]): void {
  const { hit, cause, lostTokens, lostCost } = cacheOf(chain, call, recordedId);
  chain.db.run(
    'INSERT OR REPLACE INTO usageLedger (call, hit, miss, cause, lostTokens, lostCost, windowLimit, waitMs) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    call.no,
    hit ? 1 : 0,
    isMiss(call) && cause !== 'first' ? 1 : 0,
    cause ?? null,
    lostTokens ?? null,
    lostCost?.amount ?? null,
    windowOfCall(chain, call, sentSize(call)),
    waitOf(call),
  );
}
