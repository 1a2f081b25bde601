// Lines that are no record: several records on one line, parts of records, a record over several lines, and a last line that is still written.
import { isUtf8 } from 'node:buffer';
import { type ByteRange, type JsonObject, parseJson } from '../../base/index.js';
import type { RecordPiece, Scan } from '../lines.js';
import type { Problem } from '../parsed.js';
import type { LineJoiner } from './joined-lines.js';
import { endOfValue, isTooDeep, recordIn } from './line-values.js';

/** The form of one agent's records, for lines that are not read completely. */
export interface Dialect {
  /** The first bytes of records that are hashed and kept but never read. They are returned as `request`. */
  readonly requestPrefix?: Buffer;
  readonly isRequest?: (record: JsonObject) => boolean;
  /** Where a record can begin in a torn line: a bracket and a first key. Global, so that a search can continue. */
  readonly beginning: RegExp;
  /** Whether a record found in a torn line is a whole record and not a part of one. */
  readonly isWhole: (record: JsonObject) => boolean;
  readonly ghostIn?: (fragment: string) => RecordPiece['ghost'];
}

/** The most fragments to search in a torn line, because the search takes quadratic time. */
const maxFragments = 64;

/** V8 cannot hold a longer text, so a longer line cannot be read. */
const maxTextLength = 2 ** 29 - 64;

/** What is left of a line that is no record, with ranges in the buffer. `lines`: a record over so many lines. */
export type Rest = Omit<Scan, 'end'> & { readonly lines?: number };

/** A line that is no record, in a buffer. `from`: after a mark of the byte order. `mayGrow`: the end of the file may still be written. */
type Line = Readonly<Record<'line' | 'start' | 'from' | 'stop', number> & Record<'isLast' | 'mayGrow', boolean>>;

/** The pieces of a line that is no record: a record over several lines, the beginning of one that is still written, or torn records. */
export function restOf(
  joined: ReturnType<LineJoiner['joined']>,
  buffer: Buffer,
  { line, start, from, stop, isLast, mayGrow }: Line,
  dialect: Dialect,
): Rest {
  if (joined && joined !== 'more' && isUtf8(buffer.subarray(from, joined.stop)) && !isTooDeep(joined.record, joined.stop - from)) {
    const { record, lines } = joined;
    const reason = `a record over ${lines} lines, because its texts contain line breaks as they stand: it is read`;
    return {
      pieces: [{ line, range: { start, end: joined.stop }, record, sort: dialect.isRequest?.(record) ? 'request' : 'record' }],
      skipped: [],
      notes: lines > 1 ? [{ line, reason }] : [],
      lines,
    };
  }
  if (!isLast || !mayGrow) {
    const torn = splitTorn(buffer, line, from, { start, end: stop }, dialect);
    const mayGoOn = mayGrow && joined === 'more' && !torn.pieces.some(({ record }) => record);
    if (!mayGoOn) return torn;
  }
  const end = buffer.length;
  const reason = `the last line is incomplete (${end - start} bytes): left for the next import`;
  return { pieces: [{ line, range: { start, end }, sort: 'half' }], skipped: [{ line, reason }], notes: [] };
}

/** Splits a line with several records or parts of records. Whole records are kept, the rest is named. */
function splitTorn(buffer: Buffer, line: number, from: number, whole: ByteRange, dialect: Dialect): Rest {
  const pieces: RecordPiece[] = [];
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  if (whole.end - from > maxTextLength) {
    pieces.push({ line, range: whole, sort: 'torn' });
    skipped.push({ line, reason: `the line has ${whole.end - from} bytes, which is too long to read` });
    return { pieces, skipped, notes };
  }
  // One character for each byte: JSON structure is ASCII, so positions in the text are offsets in the buffer.
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
  for (let tries = 0; tries < maxFragments && at < text.length; tries++) {
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
  if (records > 1) notes.push({ line, reason: `${records} records on one line: all are read` });
  return { pieces, skipped, notes };
}

function reasonFor(bytes: Buffer, fragment: string): string {
  if (bytes.includes(0)) return 'NUL bytes where a record should be';
  if (!isUtf8(bytes)) return 'not UTF-8';
  const start = fragment.trimStart();
  if (!start.startsWith('{'))
    return parseJson(bytes.length < 1_000_000 ? bytes.toString('utf8') : '') === undefined ? 'not JSON' : 'JSON, but not a record';
  return 'a torn record: its end is missing or overwritten';
}

function restart(text: string, from: number, { beginning }: Dialect): number {
  beginning.lastIndex = from;
  return beginning.exec(text)?.index ?? -1;
}
