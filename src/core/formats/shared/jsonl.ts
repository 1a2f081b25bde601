// Reads files with one JSON record per line, of any agent: byte ranges for each record, torn lines split, an incomplete last line left for later.
import { isUtf8 } from 'node:buffer';
import { type ByteRange, encodeText, type Json, type JsonObject, parseInstant, parseJson, type Timestamp, toTimestamp } from '../../base/index.js';
import type { FileBytes, Lines, RecordPiece, Scan, Seen } from '../lines.js';
import type { Problem } from '../parsed.js';
import { CopyFinder, saidBefore } from './copies.js';
import { LineJoiner } from './joined-lines.js';
import { bufferOf, wholeLines } from './line-lumps.js';
import { isBlank, isDeep, isTooDeep, recordIn, tooDeep } from './line-values.js';
import { type Dialect, restOf } from './torn-lines.js';

export type { RecordPiece, Scan, Seen } from '../lines.js';
export { bufferOf } from './line-lumps.js';
export { endOfString, endOfValue, isDeep, tooDeep } from './line-values.js';
export type { Dialect } from './torn-lines.js';

/** The first line that the store does not have yet. Earlier imports reported the problems before it. */
export const firstNewLine = (pieces: readonly Pick<RecordPiece, 'line' | 'range'>[], resumeAt: number): number =>
  pieces.find(({ range }) => range.start >= resumeAt)?.line ?? Number.POSITIVE_INFINITY;

const newline = 0x0a;

export interface ScanOptions {
  /** An incomplete last line is left alone, because its end may still be written. */
  readonly mayGrow?: boolean;
  /** The number of bytes to read at a time from a file that is not in memory. A longer line is read completely. */
  readonly part?: number;
  /** The byte at which the first line to read begins. Lines are counted from there. */
  readonly begin?: number;
  /** Leaves out lines that say the same as an earlier one. Returns what tells a record from all others, if anything does. */
  readonly identity?: (record: JsonObject) => string | undefined;
}

const defaultPartSize = 4 * 1024 * 1024;

/** The error for a file with so many lines that it would fill the memory. The import refuses the file with this message. */
export class TooManyLines extends Error {}
/** The most lines of a file, far more than any session has. */
export const maxLines = 1_000_000;
/** A file with more problems than this is not a transcript. */
const maxProblems = 100_000;
const listedProblems = 1_000;

/** Splits a file into records. @throws TooManyLines, and nothing else for the content of the bytes. */
export function scanJsonl(file: FileBytes, dialect: Dialect, options: ScanOptions = {}): Scan {
  const pieces: RecordPiece[] = [];
  const seen = eachPiece(file, dialect, options, (piece) => pieces.push(piece));
  return { pieces, ...seen };
}

const moved = ({ start, end }: ByteRange, by: number): ByteRange => ({ start: start + by, end: end + by });

/** Calls `tell` with each piece, in file order, for callers that keep no pieces. */
export function eachPiece(
  file: FileBytes,
  dialect: Dialect,
  { mayGrow = false, part = defaultPartSize, begin = 0, identity }: ScanOptions,
  tell: (piece: RecordPiece) => unknown,
): Seen {
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  let line = 0;
  let end = file.length;
  const joiner = new LineJoiner();
  const copies = identity && new CopyFinder();
  const isCopy = copies && ((record: JsonObject, text: Buffer): boolean => copies.isNext(record, text, identity(record)));
  for (const { buffer, base, again } of wholeLines(file, part, begin)) {
    const isSound = isUtf8(buffer);
    for (let start = 0, stop = 0; start < buffer.length; start = stop) {
      refuseTooMany(++line, skipped.length);
      const at = buffer.indexOf(newline, start);
      stop = at < 0 ? buffer.length : at + 1;
      const from = base + start === 0 && hasByteOrderMark(buffer) ? 3 : start;
      const whole = wholeLine(buffer, { from, stop, isSound }, isCopy, dialect);
      if (whole) {
        tell({ line, range: moved({ start, end: stop }, base), ...whole });
        noteLine(whole.sort, line, { skipped, notes });
        continue;
      }
      const joined = joiner.joined(buffer, from, stop, (first, last) => recordIn(buffer, first, last) !== undefined);
      if (joined === 'more' && again(start)) {
        line--;
        break;
      }
      const rest = restOf(joined, buffer, { line, start, from, stop, isLast: at < 0, mayGrow }, dialect);
      for (const piece of rest.pieces) tell({ ...piece, range: moved(piece.range, base) });
      skipped.push(...rest.skipped);
      notes.push(...rest.notes);
      line += (rest.lines ?? 1) - 1;
      stop = rest.pieces.at(-1)?.range.end ?? stop;
      if (rest.pieces[0]?.sort === 'half') end = base + start;
    }
  }
  return { skipped: shortened(skipped), notes: shortened(notes), end };
}

function refuseTooMany(lines: number, problems: number): void {
  if (lines > maxLines) throw new TooManyLines(`it has more than ${maxLines} lines`);
  if (problems > maxProblems) throw new TooManyLines(`more than ${maxProblems} of its lines are not records`);
}

