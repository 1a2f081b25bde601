import type { CommitSeq } from '../base/index.js';
import type { GraphRow } from '../contract/index.js';
import { type ContextRow, hashColumn, intactColumn, type ReadChain, selectContext, toCommit } from './chain.js';
import { startedAmong } from './families.js';
import { type DrawnRows, type GraphQuery, layoutOf } from './graph-layout.js';
import type { LaneRow } from './lanes.js';
import { type TurnParts, turnFacts } from './turn-parts.js';

/** A range of the commit graph, newest first, children before parents. */
export function graph(chain: ReadChain, query: GraphQuery): { total: number; rows: GraphRow[] } {
  const layout = layoutOf(chain, query.filter ?? {}, query.together ?? false);
  const page = [...layout.rows(query.offset, query.limit)];
  const details = detailsOf(chain, page);
  const rows = page.flatMap(({ rows, turnOf }) =>
    rows.map((row): GraphRow => {
      const detail = details.get(row.seq);
      if (!detail) throw new Error(`Commit row ${row.seq} does not exist.`);
      const turn = turnOf(row.seq);
      return { ...detail, ...(turn !== undefined && { turn }), lane: row.lane, edges: [...row.edges], width: row.width };
    }),
  );
  return { total: layout.total, rows };
}

type Detail = Omit<GraphRow, 'lane' | 'edges' | 'width'>;

type DetailRow = ContextRow & { readonly children: number; readonly parentTokens: number | null };

const selectDetail = selectContext.replace(
  hashColumn,
  `${hashColumn},
   (SELECT COUNT(*) FROM commits n WHERE n.run = c.run AND n.depth = c.depth + 1) + (SELECT COUNT(*) FROM firstParentRun l WHERE l.origin = c.seq) AS children,
   (SELECT p.contextTokens FROM commits p WHERE p.seq = c.parent) AS parentTokens`,
);

/**
 * Selects, for commits that end branches, the branch's name and its session's name, or the title in the session's file. A session with
 * subagents has several files: the file that ends with the commit gives the title, otherwise the main file, which has the shortest path.
 */
const selectTitles = /* sql */ `
SELECT c.seq, (
  SELECT m.title FROM branchMark m JOIN commits f ON f.seq = m.context
   WHERE f.run = c.run AND f.depth <= c.depth AND m.title IS NOT NULL ORDER BY f.depth DESC LIMIT 1) AS named, COALESCE((
  SELECT m.title FROM sessionMark m WHERE m.project = c.project AND m.sessionId = c.sessionId), (
  SELECT s.title FROM source s WHERE s.project = c.project AND s.sessionId = c.sessionId AND s.title IS NOT NULL
   ORDER BY EXISTS (SELECT 1 FROM json_each(s.tips) WHERE value = c.seq) DESC, length(s.path), s.no DESC LIMIT 1)) AS title
  FROM commits c WHERE c.seq IN (SELECT value FROM json_each(?))`;

/** The first commit of the branch of each row. */
export const startsOf = (rows: readonly LaneRow[], { partOf, besides }: TurnParts): [seq: CommitSeq, first: CommitSeq][] =>
  rows.map(({ seq, start }) => [seq, partOf.get(start) ?? besides.get(start) ?? start]);

/**
 * The titles of branches, by their last commits: the name of the branch, else that of its session. `startOf` has the first commit of each branch. A
 * side branch of a session, also in a file in which an agent continued it, has the title of its first commit.
 */
export function titlesOf(chain: ReadChain, startOf: ReadonlyMap<CommitSeq, CommitSeq>): ReadonlyMap<CommitSeq, string | null> {
  const starts = chain.db.all<{ seq: CommitSeq; summary: string | null; intact: 0 | 1 }>(
    `SELECT c.seq, c.summary, ${intactColumn} FROM commits c JOIN commits p ON p.seq = c.parent
      WHERE c.seq IN (SELECT value FROM json_each(?)) AND (c.sessionId IS p.sessionId
       OR EXISTS (SELECT 1 FROM resumed r WHERE r.project = c.project AND r.sessionId = c.sessionId))`,
    JSON.stringify([...startOf.values()]),
  );
  const begun = new Map(starts.map(({ seq, summary, intact }) => [seq, intact ? summary : null] as const));
  const ends = JSON.stringify([...startOf.keys()]);
  const titles = chain.db.rows<[seq: CommitSeq, named: string | null, title: string | null]>(selectTitles, ends);
  return new Map(titles.map(([seq, named, title]) => [seq, named ?? begun.get(startOf.get(seq) ?? seq) ?? title] as const));
}

function detailsOf(chain: ReadChain, page: readonly DrawnRows[]): Map<CommitSeq, Detail> {
  const partsOf = new Map(page.flatMap(({ rows, parts }) => rows.map(({ seq }) => [seq, parts] as const)));
  const seqs = [...partsOf.keys()];
  const started = new Map(startedAmong(chain, seqs).map(({ context, starterId: commit, toolCallId }) => [context, { commit, toolCallId }] as const));
  const rows = chain.db.all<DetailRow>(`${selectDetail} WHERE c.seq IN (SELECT value FROM json_each(?))`, JSON.stringify(seqs));
  const starts = new Map(page.flatMap(({ rows, parts }) => startsOf(rows, parts)));
  const titles = titlesOf(chain, new Map(rows.flatMap(({ seq, children }) => (children === 0 ? [[seq, starts.get(seq) ?? seq] as const] : []))));
  const detailOf = (row: DetailRow): Detail => {
    const { seq, id, type, depth, children, contextTokens, parentTokens, errors } = row;
    const startedBy = started.get(seq);
    const turn = turnFacts(chain, seq, partsOf.get(seq) as TurnParts);
    const forked = row.forked === 1 || turn.fork !== undefined;
    return {
      commit: toCommit(row),
      depth,
      children,
      contextTokens,
      forked,
      ...turn,
      errors,
      ...(type === 'compaction' && parentTokens !== null && { replacedTokens: parentTokens }),
      ...(startedBy && { startedBy }),
      ...(children === 0 && { tipOf: titles.get(seq) ?? (row.intact ? row.summary : null) ?? id }),
    };
  };
  return new Map(rows.map((row) => [row.seq, detailOf(row)] as const));
}
