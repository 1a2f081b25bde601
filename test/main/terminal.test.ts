import { describe, expect, test } from 'vitest';
import type { GraphRow } from '../../src/core/contract/index.js';
import { procedureNames } from '../../src/main/cli/call.js';
import { drawGraph } from '../../src/main/cli/log.js';
import { firstLine, printable, size } from '../../src/main/cli/output.js';

const at = '2026-01-01T10:00:00.000Z';
const now = new Date('2026-01-02T10:00:00.000Z');

/** A row of the picture: its name, its lane, and the lines that leave it downwards as `from>to`. */
function row(name: string, lane: number, lines: string, more: Partial<GraphRow> = {}): GraphRow {
  const edges = lines
    .split(' ')
    .filter(Boolean)
    .map((line) => ({ fromLane: Number(line[0]), toLane: Number(line[2]) }));
  const commit = {
    id: `ctx-${name}`,
    parent: null,
    type: 'delta',
    artifactRef: 'x',
    format: 'f',
    template: 't',
    checkpoint: 'explicit',
    tags: [],
    messageCount: 0,
    tokenCount: 7,
    createdAt: at,
    summary: name,
  };
  return {
    commit,
    lane,
    edges,
    width: Math.max(lane, ...edges.map((edge) => edge.fromLane)) + 1,
    depth: 0,
    children: 0,
    contextTokens: 0,
    forked: false,
    errors: 0,
    ...more,
  } as unknown as GraphRow;
}

/** The picture alone, without the words beside it. */
const picture = (rows: GraphRow[]): string[] => drawGraph(rows, 120, now).map((line) => line.split('  ctx-')[0]?.trimEnd() ?? '');

describe('the chain in a terminal', () => {
  test('a line is a line', () => {
    expect(picture([row('b', 0, '0>0'), row('a', 0, '')])).toEqual(['●', '●']);
  });

  test('branches leave and come back', () => {
    expect(picture([row('d', 0, '0>0'), row('c', 1, '0>0 1>0'), row('a', 0, '')])).toEqual(['●', '│ ●', '├─╯', '●']);
  });

  test('several branches of one commit meet in one line', () => {
    expect(picture([row('d', 0, '0>0'), row('c', 1, '0>0 1>1'), row('b', 2, '0>0 1>0 2>0'), row('a', 0, '')])).toEqual([
      '●',
      '│ ●',
      '│ │ ●',
      '├─┴─╯',
      '●',
    ]);
  });

  test('a branch crosses a lane that goes on', () => {
    expect(picture([row('d', 0, '0>0'), row('c', 1, '0>0 1>1'), row('b', 2, '0>0 1>1 2>0'), row('a', 0, '1>1'), row('z', 1, '')])).toEqual([
      '●',
      '│ ●',
      '│ │ ●',
      '├─┼─╯',
      '● │',
      '  ●',
    ]);
  });

  test('what a commit is stands beside it', () => {
    const [line] = drawGraph(
      [
        row('a', 0, '', {
          tipOf: 'A title',
          forked: true,
          errors: 2,
          commit: { ...row('a', 0, '').commit, type: 'compaction' },
          replacedTokens: 90,
          contextTokens: 5,
        }),
      ],
      200,
      now,
    );
    for (const word of ['✂', 'ctx-a', '[A title]', '90 → 5', 'fork', '2 errors', '≈7 tok']) expect(line).toContain(word);
  });
});

describe('words for a terminal', () => {
  test("a transcript's control characters do not reach it", () => {
    expect(printable('a\u001b]0;title\u0007\u009b31m\u202eb\tc\nd')).toBe('a␛]0;title␇\\u009b31m\\u202eb\tc\nd');
    expect(firstLine('  \n one \r two\nthree', 80)).toBe('one ␍ two');
    expect(firstLine('abcdef', 4)).toBe('abc…');
  });

  test('sizes have three digits or so', () => {
    expect([0, 999, 1000, 18_400_000, 5e12].map(size)).toEqual(['0 B', '999 B', '1 KB', '18.4 MB', '5,000 GB']);
  });

  test('every procedure of the contract can be called by its name', () => {
    expect(procedureNames()).toEqual(expect.arrayContaining(['project.create', 'context.show', 'import.run', 'library.startup']));
  });
});
