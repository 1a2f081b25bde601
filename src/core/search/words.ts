/** One native call: of every other text the UTF-8 is longer. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** Scripts that write no spaces between words: each sign is a word of its own, in the index as in a question. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** A text as the index takes it: signs of unspaced scripts apart, joined identifiers also in their parts. */
export const indexable = (text: string): string => (isAscii(text) ? text : text.replace(unspaced, ' $& '));

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

/** The question in FTS5's language; every word quoted, so that nothing of it is an operator. */
export const matchOf = (phrases: readonly Phrase[]): string =>
  phrases.map(({ words, isOpen }) => `"${words.join(' ')}"${isOpen ? '*' : ''}`).join(' AND ');

export interface Snippet {
  readonly snippet: string;
  readonly matches: { readonly start: number; readonly end: number }[];
}

const before = 60;
const length = 200;

/** How a phrase of a question looks in a text. */
export interface Pattern {
  /** Made where it is needed: few texts and questions are not ASCII. */
  readonly expression: () => RegExp;
  /** The only word of it in small letters, where it is ASCII: most are, and are found without the expression. */
  readonly word?: string;
  readonly isOpen: boolean;
}

/** Made once for all hits of a question. */
export const patternsOf = (phrases: readonly Phrase[]): Pattern[] =>
  phrases.map((phrase) => {
    const { words, isOpen } = phrase;
    let made: RegExp | undefined;
    return {
      expression: () => (made ??= expressionOf(phrase)),
      isOpen,
      ...(words.length === 1 && isAscii(words[0] ?? '') && { word: words[0]?.toLowerCase() }),
    };
  });

const expressionOf = ({ words, isOpen }: Phrase): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${words.join('[^\\p{L}\\p{N}_]*')}${isOpen ? '' : '(?![\\p{L}\\p{N}_])'}`, 'giu');

/** A text, and the same in small letters where it is ASCII. */
interface Searched {
  readonly text: string;
  readonly small: string | undefined;
}

const searched = (text: string): Searched => ({ text, small: isAscii(text) ? text.toLowerCase() : undefined });

/** Where the pattern stands in a text, the first `most` of its places. */
function placesIn({ text, small }: Searched, { expression, word, isOpen }: Pattern, most = Number.POSITIVE_INFINITY): Snippet['matches'] {
  const places: Snippet['matches'] = [];
  if (word === undefined || small === undefined) {
    for (const match of text.matchAll(expression())) if (places.push({ start: match.index, end: match.index + match[0].length }) >= most) break;
    return places;
  }
  for (let start = small.indexOf(word); start >= 0 && places.length < most; start = small.indexOf(word, start + 1)) {
    const end = start + word.length;
    if (!isWordAt(small, start - 1) && (isOpen || !isWordAt(small, end))) places.push({ start, end });
  }
  return places;
}

/** Whether a letter, digit or underscore stands there, in a text of small ASCII letters. */
function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

/** The part of the text around the first match, with where the words stand in it. */
export function snippetOf(text: string, patterns: readonly Pattern[]): Snippet {
  const whole = searched(text);
  const first = patterns.flatMap((pattern) => placesIn(whole, pattern, 1).map(({ start }) => start));
  const from = Math.max(0, Math.min(...(first.length ? first : [0])) - before);
  const cut = text
    .slice(from, from + length)
    .toWellFormed()
    .replace(/[^\S ]/g, ' ');
  const snippet = `${from > 0 ? '…' : ''}${cut}${from + length < text.length ? '…' : ''}`;
  // The sign of what was left out is no part of the text that is looked through.
  const shift = from > 0 ? 1 : 0;
  const shown = { text: cut, small: whole.small?.slice(from, from + length) };
  const matches = patterns.flatMap((pattern) => placesIn(shown, pattern).map(({ start, end }) => ({ start: start + shift, end: end + shift })));
  return { snippet, matches: matches.sort((a, b) => a.start - b.start) };
}
