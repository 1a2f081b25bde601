import { filesBelow, isNode, isSource, nodesOf, parseSource, textAt } from './source.js';

/** A line of text that people read: part of a comment, a string, JSX text or a document. */
export interface ProseLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * Phrases that mark hard-to-read sentences. The list is a reminder and not a judge of style: a match is a sentence to
 * read aloud. Keep it the same for all folders.
 */
export const hardPhrases = new RegExp(
  [
    String.raw`that is none\b`,
    String.raw`\bwhat (?:is|was|comes|came) (?:not )?(?:there|read|said|made|kept|asked)\b`,
    'how-manieth',
    String.raw`\bso many (?:replies|rows|bytes)\b`,
    String.raw`\bnobody(?:'s| is| knows| uses| reads| has)\b`,
    String.raw`\bwho(?:ever)? (?:asks|waits|reads|takes|comes|goes|has|made|wrote|runs)\b`,
    String.raw`\bis none\b`,
    String.raw`\bstands (?:here|there|beside|behind|in a line|alone)\b`,
    String.raw`\bset aside\b`,
    String.raw`\ball the same\b`,
    String.raw`\bgoes on from\b`,
    String.raw`\b(?:is|are|was|were) taken (?:in|up)\b`,
  ].join('|'),
  'i',
);

const listsThePhrases = ['test/support/prose.ts', 'test/architecture/prose.test.ts'];

/** Every line of prose in `src`, `test`, `docs`, README and CONTRIBUTING. */
export function proseLines(): ProseLine[] {
  const sources = [...filesBelow('src', isSource), ...filesBelow('test', isSource)].filter((path) => !listsThePhrases.includes(path));
  const documents = [...filesBelow('docs', isMarkdown), ...filesBelow('test/spec', isMarkdown), 'README.md', 'CONTRIBUTING.md'];
  return [...sources.flatMap(proseOfSource), ...documents.flatMap((file) => numbered(file, textAt(file), 1))];
}

const isMarkdown = (path: string): boolean => path.endsWith('.md');

function numbered(file: string, text: string, first: number): ProseLine[] {
  return text.split('\n').flatMap((line, place) => (/\p{L}/u.test(line) ? [{ file, line: first + place, text: line.trim() }] : []));
}

function proseOfSource(path: string): ProseLine[] {
  const { text, program, comments } = parseSource(path);
  const strings = nodesOf(program).flatMap((node) => {
    if (node.type === 'TemplateElement' && isNode(node)) return [{ start: node.start, text: text.slice(node.start, Number(node.end)) }];
    if (node.type === 'JSXText') return [{ start: node.start, text: String(node.value) }];
    return node.type === 'Literal' && typeof node.value === 'string' && node.value.includes(' ') ? [{ start: node.start, text: node.value }] : [];
  });
  const starts = lineStarts(text);
  const seen = new Set<string>();
  return [...comments, ...strings]
    .flatMap((part) => numbered(path, part.text, lineOf(starts, part.start)))
    .filter(({ line, text: words }) => {
      const key = `${line} ${words}`;
      return !seen.has(key) && seen.add(key);
    });
}

const lineStarts = (text: string): number[] => [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)];
function lineOf(starts: readonly number[], at: number): number {
  let low = 0;
  for (let high = starts.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}
