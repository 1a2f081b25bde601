import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type Json } from '../../../src/core/base/index.js';
import { type Alignable, alignMany, changedFields, changedLines } from '../../../src/core/diff/index.js';

const anyJson = fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json);

describe('[C22] values compared by their structure', () => {
  test('members are compared by name, items by content, and only differences are listed', () => {
    const a = {
      file_path: '/a.ts',
      edits: [
        { old: 'x', new: 'y' },
        { old: 'p', new: 'q' },
      ],
      limit: 5,
    };
    const b = {
      file_path: '/a.ts',
      edits: [
        { old: 'x', new: 'z' },
        { old: 'p', new: 'q' },
      ],
      'odd name': true,
    };
    expect(changedFields(a, b)).toEqual([
      { op: 'changed', path: 'edits[0].new', a: 'y', b: 'z' },
      { op: 'removed', path: 'limit', a: 5 },
      { op: 'added', path: '["odd name"]', b: true },
    ]);
    expect(changedFields(['a', 'b', 'c'], ['a', 'c'])).toEqual([{ op: 'removed', path: '[1]', a: 'b' }]);
    expect(changedFields('before', 'after')).toEqual([{ op: 'changed', path: '', a: 'before', b: 'after' }]);
    expect(changedFields({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([]);
    expect(changedFields({}, JSON.parse('{"__proto__": 1}') as Json)).toEqual([{ op: 'added', path: '__proto__', b: 1 }]);
  });

  test('values have differences if and only if they are not equal', () => {
    fc.assert(fc.property(anyJson, anyJson, (a, b) => (changedFields(a, b).length === 0) === (canonicalJson(a) === canonicalJson(b))));
    fc.assert(fc.property(anyJson, (a) => changedFields(a, structuredClone(a)).length === 0));
  });
});

describe('[C22] texts compared line by line', () => {
  const anyText = fc.array(fc.constantFrom('one', 'two', 'three', '', '}'), { maxLength: 12 }).map((lines) => lines.join('\n'));
  const without = (op: 'added' | 'removed', a: string, b: string): string =>
    changedLines(a, b)
      .filter((line) => line.op !== op)
      .map((line) => line.text)
      .join('\n');

  test('lines that are not added make the first text, lines not removed the second', () => {
    fc.assert(fc.property(anyText, anyText, (a, b) => without('added', a, b) === a && without('removed', a, b) === b));
    fc.assert(fc.property(anyText, (a) => changedLines(a, a).every((line) => line.op === 'same')));
  });

  test('an absent text has no lines', () => {
    expect(changedLines(undefined, 'a\nb')).toEqual([
      { op: 'added', text: 'a' },
      { op: 'added', text: 'b' },
    ]);
  });
});

describe('[C22] several lists side by side', () => {
  const list = (keys: string): Alignable[] => [...keys].map((key) => ({ key, content: `says ${key}`, likeness: 'user text' }));
  const lists = fc.array(
    fc.array(fc.constantFrom(...'abcdef'), { maxLength: 10 }).map((keys) => list(keys.join(''))),
    { minLength: 2, maxLength: 5 },
  );

  test('common entries are in one row, additional ones in rows between', () => {
    expect(alignMany([list('abc'), list('axbc'), list('ac')])).toEqual([
      { cells: [0, 0, 0], isSame: true },
      { cells: [null, 1, null], isSame: false },
      { cells: [1, 2, null], isSame: false },
      { cells: [2, 3, 1], isSame: true },
    ]);
  });

  test('every entry is in one row, in order, and rows marked same are equal in all lists', () => {
    fc.assert(
      fc.property(lists, (all) => {
        const rows = alignMany(all);
        const isWhole = all.every((one, side) => rows.flatMap((row) => row.cells[side] ?? []).join() === one.map((_, at) => at).join());
        const isTrue = rows.every(
          (row) => !row.isSame || new Set(row.cells.map((place, side) => (place === null ? undefined : all[side]?.[place]?.key))).size === 1,
        );
        return isWhole && isTrue;
      }),
      { numRuns: 300 },
    );
  });
});
