import './page.js';
import { diff } from '@codemirror/merge';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileLines, stretchesOf } from '../../src/renderer/parts/file-lines.js';

const compare = (a: string, b: string) => fileLines(a, b, (left, right) => diff(left, right));
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

test('[W75] the lines of both files are all there, in order, with their numbers', () => {
  const lines = fc.array(fc.constantFrom('', 'a', 'b', '}', '\u{1f600}'), { maxLength: 40 });
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const found = compare(text(a), text(b));
      expect(found.filter(({ op }) => op !== 'added').map((line) => line.text)).toEqual(a);
      expect(found.filter(({ op }) => op !== 'removed').map((line) => line.text)).toEqual(b);
      for (const { op, text: words, a: left, b: right } of found) {
        if (op !== 'added') expect(a[(left ?? 0) - 1]).toBe(words);
        if (op !== 'removed') expect(b[(right ?? 0) - 1]).toBe(words);
      }
      expect(stretchesOf(found).flatMap((stretch) => stretch.lines)).toEqual(found);
    }),
  );
});

test('[W75] equal lines far from a difference are folded', () => {
  const a = Array.from({ length: 30 }, (_, n) => `line ${n}`);
  const b = a.with(14, 'other');
  const stretches = stretchesOf(compare(text(a), text(b)));
  expect(stretches.map(({ folded, lines }) => [folded, lines.length])).toEqual([
    [true, 11],
    [false, 8],
    [true, 12],
  ]);
});
