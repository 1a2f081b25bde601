// Reads files with one JSON record per line, of any agent: byte ranges for each record, torn lines split, an incomplete last line left for later.
import { isUtf8 } from 'node:buffer';
import {
  type ByteRange,
  bytesOf,
  isObject,
  type Json,
  type JsonObject,
  parseInstant,
  parseJson,
  type Timestamp,
  timestampOf,
} from '../../base/index.js';
import type { FileBytes, Lines, Piece, Scan, Seen } from '../lines.js';
import type { Problem } from '../parsed.js';

export type { Piece, Scan, Seen } from '../lines.js';

/** The first line that the store does not have yet. Earlier imports reported the problems before it. */
export const firstNewLine = (pieces: readonly Pick<Piece, 'line' | 'range'>[], resumeAt: number): number =>
  pieces.find(({ range }) => range.start >= resumeAt)?.line ?? Number.POSITIVE_INFINITY;

/** The form of one agent's records, for lines that are not read completely. */
export interface Dialect {
  /** The first bytes of records that are hashed and kept but never read. They are returned as `request`. */
  readonly requestPrefix?: Buffer;
  readonly isRequest?: (record: JsonObject) => boolean;
  /** Where a record can begin in a torn line: a bracket and a first key. Global, so that a search can continue. */
  readonly beginning: RegExp;
  /** Whether a record found in a torn line is a whole record and not a part of one. */
  readonly isWhole: (record: JsonObject) => boolean;
  readonly ghostIn?: (fragment: string) => Piece['ghost'];
}

const newline = 0x0a;
/** The most fragments to search in a torn line, because the search takes quadratic time. */
const maxFragments = 64;

/** V8 cannot hold a longer text, so a longer line cannot be read. */
const maxTextLength = 2 ** 29 - 64;

/** A view of the bytes as a Buffer, without a copy. */
export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export interface ScanOptions {
  /** An incomplete last line is left alone, because its end may still be written. */
  readonly mayGrow?: boolean;
  /** Returns the part to keep of a record whose piece ends at `end`. Most records are not needed after they were read. */
  readonly keep?: (record: JsonObject, end: number) => Pick<Piece, 'record'>;
  /** The number of bytes to read at a time from a file that is not in memory. A longer line is read completely. */
  readonly part?: number;
  /** The byte at which the first line to read begins. Lines are counted from there. */
  readonly begin?: number;
}

const defaultPartSize = 4 * 1024 * 1024;

/** The error for a file with so many lines that it would fill the memory. The import refuses the file with this message. */
export class TooManyLines extends Error {}
/** The most lines of a file, far more than any session has. */
export const maxLines = 1_000_000;
/** A file with more problems than this is not a transcript. */
const maxProblems = 100_000;
/** After this number of problems, the rest are counted. */
const listedProblems = 1_000;

/** Splits a file into records. @throws TooManyLines, and nothing else for the content of the bytes. */
export function scanJsonl(file: FileBytes, dialect: Dialect, { keep, ...options }: ScanOptions = {}): Scan {
  const pieces: Piece[] = [];
  const seen = eachPiece(file, dialect, options, (piece) => {
    pieces.push(keep && piece.record ? withoutRecord(piece, keep(piece.record, piece.range.end)) : piece);
  });
  return { pieces, ...seen };
}

const withoutRecord = ({ record: _, ...piece }: Piece, kept: Pick<Piece, 'record'>): Piece => ({ ...piece, ...kept });

