import { firstWhere } from '../../../base/index.js';
import { betweenParts } from './chunks.js';
import { isRandom } from './span.js';

/** Another reading of a text: what a program or a reader makes of its escapes, invisible characters and breaks. */
export interface TextReading {
  readonly text: string;
  /** Lines and groups are joined by guess: only the rules that recognize a secret by itself apply to them. */
  readonly rules: 'all' | 'tokens';
  /** The range of the original text that stands for a range of the reading. */
  origin(from: number, to: number): { readonly from: number; readonly to: number };
  /** Whether the original has other characters inside of a range. */
  isChanged(from: number, to: number): boolean;
}

/** Texts whose escapes are themselves escaped are decoded this many times. */
const maxRounds = 4;

/**
 * The readings of a text besides the text itself: with its escapes decoded and its invisible characters removed, with its pieces of
 * strings joined, and with its wrapped lines, spaced groups and parts of streams joined. None for most texts. Linear in the length of the text.
 */
export function* readingsOf(text: string): Generator<TextReading> {
  let plain: TextReading | undefined;
  for (let round = 0; round < maxRounds; round++) {
    const next = decoded(plain?.text ?? text);
    if (!next) break;
    plain = plain ? composed(plain, next, true) : next;
  }
  // A name or sign in escapes gives a value away that has none: `password%3Dx7Kp2q9w`.
  if (plain) yield { ...plain, isChanged: () => true };
  const shown = plain?.text ?? text;
  const joints = [...betweenParts(shown)];
  const parts = joints.length === 0 ? undefined : withoutRanges(shown, 'tokens', joints);
  for (const next of [joinedStrings(shown), joinedLines(shown), joinedCodes(shown), joinedMarkup(shown), parts, ...joinedGroups(shown)])
    if (next) yield plain ? composed(plain, next, false) : next;
}

/** A reading of a reading. A range of it is changed if the second reading changed it. With `both`, also if the first one did. */
const composed = (outer: TextReading, inner: TextReading, both: boolean): TextReading => ({
  text: inner.text,
  rules: inner.rules,
  origin: (from, to) => {
    const at = inner.origin(from, to);
    return outer.origin(at.from, at.to);
  },
  isChanged: (from, to) => {
    const at = inner.origin(from, to);
    return inner.isChanged(from, to) || (both && outer.isChanged(at.from, at.to));
  },
});

/** A part of a reading: its start in the reading, and its range in the text. */
interface Part {
  readonly text: string;
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/** A reading that is made of literal parts of a text and of changes. */
class Rewriting {
  readonly parts: Part[] = [];
  length = 0;
  done = 0;

  constructor(readonly source: string) {}

  /** Puts `made` in the place of the range. */
  change(from: number, to: number, made: string): void {
    this.add(this.done, from, this.source.slice(this.done, from));
    this.add(from, to, made);
    this.done = to;
  }

  private add(from: number, to: number, made: string): void {
    if (made === '') return;
    this.parts.push({ text: made, start: this.length, from, to });
    this.length += made.length;
  }

