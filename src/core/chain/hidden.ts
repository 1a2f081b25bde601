import type { CommitSeq } from '../base/index.js';
import type { ReadChain } from './chain.js';
import { type Families, type Family, familiesAt, familiesOf, overlaps } from './families.js';
import { readCommits } from './family-commits.js';

const marked = (table: string): string =>
  `(SELECT IFNULL(group_concat(no || ':' || (deletedAt IS NULL) || (archivedAt IS NULL)), '') FROM ${table} WHERE deletedAt IS NOT NULL OR archivedAt IS NOT NULL)`;

/** An SQL expression whose value changes whenever a session or branch is deleted, archived or restored. */
export const hidingState = `${marked('sessionMark')} || '/' || ${marked('branchMark')}`;

/** Deleted sessions and branches are always hidden, archived ones unless `archived` is set. The archived session `session` is shown. */
export interface Hiding {
  readonly archived?: boolean | undefined;
  readonly session?: string | undefined;
}

/** What a person has hidden: sessions, the branches that begin with commits, and the families that may have hidden commits. */
export interface Hidden {
  readonly sessions: ReadonlySet<string>;
  readonly branches: ReadonlySet<CommitSeq>;
  readonly families: ReadonlySet<Family>;
}

/** The marks that hide sessions and branches. */
export function hiddenBy(chain: ReadChain, families: Families, { archived = false, session }: Hiding = {}): Hidden {
  const hiding = <Of>(column: string, table: string, shown?: Of): Set<Of> => {
    const marks = `SELECT ${column}, deletedAt FROM ${table} WHERE project = ? AND (deletedAt IS NOT NULL OR archivedAt IS NOT NULL)`;
    const found = chain.db.rows<[of: Of, deletedAt: number | null]>(marks, chain.project);
    return new Set(found.flatMap(([of, deletedAt]) => (deletedAt !== null || (!archived && of !== shown) ? [of] : [])));
  };
  const sessions = hiding<string>('sessionId', 'sessionMark', session);
  // A session that an agent continued after Resume is hidden with its original.
  const resumed = 'SELECT r.sessionId, c.sessionId FROM resumed r JOIN commits c ON c.seq = r.context WHERE r.project = ? ORDER BY r.no';
  for (const [sessionId, original] of chain.db.rows<[string, string]>(resumed, chain.project)) if (sessions.has(original)) sessions.add(sessionId);
  const branches = hiding<CommitSeq>('context', 'branchMark');
  if (sessions.size === 0 && branches.size === 0) return { sessions, branches, families: new Set() };
  // A subagent without a session of its own is named by its first commit.
  const firsts = 'SELECT seq FROM commits WHERE project = ? AND id IN (SELECT value FROM json_each(?))';
  const named = chain.db.column<CommitSeq>(firsts, chain.project, JSON.stringify([...sessions]));
  const among = familiesAt(chain, families, [...branches, ...named]);
  for (const family of families.all) if (overlaps(family.sessions, sessions)) among.add(family);
  return { sessions, branches, families: among };
}

/**
 * The hidden commits: those of deleted and archived sessions and branches, and of branches that start from a hidden branch. A commit with a
 * visible descendant is visible.
 */
export const hiddenCommits = (chain: ReadChain, hiding?: Hiding): ReadonlySet<CommitSeq> => {
  const { families, ...marks } = hiddenBy(chain, familiesOf(chain), hiding);
  return hiddenIn(chain, marks, families);
};

/** The hidden commits of families. */
export function hiddenIn(chain: ReadChain, { sessions, branches }: Omit<Hidden, 'families'>, families: ReadonlySet<Family>): ReadonlySet<CommitSeq> {
  const hidden = new Set<CommitSeq>();
  if (families.size === 0) return hidden;
  const nodes = readCommits(chain, [...families]);
  const started =
    "SELECT s.context, r.context FROM started s JOIN record r ON r.project = s.project AND r.record = 'call:' || s.toolCallId WHERE s.project = ?";
  const starters = new Map(chain.db.rows<[CommitSeq, CommitSeq]>(started, chain.project));
  const below = new Set<CommitSeq>();
  for (const { seq, id, parent, sessionId } of nodes) {
    if (branches.has(seq) || (parent === null && sessions.has(id)) || below.has(parent ?? starters.get(seq) ?? (-1 as CommitSeq))) below.add(seq);
    if (below.has(seq) || (sessionId !== null && sessions.has(sessionId))) hidden.add(seq);
  }
  for (const { seq, parent } of nodes.toReversed()) if (parent !== null && !hidden.has(seq)) hidden.delete(parent);
  return hidden;
}
