import type { DiffLine } from '../contract/index.js';
import { align } from './align.js';

/** Compares two texts by line. Without the `added` lines, the result is the first text; without `removed`, the second. An absent text has no lines. */
export function changedLines(a: string | undefined, b: string | undefined): DiffLine[] {
  const [left, right] = [a, b].map((text) => (text === undefined ? [] : text.split('\n'))) as [string[], string[]];
  const alignables = (lines: readonly string[]) => lines.map((line) => ({ key: line, content: line, likeness: '' }));
  return align(alignables(left), alignables(right)).flatMap(({ op, aStart, aCount, bStart, bCount }): DiffLine[] => [
    ...left.slice(aStart, aStart + aCount).map((text): DiffLine => ({ op: op === 'same' ? 'same' : 'removed', text })),
    ...(op === 'same' ? [] : right.slice(bStart, bStart + bCount).map((text): DiffLine => ({ op: 'added', text }))),
  ]);
}
