import { once } from '../base/index.js';

/** Compares lengths, which takes one fast native call: the UTF-8 form of a text with other characters is longer. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** Scripts without spaces between words: each character is a word, in the index and in queries. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** A text for the index, with spaces around the characters of unspaced scripts. */
export const indexable = (text: string): string => (isAscii(text) ? text : text.replace(unspaced, ' $& '));

/** A part of a query: one word, or words that must be adjacent. */
export interface Phrase {
  readonly words: readonly string[];
  /** The last word is a prefix. */
  readonly isOpen: boolean;
}

/** Parses a query: words in double quotes are one phrase, every other word is its own. */
export function phrasesOf(query: string): Phrase[] {
  const parts = [...query.matchAll(/"([^"]*)"|([^\s"]+)/g)];
  return parts.flatMap((part, at): Phrase[] => {
    const isQuoted = part[1] !== undefined;
    const words = splitWords(part[1] ?? part[2] ?? '');
    return words.length ? [{ words, isOpen: !isQuoted && at === parts.length - 1 && !/\s$/.test(query) }] : [];
  });
}

const splitWords = (text: string): string[] => indexable(text).match(/[\p{L}\p{N}_\p{M}]+/gu) ?? [];

/** The query in the syntax of FTS5. Every word is quoted, so that none is an operator. */
export const matchOf = (phrases: readonly Phrase[]): string =>
  phrases.map(({ words, isOpen }) => `"${words.join(' ')}"${isOpen ? '*' : ''}`).join(' AND ');

export interface Snippet {
  readonly snippet: string;
  readonly matches: { readonly start: number; readonly end: number }[];
}

const before = 60;
const length = 200;

/** Finds a phrase of a query in a text. */
export interface Pattern {
  /** Built on demand, because most texts and queries are ASCII and do not need it. */
  readonly expression: () => RegExp;
  /** The word in lower case, for a phrase of one ASCII word: it is found without the expression. */
  readonly word?: string;
  readonly isOpen: boolean;
}

/** The patterns of a query, made once for all hits. */
export const patternsOf = (phrases: readonly Phrase[]): Pattern[] =>
  phrases.map((phrase) => {
    const { words, isOpen } = phrase;
    return {
      expression: once(() => expressionOf(phrase)),
      isOpen,
      ...(words.length === 1 && isAscii(words[0] ?? '') && { word: words[0]?.toLowerCase() }),
    };
  });

const expressionOf = ({ words, isOpen }: Phrase): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${words.join('[^\\p{L}\\p{N}_]*')}${isOpen ? '' : '(?![\\p{L}\\p{N}_])'}`, 'giu');

/** A text, and its lower case if it is ASCII. */
interface Searched {
  readonly text: string;
  readonly lower: string | undefined;
}

const searched = (text: string): Searched => ({ text, lower: isAscii(text) ? text.toLowerCase() : undefined });

/** The first `most` places of a pattern in a text. */
function placesIn({ text, lower }: Searched, { expression, word, isOpen }: Pattern, most = Number.POSITIVE_INFINITY): Snippet['matches'] {
  const places: Snippet['matches'] = [];
  if (word === undefined || lower === undefined) {
    for (const match of text.matchAll(expression())) if (places.push({ start: match.index, end: match.index + match[0].length }) >= most) break;
    return places;
  }
  for (let start = lower.indexOf(word); start >= 0 && places.length < most; start = lower.indexOf(word, start + 1)) {
    const end = start + word.length;
    if (!isWordAt(lower, start - 1) && (isOpen || !isWordAt(lower, end))) places.push({ start, end });
  }
  return places;
}

/** Whether the character at `at` is a letter, digit or underscore, in a lower-case ASCII text. */
function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

/** Whether a text certainly lacks a pattern. False for texts outside of ASCII, because the index treats more letters as equal than a pattern does. */
export function lacksWords(text: string, patterns: readonly Pattern[]): boolean {
  const whole = searched(text);
  return whole.lower !== undefined && patterns.some((pattern) => pattern.word !== undefined && placesIn(whole, pattern, 1).length === 0);
}

/** The part of a text around its first match, with the places of all matches in it. */
export function snippetOf(text: string, patterns: readonly Pattern[]): Snippet {
  const whole = searched(text);
  const first = patterns.flatMap((pattern) => placesIn(whole, pattern, 1).map(({ start }) => start));
  const from = Math.max(0, Math.min(...(first.length ? first : [0])) - before);
  const cut = text
    .slice(from, from + length)
    .toWellFormed()
    .replace(/[^\S ]/g, ' ');
  const snippet = `${from > 0 ? '…' : ''}${cut}${from + length < text.length ? '…' : ''}`;
  // The ellipsis is not a part of the searched text.
  const shift = from > 0 ? 1 : 0;
  const shown = { text: cut, lower: whole.lower?.slice(from, from + length) };
  const matches = patterns.flatMap((pattern) => placesIn(shown, pattern).map(({ start, end }) => ({ start: start + shift, end: end + shift })));
  return { snippet, matches: matches.sort((a, b) => a.start - b.start) };
}
