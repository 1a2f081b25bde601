import { decodeText, isObject, type JsonObject, parseJson } from '../../base/index.js';
import type { FileBytes, RecordPiece, Scan } from '../lines.js';
import { type Dialect, scanJsonl } from './jsonl.js';

/** From this size on, a file is not held in memory, and each of its records is read again on demand. */
export const maxWholeBytes = 32 * 1024 * 1024;

/** A piece whose record is read from the file on demand. */
class LazyPiece implements RecordPiece {
  readonly line: number;
  readonly range: RecordPiece['range'];
  readonly sort: RecordPiece['sort'];
  readonly #file: FileBytes;

  constructor({ line, range, sort }: RecordPiece, file: FileBytes) {
    this.line = line;
    this.range = range;
    this.sort = sort;
    this.#file = file;
  }

  get record(): JsonObject {
    const bytes = this.#file.subarray(this.range.start, this.range.end);
    const value = parseJson(decodeText(bytes).replace(/^\ufeff/, ''));
    return isObject(value) ? value : {};
  }
}

/** Splits a large file into records that are read again on demand, so that only their positions are in memory. */
export function scanLazily(file: FileBytes, dialect: Dialect): Scan {
  const { pieces, ...seen } = scanJsonl(file, dialect, { mayGrow: true, keep: () => ({}) });
  return { ...seen, pieces: pieces.map((piece) => (piece.sort === 'record' ? new LazyPiece(piece, file) : piece)), isLazy: true };
}
