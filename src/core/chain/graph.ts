import type { CommitSeq, ContextId } from '../base/index.js';
import type { GraphRow, InputOf } from '../contract/index.js';
import { type ContextRow, hashColumn, intactColumn, type ReadChain, selectContext, toCommit } from './chain.js';
import { commitAt } from './find.js';
import { hiddenCommits, hidingState } from './hidden.js';
import { type LaneRow, type Lanes, layOut, type Node } from './lanes.js';
import { matches, type TipFilter } from './read.js';
import { type TurnNumbers, turnNumbers } from './turn-numbers.js';
import { forgetTurnParts, placesOf, type TurnParts, turnParts } from './turn-parts.js';

type GraphNode = Node & Pick<ContextRow, 'template' | 'principal' | 'sessionId' | 'ticketId' | 'type' | 'checkpoint'>;

export type GraphQuery = InputOf<'context.graph'>;

/** A cached layout. It is valid until the next commit. */
interface Picture {
  readonly state: string | null;
  readonly lanes: Lanes;
  readonly turns: TurnNumbers;
  readonly parts: TurnParts;
}
const pictures = new WeakMap<ReadChain, Map<string, Picture>>();
const picturesKept = 8;

/** The commits of a graph to show. `archived` shows archived branches and sessions too. */
export type GraphFilter = NonNullable<GraphQuery['filter']>;

/** A range of the commit graph, newest first, children before parents. */
export function graph(chain: ReadChain, query: GraphQuery): { total: number; rows: GraphRow[] } {
  const { lanes, turns, parts } = pictureOf(chain, query.filter ?? {}, query.together ?? false);
  const page = lanes.rows(query.offset, query.limit);
  if (!page.length) return { total: lanes.total, rows: [] };
  const details = detailsOf(chain, page, parts);
  const rows = page.map((row): GraphRow => {
    const detail = details.get(row.seq);
    if (!detail) throw new Error(`Commit row ${row.seq} does not exist.`);
    const turn = turns.of(row.seq);
    return { ...detail, ...(turn !== undefined && { turn }), lane: row.lane, edges: [...row.edges], width: row.width };
  });
  return { total: lanes.total, rows };
}

/** The layout of the graph. It is kept until the next commit. */
export const layoutOf = (chain: ReadChain, filter: GraphFilter, together: boolean): Lanes => pictureOf(chain, filter, together).lanes;

function pictureOf(chain: ReadChain, { archived, ...filter }: GraphFilter, together: boolean): Picture {
  const { state, count } = chain.db.one<{ state: string | null; count: number }>(
    `SELECT MAX(seq) || '/' || COUNT(*) || '/' || (SELECT COUNT(*) FROM resumed) || '/' || ${hidingState} AS state, COUNT(*) AS count
       FROM context WHERE project = ?`,
    chain.project,
  ) ?? { state: '', count: 0 };
  const kept = pictures.get(chain) ?? new Map<string, Picture>();
  pictures.set(chain, kept);
  const name = JSON.stringify([filter, archived, together]);
  const known = kept.get(name);
  if (known?.state === state) return known;
  const hidden = hiddenCommits(chain, { archived, session: filter.sessionId });
  const parts = turnParts(chain);
  const all = nodesOf(chain, count);
  const nodes = drawnNodes(hidden.size === 0 ? all : all.filter(({ seq }) => !hidden.has(seq)), parts);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const subagents = new Set(
    chain.db.all<{ context: CommitSeq }>('SELECT context FROM started WHERE project = ?', chain.project).map(({ context }) => context),
  );
  const picture = {
    state,
    lanes: layOut(isFiltered ? families(nodes, filter) : nodes, { together }),
    turns: turnNumbers(all, subagents, parts),
    parts,
  };
  kept.delete(name);
  kept.set(name, picture);
  for (const oldest of [...kept.keys()].slice(0, -picturesKept)) kept.delete(oldest);
  return picture;
}

/** The commits that have rows, each below the row of the turn before it. An answer to an edited prompt belongs to the fork with the prompt. */
function drawnNodes(nodes: readonly GraphNode[], parts: TurnParts): readonly GraphNode[] {
  if (parts.folded.size === 0) return nodes;
  const places = placesOf(nodes, parts);
  return nodes.flatMap((node): GraphNode[] => {
    const place = places.get(node.seq);
    if (!place) return [];
    const { parent, isAnswer } = place;
    return [parent === node.parent && !isAnswer ? node : { ...node, parent, forked: node.forked || isAnswer }];
  });
}

type StoredNode = Omit<GraphNode, 'current' | 'startedBy'>;

/** The commits of each project, in recorded order. Commits never change, so only new ones are read. After a repair, all are read again. */
const stored = new WeakMap<ReadChain, StoredNode[]>();

