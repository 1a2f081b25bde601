import { findMatches, runEnd, secretSpan, type TextSpan } from './span.js';

/** The end of a line in a key: a line break, or an escaped one in a string or a nested string (`\n`, `\\n`). */
const lineBreak = /\r?\n|\\+r\\+n|\\+n/y;
/** The text before each line of a key in a diff, a quotation or the numbered output of a tool. */
const lead = /(?:[ \t]|\\+t)*(?:[+>|#*-]{1,2}[ \t]|[+-]|\d{1,6}(?:→|\t|\\+t|:|\|)[ \t]*)?[ \t"']*/y;
const body = /[A-Za-z0-9+/=]{1,128}/y;
const header = /[A-Za-z][\w-]{1,40}:[^\r\n\\"']{0,200}(?:\\*"[^\r\n\\"']{0,200}\\*")?/y;
// In a form, a space is a `+`. SSH2 has four hyphens and a space.
const begin = /-{4,5} ?BEGIN[ +][A-Z0-9 +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)? ?-{4,5}/g;
const end = /-{4,5} ?END[ +][A-Z0-9 +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)? ?-{4,5}/y;
const endAnywhere = /-{4,5} ?END[ +][A-Z0-9 +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)? ?-{4,5}/g;
const putty = /PuTTY-User-Key-File-\d: /g;
const puttyEnd = /Private-MAC: [0-9a-f]{40,64}/;
/** Shorter runs on a line of their own may be words. */
const minLineLength = 16;
/** Lines of a key that are at least as long are replaced wherever else they appear. */
const fullLine = 40;
/** Maximum length of a key, for searches that go back from its end. */
const maxKeyLength = 16_384;

/**
 * Private keys in PEM and OpenPGP armor and of PuTTY: with real line breaks or escaped ones, with the marks of a diff or the line
 * numbers of a tool before each line, and cut off at the beginning or the end. Linear in the length of the text.
 */
export function* privateKeys(text: string): Generator<TextSpan> {
  let done = 0;
  for (const match of findMatches(text, begin, 'PRIVATE')) {
    if (match.index < done) continue;
    const lines: TextSpan[] = [];
    done = keyEnd(text, match.index + match[0].length, lines);
    yield secretSpan(match.index, done);
    yield* lines;
  }
  yield* keysWithoutBeginning(text);
  for (const { index } of findMatches(text, putty, 'PuTTY-User-Key')) {
    const last = puttyEnd.exec(text.slice(index, index + maxKeyLength));
    if (last) yield secretSpan(index, index + last.index + last[0].length);
  }
}

const isLineEnd = (text: string, at: number): boolean => at >= text.length || runEnd(text, at, lineBreak) > at;

/** The end of a key whose first line ends at `at`: after its last line, or at the end of its lines if it was cut off. */
function keyEnd(text: string, at: number, lines: TextSpan[]): number {
  let reached = at;
  for (let place = at; ; ) {
    const line = runEnd(text, runEnd(text, place, lineBreak), lead);
    const closed = runEnd(text, line, end);
    if (closed > line) return closed;
    const after = runEnd(text, line, body);
    if (after - line >= minLineLength || (after > line && isLastLine(text, after))) {
      if (after - line >= fullLine) lines.push(secretSpan(line, after));
      reached = after;
      place = after;
      continue;
    }
    // Headers (`Proc-Type: …`) and blank lines come before the first line of the key, never after.
    const next = runEnd(text, line, header);
    if (reached > at || next === place || !isLineEnd(text, next)) return reached;
    place = next;
  }
}

/** Whether a short run at the end of a key is a part of it: the end of the key follows, or it has base64's padding. */
function isLastLine(text: string, at: number): boolean {
  const next = runEnd(text, runEnd(text, at, lineBreak), lead);
  return text[at - 1] === '=' || runEnd(text, next, end) > next;
}

/** Keys whose beginning was cut off: the lines before an end mark. */
function* keysWithoutBeginning(text: string): Generator<TextSpan> {
  let last = 0;
  for (const { index, 0: mark } of findMatches(text, endAnywhere, 'PRIVATE')) {
    const before = text.slice(Math.max(last, index - maxKeyLength), index);
    last = index + mark.length;
    if (/---- ?BEGIN[ +]/.test(before)) continue;
    let from = index;
    const pieces = before.split(/(\r?\n|\\+n)/);
    // Pieces are lines and the breaks between them; the last line is empty or the mark's own lead.
    for (let at = pieces.length - 3; at >= 0; at -= 2) {
      const line = pieces[at] ?? '';
      if (runEnd(line, runEnd(line, 0, lead), body) !== line.length || line.length < (from === index ? 1 : minLineLength)) break;
      from -= line.length + (pieces[at + 1]?.length ?? 0) + (from === index ? (pieces[at + 2]?.length ?? 0) : 0);
    }
    if (from < index) yield secretSpan(from, last);
  }
}
