import type { CommitSeq } from '../base/index.js';

/** The fields of a commit that the layout needs. */
export interface LaneNode {
  readonly seq: CommitSeq;
  readonly parent: CommitSeq | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Made in Stemma by a fork or an edit. Such a commit is never part of the trunk that it started from. */
  readonly forked: boolean;
  /** The time at which the imported session ends that contains this commit; of several sessions, the latest end. */
  readonly current?: number;
  /** The first commit of a subagent, with the commit whose call started it. */
  readonly startedBy?: CommitSeq;
}

export interface LaneRow {
  readonly seq: CommitSeq;
  readonly lane: number;
  /** The first commit of its branch. */
  readonly start: CommitSeq;
  /** Edges from this row down to the next row. */
  readonly edges: readonly { readonly fromLane: number; readonly toLane: number }[];
  /** Number of lanes in use at this row. */
  readonly width: number;
}

/** A commit graph laid out in lanes. It returns any range of rows without repeating the layout from the top. */
export type Lanes = ReturnType<typeof layOut>;

/** Number of rows between saved lane states, so that a range starts near its first row. */
const rememberEvery = 256;

/** For each lane, the commit that its edge leads down to, or null if the lane is free. */
type Active = (CommitSeq | null)[];

/**
 * Lays out commits newest first, children before parents. `nodes` must be in recorded order, a parent before its children.
 *
 * Every branch has one lane from its tip to the commit that it started from. Trunks get their lanes first, then subagents, then
 * the agent's own side branches, then forks. So a fork moves no trunk (W30). With `together`, a session, its forks and its
 * subagents occupy adjacent rows, and no lane passes another session.
 */
export function layOut(nodes: readonly LaneNode[], options: { readonly together?: boolean } = {}) {
  const tree = treeOf(nodes);
  const times = shownTimes(tree);
  const byTime = newestFirst(nodes, times);
  const order = options.together ? familiesTogether(tree, byTime) : byTime;
  const rowOf = new Int32Array(nodes.length);
  for (const [row, at] of order.entries()) rowOf[at] = row;
  const { laneOf, firstOf } = branchesOf(tree, rowOf);
  const remembered: Active[] = [[]];
  const advance = (active: Active, row: number): LaneRow => {
    const at = order[row] as number;
    const { seq, parent } = nodes[at] as LaneNode;
    const lane = laneOf[at] as number;
    while (active.length < lane) active.push(null);
    active[lane] = parent;
    const nextAt = order[row + 1] ?? -1;
    const next = nodes[nextAt];
    const target = laneOf[nextAt] ?? 0;
    const edges: LaneRow['edges'][number][] = [];
    let last = -1;
    for (let from = 0; from < active.length; from++) {
      const awaited = active[from] ?? null;
      if (awaited === null) continue;
      last = from;
      edges.push({ fromLane: from, toLane: awaited === next?.seq ? target : from });
      if (awaited === next?.seq && from !== target) active[from] = null;
    }
    while (active.length && active.at(-1) === null) active.pop();
    const start = (nodes[firstOf[at] as number] as LaneNode).seq;
    return { seq, lane, start, edges, width: Math.max(lane, last) + 1 };
  };
  const stateAt = (block: number): Active => {
    for (let known = remembered.length - 1; known < block; known++) {
      const active = [...(remembered[known] as Active)];
      for (let row = known * rememberEvery; row < (known + 1) * rememberEvery; row++) advance(active, row);
      remembered.push(active);
    }
    return [...(remembered[block] as Active)];
  };
  return {
    total: order.length,
    /** The time and the commit of the first row, by which graphs are sorted; undefined without rows. */
    newest: byTime.length === 0 ? undefined : { at: times[byTime[0] as number] as number, seq: (nodes[byTime[0] as number] as LaneNode).seq },
    rows(offset: number, limit: number): LaneRow[] {
      const end = Math.min(offset + limit, order.length);
      if (offset >= end) return [];
      const block = Math.floor(offset / rememberEvery);
      const active = stateAt(block);
      const rows: LaneRow[] = [];
      for (let row = block * rememberEvery; row < end; row++) {
        const drawn = advance(active, row);
        if (row >= offset) rows.push(drawn);
      }
      return rows;
    },
  };
}

type Tree = ReturnType<typeof treeOf>;

/** The commits by their position in the list, with the position of each parent, or -1. A parent precedes its children. */
function treeOf(nodes: readonly LaneNode[]) {
  const placeOf = new Map<CommitSeq, number>();
  const parents = new Int32Array(nodes.length);
  nodes.forEach(({ seq, parent }, at) => {
    placeOf.set(seq, at);
    parents[at] = parent === null ? -1 : (placeOf.get(parent) ?? -1);
  });
  return { nodes, placeOf, parents };
}

/** A branch: a sequence of commits, each the main child of the one before. */
interface Branch {
  /** The position of its first commit. */
  readonly first: number;
  /** The rows that the branch occupies, including its edge to the commit that it started from. */
  from: number;
  to: number;
}

