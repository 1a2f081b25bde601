import type { TimelineBlock, TimelineMessage } from '../../../core/contract/index.js';

/** A piece of a block's text: the line of a message, or the text between messages. */
export interface TextLine {
  readonly text: string;
  readonly messageId: string | undefined;
}

/** Divides a block's text into messages and the text between them. */
export function divideLines({ text, lines = [] }: Pick<TimelineBlock, 'text' | 'lines'>): readonly TextLine[] {
  const pieces: TextLine[] = [];
  let at = 0;
  const around = (end: number): void => {
    const between = text.slice(at, end).replace(/^\n|\n$/g, '');
    if (end > at && between !== '') pieces.push({ text: between, messageId: undefined });
  };
  for (const { messageId, start, end } of lines) {
    around(start);
    pieces.push({ text: text.slice(start, end), messageId });
    at = end;
  }
  around(text.length);
  return pieces;
}

/** Longer silences between messages are shown, in milliseconds. */
const longSilence = 30 * 60_000;

/** A silence between two messages in milliseconds if it is long enough to be shown; else 0. */
export const shownSilence = (silence: number): number => (silence >= longSilence ? silence : 0);

/** The messages of a chat. Messages of a long context load while it scrolls. */
export interface MessageList {
  readonly count: number;
  /** Undefined while the message is not loaded. */
  at(place: number): ChatItem | undefined;
  /** The position of a message; -1 if it is unknown. */
  placeOf(id: string): number;
  need?(from: number, to: number): void;
}

/** A message, and the milliseconds of silence before it; 0 for a short one. */
export interface ChatItem {
  readonly message: TimelineMessage;
  readonly gap: number;
  /** The length of the whole text in characters, if the text of the message may be cut. */
  readonly length?: number;
}

/** A chat of messages that are all loaded. */
export function makeList(messages: readonly TimelineMessage[]): MessageList {
  const items = messages.map((message, place): ChatItem => {
    const before = messages[place - 1];
    return { message, gap: before ? shownSilence(Date.parse(message.at) - Date.parse(before.at)) : 0 };
  });
  return { count: items.length, at: (place) => items[place], placeOf: (id) => messages.findIndex((message) => message.id === id) };
}
