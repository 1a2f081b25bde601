import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkpoint, entries, fork } from '../../../src/core/chain/index.js';
import type { Hunk } from '../../../src/core/contract/index.js';
import { type Alignable, align, alignment } from '../../../src/core/diff/index.js';
import { compareContexts } from '../../../src/core/turns/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

const entry = (key: string, content = `says ${key}`, likeness = 'user text'): Alignable => ({ key, content, likeness });
const list = (keys: string): Alignable[] => [...keys].map((key) => entry(key));
const inWords = (hunks: readonly Hunk[]): string[] => hunks.map((hunk) => `${hunk.op} ${hunk.aCount}:${hunk.bCount}`);

/** Few keys and contents, so that they repeat, move and differ. */
const anyList = fc.array(
  fc.record({
    key: fc.constantFrom(...'abcdefgh'),
    content: fc.constantFrom('one', 'two', 'three', 'four'),
    likeness: fc.constantFrom('user text', 'assistant text'),
  }),
  { maxLength: 24 },
);

describe('[C22] aligning two lists of entries', () => {
  /** Whether a hunk is true for its ranges of the lists. */
  const isTrue = (hunk: Hunk, a: readonly Alignable[], b: readonly Alignable[]): boolean => {
    const pairs = Array.from({ length: hunk.aCount }, (_, at) => [a[hunk.aStart + at], b[hunk.bStart + at]] as const);
    if (hunk.op === 'added') return hunk.aCount === 0;
    if (hunk.op === 'removed') return hunk.bCount === 0;
    if (hunk.aCount !== hunk.bCount) return false;
    if (hunk.op === 'changed') return pairs.every(([before, after]) => before?.likeness === after?.likeness);
    return pairs.every(([before, after]) => before?.key === after?.key || before?.content === after?.content);
  };

  test('hunks cover both lists in order, and each hunk is true', () => {
    fc.assert(
      fc.property(anyList, anyList, (a, b) => {
        const hunks = align(a, b);
        const ends = hunks.map((hunk) => [hunk.aStart + hunk.aCount, hunk.bStart + hunk.bCount]);
        const starts = [...hunks.map((hunk) => [hunk.aStart, hunk.bStart]), [a.length, b.length]];
        expect([[0, 0], ...ends]).toEqual(starts);
        return hunks.every((hunk) => isTrue(hunk, a, b));
      }),
      { numRuns: 500 },
    );
  });

  test('moved entries are equal on both sides, are never paired as changed, and move once', () => {
    fc.assert(
      fc.property(anyList, anyList, (a, b) => {
        const { hunks, moved } = alignment(a, b);
        const pairs = moved.flatMap(({ aStart, bStart, count }) => Array.from({ length: count }, (_, n) => ({ a: aStart + n, b: bStart + n })));
        const places = (op: Hunk['op'], side: 'a' | 'b'): Set<number> =>
          new Set(hunks.flatMap((hunk) => (hunk.op === op ? Array.from({ length: hunk[`${side}Count`] }, (_, n) => hunk[`${side}Start`] + n) : [])));
        const [removed, added] = [places('removed', 'a'), places('added', 'b')];
        expect(new Set(pairs.map((pair) => pair.a)).size).toBe(pairs.length);
        expect(new Set(pairs.map((pair) => pair.b)).size).toBe(pairs.length);
        return pairs.every(
          (pair) => removed.has(pair.a) && added.has(pair.b) && (a[pair.a]?.key === b[pair.b]?.key || a[pair.a]?.content === b[pair.b]?.content),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('an entry in another place moved, and an edited entry beside it is still paired', () => {
    const { hunks, moved } = alignment([...list('abcd'), entry('x', 'before')], [entry('d'), ...list('abc'), entry('y', 'after')]);
    expect(inWords(hunks)).toEqual(['added 0:1', 'same 3:3', 'removed 1:0', 'changed 1:1']);
    expect(moved).toEqual([{ aStart: 3, bStart: 0, count: 1 }]);
  });

  test('hunks applied to the first list give the second', () => {
    /** Applies hunks: entries of the first list where they are the same, of the second where they were added or changed. */
    const applied = (hunks: readonly Hunk[], a: readonly Alignable[], b: readonly Alignable[]): Alignable[] =>
      hunks.flatMap(({ op, aStart, aCount, bStart, bCount }) =>
        op === 'removed' ? [] : op === 'same' ? a.slice(aStart, aStart + aCount) : b.slice(bStart, bStart + bCount),
      );
    const isOne = (x: Alignable | undefined, y: Alignable | undefined): boolean => x?.key === y?.key || x?.content === y?.content;
    fc.assert(
      fc.property(anyList, anyList, (a, b) => {
        const made = applied(align(a, b), a, b);
        return made.length === b.length && made.every((one, at) => isOne(one, b[at]));
      }),
      { numRuns: 500 },
    );
  });

  test('a list has no differences from itself', () => {
    fc.assert(fc.property(anyList, (a) => align(a, a).every((hunk) => hunk.op === 'same')));
  });

  test('entries with the same key are the same, whatever their content', () => {
    expect(inWords(align([entry('a', 'before')], [entry('a', 'after')]))).toEqual(['same 1:1']);
  });

  test('entries with equal content and different keys are the same', () => {
    expect(inWords(align([entry('a', 'hello')], [entry('z', 'hello')]))).toEqual(['same 1:1']);
  });

  test('inserted, removed and changed entries are named so', () => {
    expect(inWords(align(list('abcd'), list('abxcd')))).toEqual(['same 2:2', 'added 0:1', 'same 2:2']);
    expect(inWords(align(list('abcd'), list('abd')))).toEqual(['same 2:2', 'removed 1:0', 'same 1:1']);
    expect(inWords(align(list('abcd'), list('abxd')))).toEqual(['same 2:2', 'changed 1:1', 'same 1:1']);
    expect(inWords(align([entry('a', 'x', 'tool call')], [entry('b', 'y', 'user text')]))).toEqual(['removed 1:0', 'added 0:1']);
  });

  test('two long lists that differ in a third are aligned along their common entries', () => {
    const a = Array.from({ length: 20_000 }, (_, at) => entry(`k${at}`));
    const b = a.map((one, at) => (at % 3 ? one : entry(`n${at}`)));
    const hunks = align(a, b);
    expect(hunks.reduce((sum, hunk) => sum + (hunk.op === 'same' ? hunk.aCount : 0), 0)).toBe(b.filter((one, at) => one === a[at]).length);
  });
});

test('[C22] a fork differs from its origin in the edited entries, with a common base', () => {
  const chain = emptyChain();
  const commit = (parent: { id: string } | null, text: string) =>
    checkpoint(chain, {
      parent: (parent?.id ?? null) as never,
      type: 'delta',
      format: 'claude-code-v1',
      text,
      template: 'coder',
      checkpoint: 'turn_boundary',
    });
  const root = commit(null, prompt('u1', 'one') + answer('a1', 'first', { parent: 'u1' }));
  const tip = commit(root, prompt('u2', 'two', { parent: 'a1' }) + answer('a2', 'second', { parent: 'u2' }));
  const key = entries(chain, { id: tip.id }).entries[2]?.key;
  const forked = fork(chain, { id: tip.id, edits: [{ op: 'replace', key, entry: { role: 'user', kind: 'text', text: 'zwei' } }] });
  const { base, same, added, removed, changed } = compareContexts(chain, { a: tip.id, b: forked.id });
  expect({ base, same, added, removed, changed }).toEqual({ base: root.id, same: 3, added: 0, removed: 0, changed: 1 });
});