/** Forgets the commits of a project, because a repair has changed them. */
export function forgetGraph(chain: ReadChain): void {
  stored.delete(chain);
  pictures.delete(chain);
  forgetTurnParts(chain);
}

function storedNodes(chain: ReadChain, count: number): readonly StoredNode[] {
  const known = stored.get(chain) ?? [];
  for (const node of nodesAfter(chain, known.at(-1)?.seq ?? 0)) known.push(node);
  const nodes = known.length === count ? known : nodesAfter(chain, 0);
  stored.set(chain, nodes);
  return nodes;
}

const nodesAfter = (chain: ReadChain, seq: number): StoredNode[] =>
  chain.db
    .all<Omit<StoredNode, 'forked'> & { readonly forked: number }>(
      `SELECT seq, parent, createdAt, forked, template, principal, sessionId, ticketId, type, checkpoint FROM context
        WHERE project = ? AND seq > ? ORDER BY seq`,
      chain.project,
      seq,
    )
    .map((row) => ({ ...row, forked: row.forked === 1 }));

/**
 * Every commit of the project, in recorded order. `current` marks the commits from a root to the end of each imported session, the branch on
 * which its agent continued last.
 */
function nodesOf(chain: ReadChain, count: number): GraphNode[] {
  const nodes = storedNodes(chain, count);
  const started = new Map(
    chain.db.all<{ context: CommitSeq; starter: CommitSeq }>(startedSql(), chain.project).map(({ context, starter }) => [context, starter] as const),
  );
  const current = currentTimes(chain, nodes);
  return nodes.map((node) => {
    const startedBy = started.get(node.seq);
    const ended = current.get(node.seq);
    return startedBy === undefined && ended === undefined
      ? node
      : { ...node, ...(startedBy !== undefined && { startedBy }), ...(ended !== undefined && { current: ended }) };
  });
}

/**
 * For each commit between a root and the end of an imported session, the time of that end. What an agent added after Resume counts where it continues
 * such an end, and nowhere else: it never moves the trunk of the session that it left.
 */
function currentTimes(chain: ReadChain, nodes: readonly StoredNode[]): ReadonlyMap<CommitSeq, number> {
  const bySeq = new Map(nodes.map((node) => [node.seq, node] as const));
  const newestFirst = (a: StoredNode, b: StoredNode): number => b.createdAt - a.createdAt || b.seq - a.seq;
  const all = chain.db.all<{ tips: string; isResumed: 0 | 1 }>(
    `SELECT tips, EXISTS (SELECT 1 FROM resumed r WHERE r.project = source.project AND r.sessionId = source.sessionId) AS isResumed
       FROM source WHERE project = ? ORDER BY no`,
    chain.project,
  );
  const endOf = ({ tips }: { readonly tips: string }): StoredNode[] =>
    (JSON.parse(tips) as CommitSeq[])
      .flatMap((seq) => bySeq.get(seq) ?? [])
      .sort(newestFirst)
      .slice(0, 1);
  const current = new Map<CommitSeq, number>();
  const parentOf = ({ parent }: StoredNode): StoredNode | undefined => (parent === null ? undefined : bySeq.get(parent));
  // Sessions may share their first commits. These get the latest end.
  const ends = all.filter(({ isResumed }) => !isResumed).flatMap(endOf);
  for (const end of ends.sort(newestFirst))
    for (let node: StoredNode | undefined = end; node && !current.has(node.seq); node = parentOf(node)) current.set(node.seq, end.createdAt);
  const continued = new Set([...current.keys()].flatMap((seq) => bySeq.get(seq)?.parent ?? []));
  for (const end of all.filter(({ isResumed }) => isResumed).flatMap(endOf)) {
    const added: StoredNode[] = [];
    let node: StoredNode | undefined = end;
    for (; node && !current.has(node.seq) && !node.forked; node = parentOf(node)) added.push(node);
    if (!node || node.forked || continued.has(node.seq) || added.length === 0) continue;
    for (const { seq, parent } of added) {
      current.set(seq, end.createdAt);
      if (parent !== null) continued.add(parent);
    }
  }
  return current;
}

