import type { ByteRange, JsonObject } from '../base/index.js';
import type { Problem } from './parsed.js';

/** One record of a JSONL file. `range` starts at the end of the record before it and includes the newline: no gaps, no overlaps. */
export interface RecordPiece {
  readonly line: number;
  readonly range: ByteRange;
  /** The record; absent for a blank line, a request record, a copy of an earlier line or an unreadable line. */
  readonly record?: JsonObject;
  readonly sort: 'record' | 'blank' | 'request' | 'copy' | 'torn' | 'half';
  /** The id and parent of a torn line, as far as they are readable, so that its children find their grandparent. */
  readonly ghost?: { readonly uuid: string; readonly parentUuid: string | null };
}

/** The results of a scan, except for the pieces. */
export interface Seen {
  readonly skipped: readonly Problem[];
  readonly notes: readonly Problem[];
  /** The start of an incomplete last line, else the length of the file. */
  readonly end: number;
}

export interface Scan extends Seen {
  readonly pieces: readonly RecordPiece[];
  /** True if each record is read or made again on demand, because all records would fill the memory. */
  readonly isLazy?: true;
}

/** The bytes of a file, read a part at a time, so that the file need not fit into memory. A Uint8Array is one. */
export interface FileBytes {
  readonly length: number;
  /** The result is valid until the next call and must not be changed. Copy what you keep. */
  subarray(start: number, end: number): Uint8Array;
}

/** The lines of a conversation, with their scan if it is already known. */
export interface Lines {
  readonly bytes: FileBytes;
  readonly scan?: Scan;
}
