import { type ByteRange, decodeText, firstWhere, isObject, type JsonObject, parseJson } from '../../base/index.js';
import type { FileBytes, Lines, RecordPiece, Scan } from '../lines.js';
import type { Problem } from '../parsed.js';
import { type Dialect, eachPiece, isDeep, maxLines, TooManyLines, tooDeep } from './jsonl.js';

/** From this size on, a file is not held in memory, and each of its records is read again on demand. */
export const maxWholeBytes = 32 * 1024 * 1024;

/** A piece whose record is read or made on demand. */
class LazyPiece implements RecordPiece {
  readonly sort = 'record';
  readonly line: number;
  readonly range: ByteRange;
  readonly #read: (piece: RecordPiece) => JsonObject;

  constructor({ line, range }: Omit<RecordPiece, 'sort'>, read: (piece: RecordPiece) => JsonObject) {
    this.line = line;
    this.range = range;
    this.#read = read;
  }

  get record(): JsonObject {
    return this.#read(this);
  }
}

/** Splits a large file into records that are read again on demand, so that only their positions are in memory. */
export function scanLazily(file: FileBytes, dialect: Dialect): Scan {
  const pieces: RecordPiece[] = [];
  const read = ({ range: { start, end } }: RecordPiece): JsonObject => {
    const value = parseJson(decodeText(file.subarray(start, end)).replace(/^\ufeff/, ''));
    return isObject(value) ? value : {};
  };
  const seen = eachPiece(file, dialect, { mayGrow: true }, ({ record: _, ...piece }) =>
    pieces.push(piece.sort === 'record' ? new LazyPiece(piece, read) : piece),
  );
  return { ...seen, pieces, isLazy: true };
}

/** Lines up to this size are made together, because they are often read together. */
const madeAtOnce = 1024 * 1024;

/** The lines of a conversation larger than memory: `recordAt` makes each record, always the same, when it is read. @throws TooManyLines */
export function linesOnDemand(count: number, recordAt: (number: number) => JsonObject): Lines {
  if (count > maxLines) throw new TooManyLines(`it has more than ${maxLines} records`);
  const ends = new Float64Array(count);
  const skipped: Problem[] = [];
  const pieces: RecordPiece[] = [];
  const read = ({ line }: RecordPiece): JsonObject => recordAt(line - 1);
  for (let number = 0, start = 0; number < count; number++) {
    const record = recordAt(number);
    const range = { start, end: start + Buffer.byteLength(JSON.stringify(record)) + 1 };
    const place = { line: number + 1, range };
    const isTorn = isDeep(record);
    pieces.push(isTorn ? { ...place, sort: 'torn' } : new LazyPiece(place, read));
    if (isTorn) skipped.push({ line: place.line, reason: tooDeep });
    start = range.end;
    ends[number] = start;
  }
  const length = ends.at(-1) ?? 0;
  return { bytes: bytesOnDemand(ends, recordAt), scan: { pieces, skipped, notes: [], end: length, isLazy: true } };
}

/** The bytes of the lines, in a buffer that is reused. */
function bytesOnDemand(ends: Float64Array, recordAt: (number: number) => JsonObject): FileBytes {
  const startOf = (number: number): number => (number === 0 ? 0 : (ends[number - 1] as number));
  let room = Buffer.alloc(0);
  let held = { start: 0, end: 0 };
  const make = (start: number, end: number): void => {
    const first = firstWhere(0, ends.length - 1, (at) => (ends[at] as number) > start);
    const from = startOf(first);
    let last = first;
    while (last + 1 < ends.length && (ends[last] as number) < Math.max(end, from + madeAtOnce)) last++;
    const until = ends[last] as number;
    if (until - from > room.length) room = Buffer.allocUnsafeSlow(Math.max(until - from, madeAtOnce));
    held = { start: 0, end: 0 };
    for (let number = first; number <= last; number++) room.write(`${JSON.stringify(recordAt(number))}\n`, startOf(number) - from);
    held = { start: from, end: until };
  };
  return {
    length: ends.at(-1) ?? 0,
    subarray(start, end) {
      if (start >= end) return new Uint8Array();
      if (start < held.start || end > held.end) make(start, end);
      return room.subarray(start - held.start, end - held.start);
    },
  };
}
