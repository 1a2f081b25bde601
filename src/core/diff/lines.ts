import type { DiffLine } from '../contract/index.js';
import { type Alignable, align } from './align.js';

/** Lines, which are aligned by their texts. */
export const asLines = (lines: readonly string[]): Alignable[] => lines.map((line) => ({ key: line, content: line, likeness: '' }));

/** Compares two texts by line. Without the `added` lines, the result is the first text; without `removed`, the second. An absent text has no lines. */
export function changedLines(a: string | undefined, b: string | undefined): DiffLine[] {
  const [left, right] = [a, b].map((text) => (text === undefined ? [] : text.split('\n'))) as [string[], string[]];
  return align(asLines(left), asLines(right)).flatMap(({ op, aStart, aCount, bStart, bCount }): DiffLine[] => [
    ...left.slice(aStart, aStart + aCount).map((text): DiffLine => ({ op: op === 'same' ? 'same' : 'removed', text })),
    ...(op === 'same' ? [] : right.slice(bStart, bStart + bCount).map((text): DiffLine => ({ op: 'added', text }))),
  ]);
}
