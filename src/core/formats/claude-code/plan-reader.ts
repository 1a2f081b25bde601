import type { ByteRange, JsonObject } from '../../base/index.js';
import { digest } from '../digest.js';
import type { Elision, FileBytes, ParsedEntry } from '../format.js';
import type { Content } from '../shared/branches.js';
import { joinCalls } from '../shared/calls.js';
import { lastRead } from '../shared/last-read.js';
import { outlineOfParts, type StoredOutline } from '../shared/outline.js';
import { inDelta } from '../shared/records.js';
import { elisionsOf, readEntries } from './parse-entries.js';
import { type RecordPiece, recordAt } from './parse-lines.js';
import { outlineLine, type TranscriptLine } from './plan-lines.js';

export interface LineReader {
  /** Reads entries and elisions from the file. The last result is remembered. */
  readonly read: (lines: readonly TranscriptLine[]) => Content;
  readonly outline: (lines: readonly TranscriptLine[]) => StoredOutline;
  readonly record: (line: TranscriptLine) => JsonObject;
  readonly digest: (range: ByteRange) => string;
}

/** A reader of the file; lines before `resumeAt` are stored already. */
export function openReader(file: FileBytes, resumeAt: number): LineReader {
  const last = lastRead<Content>();
  const record = (line: TranscriptLine): JsonObject => recordAt(file, line);
  return {
    record,
    digest: ({ start, end }) => digest(file.subarray(start, end)),
    read: (lines) =>
      last(lines, () => readPieces(lines.map((line) => ({ sort: line.sort, range: line, ...(line.sort === 'record' && { record: record(line) }) })))),
    outline: (lines) => {
      const parts = lines.flatMap((line) => outlineLine(line, file, resumeAt) ?? []);
      return { ...outlineOfParts(parts), calls: joinCalls(parts.map(({ call }) => call)) };
    },
  };
}

/** The entries and elisions of records that follow each other in a delta. */
export function readPieces(pieces: Iterable<Pick<RecordPiece, 'record' | 'range' | 'sort'>>): Content {
  const entries: ParsedEntry[] = [];
  const elisions: Elision[] = [];
  for (const [{ record, sort }, raw] of inDelta(pieces)) {
    if (!record || sort !== 'record') continue;
    for (const entry of readEntries(record, raw)) entries.push(entry);
    for (const elision of elisionsOf(record)) elisions.push(elision);
  }
  return { entries, elisions };
}
