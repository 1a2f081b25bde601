import type { CommitSeq } from '../base/index.js';

/** A commit as the picture of a chain needs it. */
export interface Node {
  readonly seq: CommitSeq;
  readonly parent: CommitSeq | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface LaneEdge {
  readonly fromLane: number;
  readonly toLane: number;
}

export interface LaneRow {
  readonly seq: CommitSeq;
  readonly lane: number;
  /** The lines from this row down to the next one. */
  readonly edges: readonly LaneEdge[];
  /** The lanes in use at this row. */
  readonly width: number;
}

/** A picture of commits in lanes that gives any range of its rows without laying out those far above it again. */
export interface Lanes {
  readonly total: number;
  rows(offset: number, limit: number): LaneRow[];
}

/** Every so many rows the lanes are remembered, so that a range begins near where it is wanted. */
const rememberEvery = 256;

/** A lane holds the commit that its line leads down to, or nothing. */
type Active = (CommitSeq | null)[];

/**
 * Lays out commits newest first, children before parents, in as few lanes as their branches need. `nodes` come in the
 * order in which they were recorded: a parent before its children.
 */
export function layOut(nodes: readonly Node[]): Lanes {
  const order = newestFirst(nodes);
  const remembered: Active[] = [[]];
  const advance = (active: Active, at: number): LaneRow => {
    const node = order[at] as Node;
    const lane = laneFor(active, node.seq);
    active[lane] = node.parent;
    const next = order[at + 1];
    const target = next && firstLaneOf(active, next.seq);
    const edges = active.flatMap((awaited, from): LaneEdge[] =>
      awaited === null ? [] : [{ fromLane: from, toLane: awaited === next?.seq && target !== undefined ? target : from }],
    );
    const width = Math.max(lane + 1, active.findLastIndex((awaited) => awaited !== null) + 1);
    if (next) for (const [from, awaited] of active.entries()) if (awaited === next.seq && from !== target) active[from] = null;
    while (active.length && active.at(-1) === null) active.pop();
    return { seq: node.seq, lane, edges, width };
  };
  const stateAt = (block: number): Active => {
    for (let known = remembered.length - 1; known < block; known++) {
      const active = [...(remembered[known] as Active)];
      for (let at = known * rememberEvery; at < (known + 1) * rememberEvery; at++) advance(active, at);
      remembered.push(active);
    }
    return [...(remembered[block] as Active)];
  };
  return {
    total: order.length,
    rows(offset, limit) {
      const end = Math.min(offset + limit, order.length);
      if (offset >= end) return [];
      const block = Math.floor(offset / rememberEvery);
      const active = stateAt(block);
      const rows: LaneRow[] = [];
      for (let at = block * rememberEvery; at < end; at++) {
        const row = advance(active, at);
        if (at >= offset) rows.push(row);
      }
      return rows;
    },
  };
}

/** The leftmost lane that leads to the commit, else the leftmost free one. */
function laneFor(active: Active, seq: CommitSeq): number {
  const lane = firstLaneOf(active, seq) ?? active.indexOf(null);
  return lane >= 0 ? lane : active.length;
}

function firstLaneOf(active: Active, seq: CommitSeq): number | undefined {
  const lane = active.indexOf(seq);
  return lane >= 0 ? lane : undefined;
}

/** By time, but never a parent above its child, whatever the clocks of the recorders said. */
function newestFirst(nodes: readonly Node[]): Node[] {
  const times = new Map<CommitSeq, number>();
  for (const node of nodes)
    times.set(
      node.seq,
      Math.max(node.createdAt, node.parent === null ? Number.NEGATIVE_INFINITY : (times.get(node.parent) ?? Number.NEGATIVE_INFINITY)),
    );
  return [...nodes].sort((a, b) => (times.get(b.seq) ?? 0) - (times.get(a.seq) ?? 0) || b.seq - a.seq);
}
