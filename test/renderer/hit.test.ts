import { describe, expect, test } from 'vitest';
import { hitPieces } from '../../src/renderer/app/hit';

const words = (snippet: string, matches: { start: number; end: number }[]) =>
  hitPieces({ snippet, matches }).map(({ text, isMatch }) => (isMatch ? `[${text}]` : text));

describe('the line of a search hit', () => {
  test('each match is marked once', () => {
    expect(
      words('the transcript path is set', [
        { start: 4, end: 14 },
        { start: 15, end: 19 },
      ]),
    ).toEqual(['the ', '[transcript]', ' ', '[path]', ' is set']);
    expect(
      words('abcdef', [
        { start: 0, end: 4 },
        { start: 2, end: 5 },
      ]),
    ).toEqual(['[abcd]', '[e]', 'f']);
    expect(words('nothing', [])).toEqual(['nothing']);
  });

  test('the line starts near the first match', () => {
    const far = 'x'.repeat(80);
    expect(words(`${far} here`, [{ start: 81, end: 85 }])).toEqual(['…', `${'x'.repeat(23)} `, '[here]']);
  });
});
