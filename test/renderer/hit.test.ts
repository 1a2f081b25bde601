import './page.js';
import { describe, expect, test } from 'vitest';
import type { SearchHit } from '../../src/core/contract/index.js';
import { hitPieces } from '../../src/renderer/app/hit';
import { hitsBySession } from '../../src/renderer/app/paletteSearch';

const words = (snippet: string, matches: { start: number; end: number }[]) =>
  hitPieces({ snippet, matches }).map(({ text, isMatch }) => (isMatch ? `[${text}]` : text));

test('[W43] an entry that two commits contain is one hit', () => {
  const hit = (commit: string, entryKey: string, sessionId: string): SearchHit => ({ commit, entryKey, sessionId }) as SearchHit;
  const groups = hitsBySession([hit('a', 'kept', 'one'), hit('b', 'kept', 'one'), hit('b', 'own', 'one'), hit('c', 'kept', 'two')]);
  expect(groups.map(([session, hits]) => [session, hits.map(({ commit, entryKey }) => `${commit} ${entryKey}`)])).toEqual([
    ['one', ['a kept', 'b own']],
    ['two', ['c kept']],
  ]);
});

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
