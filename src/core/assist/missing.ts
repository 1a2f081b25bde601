import { type ContextId, toTimestamp } from '../base/index.js';
import { findCommit, type ReadChain, show } from '../chain/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';

/** The commits of a project with their summaries, oldest first; with `missing`, those without one. */
export function listSummaries(
  chain: ReadChain,
  { missing: isMissing = false, offset = 0, limit = 100 }: InputOf<'context.summaries'>,
): OutputOf<'context.summaries'> {
  const missing = countMissing(chain);
  const total = isMissing
    ? missing
    : (chain.db.one<{ count: number }>('SELECT COUNT(*) AS count FROM context WHERE project = ?', chain.project)?.count ?? 0);
  const rows = chain.db.all<{ id: ContextId }>(
    `SELECT id FROM context WHERE +project = ? ${isMissing ? 'AND summary IS NULL' : ''} ORDER BY seq LIMIT ? OFFSET ?`,
    chain.project,
    limit,
    offset,
  );
  return { total, missing, commits: rows.map(({ id }) => show(chain, id)) };
}

/** Number of commits without a summary. */
export const countMissing = (chain: ReadChain): number =>
  chain.db.one<{ count: number }>('SELECT COUNT(*) AS count FROM context WHERE +project = ? AND summary IS NULL', chain.project)?.count ?? 0;

/** Every change of a commit's summary and tags, oldest first (C13). @throws NOT_FOUND */
export function versionsOfCommit(chain: ReadChain, id: ContextId): OutputOf<'context.versions'> {
  const row = findCommit(chain, id);
  const rows = chain.db.all<{ at: number; author: string | null; summary: string | null; tags: string | null }>(
    'SELECT at, author, summary, tags FROM contextVersion WHERE context = ? AND project = ? ORDER BY no',
    row.seq,
    chain.project,
  );
  return rows.map(({ at, author, summary, tags }, place) => {
    const next = rows[place + 1] ?? row;
    return { at: toTimestamp(at), author, summary: { from: summary, to: next.summary }, tags: { from: tagsIn(tags), to: tagsIn(next.tags) } };
  });
}

const tagsIn = (tags: string | null): string[] => (tags === null ? [] : (JSON.parse(tags) as string[]));

export type RecordedInstantiation = OutputOf<'context.instantiations'>[number];

/** The recorded starts of agents, newest first: of a context, of a template, or all. @throws NOT_FOUND for an unknown commit. */
export function listInstantiations(chain: ReadChain, { id, template, limit = 1_000 }: InputOf<'context.instantiations'>): RecordedInstantiation[] {
  const seq = id === undefined ? null : findCommit(chain, id).seq;
  return chain.db
    .all<Omit<RecordedInstantiation, 'at'> & { at: number }>(
      `SELECT i.at, i.template, c.id AS context, i.principal, i.machine FROM instantiation i LEFT JOIN context c ON c.seq = i.context
        WHERE i.project = ? AND (? IS NULL OR i.context = ?) AND (? IS NULL OR i.template = ? OR substr(i.template, 1, length(?) + 1) = ? || '@')
        ORDER BY i.no DESC LIMIT ?`,
      chain.project,
      seq,
      seq,
      ...Array<string | null>(4).fill(template ?? null),
      limit,
    )
    .map((row) => ({ ...row, at: toTimestamp(row.at) }));
}
