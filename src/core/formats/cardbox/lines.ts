import { isObject, type Json, type JsonObject, parseJson, textOf } from '../../base/index.js';
import type { CardContent } from '../../contract/index.js';
import type { Problem } from '../format.js';

/** A card as a line holds it: what the card is, without the project that it lies in. */
export interface CardLine {
  readonly cardId: string;
  readonly content: CardContent;
  readonly toolCalls?: readonly JsonObject[];
  readonly toolCallId?: string;
  readonly ttlSeconds?: number;
  readonly expiresAt?: string;
  readonly metadata: JsonObject;
  readonly authorId: string;
  readonly createdAt?: string;
  /** Keys of its entries, where they have names from elsewhere; else they are `<cardId>.<number>`. */
  readonly entryKeys?: readonly string[];
}

export const lineOf = (card: CardLine): string => `${JSON.stringify(card)}\n`;

interface ReadLine {
  /** With its newline, where it has one. */
  readonly text: string;
  readonly number: number;
  readonly card?: CardLine;
  readonly reason?: string;
}

export function* cardLinesOf(delta: Uint8Array): Generator<ReadLine> {
  const text = textOf(delta);
  let number = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end + 1);
    at += line.length;
    number += 1;
    if (line.trim() === '') continue;
    const read = cardOf(parseJson(line));
    yield typeof read === 'string' ? { text: line, number, reason: read } : { text: line, number, card: read };
  }
}

export function readLines(delta: Uint8Array): { cards: CardLine[]; problems: Problem[] } {
  const cards: CardLine[] = [];
  const problems: Problem[] = [];
  for (const { card, number, reason } of cardLinesOf(delta))
    if (card) cards.push(card);
    else problems.push({ line: number, reason: reason ?? '' });
  return { cards, problems };
}

/** The card, or why the value is none. */
function cardOf(value: Json | undefined): CardLine | string {
  if (!isObject(value)) return 'is no JSON object';
  const { cardId, content, metadata, authorId } = value;
  if (typeof cardId !== 'string' || cardId === '') return 'has no cardId';
  if (!isContent(content)) return 'has no content of kind text, json or fields';
  return {
    ...(value as unknown as CardLine),
    metadata: isObject(metadata) ? metadata : {},
    authorId: typeof authorId === 'string' ? authorId : 'unknown',
  };
}

function isContent(content: Json | undefined): boolean {
  if (!isObject(content)) return false;
  const { kind, text, data, fields } = content;
  return (
    (kind === 'text' && typeof text === 'string') ||
    (kind === 'json' && typeof data === 'object' && data !== null) ||
    (kind === 'fields' && Array.isArray(fields) && fields.every(isObject))
  );
}
