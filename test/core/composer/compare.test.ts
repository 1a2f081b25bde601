import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareMessages } from '../../../src/core/composer/index.js';
import type { ComposedMessage } from '../../../src/core/contract/index.js';

const message = (layer: string, content: string): ComposedMessage => ({ role: 'system', content, layer, tokens: 1 });
const letters = (text: string): ComposedMessage[] => [...text].map((letter) => message('checkpoint_messages', letter));
const shown = (before: string, after: string): string =>
  compareMessages(letters(before), letters(after))
    .map(({ change, message: { content } }) => `${{ same: '', new: '+', gone: '-' }[change]}${content}`)
    .join(' ');

describe('two lists of messages', () => {
  test('common messages are the same, others new or gone, each at its place', () => {
    expect(shown('abc', 'abc')).toBe('a b c');
    expect(shown('abc', 'axc')).toBe('a -b +x c');
    expect(shown('', 'ab')).toBe('+a +b');
    expect(shown('aab', 'ab')).toBe('a -a b');
  });

  test('the result contains both lists in full', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 8 });
    fc.assert(
      fc.property(word, fc.array(fc.boolean(), { maxLength: 8 }), word, (before, keeps, added) => {
        const after = [...before].filter((_, place) => keeps[place] ?? true).join('') + added;
        const rows = compareMessages(letters(before), letters(after));
        expect(
          rows
            .filter(({ change }) => change !== 'gone')
            .map(({ message: { content } }) => content)
            .join(''),
        ).toBe(after);
        expect(
          rows
            .filter(({ change }) => change !== 'new')
            .map(({ message: { content } }) => content)
            .toSorted()
            .join(''),
        ).toBe([...before].toSorted().join(''));
        expect(rows.flatMap(({ place }) => place ?? [])).toEqual([...after].map((_, place) => place));
        const same = letters(before);
        expect(compareMessages(same, same)).toEqual(compareMessages(same, letters(before)));
      }),
    );
  });
});
