import type { ByteRange } from '../../base/index.js';
import type { FileBytes, ParsedEntry } from '../format.js';
import { inDelta } from '../shared/records.js';
import { placedLines, type RangedLine, readItems } from './parse.js';
import type { LineFact } from './plan-facts.js';
import { scanLines } from './schema.js';

/** The entries of a commit, read from its delta, or from the file if its lines are not in memory. */
export function readEntries(file: FileBytes | undefined, facts: readonly LineFact[], ranges: readonly ByteRange[]): readonly ParsedEntry[] {
  return file ? readRanges(file, ranges) : readItems(heldLines(facts));
}

const heldLines = (facts: readonly LineFact[]): RangedLine[] => [...inDelta(facts)].flatMap(([{ held }, raw]) => (held ? [{ line: held, raw }] : []));

function readRanges(file: FileBytes, ranges: readonly ByteRange[]): readonly ParsedEntry[] {
  let before = 0;
  return readItems(
    ranges.flatMap(({ start, end }) => {
      const at = before;
      before += end - start;
      return placedLines(scanLines(file.subarray(start, end)).pieces).map(({ line, raw }) => ({
        line,
        raw: { start: at + raw.start, end: at + raw.end },
      }));
    }),
  );
}