/** Calls `tell` with each piece, in file order, for callers that keep no pieces. */
export function eachPiece(
  file: FileBytes,
  dialect: Dialect,
  { mayGrow = false, part = defaultPartSize, begin = 0 }: Omit<ScanOptions, 'keep'>,
  tell: (piece: Piece) => void,
): Seen {
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  let line = 0;
  let end = file.length;
  for (const { buffer, base } of wholeLines(file, part, begin)) {
    const isSound = isUtf8(buffer);
    for (let start = 0, stop = 0; start < buffer.length; start = stop) {
      refuseTooMany(++line, skipped.length);
      const at = buffer.indexOf(newline, start);
      stop = at < 0 ? buffer.length : at + 1;
      const from = base + start === 0 && hasByteOrderMark(buffer) ? 3 : start;
      const range = { start: base + start, end: base + stop };
      const whole = wholeLine(buffer, from, stop, isSound, dialect);
      if (whole) {
        tell({ line, range, ...whole });
        if (whole.sort === 'torn') skipped.push({ line, reason: tooDeep });
      } else if (at < 0 && mayGrow) {
        tell({ line, range, sort: 'half' });
        skipped.push({ line, reason: `the last line is incomplete (${stop - start} bytes): left for the next import` });
        end = range.start;
      } else {
        const torn = splitTorn(buffer, line, from, { start, end: stop }, dialect);
        for (const piece of torn.pieces) tell({ ...piece, range: { start: base + piece.range.start, end: base + piece.range.end } });
        skipped.push(...torn.skipped);
        notes.push(...torn.notes);
      }
    }
  }
  return { skipped: shortened(skipped), notes: shortened(notes), end };
}

function refuseTooMany(lines: number, problems: number): void {
  if (lines > maxLines) throw new TooManyLines(`it has more than ${maxLines} lines`);
  if (problems > maxProblems) throw new TooManyLines(`more than ${maxProblems} of its lines are not records`);
}

/** A line that is one record, a request or blank. `torn` is a record that is nested too deep. Undefined for anything else. */
function wholeLine(buffer: Buffer, from: number, stop: number, isSound: boolean, dialect: Dialect): Pick<Piece, 'record' | 'sort'> | undefined {
  if (isRequestRecord(buffer, from, stop, dialect)) return { sort: 'request' };
  const record = isSound || isUtf8(buffer.subarray(from, stop)) ? recordIn(buffer, from, stop) : undefined;
  if (record === undefined) return isBlank(buffer, from, stop) ? { sort: 'blank' } : undefined;
  if (isTooDeep(record, stop - from)) return { sort: 'torn' };
  return { record, sort: dialect.isRequest?.(record) ? 'request' : 'record' };
}

const hasByteOrderMark = (buffer: Buffer): boolean => buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf;

function shortened(problems: readonly Problem[]): readonly Problem[] {
  const rest = problems.length - listedProblems;
  if (rest <= 0) return problems;
  return [
    ...problems.slice(0, listedProblems),
    { line: problems[listedProblems]?.line ?? 0, reason: `${rest} more problems of this kind, from this line on` },
  ];
}

/** The record at a range that an earlier scan of the same file found. @throws Error if the file has changed since. */
export function recordOf(file: FileBytes, { start, end }: ByteRange, dialect: Dialect): JsonObject {
  const bytes = bufferOf(file.subarray(start, end));
  const record = recordIn(bytes, 0, bytes.length) ?? scanJsonl(bytes, dialect).pieces.find((piece) => piece.record !== undefined)?.record;
  if (!record) throw new Error(`the file changed while it was read: byte ${start} no longer begins a record`);
  return record;
}

/** The file in parts of whole lines of about `part` bytes. A file in memory is one part. */
function* wholeLines(file: FileBytes, part: number, begin: number): Generator<{ readonly buffer: Buffer; readonly base: number }> {
  if (file instanceof Uint8Array) return yield { buffer: bufferOf(file).subarray(begin), base: begin };
  let length = part;
  for (let base = begin; base < file.length; ) {
    const buffer = bufferOf(file.subarray(base, Math.min(base + length, file.length)));
    const isLast = base + buffer.length === file.length;
    const end = isLast ? buffer.length : buffer.lastIndexOf(newline) + 1;
    length = end > 0 ? part : length * 2;
    if (end > 0) yield { buffer: buffer.subarray(0, end), base };
    base += end;
  }
}

