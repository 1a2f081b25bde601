import { stringEnd } from './lists.js';

/** The member of an event of a stream that holds the next part of a text. */
const part =
  /(\\{0,8}")(text|content|delta|partial_json|thinking|arguments|output|data|chunk|message|value|reasoning|reasoning_content)\1\s{0,8}:\s{0,8}\1/g;
/** Longer parts, and parts that are farther from each other, are no pieces of one token. */
const maxPart = 4_096;
const maxBetween = 1_024;

/** What stands between parts of a recorded stream where a word continues: `{"text":"ghp_abc"}⏎{"text":"def…"}`. In order, and linear. */
export function* betweenParts(text: string): Generator<readonly [from: number, to: number]> {
  if (!/"\s{0,8}:/.test(text)) return;
  let before: { readonly member: string; readonly end: number } | undefined;
  part.lastIndex = 0;
  for (let match = part.exec(text); match; match = part.exec(text)) {
    const [, quote = '', member = ''] = match;
    const from = part.lastIndex;
    const end = stringEnd(text, from, quote, Math.min(text.length, from + maxPart));
    if (end === from) continue;
    part.lastIndex = end;
    const isNext = before?.member === member && from - before.end <= maxBetween;
    if (before && isNext && inToken.test(text[before.end - 1] ?? '') && inToken.test(text[from] ?? '')) yield [before.end, from];
    before = { member, end };
  }
}
const inToken = /[\w.~-]/;
