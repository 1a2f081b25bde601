import { canonicalJson, isObject, type JsonObject, parseJson } from '../../base/index.js';
import { bufferOf, type RecordPiece } from '../shared/jsonl.js';

/** A line in three parts. Without the middle part, it contains only the id of its message and the calls. */
export interface SplitLine {
  readonly head: RecordPiece;
  readonly said: RecordPiece;
  readonly calls: RecordPiece;
}

/**
 * A message is written when the model has answered, and again as a whole when its calls have results. If the first line was imported before the
 * second, only the calls of the second line are new. Undefined if the line cannot be split.
 */
export function splitAddition(file: Uint8Array, piece: RecordPiece, { id, timestamp, type, toolCalls }: JsonObject): SplitLine | undefined {
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
