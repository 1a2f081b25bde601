import type { ContextId, GraphMap, GraphRow } from '../../../core/contract/index.js';

/** A row of the list: one commit by its position in the graph, or a folded run of commits from `at` to `end` (exclusive). */
export type ChainRow = { readonly kind: 'commit'; readonly at: number } | { readonly kind: 'fold'; readonly at: number; readonly end: number };

/** The same as in the contract. Copied here, so that the first page does not load the contract's schemas. */
export const graphMarks = { compaction: 1, errors: 2, end: 4, plain: 8 } as const;

/** Runs longer than this are folded, except for some rows at each end. */
const longRun = 32;
const keptAtEnds = 6;

/** A commit in the middle of a run: no branch, tip, fork, error or subagent. */
function isPlain(row: GraphRow): boolean {
  return (
    row.commit.type === 'delta' &&
    row.children === 1 &&
    !row.forked &&
    !row.startedBy &&
    row.tipOf === undefined &&
    row.errors === 0 &&
    row.edges.every((edge) => edge.fromLane === edge.toLane)
  );
}

/** The facts about a row that folding and the minimap need. */
export interface RowShape {
  readonly plain: boolean;
  readonly lane: number;
  readonly tokens: number;
  readonly compaction: boolean;
  readonly errors: boolean;
  /** True for the tip of a branch or a fork. */
  readonly end: boolean;
}

/** The shapes of loaded rows. */
export const shapesOf = (rows: readonly GraphRow[]): readonly RowShape[] =>
  rows.map((row) => ({
    plain: isPlain(row),
    lane: row.lane,
    tokens: row.contextTokens,
    compaction: row.commit.type === 'compaction',
    errors: row.errors > 0,
    end: row.tipOf !== undefined || row.forked,
  }));

/** The shapes of the rows of a chain that is too long to be loaded. The rows of a stretch share one. */
export function shapesOfMap({ total, rows, lanes, tokens, marks }: GraphMap): readonly RowShape[] {
  const shapes = new Array<RowShape>(total);
  let from = 0;
  marks.forEach((mark, at) => {
    const shape = {
      plain: (mark & graphMarks.plain) !== 0,
      lane: lanes[at] ?? 0,
      tokens: tokens[at] ?? 0,
      compaction: (mark & graphMarks.compaction) !== 0,
      errors: (mark & graphMarks.errors) !== 0,
      end: (mark & graphMarks.end) !== 0,
    };
    shapes.fill(shape, from, from + (rows[at] ?? 0));
    from += rows[at] ?? 0;
  });
  return shapes;
}

/** The list with long runs folded, except runs that contain an opened row. */
export function foldRows(rows: readonly RowShape[], opened: ReadonlySet<number>): readonly ChainRow[] {
  const list: ChainRow[] = [];
  for (let at = 0; at < rows.length; ) {
    let end = at;
    while (end < rows.length && rows[end]?.plain && rows[end]?.lane === rows[at]?.lane) end++;
    const first = at + keptAtEnds;
    const last = end - keptAtEnds;
    if (end - at > longRun && ![...opened].some((place) => place >= at && place < end)) {
      for (let n = at; n < first; n++) list.push({ kind: 'commit', at: n });
      list.push({ kind: 'fold', at: first, end: last });
      for (let n = last; n < end; n++) list.push({ kind: 'commit', at: n });
    } else {
      for (let n = at; n < Math.max(end, at + 1); n++) list.push({ kind: 'commit', at: n });
    }
    at = Math.max(end, at + 1);
  }
  return list;
}

/** A line from the end of a subagent's chain to the commit with the call that started it. Rows are places in the list. */
export interface SubagentLink {
  readonly from: { readonly row: number; readonly lane: number };
  readonly to: { readonly row: number; readonly lane: number };
}

/** Lines longer than this are not drawn, because they would clutter the graph. */
const maxLinkLength = 80;

/** The lines between subagents and their calls, for the listed rows. */
export function linksOf(rows: readonly GraphRow[], list: readonly ChainRow[]): readonly SubagentLink[] {
  const places = new Map<string, { row: number; lane: number }>();
  const newestChild = new Map<string, string>();
  list.forEach((item, row) => {
    const found = rows[item.at];
    if (item.kind !== 'commit' || !found) return;
    places.set(found.commit.id, { row, lane: found.lane });
    // A fork that was answered has the row of its answer.
    if (found.fork) places.set(found.fork.commit, { row, lane: found.lane });
    const { parent } = found.commit;
    if (parent && !newestChild.has(parent)) newestChild.set(parent, found.commit.id);
  });
  return rows.flatMap((row): SubagentLink[] => {
    if (!row.startedBy) return [];
    let end: string = row.commit.id;
    for (let next = newestChild.get(end); next; next = newestChild.get(end)) end = next;
    const [from, to] = [places.get(end), places.get(row.startedBy.commit)];
    return from && to && Math.abs(from.row - to.row) <= maxLinkLength ? [{ from, to }] : [];
  });
}

/** The branches that end in these rows, the newest first. */
export const branchesOf = (rows: readonly GraphRow[]): readonly { readonly tip: ContextId; readonly name: string }[] =>
  rows.flatMap(({ commit, tipOf }) => (tipOf === undefined ? [] : [{ tip: commit.id, name: tipOf }]));

/** The rows on the way from a root to the ends of the chosen branches. */
export function rowsOfBranches(rows: readonly GraphRow[], tips: readonly ContextId[]): readonly ChainRow[] {
  const wanted = new Set<string>(tips);
  // Children come before their parents.
  return rows.flatMap(({ commit, fork }, at): ChainRow[] => {
    if (!wanted.has(commit.id)) return [];
    const above = fork ? fork.parent : commit.parent;
    if (above) wanted.add(above);
    return [{ kind: 'commit', at }];
  });
}

/** The rows whose title, tip, id, template, principal, type or tags contain the words. */
export function filterRows(rows: readonly GraphRow[], words: string): readonly ChainRow[] {
  const needle = words.toLowerCase();
  return rows.flatMap((row, at): ChainRow[] => {
    const { summary = '', id, template, principal = '', tags, type } = row.commit;
    const text =
      `${summary}\n${row.fork?.title ?? ''}\n${row.tipOf ?? ''}\n${id}\n${template}\n${principal}\n${type}\n${tags.join('\n')}`.toLowerCase();
    return text.includes(needle) ? [{ kind: 'commit', at }] : [];
  });
}
