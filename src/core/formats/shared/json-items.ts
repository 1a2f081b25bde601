// JSON documents that are too large to be read as one value: their large lists stay in the file. Our own code, because streaming parsers
// (stream-json, @streamparser/json) make values of all bytes, although only the positions of the items are needed here; JSON.parse reads the items.
import type { ByteRange, Json } from '../../base/index.js';
import type { FileBytes } from '../lines.js';
import { bufferOf, parseShallow } from './jsonl.js';

export interface ListInFile {
  /** The keys and positions that lead to it, joined by dots. */
  readonly path: string;
  readonly items: readonly ByteRange[];
}

/** A value of a document. Its large lists are empty in the shell. */
export interface ValueInFile {
  readonly range: ByteRange;
  /** Undefined if it is not JSON or nests too deeply. */
  readonly shell: Json | undefined;
  readonly lists: readonly ListInFile[];
}

/** The largest shell in bytes. A document with more bytes outside of its large lists is not read. */
const maxShellBytes = 32 * 1024 ** 2;
/** The most items of a document, far more than any real document has. */
const maxItems = 1_000_000;
const scannedAtOnce = 1024 * 1024;

/** The error for a document with too many bytes outside of its large lists. */
export class ShellTooLarge extends Error {}

/** The value at a range of the file; undefined if it is not JSON or nests too deeply. */
export const valueAt = (file: FileBytes, { start, end }: ByteRange): Json | undefined =>
  parseShallow(bufferOf(file.subarray(start, end)).toString('utf8'));

/**
 * The values of a document, one after the other: one document, one a line, or pretty-printed. `isLarge` says by its path which list stays
 * in the file; the path of a list that is a value itself is empty. @throws ShellTooLarge
 */
export function* valuesInFile(
  file: FileBytes,
  isLarge: (path: string) => boolean,
  { start, end } = { start: 0, end: file.length },
): Generator<ValueInFile> {
  const scanner = new Scanner(isLarge);
  const room = new Uint8Array(Math.min(scannedAtOnce, end - start));
  for (let base = start; base < end; base += scannedAtOnce) {
    const read = file.subarray(base, Math.min(base + scannedAtOnce, end));
    // The caller may read other bytes between two values.
    room.set(read);
    const bytes = room.subarray(0, read.length);
    for (let at = 0; at < bytes.length; at++) {
      at = scanner.next(bytes, at, base);
      const value = scanner.taken();
      if (value) yield value;
    }
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [beginObject, endObject, beginList, endList] = [0x7b, 0x7d, 0x5b, 0x5d];
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Follows the brackets of a document byte by byte. */
class Scanner {
  readonly #isLarge: (path: string) => boolean;
  #shell = Buffer.allocUnsafe(1_024);
  #length = 0;
  readonly #levels: { readonly path: string; readonly isList: boolean; position: number }[] = [];
  #key = { start: 0, end: 0 };
  #lists: { path: string; items: ByteRange[] }[] = [];
  #inString = false;
  #isEscaped = false;
  /** The depth within the items of a large list: 0 between them, -1 outside of such a list. */
  #depth = -1;
  #itemStart = -1;
  #begin = 0;
  #items = 0;
  #value: ValueInFile | undefined;

  constructor(isLarge: (path: string) => boolean) {
    this.#isLarge = isLarge;
  }

  taken(): ValueInFile | undefined {
    const value = this.#value;
    this.#value = undefined;
    return value;
  }

  /** Reads the byte, or to the end of the string or item that it is in. Returns the position of the last byte that was read. */
  next(bytes: Uint8Array, at: number, base: number): number {
    if (this.#inString) return this.#string(bytes, at);
    if (this.#depth > 0) return this.#within(bytes, at);
    const byte = bytes[at] as number;
    if (this.#depth >= 0) this.#item(byte, base + at);
    else if (this.#levels.length > 0 || byte === beginObject || byte === beginList) this.#outside(byte, base + at);
    return at;
  }

  #string(bytes: Uint8Array, from: number): number {
    let isEscaped = this.#isEscaped;
    let at = from;
    for (; at < bytes.length; at++) {
      if (isEscaped) isEscaped = false;
      else if (bytes[at] === backslash) isEscaped = true;
      else if (bytes[at] === quote) {
        this.#inString = false;
        break;
      }
    }
    this.#isEscaped = isEscaped;
    if (this.#depth < 0) {
      this.#keep(bytes.subarray(from, at + 1));
      if (!this.#inString) this.#key.end = this.#length;
    }
    return Math.min(at, bytes.length - 1);
  }

  /** Reads on to a string or the end of the item. */
  #within(bytes: Uint8Array, from: number): number {
    let depth = this.#depth;
    let at = from;
    for (; at < bytes.length && depth > 0; at++) {
      const byte = bytes[at];
      if (byte === quote) {
        this.#inString = true;
        at++;
        break;
      }
      if (byte === beginObject || byte === beginList) depth++;
      else if (byte === endObject || byte === endList) depth--;
    }
    this.#depth = depth;
    return at - 1;
  }

  #item(byte: number, at: number): void {
    if (this.#depth === 0 && (byte === comma || byte === endList)) {
      if (this.#itemStart >= 0) this.#lists.at(-1)?.items.push({ start: this.#itemStart, end: at });
      if (++this.#items > maxItems) throw new ShellTooLarge(`it has more than ${maxItems} items`);
      this.#itemStart = -1;
      if (byte === endList) {
        this.#depth = -1;
        this.#close(byte, at);
      }
      return;
    }
    if (this.#itemStart < 0 && !isSpace(byte)) this.#itemStart = at;
    if (byte === quote) this.#inString = true;
    else if (byte === beginObject || byte === beginList) this.#depth++;
  }

  #outside(byte: number, at: number): void {
    if (byte === quote) {
      this.#inString = true;
      this.#key.start = this.#length;
      this.#keep([byte]);
    } else if (byte === beginObject || byte === beginList) this.#open(byte, at);
    else if (byte === endObject || byte === endList) this.#close(byte, at);
    else {
      const level = this.#levels.at(-1);
      if (byte === comma && level) level.position++;
      this.#keep([byte]);
    }
  }

  #open(byte: number, at: number): void {
    const level = this.#levels.at(-1);
    if (!level) this.#begin = at;
    const path = level ? join(level.path, level.isList ? String(level.position) : this.#lastKey()) : '';
    this.#keep([byte]);
    this.#levels.push({ path, isList: byte === beginList, position: 0 });
    if (byte !== beginList || !this.#isLarge(path)) return;
    this.#lists.push({ path, items: [] });
    this.#depth = 0;
  }

  #close(byte: number, at: number): void {
    this.#keep([byte]);
    this.#levels.pop();
    if (this.#levels.length > 0) return;
    const shell = parseShallow(this.#shell.toString('utf8', 0, this.#length));
    this.#value = { range: { start: this.#begin, end: at + 1 }, shell, lists: this.#lists };
    this.#lists = [];
    this.#length = 0;
  }

  #lastKey(): string {
    const name = parseShallow(this.#shell.toString('utf8', this.#key.start, this.#key.end));
    return typeof name === 'string' ? name : '';
  }

  #keep(bytes: ArrayLike<number>): void {
    const length = this.#length + bytes.length;
    if (length > maxShellBytes) throw new ShellTooLarge(`it has more than ${maxShellBytes} bytes beside its lists`);
    if (length > this.#shell.length) this.#shell = Buffer.concat([this.#shell], length * 2);
    this.#shell.set(bytes, this.#length);
    this.#length = length;
  }
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