/** For every commit, its lane and the position of the first commit of its branch. */
function branchesOf(tree: Tree, rowOf: Int32Array): { readonly laneOf: Int32Array; readonly firstOf: Int32Array } {
  const { nodes, parents } = tree;
  const main = mainChildren(tree);
  const branchAt: Branch[] = [];
  const ranks: Branch[][] = [[], [], [], []];
  nodes.forEach((node, at) => {
    const parent = parents[at] as number;
    const row = rowOf[at] as number;
    const continued = parent >= 0 && main[parent] === at ? branchAt[parent] : undefined;
    const branch = continued ?? { first: at, from: row, to: parent < 0 ? row : (rowOf[parent] as number) - 1 };
    branch.from = Math.min(branch.from, row);
    if (!continued) ranks[rankOf(node)]?.push(branch);
    branchAt.push(branch);
  });
  const laneOfBranch = new Map<Branch, number>();
  const taken: Taken[] = [];
  for (const branches of ranks) {
    branches.sort((a, b) => a.from - b.from);
    for (const [branch, lane] of fill(taken, branches)) laneOfBranch.set(branch, lane);
  }
  return {
    laneOf: Int32Array.from(branchAt, (branch) => laneOfBranch.get(branch) ?? 0),
    firstOf: Int32Array.from(branchAt, ({ first }) => first),
  };
}

/** Trunks, then subagents, then branches that the agent made, then forks. */
function rankOf(first: LaneNode): 0 | 1 | 2 | 3 {
  if (first.parent !== null) return first.forked ? 3 : 2;
  return first.startedBy === undefined ? 0 : 1;
}

/**
 * For each commit, the position of the child that continues its branch, or -1. A fork never continues a commit that is not a fork. Of the
 * other children, the one that leads to the latest end of an imported session is chosen, or else the one recorded first.
 */
function mainChildren({ nodes, parents }: Tree): Int32Array {
  const main = new Int32Array(nodes.length).fill(-1);
  nodes.forEach((node, at) => {
    const parent = parents[at] as number;
    if (parent < 0 || (node.forked && !nodes[parent]?.forked)) return;
    const best = nodes[main[parent] as number];
    if (!best || (best.forked && !node.forked) || (best.forked === node.forked && (node.current ?? -1) > (best.current ?? -1))) main[parent] = at;
  });
  return main;
}

/** The occupied rows of a lane, as ranges from top to bottom. */
type Taken = { readonly from: number; readonly to: number }[];

/** Puts branches, sorted by their first row, into the leftmost lanes that are free at all their rows. */
function fill(taken: Taken[], branches: readonly Branch[]): [Branch, number][] {
  const added: Taken[] = [];
  const places = taken.map(() => 0);
  const isFree = (lane: number, { from, to }: Branch): boolean => {
    const last = added[lane]?.at(-1);
    if (last && last.to >= from) return false;
    const ranges = taken[lane] ?? [];
    let at = places[lane] ?? 0;
    while (at < ranges.length && (ranges[at]?.to ?? 0) < from) at++;
    places[lane] = at;
    const next = ranges[at];
    return !next || next.from > to;
  };
  const lanes = branches.map((branch): [Branch, number] => {
    let lane = 0;
    while (lane < Math.max(taken.length, added.length) && !isFree(lane, branch)) lane++;
    const ranges = added[lane] ?? [];
    ranges.push({ from: branch.from, to: branch.to });
    added[lane] = ranges;
    return [branch, lane];
  });
  added.forEach((ranges, lane) => {
    taken[lane] = [...(taken[lane] ?? []), ...ranges].sort((a, b) => a.from - b.from);
  });
  return lanes;
}

/** The times by which commits are sorted. A parent never has a later time than its child, even if clocks disagree. */
function shownTimes({ nodes, parents }: Tree): Float64Array {
  const times = new Float64Array(nodes.length);
  nodes.forEach((node, at) => {
    const parent = parents[at] as number;
    times[at] = parent < 0 ? node.createdAt : Math.max(node.createdAt, times[parent] as number);
  });
  return times;
}

/** The positions by time, newest first. */
const newestFirst = (nodes: readonly LaneNode[], times: Float64Array): Int32Array =>
  Int32Array.from(nodes, (_, at) => at).sort((a, b) => (times[b] as number) - (times[a] as number) || b - a);

/** Groups the rows of each session with its forks and subagents. The session with the newest row comes first. */
function familiesTogether({ nodes, placeOf, parents }: Tree, order: Int32Array): Int32Array {
  /** For each commit, another one of its group; the last of them is itself. A map would take several times as long. */
  const before = Int32Array.from(nodes, (_, at) => at);
  const groupOf = (from: number): number => {
    let at = from;
    while (before[at] !== at) {
      before[at] = before[before[at] as number] as number;
      at = before[at] as number;
    }
    return at;
  };
  for (const [at, { startedBy }] of nodes.entries()) {
    const parent = parents[at] as number;
    const up = parent < 0 && startedBy !== undefined ? (placeOf.get(startedBy) ?? -1) : parent;
    if (up >= 0) before[groupOf(at)] = groupOf(up);
  }
  return Int32Array.from([...Map.groupBy(order, groupOf).values()].flat());
}
