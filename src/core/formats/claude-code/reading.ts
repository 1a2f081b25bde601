import type { JsonObject } from '../../base/index.js';
import type { Elision, FileBytes, ParsedEntry } from '../format.js';
import { type Outlined, outlineOfParts } from '../outline.js';
import { elisionsOf, entriesOf } from './entries.js';
import { type Line, toldBy } from './line.js';
import { type Piece, recordAt } from './lines.js';

interface Content {
  readonly entries: readonly ParsedEntry[];
  readonly elisions: readonly Elision[];
}

/** What stands behind lines of a file. */
export interface Reader {
  /** Read again; what was asked for last is remembered. */
  readonly read: (lines: readonly Line[]) => Content;
  readonly tell: (lines: readonly Line[]) => Outlined;
  readonly record: (line: Line) => JsonObject;
}

export function readerOf(file: FileBytes, resumeAt: number): Reader {
  let latest: { readonly lines: readonly Line[]; readonly content: Content } | undefined;
  const record = (line: Line): JsonObject => recordAt(file, line);
  return {
    record,
    read: (lines) => {
      if (latest?.lines !== lines)
        latest = {
          lines,
          content: readPieces(lines.map((line) => ({ sort: line.sort, range: line, ...(line.sort === 'record' && { record: record(line) }) }))),
        };
      return latest.content;
    },
    tell: (lines) => outlineOfParts(lines.flatMap((line) => toldBy(line, file, resumeAt) ?? [])),
  };
}

/** Entries and elisions of records that stand one after the other in a delta. */
export function readPieces(pieces: Iterable<Pick<Piece, 'record' | 'range' | 'sort'>>): Content {
  const entries: ParsedEntry[] = [];
  const elisions: Elision[] = [];
  let at = 0;
  for (const { record, range, sort } of pieces) {
    const raw = { start: at, end: at + range.end - range.start };
    at = raw.end;
    if (!record || sort !== 'record') continue;
    for (const entry of entriesOf(record, raw)) entries.push(entry);
    for (const elision of elisionsOf(record)) elisions.push(elision);
  }
  return { entries, elisions };
}