function recordIn(buffer: Buffer, start: number, end: number): JsonObject | undefined {
  if (!isBracketed(buffer, start, end)) return undefined;
  try {
    const value: unknown = JSON.parse(buffer.toString('utf8', start, end));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
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

/** Whether the bytes begin like a request record of the usual spelling. It is hashed and kept, never read. */
function isRequestRecord(buffer: Buffer, start: number, end: number, { requestPrefix }: Dialect): boolean {
  if (
    !requestPrefix ||
    end - start < requestPrefix.length + 2 ||
    buffer.compare(requestPrefix, 0, requestPrefix.length, start, start + requestPrefix.length) !== 0
  )
    return false;
  let last = end - 1;
  while (last > start && (buffer[last] === newline || buffer[last] === 0x0d)) last--;
  // `}{"` cannot occur between two fields. Either a text contains it, or two records share the line; both are read in full.
  return buffer[last] === 0x7d && buffer.subarray(start, end).indexOf('}{"') < 0;
}

function isBlank(buffer: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isSpace(buffer[at])) return false;
  return true;
}

/** Splits a line with several records or parts of records. Whole records are kept, the rest is named. */
function splitTorn(buffer: Buffer, line: number, from: number, whole: ByteRange, dialect: Dialect): Omit<Scan, 'end'> {
  const pieces: Piece[] = [];
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  if (whole.end - from > maxTextLength) {
    pieces.push({ line, range: whole, sort: 'torn' });
    skipped.push({ line, reason: `the line has ${whole.end - from} bytes, which is too long to read` });
    return { pieces, skipped, notes };
  }
  // One character for each byte: JSON structure is ASCII, so positions in the text are offsets in the buffer.
  const text = buffer.toString('latin1', from, whole.end);
  let done = whole.start;
  let at = 0;
  let records = 0;
  const torn = (end: number): void => {
    if (end <= done) return;
    const fragment = buffer.toString('utf8', done, Math.min(end, done + 4_096));
    const ghost = dialect.ghostIn?.(fragment);
    pieces.push({ line, range: { start: done, end }, sort: 'torn', ...(ghost ? { ghost } : {}) });
    skipped.push({ line, reason: reasonFor(buffer.subarray(done, end), fragment) });
    done = end;
  };
  for (let tries = 0; tries < maxFragments && at < text.length; tries++) {
    const begin = text[at] === '{' ? at : restart(text, at, dialect);
    if (begin < 0) break;
    const close = endOfValue(text, begin);
    const found = close < 0 || !isUtf8(buffer.subarray(from + begin, from + close)) ? undefined : recordIn(buffer, from + begin, from + close);
    const isRecord = found && (begin === 0 || begin === done - from || dialect.isWhole(found));
    const record = isRecord && !isTooDeep(found, close - begin) ? found : undefined;
    if (!record) {
      at = begin + 1;
      continue;
    }
    if (text.slice(Math.max(done - from, 0), begin).trim() !== '') torn(from + begin);
    const rest = text.slice(close).trim() === '' ? whole.end : from + close;
    pieces.push({ line, range: { start: done, end: rest }, record, sort: dialect.isRequest?.(record) ? 'request' : 'record' });
    records++;
    done = rest;
    at = close;
  }
  if (done < whole.end) torn(whole.end);
  if (records > 1) notes.push({ line, reason: `${records} records on one line: all are read` });
  return { pieces, skipped, notes };
}

function reasonFor(bytes: Buffer, fragment: string): string {
  if (bytes.includes(0)) return 'NUL bytes where a record should be';
  if (!isUtf8(bytes)) return 'not UTF-8';
  const start = fragment.trimStart();
  if (!start.startsWith('{'))
    return parseJson(bytes.length < 1_000_000 ? bytes.toString('utf8') : '') === undefined ? 'not JSON' : 'JSON, but not a record';
  return 'a torn record: its end is missing or overwritten';
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

function restart(text: string, from: number, { beginning }: Dialect): number {
  beginning.lastIndex = from;
  return beginning.exec(text)?.index ?? -1;
}

/** Writes records as lines, together with their scan, so that new lines need not be read again. */
export function writeLines(records: readonly JsonObject[]): Required<Lines> {
  const texts = records.map((record) => `${JSON.stringify(record)}\n`);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 0));
  const skipped: Problem[] = [];
  let end = 0;
  const pieces = records.map((record, at): Piece => {
    const start = end;
    end += bytes.write(texts[at] as string, start);
    const place = { line: at + 1, range: { start, end } };
    if (!isTooDeep(record, end - start)) return { ...place, record, sort: 'record' };
    skipped.push({ line: place.line, reason: tooDeep });
    return { ...place, sort: 'torn' };
  });
  return { bytes, scan: { pieces, skipped, notes: [], end } };
}

