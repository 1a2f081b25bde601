// Files of one JSON record a line, whichever runtime wrote them: records with their byte ranges, torn lines split, half a last line left.
import { isUtf8 } from 'node:buffer';
import { type ByteRange, isObject, type Json, type JsonObject, parseInstant, parseJson, type Timestamp, timestampOf } from '../base/index.js';
import type { FileBytes, Lines, Problem } from './format.js';

/**
 * One record of a JSONL file: `range` covers the bytes from the end of the record before it to its own end, newline
 * included, so that the ranges of a file have no gaps and no overlaps.
 */
export interface Piece {
  readonly line: number;
  readonly range: ByteRange;
  /** The record; absent for a blank line, a request record and what could not be read. */
  readonly record?: JsonObject;
  readonly sort: 'record' | 'blank' | 'request' | 'torn' | 'half';
  /** What a torn line still tells of its place in the tree, so that its children find their grandparent. */
  readonly ghost?: { readonly uuid: string; readonly parentUuid: string | null };
}

/** The first line that the store has not taken in yet, `resumeAt` being the byte up to which it has: problems before it were told before. */
export const firstNewLine = (pieces: readonly Pick<Piece, 'line' | 'range'>[], resumeAt: number): number =>
  pieces.find(({ range }) => range.start >= resumeAt)?.line ?? Number.POSITIVE_INFINITY;

export interface Scan extends Seen {
  readonly pieces: readonly Piece[];
}

/** What a scan says beside the pieces. */
export interface Seen {
  readonly skipped: readonly Problem[];
  readonly notes: readonly Problem[];
  /** Where a half last line begins, else the length of the file. */
  readonly end: number;
}

/** How one runtime's records look, for lines that are not read whole. */
export interface Dialect {
  /** The first bytes of records that are hashed and kept, never read: what comes back as a `request`. */
  readonly requestPrefix?: Buffer;
  readonly isRequest?: (record: JsonObject) => boolean;
  /** Where a record may begin in a torn line: a bracket and a key that records begin with; global, so that it can be restarted. */
  readonly beginning: RegExp;
  /** A record found inside a torn line is one, and not a part of one that the line was cut out of. */
  readonly isWhole: (record: JsonObject) => boolean;
  readonly ghostIn?: (fragment: string) => Piece['ghost'];
}

const newline = 0x0a;
/** More fragments than this on one torn line are not looked for: a hostile line must not cost its square. */
const mostFragments = 64;

/** V8 holds no longer text, so that no longer line can be read. */
const longestText = 2 ** 29 - 64;

export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export interface ScanOptions {
  /** What the last line holds that is no whole record is left alone: its end may come yet. */
  readonly mayGrow?: boolean;
  /** What is kept of a record whose piece ends at `end`: most of a file's bytes are needed by nobody once they are read. */
  readonly keep?: (record: JsonObject, end: number) => Pick<Piece, 'record'>;
  /** So many bytes of a file that is not in memory are looked at together; a longer line is taken whole. */
  readonly part?: number;
  /** Where in the file the first line begins that is looked at; lines are counted from there. */
  readonly begin?: number;
}

const usualPart = 4 * 1024 * 1024;

/** Splits a file into records; never throws for what the bytes hold. */
export function scanJsonl(file: FileBytes, dialect: Dialect, { keep, ...options }: ScanOptions = {}): Scan {
  const pieces: Piece[] = [];
  const seen = eachPiece(file, dialect, options, (piece) => {
    pieces.push(keep && piece.record ? withoutRecord(piece, keep(piece.record, piece.range.end)) : piece);
  });
  return { pieces, ...seen };
}

const withoutRecord = ({ record: _, ...piece }: Piece, kept: Pick<Piece, 'record'>): Piece => ({ ...piece, ...kept });

/** The same for who keeps none of the pieces: each is told of as it is read, in file order. */
export function eachPiece(
  file: FileBytes,
  dialect: Dialect,
  { mayGrow = false, part = usualPart, begin = 0 }: Omit<ScanOptions, 'keep'>,
  tell: (piece: Piece) => void,
): Seen {
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  let line = 0;
  let end = file.length;
  for (const { buffer, base } of wholeLines(file, part, begin)) {
    const sound = isUtf8(buffer);
    for (let start = 0; start < buffer.length; ) {
      line++;
      const at = buffer.indexOf(newline, start);
      const stop = at < 0 ? buffer.length : at + 1;
      // Nothing but the first line can begin with a byte order mark.
      const from = base + start === 0 && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 3 : start;
      const range = { start: base + start, end: base + stop };
      const request = isRequestRecord(buffer, from, stop, dialect);
      const record = request || (!sound && !isUtf8(buffer.subarray(from, stop))) ? undefined : recordIn(buffer, from, stop);
      if (record !== undefined && isTooDeep(record, stop - from)) {
        tell({ line, range, sort: 'torn' });
        skipped.push({ line, reason: tooDeep });
      } else if (record !== undefined) tell({ line, range, record, sort: dialect.isRequest?.(record) ? 'request' : 'record' });
      else if (request) tell({ line, range, sort: 'request' });
      else if (isBlank(buffer, from, stop)) tell({ line, range, sort: 'blank' });
      else if (at < 0 && mayGrow) {
        tell({ line, range, sort: 'half' });
        skipped.push({ line, reason: `half a last line of ${stop - start} bytes, without its end: left for the next import` });
        end = range.start;
      } else {
        const torn = splitTorn(buffer, line, from, { start, end: stop }, dialect);
        for (const piece of torn.pieces) tell({ ...piece, range: { start: base + piece.range.start, end: base + piece.range.end } });
        skipped.push(...torn.skipped);
        notes.push(...torn.notes);
      }
      start = stop;
    }
  }
  return { skipped, notes, end };
}

