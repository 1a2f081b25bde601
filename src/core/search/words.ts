/** Scripts that write no spaces between words: each sign is a word of its own, in the index as in a question. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** A text as the index takes it: signs of unspaced scripts apart, joined identifiers also in their parts. */
export const indexable = (text: string): string => text.replace(unspaced, ' $& ');

/** What a person asks for: words, and words that stand together. */
export interface Phrase {
  readonly words: readonly string[];
  /** The last word may go on. */
  readonly isOpen: boolean;
}

/** Reads a question: runs in double quotes stay together, everything else is a word each. */
export function phrasesOf(question: string): Phrase[] {
  const parts = [...question.matchAll(/"([^"]*)"|([^\s"]+)/g)];
  return parts.flatMap((part, at): Phrase[] => {
    const isQuoted = part[1] !== undefined;
    const words = wordsOf(part[1] ?? part[2] ?? '');
    return words.length ? [{ words, isOpen: !isQuoted && at === parts.length - 1 && !/\s$/.test(question) }] : [];
  });
}

const wordsOf = (text: string): string[] => indexable(text).match(/[\p{L}\p{N}_\p{M}]+/gu) ?? [];

/** The question in FTS5's language; every word quoted, so that nothing of it is an operator. Undefined: no words. */
export function matchOf(phrases: readonly Phrase[]): string | undefined {
  const parts = phrases.map(({ words, isOpen }) => `"${words.join(' ')}"${isOpen ? '*' : ''}`);
  return parts.length ? parts.join(' AND ') : undefined;
}

export interface Snippet {
  readonly snippet: string;
  readonly matches: { readonly start: number; readonly end: number }[];
}

const before = 60;
const length = 200;

/** How the phrases of a question look in a text: made once for all its hits. */
export const patternsOf = (phrases: readonly Phrase[]): RegExp[] =>
  phrases.map(
    ({ words, isOpen }) => new RegExp(`(?<![\\p{L}\\p{N}_])${words.join('[^\\p{L}\\p{N}_]*')}${isOpen ? '' : '(?![\\p{L}\\p{N}_])'}`, 'giu'),
  );

/** The part of the text around the first match, with where the words stand in it. */
export function snippetOf(text: string, patterns: readonly RegExp[]): Snippet {
  const first = patterns.map((pattern) => text.search(pattern)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...(first.length ? first : [0])) - before);
  const cut = text
    .slice(from, from + length)
    .toWellFormed()
    .replace(/\s/g, ' ');
  const snippet = `${from > 0 ? '…' : ''}${cut}${from + length < text.length ? '…' : ''}`;
  const matches = patterns.flatMap((pattern) =>
    [...snippet.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length })),
  );
  return { snippet, matches: matches.sort((a, b) => a.start - b.start) };
}
