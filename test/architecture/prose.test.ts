import { describe, expect, test } from 'vitest';
import { hardPhrases, proseLines } from '../support/prose.js';
import { filesBelow, isSource, nodesOf, parseSource, textAt } from '../support/source.js';
import { testNames } from '../support/test-names.js';

/** Matching lines in 1,000 lines of prose. */
const maxShare = 1.5;
const maxTitleLength = 90;

describe('prose', () => {
  const lines = proseLines();

  test('at most 1.5 lines in 1,000 use a phrase that is hard to read', () => {
    const hard = lines.filter(({ text }) => hardPhrases.test(text));
    const share = (hard.length * 1000) / lines.length;
    console.log(`${hard.length} of ${lines.length} lines of prose match: ${share.toFixed(2)} in 1,000`);
    expect(share <= maxShare ? [] : hard.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([]);
  });

  test('a test title has at most 90 characters', () => {
    const titles = filesBelow('test', (path) => isSource(path) && /\.(test|spec|e2e)\.tsx?$/.test(path)).flatMap((path) =>
      nodesOf(parseSource(path).program)
        .flatMap(testNames)
        .map((title) => ({ path, title })),
    );
    expect(titles.filter(({ title }) => title.length > maxTitleLength).map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
  });

  test('no source refers to a document that is not in the repository', () => {
    const absent =
      /\bdecisions?,? rule|\bthe seeds?'?s?\b|\bseed, section|\bexperience\.md|\bdecisions\.md|\btargets\.md|\bcontract\.md|\bformats(-more|-exchange)?\.md\b/i;
    const found = lines.filter(({ file, text }) => !file.startsWith('docs/') && absent.test(text));
    expect(found.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([]);
  });

  test('the bench has every row that the README or docs/ tell the reader to measure', () => {
    const rows = filesBelow('test/bench/rows', isSource).flatMap((path) =>
      [...textAt(path).matchAll(/rows: \[([^\]]*)\]/g)].flatMap(([, names = '']) => [...names.matchAll(/'([^']+)'/g)].map(([, name]) => name)),
    );
    const texts = ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs', (path) => path.endsWith('.md'))];
    const told = texts.flatMap((file) =>
      [...textAt(file).matchAll(/npm run bench -- ([^`]+?)(?:`| measures)/g)].flatMap(([, words = '']) =>
        [...words.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word),
      ),
    );
    expect(told.length).toBeGreaterThan(5);
    expect(told.filter((row) => row !== '--quick' && !rows.includes(row))).toEqual([]);
  });

  test('these checks can fail', () => {
    expect(['a format that is none', 'The rest is set aside.', 'whoever asks'].every((text) => hardPhrases.test(text))).toBe(true);
    expect(hardPhrases.test('Cannot open the file: it does not exist.')).toBe(false);
  });
});
