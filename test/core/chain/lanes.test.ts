import '../../support/properties.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommitSeq } from '../../../src/core/base/index.js';
import { type LaneNode, layOut } from '../../../src/core/chain/index.js';

const node = (seq: number, parent: number | null, createdAt: number, more: Partial<LaneNode> = {}): LaneNode => ({
  seq: seq as CommitSeq,
  parent: parent as CommitSeq | null,
  createdAt,
  forked: false,
  ...more,
});

/** Sessions: for each, its number of turns and the time between two of them. */
const sessions = fc.array(fc.record({ turns: fc.integer({ min: 1, max: 12 }), start: fc.integer({ min: 0, max: 40 }) }), {
  minLength: 1,
  maxLength: 6,
});
/** Branches: which known commit each leaves (modulo), when, and whether Stemma or an agent made it. */
const branches = fc.array(fc.record({ from: fc.nat(), late: fc.integer({ min: 0, max: 80 }), forked: fc.boolean() }), { maxLength: 25 });

function trunks(drawn: readonly { readonly turns: number; readonly start: number }[]): LaneNode[] {
  const nodes: LaneNode[] = [];
  for (const { turns, start } of drawn)
    for (let turn = 0; turn < turns; turn++) nodes.push(node(nodes.length + 1, turn === 0 ? null : nodes.length, start + turn * 3, { current: 1 }));
  return nodes;
}

function withBranches(
  nodes: readonly LaneNode[],
  drawn: readonly { readonly from: number; readonly late: number; readonly forked: boolean }[],
): LaneNode[] {
  const all = [...nodes];
  for (const { from, late, forked } of drawn) {
    const parent = all[from % all.length] as LaneNode;
    // An agent that goes on at the end of a trunk makes no branch: the trunk grows.
    const isEnd = !all.some((other) => other.parent === parent.seq);
    all.push(node(all.length + 1, parent.seq, parent.createdAt + late, { forked: forked || isEnd }));
  }
  return all;
}

const laneOf = (nodes: readonly LaneNode[], together: boolean): Map<number, number> =>
  new Map(
    layOut(nodes, { together })
      .rows(0, nodes.length)
      .map((row) => [row.seq, row.lane] as const),
  );

describe('lanes', () => {
  test('[W30] adding forks and reruns never changes the lane of a trunk', () => {
    fc.assert(
      fc.property(sessions, branches, fc.boolean(), (drawn, added, together) => {
        const before = trunks(drawn);
        const lanes = laneOf(before, together);
        const after = laneOf(withBranches(before, added), together);
        for (const { seq } of before) expect(after.get(seq)).toBe(lanes.get(seq));
      }),
    );
  });

  test('[W30] a branch has one lane, and no two branches share a lane at one row', () => {
    fc.assert(
      fc.property(sessions, branches, fc.boolean(), (drawn, added, together) => {
        const nodes = withBranches(trunks(drawn), added);
        const rows = layOut(nodes, { together }).rows(0, nodes.length);
        const places = new Map(rows.map((row, place) => [row.seq as number, { place, lane: row.lane }] as const));
        for (const [place, row] of rows.entries()) {
          const froms = row.edges.map(({ fromLane }) => fromLane);
          expect(new Set(froms).size).toBe(froms.length);
          expect(row.width).toBeGreaterThan(row.lane);
          // No other branch passes through the row of a commit in its lane.
          const above = rows[place - 1]?.edges.filter(({ toLane }) => toLane === row.lane) ?? [];
          for (const { fromLane } of above.filter((edge) => edge.fromLane === edge.toLane)) expect(fromLane).toBe(row.lane);
        }
        for (const { seq, parent } of nodes) {
          if (parent === null) continue;
          // The edge of each commit reaches its parent.
          const [from, to] = [places.get(seq), places.get(parent)];
          let lane = from?.lane;
          for (let at = from?.place ?? 0; at < (to?.place ?? 0); at++) lane = rows[at]?.edges.find((edge) => edge.fromLane === lane)?.toLane;
          expect(lane).toBe(to?.lane);
        }
      }),
    );
  });

  test('[W31] with sessions together, no lane passes through the rows of another session', () => {
    fc.assert(
      fc.property(sessions, branches, (drawn, added) => {
        const nodes = withBranches(trunks(drawn), added);
        const root = new Map<number, number>();
        for (const { seq, parent } of nodes) root.set(seq, parent === null ? seq : (root.get(parent) ?? seq));
        const rows = layOut(nodes, { together: true }).rows(0, nodes.length);
        rows.forEach((row, place) => {
          const next = rows[place + 1];
          if (next && root.get(next.seq) !== root.get(row.seq)) expect(row.edges).toEqual([]);
        });
        for (const row of rows) if (root.get(row.seq) === row.seq) expect(row.lane).toBe(0);
      }),
    );
  });

  test('the branch on which an imported session ends is its trunk, also after a rewind', () => {
    const nodes = [node(1, null, 0, { current: 1 }), node(2, 1, 1), node(3, 1, 2, { current: 1 }), node(4, 3, 3, { current: 1 })];
    expect(laneOf(nodes, false)).toEqual(
      new Map([
        [4, 0],
        [3, 0],
        [2, 1],
        [1, 0],
      ]),
    );
  });

  test('[W30] of sessions with one beginning, the one that ended last is the trunk', () => {
    const nodes = [node(1, null, 0, { current: 9 }), node(2, 1, 1, { current: 4 }), node(3, 1, 2, { current: 9 })];
    const other = [node(1, null, 0, { current: 9 }), node(2, 1, 2, { current: 9 }), node(3, 1, 1, { current: 4 })];
    expect(laneOf(nodes, true).get(3)).toBe(0);
    expect(laneOf(other, true).get(2)).toBe(0);
  });

  test('a subagent is drawn beside its session, in any order of import', () => {
    const nodes = [node(1, null, 5, { startedBy: 3 as CommitSeq }), node(2, 1, 6), node(3, null, 4), node(4, 3, 8)];
    const lanes = laneOf(nodes, true);
    expect([lanes.get(3), lanes.get(4)]).toEqual([0, 0]);
    expect([lanes.get(1), lanes.get(2)]).toEqual([1, 1]);
  });

  test('100,000 commits in 5,000 branches are laid out within four seconds of processor time', () => {
    const nodes: LaneNode[] = [];
    for (let at = 0; at < 100_000; at++)
      nodes.push(node(at + 1, at % 20 === 0 ? (at === 0 ? null : at - 19) : at, at, { forked: at % 20 === 0 && at > 0 }));
    const began = process.cpuUsage();
    expect(layOut(nodes).rows(50_000, 100)).toHaveLength(100);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000).toBeLessThan(4_000);
  });
});
