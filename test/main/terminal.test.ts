import { describe, expect, test } from 'vitest';
import type { GraphRow } from '../../src/core/contract/index.js';
import { drawGraph } from '../../src/main/cli/log.js';
import { firstLine, size } from '../../src/main/cli/numbers.js';
import { block, dim, escapeJson, indent, join, line, red, render } from '../../src/main/terminal/index.js';

const at = '2026-01-01T10:00:00.000Z';
const now = new Date('2026-01-02T10:00:00.000Z');

/** A row of the graph: its name, its lane, and its edges downwards as `from>to`. */
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

/** The lanes alone, without the text beside them. */
const picture = (rows: GraphRow[]): string[] => drawGraph(rows, 120, now).map((each) => String(each).split('  ctx-')[0]?.trimEnd() ?? '');

describe('the graph in a terminal', () => {
  test('draws a chain as one lane', () => {
    expect(picture([row('b', 0, '0>0'), row('a', 0, '')])).toEqual(['●', '●']);
  });

  test('draws branches that start at one commit', () => {
    expect(picture([row('d', 0, '0>0'), row('c', 1, '0>0 1>0'), row('a', 0, '')])).toEqual(['●', '│ ●', '├─╯', '●']);
  });

  test('joins several branches of one commit in one line', () => {
    expect(picture([row('d', 0, '0>0'), row('c', 1, '0>0 1>1'), row('b', 2, '0>0 1>0 2>0'), row('a', 0, '')])).toEqual([
      '●',
      '│ ●',
      '│ │ ●',
      '├─┴─╯',
      '●',
    ]);
  });

  test('draws a branch across a lane that continues', () => {
    expect(picture([row('d', 0, '0>0'), row('c', 1, '0>0 1>1'), row('b', 2, '0>0 1>1 2>0'), row('a', 0, '1>1'), row('z', 1, '')])).toEqual([
      '●',
      '│ ●',
      '│ │ ●',
      '├─┼─╯',
      '● │',
      '  ●',
    ]);
  });

  test('describes a commit beside its mark', () => {
    const [described] = drawGraph(
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
    for (const word of ['✂', 'ctx-a', '[A title]', '≈90 → ≈5', 'fork', '2 errors', '≈7 tokens']) expect(String(described)).toContain(word);
  });

  test('[N1] shows counted tokens, and before and after of a compaction', () => {
    const { commit } = row('a', 0, '');
    const [delta, compaction] = drawGraph(
      [
        row('a', 0, '', { countedTokens: 136_736 }),
        row('b', 0, '', {
          commit: { ...commit, type: 'compaction' },
          replacedTokens: 90,
          contextTokens: 5,
          compacted: { before: 149_000, after: 31_000 },
        }),
      ],
      200,
      now,
    );
    expect(String(delta)).toContain('136,736 tokens counted');
    expect(String(compaction)).toContain('149,000 → 31,000 tokens');
  });
});

describe('text for a terminal', () => {
  test('[T51] a string is one line, and its control characters are visible', () => {
    expect(String(line`${'a\u001b]0;title\u0007\u009b31m\u202eb\u007f\tc\nd\u2028'}`)).toBe('a␛]0;title␇\\u009b31m\\u202eb\\u007f\tc␊d\\u2028');
    expect(String(join(['one\n', dim('two\r')]))).toBe('one␊\ntwo␍');
  });

  test('[T51] a block keeps its line breaks and nothing else', () => {
    expect(String(block('a\r\nb\rc\u001b[2J\n\td'))).toBe('a\nb␍c␛[2J\n\td');
  });

  test('[T51] a style is never part of a string', () => {
    const text = line`${red(`a${dim('b')}`)} ${red(line`c${dim('d')}`)} ${'\u001b[31me'}`;
    expect(render(text, true)).toBe('\u001b[31mab\u001b[0m \u001b[31mc\u001b[0m\u001b[31;2md\u001b[0m ␛[31me');
    expect(render(text, false)).toBe('ab cd ␛[31me');
  });

  test('[T53] escaped JSON is the same document', () => {
    const value = { text: 'a\u001b\u007f\u009b\u202e\u2028\n\t"\\' };
    const json = JSON.stringify(value, null, 2);
    expect(escapeJson(json)).not.toMatch(/[^\P{Cc}\n]|[\p{Zl}\p{Bidi_Control}]/u);
    expect(JSON.parse(escapeJson(json))).toEqual(value);
  });

  test('indents every line', () => {
    expect(render(red(indent(block('a\nb'), '- ')), true)).toBe('\u001b[31m- \u001b[0m\u001b[31ma\n- b\u001b[0m');
  });

  test('cuts a text to its first line', () => {
    expect(firstLine('  \n one two\nthree', 80)).toBe('one two');
    expect(firstLine('abcdef', 4)).toBe('abc…');
  });

  test('sizes have about three digits', () => {
    expect([0, 999, 1000, 18_400_000, 5e12].map(size)).toEqual(['0 B', '999 B', '1 KB', '18.4 MB', '5,000 GB']);
  });
});
