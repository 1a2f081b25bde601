import { type ContextId, conflict, notFound } from '../base/index.js';
import { earlierParent, findCommit, type ReadChain, type WriteChain } from '../chain/index.js';
import type { OutputOf, SessionRow } from '../contract/index.js';
import { clustersOf } from './clusters.js';
import { branchCommits, branchStart, type Forest, type ForestNode, forestAt, forestOf } from './forest.js';
import { mainPathOf, readSession, rowsAround, type SessionFacts } from './list.js';
import { branchMarks, markBranch, markSession, type SessionMark, sessionMarks } from './marks.js';
import { bringBack } from './release.js';

export interface SessionEdit {
  readonly sessionId: string;
  readonly title?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly pinned?: boolean | undefined;
  readonly archived?: boolean | undefined;
}

/** Changes the title, tags, pin or archive of a session. @throws NOT_FOUND */
export function changeSession(chain: WriteChain, { sessionId, title, tags, pinned, archived }: SessionEdit, facts: SessionFacts): SessionRow {
  return chain.db.transaction(() => {
    readSession(chain, sessionId);
    const change: Partial<SessionMark> = {
      ...(title !== undefined && { title }),
      ...(tags !== undefined && { tags: [...new Set(tags)] }),
      ...(pinned !== undefined && { pinnedAt: pinned ? chain.clock() : null }),
      ...(archived !== undefined && { archivedAt: archived ? chain.clock() : null }),
    };
    markSession(chain, sessionId, change);
    return readSession(chain, sessionId, facts);
  });
}

/** Deletes a session with its subagents, or brings them back. @throws NOT_FOUND */
export function deleteSession(chain: WriteChain, { sessionId, deleted }: { sessionId: string; deleted: boolean }): OutputOf<'session.delete'> {
  return chain.db.transaction(() => {
    const mark = sessionMarks(chain).get(sessionId);
    if (!deleted) {
      if (!mark) throw notFound(sessionId, `This project has no session ${sessionId}.`, { field: 'sessionId' });
      // Sessions that were deleted together have the same time of deletion.
      const together = [...sessionMarks(chain)].filter(([, other]) => other.deletedAt !== null && other.deletedAt === mark.deletedAt);
      bringBack(chain, `the session ${mark.title ?? sessionId}`, sessionId, () => {
        for (const [id] of together) markSession(chain, id, { deletedAt: null });
      });
      const { title } = readSession(chain, sessionId);
      return { sessionId, title, deleted, commits: countOf(chain, [sessionId, ...together.map(([id]) => id)]) };
    }
    if (mark?.deletedAt) return { sessionId, title: mark.title ?? sessionId, deleted, commits: 0 };
    const { title } = readSession(chain, sessionId);
    const started = startedBy(rowsAround(chain, sessionId), sessionId);
    const forests = forestsOf(chain, [sessionId]);
    const ids = [sessionId, ...started].flatMap((id) => [id, ...forests.flatMap(({ continuedAs }) => continuedAs.get(id) ?? [])]);
    const commits = countOf(chain, ids);
    // Undo restores all sessions with this time, so no other deletion may have the same time.
    const deletedAt = Math.max(chain.clock(), 1 + Math.max(0, ...[...sessionMarks(chain).values()].map((other) => other.deletedAt ?? 0)));
    for (const id of ids) markSession(chain, id, { deletedAt });
    return { sessionId, title, deleted, commits };
  });
}

/** The ids of the subagents of a session, and of their subagents. */
const startedBy = (rows: readonly SessionRow[], sessionId: string): string[] =>
  rows.filter((row) => row.parentSessionId === sessionId).flatMap((row) => [row.sessionId, ...startedBy(rows, row.sessionId)]);

const forestsOf = (chain: ReadChain, ids: readonly string[]): Forest[] => [...clustersOf(chain).of(ids)].map((cluster) => forestOf(chain, cluster));

function countOf(chain: ReadChain, ids: readonly string[]): number {
  const wanted = new Set(ids);
  return forestsOf(chain, ids).reduce((sum, { nodes, keyOf }) => sum + nodes.filter((node) => wanted.has(keyOf(node) ?? '')).length, 0);
}

/** A branch after a change. `commits` includes the commits of branches that start from it. */
export type BranchState = OutputOf<'branch.rename'>;

export interface BranchChange {
  readonly commit: ContextId;
  readonly title?: string | null | undefined;
  readonly archived?: boolean | undefined;
  readonly deleted?: boolean | undefined;
}

/** Names, archives or deletes the branch of a commit. @throws NOT_FOUND; CONFLICT for the main branch of a session. */
export function changeBranch(chain: WriteChain, { commit, title, archived, deleted }: BranchChange): BranchState {
  return chain.db.transaction(() => {
    const { seq, id, summary } = findCommit(chain, commit, 'commit');
    const forest = forestAt(chain, seq);
    const start = forest.at.get(seq) ? findStart(forest, seq) : deletedStart(chain, seq);
    if (start === undefined)
      throw notFound(id, `The commit ${id} belongs to a session that was deleted. Bring the session back first.`, { field: 'commit' });
    const isMain = start.parent === null || mainPathOf(forest, start).has(start);
    if (isMain && (archived === true || deleted === true))
      throw conflict(`${id} is on the main branch of its session. ${deleted ? 'Delete' : 'Archive'} the session instead.`, { id });
    const now = chain.clock();
    const commits = branchCommits(forest, start).length;
    bringBack(chain, `the branch of ${id}`, id, () =>
      markBranch(chain, start.seq, {
        ...(title !== undefined && { title }),
        ...(archived !== undefined && { archivedAt: archived ? now : null }),
        ...(deleted !== undefined && { deletedAt: deleted ? now : null }),
      }),
    );
    const mark = branchMarks(chain).get(start.seq);
    return {
      commit: id,
      title: mark?.title ?? summary ?? id,
      archived: (mark?.archivedAt ?? null) !== null,
      deleted: (mark?.deletedAt ?? null) !== null,
      commits: deleted === false ? branchCommits(forestAt(chain, start.seq), start).length : commits,
    };
  });
}

function findStart(forest: Forest, seq: ForestNode['seq']): ForestNode | undefined {
  const node = forest.at.get(seq);
  return node && branchStart(forest, node, mainPathOf(forest, node));
}

type Start = Pick<ForestNode, 'seq' | 'parent'>;

/** The first commit of the deleted branch that a commit belongs to. */
function deletedStart(chain: ReadChain, seq: ForestNode['seq']): ForestNode | undefined {
  const marks = branchMarks(chain);
  const read = (at: ForestNode['seq']): Start | undefined => chain.db.one<Start>(`SELECT seq, ${earlierParent} FROM commits WHERE seq = ?`, at);
  for (let node = read(seq); node; node = node.parent === null ? undefined : read(node.parent))
    if ((marks.get(node.seq)?.deletedAt ?? null) !== null) return node as ForestNode;
  return undefined;
}
