import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareMessages } from '../../src/core/composer/index.js';
import type { ComposedMessage } from '../../src/core/contract/index.js';
import { gapsIn, linesOf } from '../../src/renderer/views/timeline/lines.js';

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
      }),
    );
  });
});

describe('the text that an agent reads', () => {
  const text = 'SPACE HISTORY:\n  [msg:a] one\n    "two"  [SEEN]\n  [msg:b] three  [NEW]\n  ← RESUME: x';
  const lines = [
    { messageId: 'msg-a', start: 15, end: 46, seen: true },
    { messageId: 'msg-b', start: 47, end: 69, seen: false },
  ];

  test('is divided into lines that together are the same text', () => {
    const pieces = linesOf({ text, lines });
    expect(pieces.map(({ text: piece }) => piece).join('\n')).toBe(text);
    expect(pieces.map(({ messageId }) => messageId)).toEqual([undefined, 'msg-a', 'msg-b', undefined]);
    expect(linesOf({ text: 'IDENTITY:' })).toEqual([{ text: 'IDENTITY:', messageId: undefined, seen: undefined }]);
  });

  test('only long silences are shown', () => {
    const at = (minute: number) => ({ at: new Date(minute * 60_000).toISOString() });
    expect(gapsIn([at(0), at(10), at(100), at(90)])).toEqual([0, 0, 90 * 60_000, 0]);
  });
});
