import { decodeText, isObject, type Json, type JsonObject } from '../../base/index.js';
import type { CardContent } from '../../contract/index.js';
import type { Problem } from '../format.js';
import { type Cbor, encodeCbor, readArray, toJson } from '../shared/cbor.js';
import { parseShallow } from '../shared/jsonl.js';

/** A card in a delta, without the project that holds it. */
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
  /** The keys of the card's entries, if another format assigned them. The default is `<cardId>.<number>`. */
  readonly entryKeys?: readonly string[];
}

/** Writes cards as a delta: an array in the core deterministic encoding. */
export const encodeCards = (cards: readonly CardLine[]): Uint8Array => encodeCbor(cards as unknown as readonly Cbor[]);

/** The cards of a delta in order, and the items that are not cards. A delta that begins with an object has the older form with one card per line. */
export function readCards(delta: Uint8Array): { cards: CardLine[]; problems: Problem[] } {
  const read = isLines(delta) ? readLines(delta) : readItems(delta);
  const cards: CardLine[] = [];
  const problems = [...read.problems];
  for (const { value, number } of read.values) {
    const card = cardOf(value);
    if (typeof card === 'string') problems.push({ line: number, reason: card });
    else cards.push(card);
  }
  return { cards, problems: problems.sort((a, b) => a.line - b.line) };
}

/** Whether the delta has the older form. No CBOR array begins with a byte that is a JSON character. */
export const isLines = (delta: Uint8Array): boolean => {
  const first = delta.find((byte) => byte > 0x20);
  return first !== undefined && first < 0x80;
};

interface Values {
  readonly values: readonly { readonly value: Json | undefined; readonly number: number }[];
  readonly problems: readonly Problem[];
}

function readItems(delta: Uint8Array): Values {
  const { items, problems } = readArray(delta);
  return { values: items.map(({ value, number }) => ({ value: toJson(value), number })), problems };
}

function readLines(delta: Uint8Array): Values {
  const values = decodeText(delta)
    .split('\n')
    .map((line, at) => ({ line: line.trim(), number: at + 1 }))
    .filter(({ line }) => line !== '')
    // Checking the last character is cheaper than trying to parse.
    .map(({ line, number }) => ({ value: line.endsWith('}') ? parseShallow(line) : undefined, number }));
  return { values, problems: [] };
}

/** The card, or the reason why the value is not a card. */
function cardOf(value: Json | undefined): CardLine | string {
  if (!isObject(value)) return 'is not a JSON object';
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
