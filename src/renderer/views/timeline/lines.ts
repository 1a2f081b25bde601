import type { TimelineBlock } from '../../../core/contract/index.js';

/** A piece of a block's text: the line of a message, or the text between messages. */
export interface TextLine {
  readonly text: string;
  readonly messageId: string | undefined;
  readonly seen: boolean | undefined;
}

/** Divides a block's text into messages and the text between them. */
export function linesOf({ text, lines = [] }: Pick<TimelineBlock, 'text' | 'lines'>): readonly TextLine[] {
  const pieces: TextLine[] = [];
  let at = 0;
  const around = (end: number): void => {
    const between = text.slice(at, end).replace(/^\n|\n$/g, '');
    if (end > at && between !== '') pieces.push({ text: between, messageId: undefined, seen: undefined });
  };
  for (const { messageId, start, end, seen } of lines) {
    around(start);
    pieces.push({ text: text.slice(start, end), messageId, seen });
    at = end;
  }
  around(text.length);
  return pieces;
}

/** Longer silences between messages are shown, in milliseconds. */
const longSilence = 30 * 60_000;

/** The milliseconds of silence before each message; 0 for short silences. */
export const gapsIn = (messages: readonly { readonly at: string }[]): readonly number[] =>
  messages.map(({ at }, n) => {
    const before = messages[n - 1];
    const silence = before ? Date.parse(at) - Date.parse(before.at) : 0;
    return silence >= longSilence ? silence : 0;
  });
