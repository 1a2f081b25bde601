// Records that an agent wrote over several lines: it left line breaks and other control characters inside of their texts unescaped.
import { attempt, isObject, type JsonObject, parseJson } from '../../base/index.js';
import { isBlank } from './line-values.js';

/** A record that begins in a line and ends in another. */
export interface Joined {
  readonly record: JsonObject;
  /** The end of its last line, and the number of its lines. */
  readonly stop: number;
  readonly lines: number;
}

const maxLines = 10_000;
const maxBytes = 16 * 1024 * 1024;
/** The bytes of a file that are searched for ends of records, so that a file of torn lines is not read many times. */
const maxSearched = 256 * 1024 * 1024;

const newline = 0x0a;
const quote = 0x22;
const backslash = 0x5c;

export class LineJoiner {
  #searched = 0;

  /**
   * The record whose first line is `from` to `stop` of the buffer. `isRecord` says whether a line is a whole record by itself: then the lines before it
   * are torn. `more`: the buffer ends inside of the record. Undefined if the lines are no such record.
   */
  joined(buffer: Buffer, from: number, stop: number, isRecord: (start: number, end: number) => boolean): Joined | 'more' | undefined {
    if (this.#searched > maxSearched) return undefined;
    const state = { depth: 0, isText: false };
    let end = stop;
    let start = from;
    for (let lines = 1; ; lines++) {
      this.#searched += end - start;
      const close = closeOf(buffer, start, end, state);
      if (close >= 0) {
        const record = isBlank(buffer, close, end) ? parseLoosely(buffer.toString('utf8', from, close)) : undefined;
        return record && { record, stop: end, lines };
      }
      if (lines >= maxLines || end - from > maxBytes) return undefined;
      // The last line of such a record can be cut off after its text.
      if (end >= buffer.length && (state.isText || lines > 1)) return 'more';
      if (!state.isText) return undefined;
      start = end;
      const at = buffer.indexOf(newline, start);
      end = at < 0 ? buffer.length : at + 1;
      if (isRecord(start, end)) return undefined;
    }
  }
}

/** The end of the object that is open in `state`; -1 if it does not end before `end`, or if the bytes are no JSON. */
function closeOf(buffer: Buffer, start: number, end: number, state: { depth: number; isText: boolean }): number {
  for (let at = start; at < end; at++) {
    const byte = buffer[at];
    if (state.isText) {
      if (byte === backslash) at++;
      else if (byte === quote) state.isText = false;
    } else if (byte === quote) {
      if (state.depth === 0) return -1;
      state.isText = true;
    } else if (byte === 0x7b || byte === 0x5b) state.depth++;
    else if (byte === 0x7d || byte === 0x5d) {
      state.depth--;
      if (state.depth <= 0) return at + 1;
    }
  }
  return -1;
}

/** Reads JSON whose texts contain control characters as they stand. NULs are the mark of a damaged file and not of a text. */
function parseLoosely(text: string): JsonObject | undefined {
  if (text.includes('\0')) return undefined;
  // A regular expression runs out of stack in a very long text.
  const value = attempt(() => parseJson(text.replace(/"(?:[^"\\]|\\[\s\S])*"/g, escaped)));
  return isObject(value) ? value : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are the subject
const controls = /[\u0001-\u001f]/g;
const escaped = (text: string): string => text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