  reading(rules: TextReading['rules']): TextReading | undefined {
    if (this.done === 0) return undefined;
    this.add(this.done, this.source.length, this.source.slice(this.done));
    const { parts } = this;
    const partAt = (place: number): Part => parts[firstWhere(1, parts.length, (at) => (parts[at] as Part).start > place) - 1] as Part;
    const isLiteral = ({ text, from, to }: Part): boolean => to - from === text.length;
    return {
      text: parts.map(({ text }) => text).join(''),
      rules,
      origin: (from, to) => {
        const [first, last] = [partAt(from), partAt(Math.max(from, to - 1))];
        return {
          from: isLiteral(first) ? first.from + from - first.start : first.from,
          to: isLiteral(last) ? last.from + to - last.start : last.to,
        };
      },
      isChanged: (from, to) => {
        const [first, last] = [partAt(from), partAt(Math.max(from, to - 1))];
        return first !== last || !isLiteral(first);
      },
    };
  }
}

/**
 * Escapes of programs (`\u0041`, `\u{41}`, `\x41`, `\101`), of URLs (`%41`) and of HTML (`&#65;`, `&#x41;`, `&lowbar;`); sequences that
 * control a terminal; characters without a width; letters of other widths.
 */
const encoded = new RegExp(
  [
    String.raw`(?<!\\)\\+(?:u\{0{0,4}(?<braced>[0-9a-fA-F]{1,5})\}|u(?<unicode>[0-9a-fA-F]{4})|x(?<hex>[0-9a-fA-F]{2})|U(?<long>0{3}[0-9a-fA-F]{5})|N\{U\+0{0,4}(?<name>[0-9a-fA-F]{1,5})\}|(?<octal>0?[0-3][0-7]{2}|0?[4-7][0-7])|(?<esc>e)(?=\[)|(?<control>[bfv]))`,
    '%(?:u(?<wideCode>[0-9a-fA-F]{4})|(?<percent>[0-7][0-9a-fA-F]))',
    String.raw`&(?:#x0{0,6}(?<hexEntity>[0-9a-fA-F]{1,5})|#0{0,6}(?<entity>\d{1,6})|(?<named>lowbar|hyphen|dash|period|colon|equals|sol|plus|commat|quot|apos|amp|lt|gt));?`,
    String.raw`(?<gone>\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]|\x9b[0-?]{0,40}[@-~]|\x1b[\]PX^_][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)|\x1b[ -/]{0,2}[0-Z\\^-~]|[^\n\x08]\x08)`,
    String.raw`(?<invisible>[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\u20d0-\u20f0\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff9-\ufffb\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u2028\u2029]+|(?:\udb40[\udc00-\udfff]|\ud834[\udd73-\udd7a]|\ud82f[\udca0-\udca3])+)`,
    String.raw`(?<wide>[\uff0d\uff0e\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a\u24b6-\u24e9]|\ud835[\udc00-\udfff])`,
    String.raw`(?<hyphen>[\u2010\u2011\ufe63])`,
  ].join('|'),
  'g',
);
const mayBeEncoded = new RegExp(
  [
    String.raw`\\(?:[uUxN]|[0-7]{2}|e\[|[bfv])`,
    '%[0-7u]',
    '&[#a-z]',
    String.raw`[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c-\ufeff\uff0d-\uffa0\ufff9-\ufffb]`,
    String.raw`[\u0300-\u036f\u0483-\u0489]`,
    String.raw`\ud835`,
    String.raw`\udb40|\ud834|\ud82f`,
  ].join('|'),
);

const namedEntities: Readonly<Record<string, string>> = {
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  period: '.',
  colon: ':',
  equals: '=',
  sol: '/',
  plus: '+',
  commat: '@',
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
};

function decoded(text: string): TextReading | undefined {
  if (!mayBeEncoded.test(text)) return undefined;
  const made = new Rewriting(text);
  encoded.lastIndex = 0;
  for (let match = encoded.exec(text); match; match = encoded.exec(text)) {
    const change = meaningOf(match[0], match.groups ?? {});
    if (change !== undefined) made.change(match.index, match.index + match[0].length, change);
  }
  return made.reading('all');
}

const breaks: Readonly<Record<number, string>> = { 9: '\\t', 10: '\\n', 13: '\\r' };

/** The character that an escape stands for. Undefined if the escape stays, because it stands for no character of a secret. */
function meaningOf(
  all: string,
  { gone, invisible, wide, hyphen, named, octal, esc, control, entity, ...hexes }: Record<string, string | undefined>,
): string | undefined {
  if (gone !== undefined || invisible !== undefined) return '';
  if (wide !== undefined) return all.normalize('NFKC');
  if (hyphen !== undefined) return '-';
  if (named !== undefined) return namedEntities[named];
  if (esc !== undefined) return '\u001b';
  if (control !== undefined) return control === 'b' ? '\b' : '';
  const hex = hexes.braced ?? hexes.unicode ?? hexes.long ?? hexes.name ?? hexes.wideCode ?? hexes.hex ?? hexes.percent ?? hexes.hexEntity;
  const code = hex !== undefined ? Number.parseInt(hex, 16) : octal !== undefined ? Number.parseInt(octal, 8) : Number(entity);
  // Breaks stay escaped, in the one way that all rules know.
  if (code >= 9 && code <= 13) return breaks[code];
  return code < 0xd800 ? String.fromCharCode(code) : undefined;
}

/** The end of a string and the start of the next one that continues it: with an operator, or with only space between. */
const betweenStrings = /(?<=[\w+/=.~-])(\\*["'`])(?:[ \t]{0,8}(?:\+|\.{1,2}|\|\||&|<>)(?:\s|\\{1,8}n){0,80}|(?:\s|\\{1,8}n){0,80})\1(?=[\w+/=.~-])/g;
/** A line of a shell or a string that continues on the next line. */
const continuedLine = /(?<=[\w+/=.~-])\\+(?:\r?\n|n)[ \t]{0,40}(?=[\w+/=.~-])/g;

function joinedStrings(text: string): TextReading | undefined {
  if (!/["'`]|\\\n/.test(text)) return undefined;
  const matches = [...text.matchAll(betweenStrings), ...(text.includes('\\\n') || text.includes('\\\r') ? text.matchAll(continuedLine) : [])];
  return withoutRanges(text, 'all', rangesOf(matches));
}

/** The end of a line with a long word, and the lead of the next line: an indent, or the mark of a quotation or a diff. */
const wrap =
  /(?<=[\w+/=.~-]{8})=?(?:\r?\n|\\+r\\+n|\\+n)(?:[ \t]{0,40}(?:[>|+│][ \t]{0,4})?|[ \t]{0,8}\d{1,6}(?:→|\t|:|\|)[ \t]{0,8})(?=([\w-]{2,256}))/g;

function joinedLines(text: string): TextReading | undefined {
  if (!text.includes('\n') && !text.includes('\\n')) return undefined;
  const joints = [...text.matchAll(wrap)].filter(({ 1: next = '' }) => isRandom(next));
  return withoutRanges(text, 'tokens', rangesOf(joints));
}

const rangesOf = (matches: Iterable<RegExpExecArray>): (readonly [number, number])[] =>
  Array.from(matches, ({ 0: all, index }) => [index, index + all.length]);

function withoutRanges(text: string, rules: TextReading['rules'], ranges: readonly (readonly [number, number])[]): TextReading | undefined {
  const made = new Rewriting(text);
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) if (from >= made.done) made.change(from, to, '');
  return made.reading(rules);
}

/** Tags of HTML and marks of Markdown that do not end a word: a page may color the parts of a token. */
const inWord = /(?<=[\w.~-])(?:<\/?(?:span|wbr|b|i|em|strong|mark|code|font|u|s|a)\b[^<>\n]{0,200}>|<!--[^\n>]{0,40}-->|\*\*){1,6}(?=[\w.~-])/g;

function joinedMarkup(text: string): TextReading | undefined {
  if (!/<|\*\*/.test(text)) return undefined;
  return withoutRanges(text, 'tokens', rangesOf(text.matchAll(inWord)));
}

/** Codes of characters in a list, as programs keep bytes: `103, 104, 112, 95`, `0x67, 0x68`, `01100111 01101000`, `=67=68`. */
const codes =
  /(?<![\w.-])(?:(?:0x[0-9a-fA-F]{2}|[01]{8}|\d{2,3})(?:,[ \t\r\n]{0,24}|[ \t]{1,4}|,\\+n[ \t]{0,24})){11,4096}(?:0x[0-9a-fA-F]{2}|[01]{8}|\d{2,3})(?![\w.-])|(?:=[0-9A-F]{2}){12,4096}/g;
const code = /0x[0-9a-fA-F]{2}|=[0-9A-F]{2}|\d{2,8}/g;

function joinedCodes(text: string): TextReading | undefined {
  const made = new Rewriting(text);
  for (const { 0: run, index } of text.matchAll(codes))
    for (const { 0: one, index: at } of run.matchAll(code)) {
      if (index + at > made.done && made.done > index) made.change(made.done, index + at, '');
      made.change(index + at, index + at + one.length, String.fromCharCode(codeOf(one)));
    }
  return made.reading('tokens');
}

function codeOf(one: string): number {
  if (/^[0=]x?[0-9A-Fa-f]{2}$/.test(one) && !/^\d+$/.test(one)) return Number.parseInt(one.slice(-2), 16);
  return one.length === 8 ? Number.parseInt(one, 2) : Number(one);
}

const word = /[A-Za-z0-9_+/=.~]+/g;
const minGroups = 6;
const maxGroup = 8;

/** Readings of groups of one length with one character between them, such as `ghp_ 1a2b 3c4d …`: each as a text of its own. */
function* joinedGroups(text: string): Generator<TextReading> {
  let groups: { readonly from: number; readonly to: number }[] = [];
  const whole = (): TextReading | undefined => {
    const [first, last] = [groups[0], groups.at(-1)];
    if (!first || !last || groups.length < minGroups) return undefined;
    const made = new Rewriting(text.slice(0, last.to));
    // Everything before the groups is left out of the reading.
    made.change(0, first.from, '');
    for (const [at, { to }] of groups.entries()) if (groups[at + 1]) made.change(to, to + 1, '');
    return made.reading('tokens');
  };
  word.lastIndex = 0;
  for (let match = word.exec(text); match; match = word.exec(text)) {
    const group = { from: match.index, to: match.index + match[0].length };
    const last = groups.at(-1);
    const isNext = last !== undefined && group.from === last.to + 1 && /[ \-,:|\t]/.test(text[last.to] ?? '');
    const size = groups[0] ? groups[0].to - groups[0].from : 0;
    if (isNext && match[0].length === size) groups.push(group);
    else {
      if (isNext && match[0].length < size) groups.push(group);
      const reading = whole();
      if (reading) yield reading;
      groups = match[0].length <= maxGroup ? [group] : [];
    }
  }
  const reading = whole();
  if (reading) yield reading;
}
