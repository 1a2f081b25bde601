import type { RedactionKind } from '../../../contract/index.js';

/** A part of a text that redaction replaces: UTF-16 offsets, `to` exclusive. */
export interface TextSpan {
  readonly from: number;
  readonly to: number;
  readonly kind: RedactionKind;
  /** Replace the same characters everywhere else in the export too. */
  readonly spreads: boolean;
  /** The secret, where the text shows it with escapes, with breaks or in pieces. */
  readonly value?: string;
}

/** A secret that is distinctive enough to be replaced wherever else it appears. */
export const secretSpan = (from: number, to: number): TextSpan => ({ from, to, kind: 'secret', spreads: true });

/** A secret recognized only by its surroundings (`password=…`). It is replaced elsewhere too unless it could be an ordinary word or number. */
export const namedSpan = (text: string, from: number, to: number): TextSpan => ({
  from,
  to,
  kind: 'secret',
  spreads: isDistinctive(text.slice(from, to)),
});

const isDistinctive = (value: string): boolean =>
  /[A-Za-z]/.test(value) && (/\d/.test(value) ? value.length >= 8 : value.length >= 16 && /[A-Z]/.test(value) && /[a-z]/.test(value));

/** The end of a run of characters of one class. `sticky` has the flag `y` and matches a whole run. */
export function runEnd(text: string, at: number, sticky: RegExp): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : at;
}

/** The text with its escaped breaks as breaks, at the same positions, so that rules of lines also find secrets in strings of JSON. */
export const withBreaks = (text: string): string =>
  text.includes('\\') ? text.replaceAll(/\\{1,8}[nrt]/g, (all) => ' '.repeat(all.length - 1) + (breaks[all.at(-1) ?? ''] ?? ' ')) : text;
const breaks: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: ' ' };

/** The matches of a global pattern. Every match contains `needle`, so a text without it is skipped after one fast search. */
export function findMatches(text: string, pattern: RegExp, needle: string): readonly RegExpExecArray[] {
  if (!text.includes(needle)) return nothing;
  const found: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) found.push(match);
  return found;
}
const nothing: readonly RegExpExecArray[] = [];

/** The last group of each match of a pattern, and its place. Every match contains `needle`. */
export function findValues(text: string, pattern: RegExp, needle: string): readonly FoundValue[] {
  const matches = findMatches(text, pattern, needle);
  // Most patterns match nothing in most texts.
  if (matches.length === 0) return noValues;
  return matches.map(({ 0: all, 1: value = '', index }) => {
    const from = index + all.lastIndexOf(value);
    return { value, from, to: from + value.length };
  });
}

interface FoundValue extends Pick<TextSpan, 'from' | 'to'> {
  readonly value: string;
}
const noValues: readonly FoundValue[] = [];

/** Whether a token can begin at `at`: not after a letter or digit, unless an escape ends in it, such as `\n` in JSON or `%3D`. */
export function isTokenStart(text: string, at: number): boolean {
  return !/[A-Za-z0-9]/.test(text[at - 1] ?? ' ') || escapeBefore.test(text.slice(Math.max(0, at - 16), at));
}

/** Whether a value can begin at `at`: a token can begin there, and the position is not inside a word or path. */
export const isValueStart = (text: string, at: number): boolean =>
  !/[\w./+-]/.test(text[at - 1] ?? ' ') || escapeBefore.test(text.slice(Math.max(0, at - 16), at));

const escapeBefore = /(?:\\[nrtbfv0]|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|%[\da-fA-F]{2}|\[[\d;]{0,12}m)$/;

/** Whether a run of characters may be a token: not if it is words joined by hyphens, as in `your-api-key-goes-here`. */
export const isMachineMade = (run: string): boolean => /\d|[A-Za-z]{20,}/.test(run) || (/[A-Z]/.test(run) && /[a-z]/.test(run));

/** Whether a run is no word and no name: it has letters and digits, or changes between upper and lower case as no name does. */
export const isRandom = (run: string): boolean =>
  /[A-Za-z]/.test(run) && (/\d/.test(run) || (run.match(/[a-z][A-Z]|[A-Z]{2}[a-z]/g)?.length ?? 0) >= Math.max(2, run.length / 6));