/** The record of a piece that was found in a scan of the same file. @throws where the file is not what it was. */
export function recordOf(file: FileBytes, { start, end }: ByteRange, dialect: Dialect): JsonObject {
  const bytes = bufferOf(file.subarray(start, end));
  const record = recordIn(bytes, 0, bytes.length) ?? scanJsonl(bytes, dialect).pieces.find((piece) => piece.record !== undefined)?.record;
  if (!record) throw new Error(`the file has changed while it was read: no record stands at ${start} any more`);
  return record;
}

/** The file in stretches of whole lines of about so many bytes; bytes that are in memory anyway are one stretch. */
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

/** Whether the bytes begin and end as an object does: to try what cannot be one costs more than to read what is. */
function isBracketed(buffer: Buffer, start: number, end: number): boolean {
  let first = start;
  while (first < end && isSpace(buffer[first])) first++;
  let last = end - 1;
  while (last > first && isSpace(buffer[last])) last--;
  return first < last && buffer[first] === 0x7b && buffer[last] === 0x7d;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === newline;

/** A request record of the usual spelling, told by its first bytes: it is hashed and kept, never read here. */
function isRequestRecord(buffer: Buffer, start: number, end: number, { requestPrefix }: Dialect): boolean {
  if (
    !requestPrefix ||
    end - start < requestPrefix.length + 2 ||
    buffer.compare(requestPrefix, 0, requestPrefix.length, start, start + requestPrefix.length) !== 0
  )
    return false;
  let last = end - 1;
  while (last > start && (buffer[last] === newline || buffer[last] === 0x0d)) last--;
  // `}{"` cannot stand between two members: either a text holds it, or two records share the line; both are read in full.
  return buffer[last] === 0x7d && buffer.subarray(start, end).indexOf('}{"') < 0;
}

function isBlank(buffer: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isSpace(buffer[at])) return false;
  return true;
}

/** Several records on one line, or parts of them: what is whole is kept, the rest is named. */
function splitTorn(buffer: Buffer, line: number, from: number, whole: ByteRange, dialect: Dialect): Omit<Scan, 'end'> {
  const pieces: Piece[] = [];
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  if (whole.end - from > longestText) {
    pieces.push({ line, range: whole, sort: 'torn' });
    skipped.push({ line, reason: `a line of ${whole.end - from} bytes, more than a text can hold` });
    return { pieces, skipped, notes };
  }
  // One character a byte: structure is ASCII, so that positions in it are offsets in the buffer.
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
  for (let tries = 0; tries < mostFragments && at < text.length; tries++) {
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
  if (records > 1) notes.push({ line, reason: `${records} records on one line: each is read` });
  return { pieces, skipped, notes };
}

function reasonFor(bytes: Buffer, fragment: string): string {
  if (bytes.includes(0)) return 'NUL bytes where a record should be';
  if (!isUtf8(bytes)) return 'not UTF-8';
  const start = fragment.trimStart();
  if (!start.startsWith('{'))
    return parseJson(bytes.length < 1_000_000 ? bytes.toString('utf8') : '') === undefined ? 'not JSON' : 'JSON, but no record';
  return 'a torn record: its end is missing or overwritten';
}

/** The end of the object or list that begins at `start` in a text of one character a byte, or -1 where its brackets do not close. */
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
/** Where the quote stands that ends the string whose text begins at `start`, or -1. */
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

/** Records as lines, with the scan of these: what has just been written need not be read to know what stands there. */
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

/** Deltas one after the other, each ended by a newline: one is added where it is missing, none where it is there (decisions, rule 8). */
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

/**
 * The same, a part at a time: for conversations that need not fit into memory. Each delta is given as its parts, since only between two
 * deltas a line ends: a part may end in the middle of one.
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

/** Adds a range to those that come before it in the file; one that goes on from the last makes it longer. */
export function addRange(ranges: ByteRange[], range: ByteRange): void {
  const last = ranges.at(-1);
  if (last && last.end === range.start) ranges[ranges.length - 1] = { start: last.start, end: range.end };
  else ranges.push({ start: range.start, end: range.end });
}

const usualTime = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** When the record says it was written, in the one form; undefined where it says nothing sensible. */
export function timeOf(record: JsonObject): Timestamp | undefined {
  const text = record.timestamp;
  if (typeof text !== 'string') return undefined;
  // The usual spelling is the one form already; a day that every month has needs no second look.
  if (usualTime.test(text)) return text as Timestamp;
  const ms = parseInstant(text);
  return ms === undefined ? undefined : timestampOf(ms);
}

/** Deeper than this no conversation nests; whoever walks what does runs out of stack. */
const deepestRecord = 500;
const tooDeep = `a record that nests more than ${deepestRecord} deep`;

/** Each level takes two brackets: most records are too short to nest deep. */
const isTooDeep = (record: JsonObject, length: number): boolean => length > 2 * deepestRecord && isDeep(record);

/** The value of a text; undefined where it is not JSON, or nests deeper than can be walked. */
export function parseShallow(text: string): Json | undefined {
  const value = parseJson(text);
  return isDeep(value) ? undefined : value;
}

/** Whether a value nests deeper than can be walked. */
export const isDeep = (value: unknown): boolean => nestsBeyond(value, deepestRecord);

function nestsBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels < 0) return true;
  if (Array.isArray(value)) return value.some((one) => nestsBeyond(one, levels - 1));
  for (const key in value) if (nestsBeyond((value as JsonObject)[key], levels - 1)) return true;
  return false;
}
