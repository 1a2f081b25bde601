import type { ByteRange } from '../base/index.js';

/**
 * Reads where things stand in compact JSON without making values of them. Hashes are of canonical JSON (sorted keys, no
 * spaces), and what runtimes write is that but for the order of members: so the canonical form of a recorded text is its
 * own bytes in another order, and finding that order costs far less than parsing and writing.
 *
 * Everything here answers undefined for a text that is not compact JSON (spaces between tokens, a key twice, deep
 * nesting): the caller then parses it.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** What a runtime writes is a dozen levels deep; this keeps a hostile text from exhausting the stack. */
const deepest = 200;

class NotCompact extends Error {}

interface Member {
  readonly key: string;
  /** Where the member begins, at the quote of its key. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  /** The value's bytes in canonical order as pairs of start and end; undefined where they are canonical as they stand. */
  readonly order: readonly number[] | undefined;
}

interface Value {
  readonly end: number;
  readonly order: readonly number[] | undefined;
}

/** The members of the object that begins at `at`, by key. */
export function membersAt(bytes: Uint8Array, at: number): ReadonlyMap<string, ByteRange> | undefined {
  return compactOnly(() => {
    const { members } = readMembers(bytes, at, 0);
    return new Map(members.map((member) => [member.key, { start: member.valueStart, end: member.end }]));
  });
}

/** The elements of the array that begins at `at`. */
export function elementsAt(bytes: Uint8Array, at: number): readonly ByteRange[] | undefined {
  return compactOnly(() => readElements(bytes, at, 0).elements.map(({ start, end }) => ({ start, end })));
}

/**
 * The canonical form of the JSON value that fills the bytes, as ranges of them (start, end, start, end, …) to be joined.
 * A member named `without` anywhere makes it undefined, since a part would have to go.
 */
export function canonicalOrder(bytes: Uint8Array, without: string): readonly number[] | undefined {
  return compactOnly(() => {
    const value = readValue(bytes, 0, 0, without);
    if (value.end !== bytes.length) throw new NotCompact();
    return value.order ?? [0, bytes.length];
  });
}

function compactOnly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotCompact) return undefined;
    throw error;
  }
}

function readValue(bytes: Uint8Array, at: number, depth: number, without?: string): Value {
  if (depth > deepest) throw new NotCompact();
  const first = bytes[at];
  if (first === quote) return { end: stringEnd(bytes, at), order: undefined };
  if (first === openBrace) return readObject(bytes, at, depth, without);
  if (first === openBracket) return readArray(bytes, at, depth, without);
  return { end: plainEnd(bytes, at), order: undefined };
}

function readMembers(bytes: Uint8Array, at: number, depth: number, without?: string): { members: Member[]; end: number } {
  if (bytes[at] !== openBrace) throw new NotCompact();
  const members: Member[] = [];
  let next = at + 1;
  if (bytes[next] === closeBrace) return { members, end: next + 1 };
  for (;;) {
    if (bytes[next] !== quote) throw new NotCompact();
    const keyEnd = stringEnd(bytes, next);
    const key = keyOf(bytes, next, keyEnd);
    if (key === without || bytes[keyEnd] !== colon) throw new NotCompact();
    const value = readValue(bytes, keyEnd + 1, depth + 1, without);
    members.push({ key, start: next, valueStart: keyEnd + 1, end: value.end, order: value.order });
    if (bytes[value.end] === closeBrace) return { members, end: value.end + 1 };
    if (bytes[value.end] !== comma) throw new NotCompact();
    next = value.end + 1;
  }
}

function readObject(bytes: Uint8Array, at: number, depth: number, without?: string): Value {
  const { members, end } = readMembers(bytes, at, depth, without);
  const sorted = members.every((member, index) => index === 0 || (members[index - 1] as Member).key < member.key);
  if (sorted && members.every((member) => member.order === undefined)) return { end, order: undefined };
  const ordered = sorted ? members : [...members].sort((a, b) => (a.key < b.key ? -1 : 1));
  const order: number[] = [];
  append(order, at, at + 1);
  ordered.forEach((member, index) => {
    const before = ordered[index - 1];
    if (before) {
      if (before.key === member.key) throw new NotCompact();
      // Any comma will do; the one behind the member before it often makes one range of all three.
      const place = bytes[before.end] === comma ? before.end : (members[0] as Member).end;
      append(order, place, place + 1);
    }
    append(order, member.start, member.valueStart);
    appendAll(order, member);
  });
  append(order, end - 1, end);
  return { end, order };
}

interface Element extends ByteRange {
  readonly order: readonly number[] | undefined;
}

function readElements(bytes: Uint8Array, at: number, depth: number, without?: string): { elements: Element[]; end: number } {
  if (bytes[at] !== openBracket) throw new NotCompact();
  const elements: Element[] = [];
  let next = at + 1;
  if (bytes[next] === closeBracket) return { elements, end: next + 1 };
  for (;;) {
    const value = readValue(bytes, next, depth + 1, without);
    elements.push({ start: next, end: value.end, order: value.order });
    if (bytes[value.end] === closeBracket) return { elements, end: value.end + 1 };
    if (bytes[value.end] !== comma) throw new NotCompact();
    next = value.end + 1;
  }
}

function readArray(bytes: Uint8Array, at: number, depth: number, without?: string): Value {
  const { elements, end } = readElements(bytes, at, depth, without);
  if (elements.every((element) => element.order === undefined)) return { end, order: undefined };
  const order: number[] = [];
  let done = at;
  for (const element of elements) {
    append(order, done, element.start);
    appendAll(order, { valueStart: element.start, end: element.end, order: element.order });
    done = element.end;
  }
  append(order, done, end);
  return { end, order };
}

function appendAll(order: number[], value: Pick<Member, 'valueStart' | 'end' | 'order'>): void {
  if (!value.order) append(order, value.valueStart, value.end);
  else for (let index = 0; index < value.order.length; index += 2) append(order, value.order[index] as number, value.order[index + 1] as number);
}

function append(order: number[], start: number, end: number): void {
  if (start === end) return;
  if (order.length && order[order.length - 1] === start) order[order.length - 1] = end;
  else order.push(start, end);
}

function stringEnd(bytes: Uint8Array, at: number): number {
  for (let end = bytes.indexOf(quote, at + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  throw new NotCompact();
}

/** The end of a number or a name. What stands there is not checked: a hash over it will be. */
function plainEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] as number;
    if (byte === comma || byte === closeBrace || byte === closeBracket) break;
    const known =
      (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x2e || byte === 0x2b || byte === 0x2d || byte === 0x45;
    if (!known) throw new NotCompact();
  }
  if (end === at) throw new NotCompact();
  return end;
}

const decoder = new TextDecoder();

function keyOf(bytes: Uint8Array, start: number, end: number): string {
  const raw = bytes.subarray(start + 1, end - 1);
  if (!raw.includes(backslash)) return decoder.decode(raw);
  try {
    return JSON.parse(decoder.decode(bytes.subarray(start, end))) as string;
  } catch {
    throw new NotCompact();
  }
}
