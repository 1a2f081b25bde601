import './page.js';
import { describe, expect, test } from 'vitest';
import { graphMarks } from '../../src/core/contract/index.js';
import { branchesOf, filterRows, foldRows, linksOf, graphMarks as marksHere, rowsOfBranches, shapesOf } from '../../src/renderer/views/chain/rows.js';
import { commit, graphRow } from './make.js';

const newestFirst = (count: number) => Array.from({ length: count }, (_, n) => graphRow(count - 1 - n));

describe('the list of a chain', () => {
  test('a long run of commits folds into one row with its length, and opens', () => {
    const rows = newestFirst(60);
    const list = foldRows(shapesOf(rows), new Set());
    expect(list).toHaveLength(13);
    expect(list[6]).toEqual({ kind: 'fold', at: 6, end: 54 });
    expect(foldRows(shapesOf(rows), new Set([6]))).toHaveLength(60);
  });

  test('every commit is shown or counted exactly once', () => {
    const rows = newestFirst(200).map((row, n) => (n % 50 === 25 ? { ...row, tipOf: 'a tip' } : row));
    const seen = foldRows(shapesOf(rows), new Set()).flatMap((item) =>
      item.kind === 'commit' ? [item.at] : Array.from({ length: item.end - item.at }, (_, n) => item.at + n),
    );
    expect(seen).toEqual(rows.map((_, n) => n));
  });

  test.each([
    ['a compaction', { commit: { ...graphRow(30).commit, type: 'compaction' as const } }],
    ['a tip', { tipOf: 'main' }],
    ['a fork', { forked: true }],
    ['a branching', { children: 2 }],
    ['an error', { errors: 1 }],
    ['a lane that bends', { edges: [{ fromLane: 0, toLane: 1 }] }],
  ])('%s is never folded away', (_, what) => {
    const rows = newestFirst(61);
    rows[30] = { ...rows[30], ...what } as (typeof rows)[number];
    expect(foldRows(shapesOf(rows), new Set())).toContainEqual({ kind: 'commit', at: 30 });
  });

  test('[W49] the branch filter shows the rows from a root to the end of the branch', () => {
    const rows = newestFirst(4).map((row, at) => ({
      ...row,
      commit: { ...row.commit, id: `ctx-0${at}`, parent: at === 3 ? null : `ctx-0${at + 1}` },
    }));
    // The first row answers a fork that left the last row, and has no row of its own.
    const list = [
      { ...rows[0], commit: { ...rows[0]?.commit, parent: 'ctx-0f' }, fork: { commit: 'ctx-0f', parent: 'ctx-03' }, tipOf: 'fork' },
      { ...rows[1], tipOf: 'main' },
      rows[2],
      rows[3],
    ] as unknown as Parameters<typeof branchesOf>[0];
    expect(branchesOf(list).map(({ name }) => name)).toEqual(['fork', 'main']);
    expect(rowsOfBranches(list, ['ctx-00' as never]).map(({ at }) => at)).toEqual([0, 3]);
    expect(rowsOfBranches(list, ['ctx-01' as never]).map(({ at }) => at)).toEqual([1, 2, 3]);
  });

  test('the marks of a row mean the same in the window and in the contract', () => {
    expect(marksHere).toEqual(graphMarks);
  });

  test('the filter searches summaries, tips and ids', () => {
    const rows = [graphRow(3, { tipOf: 'Queue work' }), graphRow(2), graphRow(1)];
    expect(filterRows(rows, 'QUEUE')).toEqual([{ kind: 'commit', at: 0 }]);
    expect(filterRows(rows, 'turn 1')).toEqual([{ kind: 'commit', at: 2 }]);
    expect(filterRows(rows, commit(2))).toEqual([{ kind: 'commit', at: 1 }]);
  });

  test('a subagent is placed by its newest commit at the commit that called it', () => {
    const rows = [
      graphRow(9),
      graphRow(5, { lane: 1, commit: { ...graphRow(5).commit, parent: commit(4) } }),
      graphRow(4, { lane: 1, commit: { ...graphRow(4).commit, parent: null }, startedBy: { commit: commit(9), toolCallId: 'toolu_1' } }),
      graphRow(3),
    ];
    expect(linksOf(rows, foldRows(shapesOf(rows), new Set()))).toEqual([{ from: { row: 1, lane: 1 }, to: { row: 0, lane: 0 } }]);
  });
});
