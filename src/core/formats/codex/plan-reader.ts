import type { ByteRange } from '../../base/index.js';
import type { FileBytes, ParsedEntry } from '../format.js';
import { inDelta } from '../shared/records.js';
import { readItems } from './parse.js';
import type { LineFact } from './plan-facts.js';
import { type PlacedLine, readLines } from './schema.js';

/** The entries of a commit, read from its delta, or from the file if its lines are not in memory. */
export function readEntries(file: FileBytes | undefined, facts: readonly LineFact[], ranges: readonly ByteRange[]): readonly ParsedEntry[] {
  return file ? readRanges(file, ranges) : readItems(heldLines(facts));
}

const heldLines = (facts: readonly LineFact[]): PlacedLine[] => [...inDelta(facts)].flatMap(([{ held }, raw]) => (held ? [{ ...held, raw }] : []));

function readRanges(file: FileBytes, ranges: readonly ByteRange[]): readonly ParsedEntry[] {
  const parts = [...inDelta(ranges.map((range) => ({ range })))];
  return readItems(
    parts.flatMap(([{ range }, { start: at }]) =>
      readLines(file.subarray(range.start, range.end)).map(({ raw, ...line }) => ({ ...line, raw: { start: at + raw.start, end: at + raw.end } })),
    ),
  );
}
