import { type ContextId, type Timestamp, toTimestamp } from '../base/index.js';
import type { Commit, InputOf, OutputOf } from '../contract/index.js';
import { type ContextRow, personOf, type ReadChain, selectContext, toCommit, type WriteChain } from './chain.js';
import { commitAt, findChildren, findCommit, findOrigin } from './find.js';
import { hiddenCommits } from './hidden.js';
import { newestOf } from './principals.js';
import { turnFactsAt } from './turn-parts.js';
import { lostParent } from './walk.js';

/** A commit with its children, its depth and its turn. */
export function show(chain: ReadChain, id: ContextId): OutputOf<'context.show'> {
  const row = findCommit(chain, id);
  const children = findChildren(chain, row).map((child) => child.id);
  return { ...toCommit(row), children, depth: row.depth, ...turnFactsAt(chain, row) };
}

const commitsAtOnce = 500;

/** The commit and its ancestors, newest first, at most `depth` of them. @throws CORRUPT if one of them is lost. */
export function history(chain: ReadChain, id: ContextId, depth = Number.MAX_SAFE_INTEGER): Commit[] {
  const commits: Commit[] = [];
  let child: ContextRow | undefined;
  for (let at: Pick<ContextRow, 'run' | 'depth'> | undefined = findCommit(chain, id); at && commits.length < depth; ) {
    const limit = Math.min(commitsAtOnce, depth - commits.length);
    const rows: ContextRow[] = chain.db.all<ContextRow>(selectBack, at.run, at.depth, limit);
    for (const row of rows) {
      if (child && child.parent !== row.seq) throw lostParent(child);
      child = row;
      commits.push(toCommit(row));
    }
    at = rows.length === limit ? { run: at.run, depth: at.depth - limit } : findOrigin(chain, at.run);
  }
  if (child && child.parent !== null && commits.length < depth) throw lostParent(child);
  return commits;
}

const selectBack = `${selectContext} WHERE c.run = ? AND c.depth <= ? ORDER BY c.depth DESC LIMIT ?`;

/** The commits recorded after this row number, in order. */
export function commitsAfter(chain: ReadChain, seq: number, limit: number): { readonly seq: number; readonly commit: Commit }[] {
  return chain.db
    .all<ContextRow>(`${selectContext} WHERE c.seq > ? AND +c.project = ? ORDER BY c.seq LIMIT ?`, seq, chain.project, limit)
    .map((row) => ({ seq: row.seq, commit: toCommit(row) }));
}

/** The newest commit of a principal at or before an instant (C11). */
export function resolve(chain: ReadChain, principal: string, at: Timestamp): OutputOf<'context.resolve'> {
  const row = newestOf(chain, principal, Date.parse(at));
  return row ? { id: row.id, at: toTimestamp(row.createdAt) } : { id: null, at: null };
}

/** Sets the summary or tags of a commit, and keeps the earlier values as a version (C13). */
export function update(
  chain: WriteChain,
  id: ContextId,
  change: { summary?: string | undefined; tags?: readonly string[] | undefined; author?: string },
): Commit {
  return chain.db.transaction(() => {
    const row = findCommit(chain, id);
    const summary = change.summary ?? row.summary;
    const tags = change.tags ? (change.tags.length ? JSON.stringify(change.tags) : null) : row.tags;
    if (summary !== row.summary || tags !== row.tags) {
      const keep =
        'INSERT INTO contextVersion (project, context, at, author, summary, tags) SELECT project, seq, ?, ?, summary, tags FROM commits WHERE seq = ?';
      chain.db.run(keep, chain.clock(), change.author ?? personOf(chain), row.seq);
      chain.db.run('UPDATE commits SET summary = ?, tags = ? WHERE seq = ?', summary, tags, row.seq);
    }
    return toCommit(commitAt(chain, row.seq));
  });
}

export type TipFilter = InputOf<'context.tips'>;

/** Commits without children, newest first, without those of deleted sessions and branches. */
export function tips(chain: ReadChain, filter: TipFilter): Commit[] {
  const hidden = hiddenCommits(chain, { archived: true });
  const rows = chain.db.all<ContextRow>(selectTips, chain.project);
  return rows.filter((row) => matches(row, filter) && !hidden.has(row.seq)).map(toCommit);
}

/** A tip is the last commit of its run, and no other run branches off from it. */
const selectTips = `${selectContext} WHERE c.seq IN (
       SELECT (SELECT seq FROM commits WHERE run = l.no ORDER BY depth DESC LIMIT 1) FROM firstParentRun l WHERE l.project = ?)
       AND NOT EXISTS (SELECT 1 FROM firstParentRun b WHERE b.origin = c.seq)
     ORDER BY c.createdAt DESC, c.seq DESC`;

/** Whether a commit matches every given field of the filter. */
export const matches = (row: Pick<ContextRow, (typeof filtered)[number]>, filter: TipFilter): boolean =>
  filtered.every((field) => filter[field] === undefined || filter[field] === row[field]);
const filtered = ['template', 'principal', 'sessionId', 'ticketId'] as const;
