import './page.js';
import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../src/core/contract/index.js';
import { divideLines, makeList } from '../../src/renderer/views/timeline/lines.js';

describe('the text that an agent reads', () => {
  const text = 'SPACE HISTORY:\n  [msg:a] one\n    "two"  [SEEN]\n  [msg:b] three  [NEW]\n  ← RESUME: x';
  const lines = [
    { messageId: 'msg-a', start: 15, end: 46, seen: true },
    { messageId: 'msg-b', start: 47, end: 69, seen: false },
  ];

  test('is divided into lines that together are the same text', () => {
    const pieces = divideLines({ text, lines });
    expect(pieces.map(({ text: piece }) => piece).join('\n')).toBe(text);
    expect(pieces.map(({ messageId }) => messageId)).toEqual([undefined, 'msg-a', 'msg-b', undefined]);
    expect(divideLines({ text: 'IDENTITY:' })).toEqual([{ text: 'IDENTITY:', messageId: undefined }]);
  });

  test('only long silences are shown', () => {
    const at = (minute: number) => ({ id: `${minute}`, at: new Date(minute * 60_000).toISOString() as Timestamp, sender: null, text: null });
    const list = makeList([at(0), at(10), at(100), at(90)]);
    expect([0, 1, 2, 3].map((place) => list.at(place)?.gap)).toEqual([0, 0, 90 * 60_000, 0]);
  });
});