/** All commits that share a root with a commit of the filter, and the subagents started from them. */
function families(nodes: readonly GraphNode[], filter: TipFilter): GraphNode[] {
  const roots = new Map<CommitSeq, CommitSeq>();
  for (const node of nodes) roots.set(node.seq, node.parent === null ? node.seq : (roots.get(node.parent) ?? node.seq));
  const wanted = new Set(nodes.filter((node) => matches(node, filter)).map((node) => roots.get(node.seq)));
  const startedIn = nodes.flatMap(({ seq, startedBy }) => (startedBy === undefined ? [] : [{ root: roots.get(seq), starter: roots.get(startedBy) }]));
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
 * Pairs each subagent's first commit with the commit whose tool call started it. If a subagent names only its own
 * session, the record of the call contains both ids.
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
   (SELECT COUNT(*) FROM context n WHERE n.run = c.run AND n.depth = c.depth + 1) + (SELECT COUNT(*) FROM firstParentRun l WHERE l.origin = c.seq) AS children,
   (SELECT p.contextTokens FROM context p WHERE p.seq = c.parent) AS parentTokens`,
);

/**
 * Selects, for commits that end branches, the branch's name and its session's name, or the title in the session's file. A session with
 * subagents has several files: the file that ends with the commit gives the title, otherwise the main file, which has the shortest path.
 */
const selectTitles = /* sql */ `
SELECT c.seq, (
  SELECT m.title FROM branchMark m JOIN context f ON f.seq = m.context
   WHERE f.run = c.run AND f.depth <= c.depth AND m.title IS NOT NULL ORDER BY f.depth DESC LIMIT 1) AS named, COALESCE((
  SELECT m.title FROM sessionMark m WHERE m.project = c.project AND m.sessionId = c.sessionId), (
  SELECT s.title FROM source s WHERE s.project = c.project AND s.sessionId = c.sessionId AND s.title IS NOT NULL
   ORDER BY EXISTS (SELECT 1 FROM json_each(s.tips) WHERE value = c.seq) DESC, length(s.path), s.no DESC LIMIT 1)) AS title
  FROM context c WHERE c.seq IN (SELECT value FROM json_each(?))`;

interface TitleRow {
  readonly seq: CommitSeq;
  readonly named: string | null;
  readonly title: string | null;
}

/**
 * The titles of the branches that end in these rows: the name of the branch, else that of its session. A side branch of a session
 * has the title of its first commit.
 */
export function titlesOf(chain: ReadChain, ends: readonly LaneRow[], { partOf, besides }: TurnParts): ReadonlyMap<CommitSeq, string | null> {
  const firstOf = ({ start }: LaneRow): CommitSeq => partOf.get(start) ?? besides.get(start) ?? start;
  const starts = chain.db.all<{ seq: CommitSeq; summary: string | null; intact: 0 | 1 }>(
    `SELECT c.seq, c.summary, ${intactColumn} FROM context c JOIN context p ON p.seq = c.parent
      WHERE c.sessionId IS p.sessionId AND c.seq IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ends.map(firstOf)),
  );
  const begun = new Map(starts.map(({ seq, summary, intact }) => [seq, intact ? summary : null] as const));
  const titles = chain.db.all<TitleRow>(selectTitles, JSON.stringify(ends.map(({ seq }) => seq)));
  const startOf = new Map(ends.map((end) => [end.seq, firstOf(end)] as const));
  return new Map(titles.map(({ seq, named, title }) => [seq, named ?? begun.get(startOf.get(seq) ?? seq) ?? title] as const));
}

/** The forks with the prompts that the rows of a page answer, by row. */
function forksOf(chain: ReadChain, page: readonly LaneRow[], { partOf, besides }: TurnParts): ReadonlyMap<CommitSeq, NonNullable<Detail['fork']>> {
  const found = page.flatMap(({ seq }) => {
    const fork = partOf.get(seq) ?? besides.get(seq);
    return fork === undefined ? [] : [{ seq, fork }];
  });
  if (found.length === 0) return new Map();
  return new Map(
    found.map(({ seq, fork }) => {
      const { id, parentId, summary, intact } = commitAt(chain, fork);
      return [seq, { commit: id, parent: parentId, ...(summary !== null && intact && { title: summary }) }] as const;
    }),
  );
}

function detailsOf(chain: ReadChain, page: readonly LaneRow[], parts: TurnParts): Map<CommitSeq, Detail> {
  const wanted = JSON.stringify(page.map(({ seq }) => seq));
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
  const ends = new Set(rows.filter(({ children }) => children === 0).map(({ seq }) => seq));
  const titles = titlesOf(
    chain,
    page.filter(({ seq }) => ends.has(seq)),
    parts,
  );
  const forks = forksOf(chain, page, parts);
  return new Map(
    rows.map((row) => {
      const startedBy = started.get(row.seq);
      const fork = forks.get(row.seq);
      const detail: Detail = {
        commit: toCommit(row),
        depth: row.depth,
        children: row.children,
        contextTokens: row.contextTokens,
        forked: row.forked === 1 || fork !== undefined,
        ...(fork && { fork }),
        ...(parts.continuations.has(row.seq) && { continues: true as const }),
        errors: row.errors,
        ...(row.type === 'compaction' && row.parentTokens !== null && { replacedTokens: row.parentTokens }),
        ...(startedBy && { startedBy }),
        ...(row.children === 0 && { tipOf: titles.get(row.seq) ?? (row.intact ? row.summary : null) ?? row.id }),
      };
      return [row.seq, detail] as const;
    }),
  );
}
