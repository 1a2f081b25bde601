import type { ByteRange, JsonObject } from '../../base/index.js';
import type { FileBytes, Lines, RecordPiece } from '../lines.js';
import type { Problem } from '../parsed.js';
import { isDeep, maxLines, TooManyLines, tooDeep } from './jsonl.js';

/** A line whose record is made on demand. */
class LazyLine implements RecordPiece {
  readonly sort = 'record';
  readonly line: number;
  readonly range: ByteRange;
  readonly #recordAt: (number: number) => JsonObject;

  constructor(line: number, range: ByteRange, recordAt: (number: number) => JsonObject) {
    this.line = line;
    this.range = range;
    this.#recordAt = recordAt;
  }

  get record(): JsonObject {
    return this.#recordAt(this.line - 1);
  }
}

/** Lines up to this size are made together, because they are often read together. */
const madeAtOnce = 1024 * 1024;

/** The lines of a conversation larger than memory: `recordAt` makes each record, always the same, when it is read. @throws TooManyLines */
export function linesOnDemand(count: number, recordAt: (number: number) => JsonObject): Lines {
  if (count > maxLines) throw new TooManyLines(`it has more than ${maxLines} records`);
  const ends = new Float64Array(count);
  const skipped: Problem[] = [];
  const pieces: RecordPiece[] = [];
  for (let number = 0, start = 0; number < count; number++) {
    const record = recordAt(number);
    const range = { start, end: start + Buffer.byteLength(JSON.stringify(record)) + 1 };
    const isTorn = isDeep(record);
    pieces.push(isTorn ? { line: number + 1, range, sort: 'torn' } : new LazyLine(number + 1, range, recordAt));
    if (isTorn) skipped.push({ line: number + 1, reason: tooDeep });
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
    const first = firstAfter(ends, start);
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

function firstAfter(ends: Float64Array, byte: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] as number) > byte) high = middle;
    else low = middle + 1;
  }
  return low;
}