/**
 * A line that is one record, a request, blank or a copy. `torn` is a record that is nested too deep. Undefined for anything else. `isSound`: the buffer is
 * UTF-8. `isCopy` says whether the next record of the file, in these bytes, is a copy of an earlier one.
 */
function wholeLine(
  buffer: Buffer,
  { from, stop, isSound }: { readonly from: number; readonly stop: number; readonly isSound: boolean },
  isCopy: ((record: JsonObject, line: Buffer) => boolean) | undefined,
  dialect: Dialect,
): Pick<RecordPiece, 'record' | 'sort'> | undefined {
  if (isRequestRecord(buffer, from, stop, dialect)) return { sort: 'request' };
  const record = isSound || isUtf8(buffer.subarray(from, stop)) ? recordIn(buffer, from, stop) : undefined;
  if (record === undefined) return isBlank(buffer, from, stop) ? { sort: 'blank' } : undefined;
  if (isTooDeep(record, stop - from)) return { sort: 'torn' };
  if (isCopy?.(record, lineAt(buffer, from, stop))) return { sort: 'copy' };
  return { record, sort: dialect.isRequest?.(record) ? 'request' : 'record' };
}

/** Says why a line is not read. */
function noteLine(sort: RecordPiece['sort'], line: number, { skipped, notes }: { readonly skipped: Problem[]; readonly notes: Problem[] }): void {
  if (sort === 'torn') skipped.push({ line, reason: tooDeep });
  else if (sort === 'copy') notes.push({ line, reason: saidBefore });
}

/** The bytes of a line without its end. */
const lineAt = (buffer: Buffer, from: number, stop: number): Buffer =>
  buffer.subarray(from, stop - (buffer[stop - 1] === newline ? (buffer[stop - 2] === 0x0d ? 2 : 1) : 0));

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
export function recordInFile(file: FileBytes, { start, end }: ByteRange, dialect: Dialect): JsonObject {
  const bytes = bufferOf(file.subarray(start, end));
  const record = recordIn(bytes, 0, bytes.length) ?? scanJsonl(bytes, dialect).pieces.find((piece) => piece.record !== undefined)?.record;
  if (!record) throw new Error(`the file changed while it was read: byte ${start} no longer begins a record`);
  return record;
}

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

/** The records of the pieces, without requests. */
export const recordsOf = (pieces: readonly RecordPiece[]): JsonObject[] =>
  pieces.flatMap(({ record, sort }) => (record && sort === 'record' ? [record] : []));

/** Writes records as lines, together with their scan, so that new lines need not be read again. */
export function writeLines(records: readonly JsonObject[]): Required<Lines> {
  const texts = records.map((record) => `${JSON.stringify(record)}\n`);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 0));
  const skipped: Problem[] = [];
  let end = 0;
  const pieces = records.map((record, at): RecordPiece => {
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
export const concatLines = (deltas: readonly Uint8Array[]): Uint8Array => Buffer.concat([...concatLineParts(deltas.map((delta) => [delta]))]);

/** Values as JSON lines. */
export const encodeLines = (values: readonly object[]): Uint8Array => encodeText(values.map((value) => `${JSON.stringify(value)}\n`).join(''));

/** What formats of JSON lines have in common. */
export const ofLines = { contentType: 'application/jsonl', concat: concatLines } as const;

/** The delta up to the record at a range, with a shorter record in its place if there is one. */
export const cutAt = (delta: Uint8Array, { start, end }: ByteRange, shorter: JsonObject | undefined): Uint8Array =>
  shorter === undefined ? delta.slice(0, end) : concatLines([delta.slice(0, start), encodeLines([shorter])]);

/** Joins deltas in parts, for conversations larger than memory. Only deltas end with a newline; a part can end inside of a line. */
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

/** Ranges in their order, joined where one continues another. */
export function joinRanges(parts: Iterable<ByteRange>): readonly ByteRange[] {
  const ranges: ByteRange[] = [];
  for (const part of parts) addRange(ranges, part);
  return ranges;
}

/** Appends a range, extending the last range where the new one continues it. */
export function addRange(ranges: ByteRange[], range: ByteRange): void {
  const last = ranges.at(-1);
  if (last && last.end === range.start) ranges[ranges.length - 1] = { start: last.start, end: range.end };
  else ranges.push({ start: range.start, end: range.end });
}

const commonTime = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** The time at which the record says it was written; undefined where it names no valid time. */
export function readTime(record: JsonObject): Timestamp | undefined {
  const text = record.timestamp;
  if (typeof text !== 'string') return undefined;
  // The usual spelling is normalized already. Days up to 28 exist in every month and need no check.
  if (commonTime.test(text)) return text as Timestamp;
  const ms = parseInstant(text);
  return ms === undefined ? undefined : toTimestamp(ms);
}

/** Parses JSON; undefined if the text is invalid or nests too deeply. */
export function parseShallow(text: string): Json | undefined {
  const value = parseJson(text);
  return isDeep(value) ? undefined : value;
}
