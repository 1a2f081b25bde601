import { type ContextId, toTimestamp } from '../base/index.js';
import { findCommit, type ReadChain, show } from '../chain/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';

/** The commits of a project with their summaries, oldest first; with `missing`, those without one. */
export function listSummaries(
  chain: ReadChain,
  { missing: isMissing = false, offset = 0, limit = 100 }: InputOf<'context.summaries'>,
): OutputOf<'context.summaries'> {
  const missing = countMissing(chain);
  const { db, project } = chain;
  const [total = 0] = isMissing ? [missing] : db.column<number>('SELECT COUNT(*) FROM commits WHERE project = ?', project);
  const listed = `SELECT id FROM commits WHERE +project = ? ${isMissing ? 'AND summary IS NULL' : ''} ORDER BY seq LIMIT ? OFFSET ?`;
  return { total, missing, commits: db.column<ContextId>(listed, project, limit, offset).map((id) => show(chain, id)) };
}

/** Number of commits without a summary. */
export const countMissing = (chain: ReadChain): number =>
  chain.db.value<number>('SELECT COUNT(*) FROM commits WHERE +project = ? AND summary IS NULL', chain.project) ?? 0;

/** Every change of a commit's summary and tags, oldest first (C13). @throws NOT_FOUND */
export function versionsOfCommit(chain: ReadChain, id: ContextId): OutputOf<'context.versions'> {
  const row = findCommit(chain, id);
  const rows = chain.db.all<{ at: number; author: string | null; summary: string | null; tags: string | null }>(
    'SELECT at, author, summary, tags FROM contextVersion WHERE context = ? AND project = ? ORDER BY no',
    [row.seq, chain.project],
  );
  return rows.map(({ at, author, summary, tags }, place) => {
    const next = rows[place + 1] ?? row;
    return { at: toTimestamp(at), author, summary: { from: summary, to: next.summary }, tags: { from: tagsIn(tags), to: tagsIn(next.tags) } };
  });
}

const tagsIn = (tags: string | null): string[] => (tags === null ? [] : (JSON.parse(tags) as string[]));

type RecordedInstantiation = OutputOf<'context.instantiations'>[number];

/** The recorded starts of agents, newest first: of a context, of a template, or all. @throws NOT_FOUND for an unknown commit. */
export function listInstantiations(chain: ReadChain, { id, template, limit = 1_000 }: InputOf<'context.instantiations'>): RecordedInstantiation[] {
  const seq = id === undefined ? null : findCommit(chain, id).seq;
  return chain.db
    .all<Omit<RecordedInstantiation, 'at'> & { at: number }>(
      `SELECT i.at, i.template, c.id AS context, i.principal, i.machine FROM instantiation i LEFT JOIN commits c ON c.seq = i.context
        WHERE i.project = :project AND (:seq IS NULL OR i.context = :seq)
          AND (:template IS NULL OR i.template = :template OR substr(i.template, 1, length(:template) + 1) = :template || '@')
        ORDER BY i.no DESC LIMIT :limit`,
      { project: chain.project, seq, template: template ?? null, limit },
    )
    .map((row) => ({ ...row, at: toTimestamp(row.at) }));
}
