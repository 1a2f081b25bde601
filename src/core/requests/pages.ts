import { varintReader, varintWriter } from './varints.js';

/**
 * A page is the texts of some messages, as they were recorded, one behind the other, and behind them an index: how long
 * each is and in which order its bytes are its canonical form. A request of 2,000 messages is read as a few dozen pages
 * and proved by copying ranges, without parsing a message.
 */
export interface PageText {
  readonly text: Uint8Array;
  /** The canonical form as ranges of the text; undefined where it has to be written from the parsed value. */
  readonly order: readonly number[] | undefined;
}

export interface Page {
  readonly count: number;
  text(index: number): Uint8Array;
  /** The text as a string: one call, since a request has thousands. */
  string(index: number): string;
  sizeOf(index: number): number;
  /** Where in the page the text begins. */
  startOf(index: number): number;
  /** Copies a message's canonical form to `target` from `at` on and returns where it ends; undefined where it has to be written. */
  copyCanonical(index: number, target: Buffer, at: number): number | undefined;
}

/** Texts are gathered up to this many bytes: large enough to be read fast, small enough to be read for one message. */
export const pageLimit = 64 * 1024;

const trailer = 4;

export function writePage(texts: readonly PageText[]): Buffer {
  const index = varintWriter();
  index.natural(texts.length);
  for (const { text, order = [] } of texts) {
    index.natural(text.length);
    index.natural(order.length / 2);
    let before = 0;
    for (let place = 0; place < order.length; place += 2) {
      const [start, end] = [order[place] as number, order[place + 1] as number];
      index.integer(start - before);
      index.natural(end - start);
      before = end;
    }
  }
  const end = Buffer.alloc(trailer);
  end.writeUInt32LE(texts.reduce((size, { text }) => size + text.length, 0));
  return Buffer.concat([...texts.map(({ text }) => text), index.bytes(), end]);
}

export function openPage(bytes: Uint8Array): Page {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reader = varintReader(buffer, buffer.readUInt32LE(buffer.length - trailer), buffer.length - trailer);
  const count = reader.natural();
  const starts = new Int32Array(count + 1);
  const firstRange = new Int32Array(count + 1);
  const ranges: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = starts[index] as number;
    starts[index + 1] = start + reader.natural();
    let before = start;
    for (let left = reader.natural(); left > 0; left -= 1) {
      before += reader.integer();
      const end = before + reader.natural();
      ranges.push(before, end);
      before = end;
    }
    firstRange[index + 1] = ranges.length;
  }
  return {
    count,
    text: (index) => buffer.subarray(starts[index], starts[index + 1]),
    string: (index) => buffer.toString('utf8', starts[index], starts[index + 1]),
    sizeOf: (index) => (starts[index + 1] as number) - (starts[index] as number),
    startOf: (index) => starts[index] as number,
    copyCanonical(index, target, at) {
      const [first, last] = [firstRange[index] as number, firstRange[index + 1] as number];
      if (first === last) return undefined;
      let end = at;
      for (let place = first; place < last; place += 2) end = copyRange(buffer, ranges[place] as number, ranges[place + 1] as number, target, end);
      return end;
    },
  };
}

/** Ranges are mostly a brace or a key: below this length a loop is faster than a call. */
const shortRange = 24;

function copyRange(from: Buffer, start: number, end: number, target: Buffer, at: number): number {
  if (end - start >= shortRange) return at + from.copy(target, at, start, end);
  for (let place = start, to = at; place < end; place += 1, to += 1) target[to] = from[place] as number;
  return at + end - start;
}
