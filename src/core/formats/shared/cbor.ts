import { decode, type EncodeOptions, encode, Token, Type } from 'cborg';
import { attempt, concatBytes, type Json } from '../../base/index.js';
import type { Problem } from '../format.js';

/**
 * CBOR as the formats of Bureau use it: arrays of items in the core deterministic encoding (RFC 8949, 4.2.1), with shortest heads and
 * floats, definite lengths, and keys in byte order. Bytes are checked before they are decoded, so that an item has an end and a problem
 * a place, and no length is believed.
 */

/** The values that can be written and read: JSON and byte strings. */
export type Cbor = null | boolean | number | string | Uint8Array | readonly Cbor[] | { readonly [key: string]: Cbor | undefined };

const byteString = 2;
const textString = 3;
const list = 4;
const map = 5;
const tag = 6;
const simple = 7;
const indefinite = 31;
const stop = 0xff;

const encoding: EncodeOptions = {
  ignoreUndefinedProperties: true,
  // The library writes -0 as the whole number 0.
  typeEncoders: { number: (value: number) => (Object.is(value, -0) ? new Token(Type.float, value) : null) },
};

/** Encodes one item. Fields without a value are dropped. */
export const encodeCbor = (value: Cbor): Uint8Array => encode(value, encoding);

/** The items of an array, each with its bytes. Unreadable items are named by their number. */
export interface CborItems {
  readonly items: readonly { readonly value: Cbor; readonly start: number; readonly end: number; readonly number: number }[];
  readonly problems: readonly Problem[];
}

/** Reads one array item by item. Never throws. Empty bytes are an empty array. */
export function readArray(bytes: Uint8Array): CborItems {
  const items: CborItems['items'][number][] = [];
  const problems: Problem[] = [];
  if (bytes.length === 0) return { items, problems };
  const array = arrayAt(bytes, 0);
  if (!array) return { items, problems: [{ line: 0, reason: 'not a CBOR array' }] };
  const isOpen = array.length === Number.POSITIVE_INFINITY;
  let at = array.start;
  for (let number = 1; number <= array.length && !(isOpen && bytes[at] === stop); number++) {
    const end = endOfItem(bytes, at);
    if (typeof end === 'string') return { items, problems: [...problems, { line: number, reason: `the item at byte ${at} ${end}` }] };
    const value = decodeChecked(bytes.subarray(at, end));
    if (value === undefined) problems.push({ line: number, reason: `the item at byte ${at} cannot be read` });
    else items.push({ value, start: at, end, number });
    at = end;
  }
  if (isOpen) at += 1;
  if (at < bytes.length) problems.push({ line: 0, reason: `${bytes.length - at} bytes follow the array` });
  return { items, problems };
}

/** Decodes one item; undefined if the bytes are invalid or contain a tag. */
export const decodeCbor = (bytes: Uint8Array): Cbor | undefined => (endOfItem(bytes, 0) === bytes.length ? decodeChecked(bytes) : undefined);

function arrayAt(bytes: Uint8Array, at: number): { readonly start: number; readonly length: number } | undefined {
  const first = bytes[at] as number;
  if (first >> 5 !== list) return undefined;
  if ((first & 31) === indefinite) return { start: at + 1, length: Number.POSITIVE_INFINITY };
  const count = headAt(bytes, at);
  return count && { start: count.next, length: count.value };
}

function headAt(bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } | undefined {
  const info = (bytes[at] as number) & 31;
  if (info < 24) return { value: info, next: at + 1 };
  const size = info === 24 ? 1 : info === 25 ? 2 : info === 26 ? 4 : info === 27 ? 8 : 0;
  if (size === 0 || at + 1 + size > bytes.length) return undefined;
  let value = 0;
  for (let place = at + 1; place <= at + size; place++) value = value * 256 + (bytes[place] as number);
  return { value, next: at + 1 + size };
}

const deepest = 100;

/** The end of the item, or a description of its error. Follows heads only, without recursion, and trusts no length. */
function endOfItem(bytes: Uint8Array, from: number): number | string {
  /** The open containers: the number of items to come, or infinity up to a stop. */
  const open: number[] = [1];
  let at = from;
  for (let left = open.at(-1); left !== undefined; left = open.at(-1)) {
    if (left === 0) {
      open.pop();
      continue;
    }
    if (at >= bytes.length) return 'ends too early';
    if (bytes[at] === stop) {
      if (left !== Number.POSITIVE_INFINITY) return 'has a stop code in the wrong place';
      open.pop();
      at += 1;
      continue;
    }
    open[open.length - 1] = left - 1;
    const item = itemAt(bytes, at);
    if (typeof item === 'string') return item;
    at = item.next;
    if (item.children !== undefined) open.push(item.children);
    if (open.length > deepest) return `is nested deeper than ${deepest}`;
  }
  return at;
}

/** The end of an item without children, or the start and number of its children. A string describes an error. */
function itemAt(bytes: Uint8Array, at: number): { readonly next: number; readonly children?: number } | string {
  const first = bytes[at] as number;
  const info = first & 31;
  const major = first >> 5;
  const isText = major === byteString || major === textString;
  const isContainer = major === list || major === map;
  if (info === indefinite && (isText || isContainer)) return { next: at + 1, children: Number.POSITIVE_INFINITY };
  const given = headAt(bytes, at);
  if (!given) return 'has an invalid head';
  const { next, value } = given;
  const bytesLeft = bytes.length - next;
  if (isText) return value > bytesLeft ? 'ends too early' : { next: next + value };
  if (isContainer) return value > bytesLeft ? 'claims to be longer than its bytes' : { next, children: major === map ? value * 2 : value };
  if (major === tag) return 'has a tag, which no format here uses';
  if (major === simple && info === 24) return 'has a simple value that no format here uses';
  return { next };
}

/** Call only for checked bytes. */
const decodeChecked = (item: Uint8Array): Cbor | undefined => attempt(() => plain(decode(item, { useMaps: true })));

/** Maps become plain objects with text keys; numbers beyond the range of a number become texts. */
function plain(value: unknown): Cbor {
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, member]) => [typeof key === 'string' ? key : String(key), plain(member)]));
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  return value === undefined ? null : (value as Cbor);
}

const isList = (value: Cbor): value is readonly Cbor[] => Array.isArray(value);

/** The value as JSON: byte strings as base64, NaN and infinities as null, -0 as 0. */
export function toJson(value: Cbor): Json {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isList(value)) return value.map(toJson);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJson(member ?? null)]));
  if (typeof value !== 'number') return value;
  return Number.isFinite(value) ? value + 0 : null;
}

/** Joins arrays without decoding: a new head and the bodies. Of input that is no single array of known length, takes the readable items. */
export function spliceArrays(deltas: readonly Uint8Array[]): Uint8Array {
  const bodies = deltas.filter((delta) => delta.length > 0).map(bodyOf);
  const count = bodies.reduce((sum, body) => sum + body.count, 0);
  return concatBytes([arrayHead(count), ...bodies.flatMap((body) => body.parts)]);
}

/** The head of an array: that of the number of its items, of another type. */
function arrayHead(count: number): Uint8Array {
  const head = encodeCbor(count);
  head[0] = (head[0] as number) | (list << 5);
  return head;
}

function bodyOf(delta: Uint8Array): { readonly count: number; readonly parts: readonly Uint8Array[] } {
  const array = arrayAt(delta, 0);
  if (array && array.length !== Number.POSITIVE_INFINITY) return { count: array.length, parts: [delta.subarray(array.start)] };
  const { items } = readArray(delta);
  return { count: items.length, parts: items.map(({ start, end }) => delta.subarray(start, end)) };
}
