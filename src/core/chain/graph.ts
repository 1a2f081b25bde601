import type { CommitSeq, ContextId } from '../base/index.js';
import type { GraphRow } from '../contract/index.js';
import { type Chain, type ContextRow, hashColumn, selectContext, toCommit } from './chain.js';
import { type Lanes, layOut, type Node } from './lanes.js';
import { matches, type TipFilter } from './read.js';

type GraphNode = Node & Pick<ContextRow, 'template' | 'principal' | 'sessionId' | 'ticketId'>;

/** The last pictures by project database: as long as nothing is committed, pages come from one layout. */
interface Picture {
  readonly state: string;
  readonly lanes: Lanes;
}
const pictures = new WeakMap<Chain, Map<string, Picture>>();
const picturesKept = 8;

/** A range of the chain's picture, newest first, children before parents (contract, `context.graph`). */
export function graph(chain: Chain, query: { filter?: TipFilter | undefined; offset: number; limit: number }): { total: number; rows: GraphRow[] } {
  const lanes = picture(chain, query.filter ?? {});
  const page = lanes.rows(query.offset, query.limit);
  if (!page.length) return { total: lanes.total, rows: [] };
  const details = detailsOf(
    chain,
    page.map((row) => row.seq),
  );
  const rows = page.map((row): GraphRow => {
    const detail = details.get(row.seq);
    if (!detail) throw new Error(`commit row ${row.seq} went away`);
    return { ...detail, lane: row.lane, edges: [...row.edges], width: row.width };
  });
  return { total: lanes.total, rows };
}

function picture(chain: Chain, filter: TipFilter): Lanes {
  const state =
    chain.db.one<{ state: string }>("SELECT MAX(seq) || '/' || COUNT(*) AS state FROM context WHERE project = ?", chain.project)?.state ?? '';
  const kept = pictures.get(chain) ?? new Map<string, Picture>();
  pictures.set(chain, kept);
  const name = JSON.stringify(filter);
  const known = kept.get(name);
  if (known?.state === state) return known.lanes;
  const nodes = chain.db.all<GraphNode>(
    'SELECT seq, parent, createdAt, template, principal, sessionId, ticketId FROM context WHERE project = ? ORDER BY seq',
    chain.project,
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const lanes = layOut(isFiltered ? families(chain, nodes, filter) : nodes);
  kept.delete(name);
  kept.set(name, { state, lanes });
  for (const oldest of [...kept.keys()].slice(0, -picturesKept)) kept.delete(oldest);
  return lanes;
}

/** Everything that shares a root with a commit of the filter, and the subagents that were started from there. */
function families(chain: Chain, nodes: readonly GraphNode[], filter: TipFilter): GraphNode[] {
  const roots = new Map<CommitSeq, CommitSeq>();
  for (const node of nodes) roots.set(node.seq, node.parent === null ? node.seq : (roots.get(node.parent) ?? node.seq));
  const wanted = new Set(nodes.filter((node) => matches(node, filter)).map((node) => roots.get(node.seq)));
  const startedIn = chain.db
    .all<{ context: CommitSeq; starter: CommitSeq }>(startedSql(), chain.project)
    .map((row) => ({ root: roots.get(row.context), starter: roots.get(row.starter) }));
  for (let grown = true; grown; ) {
    grown = false;
    for (const { root, starter } of startedIn)
      if (wanted.has(starter) && !wanted.has(root)) {
        wanted.add(root);
        grown = true;
      }
  }
  return nodes.filter((node) => wanted.has(roots.get(node.seq)));
}

/**
 * Subagents' first commits with the commits that hold the calls which started them. Where a subagent has named its own session alone, the
 * record of the call says both.
 */
const startedSql = (more = ''): string => /* sql */ `
WITH s AS (SELECT context, project, toolCallId FROM started WHERE project = ? ${more})
SELECT s.context, s.toolCallId, r.context AS starter, c.id AS starterId
  FROM s JOIN record r ON r.project = s.project AND r.record = 'call:' || s.toolCallId JOIN context c ON c.seq = r.context
UNION ALL
SELECT s.context, substr(r.record, length(s.toolCallId) + 2), r.context, c.id
  FROM s JOIN record r ON r.project = s.project AND r.record > s.toolCallId || ':' AND r.record < s.toolCallId || ';' JOIN context c ON c.seq = r.context
 WHERE s.toolCallId LIKE 'session:%'`;

type Detail = Omit<GraphRow, 'lane' | 'edges' | 'width'>;

interface DetailRow extends ContextRow {
  readonly children: number;
  readonly parentTokens: number | null;
}

const selectDetail = selectContext.replace(
  hashColumn,
  `${hashColumn},
   (SELECT COUNT(*) FROM context n WHERE n.line = c.line AND n.depth = c.depth + 1) + (SELECT COUNT(*) FROM line l WHERE l.origin = c.seq) AS children,
   (SELECT p.contextTokens FROM context p WHERE p.seq = c.parent) AS parentTokens`,
);

/**
 * What the sessions that end in these commits are called. Subagents' files are of the session, too: the file that ends here gives
 * the name, else the session's own, which has the shorter path.
 */
const selectTitles = /* sql */ `
SELECT c.seq, (
  SELECT s.title FROM source s WHERE s.project = c.project AND s.sessionId = c.sessionId AND s.title IS NOT NULL
   ORDER BY EXISTS (SELECT 1 FROM json_each(s.tips) WHERE value = c.seq) DESC, length(s.path), s.no DESC LIMIT 1) AS title
  FROM context c WHERE c.seq IN (SELECT value FROM json_each(?))`;

function detailsOf(chain: Chain, seqs: readonly CommitSeq[]): Map<CommitSeq, Detail> {
  const wanted = JSON.stringify(seqs);
  const started = new Map(
    chain.db
      .all<{ context: CommitSeq; toolCallId: string; starterId: ContextId }>(
        startedSql('AND context IN (SELECT value FROM json_each(?))'),
        chain.project,
        wanted,
      )
      .map((row) => [row.context, { commit: row.starterId, toolCallId: row.toolCallId }] as const),
  );
  const rows = chain.db.all<DetailRow>(`${selectDetail} WHERE c.seq IN (SELECT value FROM json_each(?))`, wanted);
  const ends = rows.filter(({ children }) => children === 0).map(({ seq }) => seq);
  const titles = new Map(
    chain.db.all<{ seq: CommitSeq; title: string | null }>(selectTitles, JSON.stringify(ends)).map((row) => [row.seq, row.title]),
  );
  return new Map(
    rows.map((row) => {
      const startedBy = started.get(row.seq);
      const detail: Detail = {
        commit: toCommit(row),
        depth: row.depth,
        children: row.children,
        contextTokens: row.contextTokens,
        forked: row.forked === 1,
        errors: row.errors,
        ...(row.type === 'compaction' && row.parentTokens !== null && { replacedTokens: row.parentTokens }),
        ...(startedBy && { startedBy }),
        ...(row.children === 0 && { tipOf: titles.get(row.seq) ?? row.summary ?? row.id }),
      };
      return [row.seq, detail] as const;
    }),
  );
}
