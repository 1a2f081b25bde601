import { type CommitSeq, type ContextId, inWords, StemmaError } from '../base/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import type { ContextRow, ReadChain, WriteChain } from './chain.js';
import { lastCommit } from './find.js';

/** The row of the `progress` table that says up to which commit the list by principal is complete. */
const progress = 'principals';

/** Number of unlisted commits that a query scans without delay. */
const maxScan = 512;

type Newest = Pick<ContextRow, 'seq' | 'id' | 'createdAt'>;

/**
 * Commits that record the principal's own work (C11): captured, imported or checkpointed. Commits that Stemma made, such as forks, reruns and
 * messages in threads, belong to their author but do not show what the principal knew.
 */
const isOwnWork = 'c.forked = 0';

/**
 * The newest commit of a principal at or before an instant (C11, C25). `condition` is a constant SQL condition on the commit `c`.
 * The writer updates the list by principal when it is idle and not at each commit, because few callers need it.
 */
export function newestOf(chain: ReadChain, principal: string, at: number, condition = 'TRUE'): Newest | undefined {
  const old = chain.db.one<Newest>(
    `SELECT c.seq, c.id, c.createdAt FROM principalCommit m JOIN commits c ON c.seq = m.context
      WHERE m.project = ? AND m.principal = ? AND m.createdAt <= ? AND (${condition}) AND ${isOwnWork} ORDER BY m.createdAt DESC, m.context DESC LIMIT 1`,
    [chain.project, principal, at],
  );
  const fresh = chain.db.one<Newest>(
    `SELECT c.seq, c.id, c.createdAt FROM commits c
      WHERE c.seq > ? AND +c.project = ? AND c.principal = ? AND c.createdAt <= ? AND (${condition}) AND ${isOwnWork} ORDER BY c.createdAt DESC, c.seq DESC LIMIT 1`,
    [listed(chain), chain.project, principal, at],
  );
  return old && fresh ? (fresh.createdAt >= old.createdAt ? fresh : old) : (fresh ?? old);
}

/** The last commit of the list. */
function listed(chain: ReadChain): number {
  const until = readDerivedProgress(chain, progress);
  // A value beyond the last commit is damaged: start again from the first commit.
  return until <= lastCommit(chain) ? until : 0;
}

/** Whether enough commits are not listed yet to list them. */
export const listIsDue = (chain: ReadChain): boolean => lastCommit(chain) - listed(chain) > maxScan;

/** Adds the new commits to the list by principal. Call it inside a transaction. */
export function listPrincipals(chain: WriteChain): void {
  const until = lastCommit(chain);
  chain.db.run(
    `INSERT OR IGNORE INTO principalCommit (project, principal, createdAt, context)
     SELECT project, principal, createdAt, seq FROM commits WHERE seq > ? AND seq <= ? AND +project = ? AND principal IS NOT NULL`,
    [listed(chain), until, chain.project],
  );
  setDerivedProgress(chain, progress, until);
}

/**
 * Returns the other session that already works as this principal (C26). A session that continues from a commit of the principal is related
 * and may share it.
 */
export function otherSessionOf(
  chain: ReadChain,
  { principal, sessionId, parent }: { readonly principal: string; readonly sessionId: string; readonly parent: CommitSeq | null },
): string | undefined {
  if (parent !== null && chain.db.value('SELECT principal FROM commits WHERE seq = ?', parent) === principal) return undefined;
  const newest = newestOf(chain, principal, Number.MAX_SAFE_INTEGER, 'c.sessionId IS NOT NULL');
  if (!newest) return undefined;
  const other = chain.db.value<string>('SELECT sessionId FROM commits WHERE seq = ?', newest.seq);
  if (other === undefined || other === sessionId) return undefined;
  const continued = chain.db.value(
    `WITH RECURSIVE up(depth, parent, principal) AS (
       SELECT depth, parent, principal FROM commits WHERE seq = :parent
       UNION ALL SELECT c.depth, c.parent, c.principal FROM up JOIN commits c ON c.seq = up.parent AND c.depth < up.depth WHERE up.principal IS NOT :principal)
     SELECT 1 FROM up WHERE principal = :principal LIMIT 1`,
    { parent, principal },
  );
  return continued === undefined ? other : undefined;
}

/** The refusal of a principal that another session has. */
export const principalTaken = (principal: string, other: string): StemmaError =>
  new StemmaError(
    'CONFLICT',
    `The principal ${inWords(principal)} belongs to the session ${inWords(other)}. A principal is one session of an agent: choose another name.`,
    { field: 'principal', value: principal, sessionId: other },
  );

/** Commits that are missing in the list or listed with wrong values. */
export const wronglyListed = (chain: ReadChain): ContextId[] =>
  chain.db.column(
    `SELECT c.id FROM commits c WHERE +c.project = ? AND c.seq <= ? AND c.principal IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM principalCommit m WHERE m.project = c.project AND m.principal = c.principal AND m.createdAt = c.createdAt AND m.context = c.seq)
        UNION
       SELECT IFNULL(c.id, m.context) FROM principalCommit m LEFT JOIN commits c ON c.seq = m.context
        WHERE m.principal IS NOT c.principal OR m.createdAt IS NOT c.createdAt OR m.project IS NOT c.project`,
    [chain.project, listed(chain)],
  );

/** Deletes the list. The next query rebuilds it. */
export function dropList(chain: WriteChain): void {
  chain.db.run('DELETE FROM principalCommit');
  chain.db.run('DELETE FROM derivedProgress WHERE name = ?', progress);
}
