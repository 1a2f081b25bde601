import { type ByteRange, isObject, type JsonObject, parseJson } from '../../base/index.js';
import type { Problem } from '../format.js';
import {
  bufferOf,
  type Dialect,
  endOfString,
  endOfValue,
  isDeep,
  type RecordPiece,
  type Scan,
  type ScanOptions,
  scanJsonl,
} from '../shared/jsonl.js';
import { firstIn } from '../shared/plans.js';
import { membersAt } from '../shared/top-members.js';

const dialect: Dialect = {
  beginning: /\{"(?:id|sessionId|\$set|\$rewindTo)":/g,
  isWhole: (record) =>
    typeof record.sessionId === 'string' || typeof record.timestamp === 'string' || record.$set !== undefined || record.$rewindTo !== undefined,
};

/** Splits a session into records. Never throws for the content of the bytes. */
export const scanLines = (file: Uint8Array, options?: ScanOptions): Scan => scanJsonl(file, dialect, options);

/** The number of passes over a delta to search for values that do not end. */
const maxPasses = 8;

/** The records of a delta: lines, or those of a document in their original form, over many lines or several on one. */
export function scanValues(delta: Uint8Array): Pick<Scan, 'pieces' | 'skipped'> {
  const lines = scanLines(delta);
  if (lines.skipped.length === 0) return lines;
  const buffer = bufferOf(delta);
  // One character for each byte: JSON structure is ASCII, so positions in the text are offsets in the buffer.
  const text = buffer.toString('latin1');
  const pieces: RecordPiece[] = [];
  const skipped: Problem[] = [];
  let passed = 0;
  for (let at = 0; at < text.length; ) {
    const start = at;
    const begin = afterSeparators(text, at);
    const end = text[begin] === '{' && passed < maxPasses * text.length ? endOfValue(text, begin) : -1;
    const record = end < 0 ? undefined : recordAt(buffer, { start: begin, end });
    const line = pieces.length + 1;
    if (record) {
      at = end;
      pieces.push({ line, range: { start, end }, record, sort: 'record' });
    } else if (begin >= text.length) {
      at = begin;
      pieces.push({ line, range: { start, end: at }, sort: 'blank' });
    } else {
      passed += text.length - begin;
      at = nextBeginning(text, begin + 1);
      pieces.push({ line, range: { start, end: at }, sort: 'torn' });
      skipped.push({ line, reason: 'a torn record: its end is missing or overwritten' });
    }
  }
  return { pieces, skipped };
}

function afterSeparators(text: string, from: number): number {
  separators.lastIndex = from;
  return separators.exec(text) ? separators.lastIndex : from;
}
const separators = /[\s,]*/y;

function nextBeginning(text: string, from: number): number {
  const found = /\n[^\S\n]*\{/g;
  found.lastIndex = from;
  const at = found.exec(text)?.index;
  return at === undefined ? text.length : at + 1;
}

function recordAt(buffer: Buffer, { start, end }: ByteRange): JsonObject | undefined {
  const value = parseJson(buffer.toString('utf8', start, end));
  return isObject(value) && !isDeep(value) ? value : undefined;
}

/**
 * The messages of a session of an older version, which is one document, with their ranges, up to its end if it is incomplete. `header` is everything but
 * the messages. Undefined for files of lines.
 */
export function scanDocument(file: Uint8Array): (Pick<Scan, 'pieces' | 'skipped'> & { readonly header: JsonObject }) | undefined {
  const buffer = bufferOf(file);
  if (isLine(buffer)) return undefined;
  const text = buffer.toString('latin1');
  const opening = /^(?:ï»¿)?\s*\{/.exec(text);
  if (!opening) return undefined;
  const list = firstIn(membersAt(text, opening[0].length), ({ name, start }) => (name === 'messages' ? start : undefined));
  if (list === undefined || text[list] !== '[') return undefined;
  const pieces: RecordPiece[] = [];
  const skipped: Problem[] = [];
  let done = 0;
  const blank = (end: number): void => {
    if (end > done) pieces.push({ line: pieces.length + 1, range: { start: done, end }, sort: 'blank' });
    done = end;
  };
  let at = afterSeparators(text, list + 1);
  for (let number = 1; at < text.length && text[at] !== ']'; number++) {
    const end = endOfElement(text, at);
    if (end < 0) {
      skipped.push({ line: number, reason: 'a torn record: its end is missing or overwritten' });
      break;
    }
    const record = recordAt(buffer, { start: at, end });
    blank(at);
    pieces.push({ line: number, range: { start: at, end }, ...(record ? { record, sort: 'record' } : { sort: 'torn' }) });
    if (!record) skipped.push({ line: number, reason: 'expected a message, found no record' });
    done = end;
    at = afterSeparators(text, end);
  }
  const isWhole = text[at] === ']';
  const header = parseJson(`${buffer.toString('utf8', opening[0].length - 1, list)}[]${isWhole ? buffer.toString('utf8', at + 1) : '}'}`);
  if (at >= text.length) skipped.push({ line: pieces.length + 1, reason: 'the document has no end' });
  blank(text.length);
  return { header: isObject(header) ? header : {}, pieces, skipped };
}

/** Whether the first line is a record by itself, so that the file is not a document. */
function isLine(buffer: Buffer): boolean {
  const end = buffer.indexOf(0x0a);
  if (end < 0) return false;
  const first = parseJson(buffer.toString('latin1', 0, end).replace(/^ï»¿/, ''));
  return isObject(first) && !Array.isArray(first.messages);
}

function endOfElement(text: string, at: number): number {
  if (text[at] === '{' || text[at] === '[') return endOfValue(text, at);
  if (text[at] === '"') {
    const quote = endOfString(text, at + 1);
    return quote < 0 ? -1 : quote + 1;
  }
  const scalar = /[^\s,\]}]+/y;
  scalar.lastIndex = at;
  return scalar.exec(text) ? scalar.lastIndex : -1;
}
