import { type ByteRange, decodeText, parseJson } from '../../base/index.js';

/**
 * Finds ranges in compact JSON without creating values. Hashes cover canonical JSON (sorted keys, no spaces), and runtimes write the same except for
 * the order of members. So the canonical form of a recorded text is its own bytes in another order, which is much cheaper to find than to parse and
 * write. All functions here return undefined for other text (spaces between tokens, repeated keys, deep nesting). The caller then parses it.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Maximum nesting, so that a hostile text cannot exhaust the stack. Runtimes write about a dozen levels. */
const deepest = 200;

class NotCompact extends Error {}
/** One shared error, because a hostile file can have many such lines, and creating a stack trace for each would cost the most. */
const notCompact = new NotCompact();

interface Member {
  /** The opening quote of its key. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  /** The value's bytes in canonical order as pairs of start and end; undefined if the value is in canonical order already. */
  readonly order: readonly number[] | undefined;
}

/** The members of the object that begins at `at`, by key. If `wanted` is given, only these keys. */
export function membersAt(bytes: Uint8Array, at: number, wanted?: readonly string[]): ReadonlyMap<string, ByteRange> | undefined {
  return compactOnly(() => {
    const members = new Map<string, ByteRange>();
    if (bytes[at] !== openBrace) throw notCompact;
    if (bytes[at + 1] === closeBrace) return members;
    for (let next = at + 1; ; ) {
      if (bytes[next] !== quote) throw notCompact;
      const keyEnd = stringEnd(bytes, next);
      if (bytes[keyEnd] !== colon) throw notCompact;
      const end = valueEnd(bytes, keyEnd + 1);
      const key = wanted ? wanted.find((name) => isKey(bytes, next, keyEnd, name)) : decodeKey(bytes, next, keyEnd);
      if (key !== undefined) members.set(key, { start: keyEnd + 1, end });
      if (bytes[end] === closeBrace) return members;
      if (bytes[end] !== comma) throw notCompact;
      next = end + 1;
    }
  });
}

/** A wanted member, by its key, with its own wanted members or elements. */
export interface WantedMember {
  readonly key: string;
  readonly inner?: readonly WantedMember[];
  readonly isList?: true;
}

/** The ranges that were found, by path, and the elements of the wanted list. */
export interface FoundRanges {
  readonly ranges: Map<string, ByteRange>;
  elements: readonly ByteRange[] | undefined;
}

/** The wanted ranges of the object that begins at `at`, found in one pass. */
export function placesAt(bytes: Uint8Array, at: number, wanted: readonly WantedMember[]): FoundRanges | undefined {
  return compactOnly(() => {
    const found: FoundRanges = { ranges: new Map(), elements: undefined };
    readPlaces(bytes, at, wanted, '', found);
    return found;
  });
}

function readPlaces(bytes: Uint8Array, at: number, wanted: readonly WantedMember[], path: string, found: FoundRanges): number {
  if (bytes[at] !== openBrace) throw notCompact;
  if (bytes[at + 1] === closeBrace) return at + 2;
  for (let next = at + 1; ; ) {
    if (bytes[next] !== quote) throw notCompact;
    const keyEnd = stringEnd(bytes, next);
    if (bytes[keyEnd] !== colon) throw notCompact;
    const start = keyEnd + 1;
    const want = wantedAt(bytes, next, keyEnd, wanted);
    let end: number;
    if (want?.inner && bytes[start] === openBrace) end = readPlaces(bytes, start, want.inner, `${path}${want.key}.`, found);
    else if (want?.isList && bytes[start] === openBracket) {
      const elements = elementsIn(bytes, start);
      found.elements = elements;
      end = (elements.at(-1)?.end ?? start + 1) + 1;
    } else end = valueEnd(bytes, start);
    if (want) found.ranges.set(path + want.key, { start, end });
    if (bytes[end] === closeBrace) return end + 1;
    if (bytes[end] !== comma) throw notCompact;
    next = end + 1;
  }
}

function wantedAt(bytes: Uint8Array, start: number, end: number, wanted: readonly WantedMember[]): WantedMember | undefined {
  const first = bytes[start + 1];
  for (let at = 0; at < wanted.length; at += 1) {
    const want = wanted[at] as WantedMember;
    // The first letter distinguishes most keys.
    if ((first === want.key.charCodeAt(0) || first === backslash) && isKey(bytes, start, end, want.key)) return want;
  }
  return undefined;
}