/** Joins deltas so that each ends with exactly one newline. */
export function concatLines(deltas: readonly Uint8Array[]): Uint8Array {
  const present = deltas.filter((delta) => delta.length > 0);
  const size = present.reduce((sum, delta) => sum + delta.length + 1, 0);
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  present.forEach((delta, index) => {
    whole.set(delta, at);
    at += delta.length;
    if (delta[delta.length - 1] !== 0x0a && index < present.length - 1) whole[at++] = 0x0a;
  });
  return whole.subarray(0, at);
}

/** The delta up to the record at a range, with a shorter record in its place if there is one. */
export const cutAt = (delta: Uint8Array, { start, end }: ByteRange, shorter: JsonObject | undefined): Uint8Array =>
  shorter === undefined ? delta.slice(0, end) : concatLines([delta.slice(0, start), bytesOf(`${JSON.stringify(shorter)}\n`)]);

/**
 * Joins deltas a part at a time, for conversations that do not fit into memory. Each delta comes as its parts, because only deltas end with
 * a newline; a part can end inside of a line.
 */
export function* concatLineParts(deltas: Iterable<Iterable<Uint8Array>>): Generator<Uint8Array> {
  let isOpen = false;
  for (const parts of deltas) {
    let isFirst = true;
    for (const part of parts) {
      if (part.length === 0) continue;
      if (isFirst && isOpen) yield lineEnd;
      yield part;
      isFirst = false;
      isOpen = part[part.length - 1] !== newline;
    }
  }
}
const lineEnd = Uint8Array.of(newline);

/** Appends a range, extending the last range where the new one continues it. */
export function addRange(ranges: ByteRange[], range: ByteRange): void {
  const last = ranges.at(-1);
  if (last && last.end === range.start) ranges[ranges.length - 1] = { start: last.start, end: range.end };
  else ranges.push({ start: range.start, end: range.end });
}

const commonTime = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** The time at which the record says it was written; undefined where it names no valid time. */
export function timeOf(record: JsonObject): Timestamp | undefined {
  const text = record.timestamp;
  if (typeof text !== 'string') return undefined;
  // The usual spelling is normalized already. Days up to 28 exist in every month and need no check.
  if (commonTime.test(text)) return text as Timestamp;
  const ms = parseInstant(text);
  return ms === undefined ? undefined : timestampOf(ms);
}

/** No conversation nests deeper than this, and deeper values would exhaust the stack. */
const deepestRecord = 500;
/** Why a record is not read. */
export const tooDeep = `the record nests more than ${deepestRecord} levels deep`;

/** Each level takes two brackets, and most records are too short to nest deep. */
const isTooDeep = (record: JsonObject, length: number): boolean => length > 2 * deepestRecord && isDeep(record);

/** Parses JSON; undefined if the text is invalid or nests too deeply. */
export function parseShallow(text: string): Json | undefined {
  const value = parseJson(text);
  return isDeep(value) ? undefined : value;
}

/** Whether a value nests too deeply to be walked. */
export const isDeep = (value: unknown): boolean => nestsBeyond(value, deepestRecord);

function nestsBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels < 0) return true;
  if (Array.isArray(value)) return value.some((one) => nestsBeyond(one, levels - 1));
  for (const key in value) if (nestsBeyond((value as JsonObject)[key], levels - 1)) return true;
  return false;
}
