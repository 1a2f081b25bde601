import type { ContextId, GraphRow } from '../../../core/contract/index.js';

/** A row of the list: one commit by its place in the graph, or a run of commits that says nothing but its length. */
export type ChainRow = { readonly kind: 'commit'; readonly at: number } | { readonly kind: 'fold'; readonly at: number; readonly end: number };

/** Runs longer than this fold, and keep some rows at each end. */
const longRun = 32;
const keptAtEnds = 6;

/** A commit in the middle of a line: nothing starts, ends or changes here. */
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

/** The list with long linear runs folded, but for those that were opened (by a commit of theirs: the run may grow). */
export function foldRows(rows: readonly GraphRow[], opened: ReadonlySet<ContextId>): readonly ChainRow[] {
  const list: ChainRow[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as GraphRow;
    let end = at;
    while (end < rows.length && isPlain(rows[end] as GraphRow) && rows[end]?.lane === row.lane) end++;
    const first = at + keptAtEnds;
    const last = end - keptAtEnds;
    if (end - at > longRun && !(opened.size > 0 && rows.slice(at, end).some((each) => opened.has(each.commit.id)))) {
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

/** A line from the end of a subagent's chain to the commit that holds its call. Rows are places in the list. */
export interface Link {
  readonly from: { readonly row: number; readonly lane: number };
  readonly to: { readonly row: number; readonly lane: number };
}

/** Lines longer than this would cross more than they explain. */
const longestLink = 80;

export function linksOf(rows: readonly GraphRow[], list: readonly ChainRow[]): readonly Link[] {
  const places = new Map<string, { row: number; lane: number }>();
  const newestChild = new Map<string, string>();
  list.forEach((item, row) => {
    const found = rows[item.at];
    if (item.kind !== 'commit' || !found) return;
    places.set(found.commit.id, { row, lane: found.lane });
    const { parent } = found.commit;
    if (parent && !newestChild.has(parent)) newestChild.set(parent, found.commit.id);
  });
  return rows.flatMap((row): Link[] => {
    if (!row.startedBy) return [];
    let end: string = row.commit.id;
    for (let next = newestChild.get(end); next; next = newestChild.get(end)) end = next;
    const [from, to] = [places.get(end), places.get(row.startedBy.commit)];
    return from && to && Math.abs(from.row - to.row) <= longestLink ? [{ from, to }] : [];
  });
}

/** The rows whose words hold what was typed. */
export function filterRows(rows: readonly GraphRow[], words: string): readonly ChainRow[] {
  const needle = words.toLowerCase();
  return rows.flatMap((row, at): ChainRow[] => {
    const { summary = '', id, template, principal = '', tags, type } = row.commit;
    const text = `${summary}\n${row.tipOf ?? ''}\n${id}\n${template}\n${principal}\n${type}\n${tags.join('\n')}`.toLowerCase();
    return text.includes(needle) ? [{ kind: 'commit', at }] : [];
  });
}