/** The wanted members before the member `until`, and where its value begins. The rest is not read. Undefined without `until`. */
export function membersUntil(bytes: Uint8Array, at: number, wanted: readonly string[], until: string) {
  return compactOnly(() => {
    const members = new Map<string, ByteRange>();
    if (bytes[at] !== openBrace) throw notCompact;
    for (let next = at + 1; ; ) {
      if (bytes[next] !== quote) throw notCompact;
      const keyEnd = stringEnd(bytes, next);
      if (bytes[keyEnd] !== colon) throw notCompact;
      if (isKey(bytes, next, keyEnd, until)) return { members, valueStart: keyEnd + 1 };
      const end = valueEnd(bytes, keyEnd + 1);
      const key = wanted.find((name) => isKey(bytes, next, keyEnd, name));
      if (key !== undefined) members.set(key, { start: keyEnd + 1, end });
      if (bytes[end] !== comma) throw notCompact;
      next = end + 1;
    }
  });
}

/** The elements of the array that begins at `at`. */
function elementsIn(bytes: Uint8Array, at: number): readonly ByteRange[] {
  const elements: ByteRange[] = [];
  if (bytes[at] !== openBracket) throw notCompact;
  if (bytes[at + 1] === closeBracket) return elements;
  for (let start = at + 1; ; ) {
    const end = valueEnd(bytes, start);
    elements.push({ start, end });
    if (bytes[end] === closeBracket) return elements;
    if (bytes[end] !== comma) throw notCompact;
    start = end + 1;
  }
}

/** The canonical form of the value that fills the bytes, as ranges to join. Undefined if a member named `without` would have to be removed. */
export function canonicalOrder(bytes: Uint8Array, without: string): readonly number[] | undefined {
  return compactOnly(() => {
    const reader = orderReader(bytes, without);
    const order = reader.value(0, 0);
    if (reader.end() !== bytes.length) throw notCompact;
    return order ?? [0, bytes.length];
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

/** Reads values and their order; undefined if canonical. Long because its functions share one position, in the innermost loop of a proof. */
function orderReader(bytes: Uint8Array, without: string): { value(at: number, depth: number): readonly number[] | undefined; end(): number } {
  let end = 0;

  const value = (at: number, depth: number): readonly number[] | undefined => {
    if (depth > deepest) throw notCompact;
    const first = bytes[at];
    if (first === openBrace) return object(at, depth);
    if (first === openBracket) return array(at, depth);
    end = first === quote ? stringEnd(bytes, at) : plainEnd(bytes, at);
    return undefined;
  };

  const object = (at: number, depth: number): readonly number[] | undefined => {
    if (bytes[at + 1] === closeBrace) {
      end = at + 2;
      return undefined;
    }
    const members: Member[] = [];
    let isSorted = true;
    let isPlain = true;
    for (let next = at + 1; ; next = end + 1) {
      if (bytes[next] !== quote) throw notCompact;
      const keyEnd = stringEnd(bytes, next);
      if (bytes[keyEnd] !== colon || isKey(bytes, next, keyEnd, without)) throw notCompact;
      const order = value(keyEnd + 1, depth + 1);
      const member = { start: next, valueStart: keyEnd + 1, end, order };
      const before = members.at(-1);
      if (before && compareKeys(bytes, before, member) >= 0) isSorted = false;
      if (order) isPlain = false;
      members.push(member);
      if (bytes[end] === closeBrace) break;
      if (bytes[end] !== comma) throw notCompact;
    }
    end += 1;
    if (isSorted && isPlain) return undefined;
    const sorted = isSorted ? members : members.toSorted((a, b) => compareKeys(bytes, a, b));
    return joined(at, end, members, sorted);
  };

  const joined = (at: number, close: number, members: readonly Member[], sorted: readonly Member[]): readonly number[] => {
    const order: number[] = [];
    append(order, at, at + 1);
    let before: Member | undefined;
    for (const member of sorted) {
      if (before) {
        if (compareKeys(bytes, before, member) === 0) throw notCompact;
        // Any comma will do. The comma after the previous member often joins all three ranges into one.
        const place = bytes[before.end] === comma ? before.end : (members[0] as Member).end;
        append(order, place, place + 1);
      }
      append(order, member.start, member.valueStart);
      appendAll(order, member.valueStart, member.end, member.order);
      before = member;
    }
    append(order, close - 1, close);
    return order;
  };

  const array = (at: number, depth: number): readonly number[] | undefined => {
    if (bytes[at + 1] === closeBracket) {
      end = at + 2;
      return undefined;
    }
    let order: number[] | undefined;
    let done = at;
    for (let start = at + 1; ; start = end + 1) {
      const element = value(start, depth + 1);
      if (element) {
        order ??= [];
        append(order, done, start);
        appendAll(order, start, end, element);
        done = end;
      }
      if (bytes[end] === closeBracket) break;
      if (bytes[end] !== comma) throw notCompact;
    }
    end += 1;
    if (order) append(order, done, end);
    return order;
  };

  return { value, end: () => end };
}

function appendAll(order: number[], start: number, end: number, value: readonly number[] | undefined): void {
  if (!value) append(order, start, end);
  else for (let index = 0; index < value.length; index += 2) append(order, value[index] as number, value[index + 1] as number);
}

function append(order: number[], start: number, end: number): void {
  if (start === end) return;
  if (order.length && order[order.length - 1] === start) order[order.length - 1] = end;
  else order.push(start, end);
}

/** The end of the value that begins at `at`, found by its brackets. */
function valueEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === quote) return stringEnd(bytes, at);
  if (first !== openBrace && first !== openBracket) return plainEnd(bytes, at);
  let depth = 0;
  for (let next = at; next < bytes.length; ) {
    const byte = bytes[next];
    if (byte === quote) {
      next = stringEnd(bytes, next);
      continue;
    }
    next += 1;
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) return next;
    }
  }
  throw notCompact;
}

