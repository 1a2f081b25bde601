import { canonicalJson, isObject, type JsonObject, parseJson } from '../../base/index.js';
import { bufferOf, type Piece } from '../jsonl.js';

/** A line in three parts: without the middle one it says no more than which message it is of, and its calls. */
export interface SplitLine {
  readonly head: Piece;
  readonly said: Piece;
  readonly calls: Piece;
}

/**
 * A message is written when it was said, and again as a whole when its calls have been answered. Where it was taken in between, what is
 * new of the second line are the calls. Undefined where the line cannot be taken apart so.
 */
export function splitAddition(file: Uint8Array, piece: Piece, { id, timestamp, type, toolCalls }: JsonObject): SplitLine | undefined {
  const { start, end } = piece.range;
  const line = bufferOf(file).toString('latin1', start, end);
  const from = line.indexOf('"content":');
  const wanted = canonicalJson({ id, timestamp, type, toolCalls } as JsonObject);
  for (let at = line.indexOf('"toolCalls":', from); from > 0 && at > from; at = line.indexOf('"toolCalls":', at + 1)) {
    const record = parseJson(Buffer.from(line.slice(0, from) + line.slice(at), 'latin1').toString('utf8'));
    if (!isObject(record) || canonicalJson(record) !== wanted) continue;
    return {
      head: { line: piece.line, range: { start, end: start + from }, sort: 'blank' },
      said: { line: piece.line, range: { start: start + from, end: start + at }, sort: 'blank' },
      calls: { line: piece.line, range: { start: start + at, end }, record, sort: 'record' },
    };
  }
  return undefined;
}
