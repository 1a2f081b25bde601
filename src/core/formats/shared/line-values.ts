// Values in the bytes of a line: records, and where they end.
import { attempt, isObject, type JsonObject } from '../../base/index.js';

const newline = 0x0a;

/** The object in the bytes; undefined if they are anything else. */
export function recordIn(buffer: Buffer, start: number, end: number): JsonObject | undefined {
  if (!isBracketed(buffer, start, end)) return undefined;
  const value = attempt((): unknown => JSON.parse(buffer.toString('utf8', start, end)));
  return isObject(value) ? value : undefined;
}

/** Whether the bytes begin and end like an object. This is cheaper than trying to parse them. */
function isBracketed(buffer: Buffer, start: number, end: number): boolean {
  let first = start;
  while (first < end && isSpace(buffer[first])) first++;
  let last = end - 1;
  while (last > first && isSpace(buffer[last])) last--;
  return first < last && buffer[first] === 0x7b && buffer[last] === 0x7d;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === newline;

/** Whether the bytes are only spaces. */
export function isBlank(buffer: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isSpace(buffer[at])) return false;
  return true;
}

/** The end of the object or list that begins at `start` in a text with one character for each byte; -1 if its brackets do not close. */
export function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at + 1);
      if (at < 0) return -1;
    } else if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) {
      depth--;
      if (depth === 0) return at + 1;
      if (depth < 0) return -1;
    }
  }
  return -1;
}
/** The closing quote of the string whose text begins at `start`; -1 if it has none. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** No conversation nests deeper than this, and deeper values would exhaust the stack. */
const deepestRecord = 500;
/** Why a record is not read. */
export const tooDeep = `the record nests more than ${deepestRecord} levels deep`;

/** Each level takes two brackets, and most records are too short to nest deep. */
export const isTooDeep = (record: JsonObject, length: number): boolean => length > 2 * deepestRecord && isDeep(record);

/** Whether a value nests too deeply to be walked. */
export const isDeep = (value: unknown): boolean => nestsBeyond(value, deepestRecord);

function nestsBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels < 0) return true;
  if (Array.isArray(value)) return value.some((one) => nestsBeyond(one, levels - 1));
  for (const key in value) if (nestsBeyond((value as JsonObject)[key], levels - 1)) return true;
  return false;
}
