import type { CommitSeq } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';

/** A person's marks on a session. */
export interface SessionMark {
  readonly title: string | null;
  readonly tags: readonly string[];
  readonly pinnedAt: number | null;
  readonly archivedAt: number | null;
  readonly deletedAt: number | null;
}

/** A person's marks on a branch. */
export type BranchMark = Omit<SessionMark, 'tags' | 'pinnedAt'>;

type StoredMark = Omit<SessionMark, 'tags'> & { readonly sessionId: string; readonly tags: string | null };

const unmarked: SessionMark = { title: null, tags: [], pinnedAt: null, archivedAt: null, deletedAt: null };

/** The marks of all sessions, by session id. */
export const sessionMarks = (chain: ReadChain): ReadonlyMap<string, SessionMark> =>
  new Map(
    chain.db
      .all<StoredMark>('SELECT sessionId, title, tags, pinnedAt, archivedAt, deletedAt FROM sessionMark WHERE project = ?', chain.project)
      .map(({ sessionId, tags, ...mark }) => [sessionId, { ...mark, tags: tags === null ? [] : (JSON.parse(tags) as string[]) }]),
  );

/** Changes the mark of a session. */
export function markSession(chain: WriteChain, sessionId: string, change: Partial<SessionMark>): void {
  const { tags, ...mark } = { ...(sessionMarks(chain).get(sessionId) ?? unmarked), ...change };
  chain.db.run(
    `INSERT INTO sessionMark (project, sessionId, title, tags, pinnedAt, archivedAt, deletedAt)
     VALUES (:project, :sessionId, :title, :tags, :pinnedAt, :archivedAt, :deletedAt)
     ON CONFLICT (project, sessionId) DO UPDATE SET
       title = excluded.title, tags = excluded.tags, pinnedAt = excluded.pinnedAt, archivedAt = excluded.archivedAt, deletedAt = excluded.deletedAt`,
    { ...mark, project: chain.project, sessionId, tags: tags.length > 0 ? JSON.stringify(tags) : null },
  );
}

/** The marks of all branches, by their first commit. */
export const branchMarks = (chain: ReadChain): ReadonlyMap<CommitSeq, BranchMark> =>
  new Map(
    chain.db
      .all<BranchMark & { context: CommitSeq }>('SELECT context, title, archivedAt, deletedAt FROM branchMark WHERE project = ?', chain.project)
      .map(({ context, ...mark }) => [context, mark]),
  );

/** Changes the mark of the branch that begins with a commit. */
export function markBranch(chain: WriteChain, start: CommitSeq, change: Partial<BranchMark>): void {
  const { title, archivedAt, deletedAt } = { ...(branchMarks(chain).get(start) ?? unmarked), ...change };
  chain.db.run(
    `INSERT INTO branchMark (project, context, title, archivedAt, deletedAt) VALUES (:project, :start, :title, :archivedAt, :deletedAt)
     ON CONFLICT (context) DO UPDATE SET title = excluded.title, archivedAt = excluded.archivedAt, deletedAt = excluded.deletedAt`,
    { title, archivedAt, deletedAt, project: chain.project, start },
  );
}