/** Strings up to this length are scanned byte by byte. Most are short, and a call costs more than a few bytes. */
const shortString = 32;

function stringEnd(bytes: Uint8Array, at: number): number {
  const near = Math.min(at + shortString, bytes.length);
  let next = at + 1;
  for (; next < near; next += 1) {
    const byte = bytes[next];
    if (byte === quote) return next + 1;
    if (byte === backslash) next += 1;
  }
  // An escaped quote does not end the string. The number of backslashes before the quote shows whether it is escaped.
  for (let end = bytes.indexOf(quote, next); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  throw notCompact;
}

/** The end of a number or name. Its spelling is not checked here; the hash covers it. */
function plainEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] as number;
    if (byte === comma || byte === closeBrace || byte === closeBracket) break;
    const known =
      (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x2e || byte === 0x2b || byte === 0x2d || byte === 0x45;
    if (!known) throw notCompact;
  }
  if (end === at) throw notCompact;
  return end;
}

/** Compares keys in the order of canonical JSON, by UTF-16 code unit. For ASCII that is byte order. */
function compareKeys(bytes: Uint8Array, a: Member, b: Member): number {
  const [aEnd, bEnd] = [a.valueStart - 2, b.valueStart - 2];
  for (let [x, y] = [a.start + 1, b.start + 1]; ; x += 1, y += 1) {
    if (x === aEnd || y === bEnd) {
      if (x === aEnd && y === bEnd) return 0;
      if (isAscii(bytes, a) && isAscii(bytes, b)) return x === aEnd ? -1 : 1;
      break;
    }
    const [left, right] = [bytes[x] as number, bytes[y] as number];
    if (left === right) continue;
    if (isAscii(bytes, a) && isAscii(bytes, b)) return left - right;
    break;
  }
  const [left, right] = [decodeKey(bytes, a.start, a.valueStart - 1), decodeKey(bytes, b.start, b.valueStart - 1)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function isAscii(bytes: Uint8Array, { start, valueStart }: Member): boolean {
  for (let at = start + 1; at < valueStart - 2; at += 1) {
    const byte = bytes[at] as number;
    if (byte >= 0x80 || byte === backslash) return false;
  }
  return true;
}

/** Whether the key between these quotes is the name, which is ASCII. */
function isKey(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  let at = 0;
  const length = end - start - 2;
  while (at < name.length && at < length && bytes[start + 1 + at] === name.charCodeAt(at)) at += 1;
  if (at === name.length && at === length) return true;
  // The key differs here. It can still be equal to the name only if an escape begins here.
  return bytes[start + 1 + at] === backslash && decodeKey(bytes, start, end) === name;
}

/** The string that fills the range, quotes included; undefined for another value. */
export function stringIn(bytes: Uint8Array, range: ByteRange | undefined): string | undefined {
  if (!range || bytes[range.start] !== quote) return undefined;
  for (let at = range.start + 1; at < range.end - 1; at += 1) {
    const byte = bytes[at] as number;
    if (byte === backslash || byte < 0x20 || byte >= 0x80) return parsedString(bytes, range);
  }
  return latin1.call(bytes, range.start + 1, range.end - 1);
}

/** ASCII text, such as names and hashes, is decoded directly. For this many strings that is faster than a decoder. */
const latin1 = Buffer.prototype.latin1Slice as (this: Uint8Array, start: number, end: number) => string;

function parsedString(bytes: Uint8Array, { start, end }: ByteRange): string | undefined {
  const value = parseJson(decodeText(bytes.subarray(start, end)));
  return typeof value === 'string' ? value : undefined;
}

function decodeKey(bytes: Uint8Array, start: number, end: number): string {
  const key = parsedString(bytes, { start, end });
  if (key === undefined) throw notCompact;
  return key;
}
