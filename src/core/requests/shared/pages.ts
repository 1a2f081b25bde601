import { shortRange } from './canonical.js';

/** The recorded texts of some messages, then their lengths and canonical orders, so that they are verified without parsing a message. */
export interface PageText {
  readonly text: Uint8Array;
  /** The canonical form as ranges of the text; undefined if it has to be written from the parsed value. */
  readonly order: readonly number[] | undefined;
}

export type ListPage = Readonly<ReturnType<typeof openPage>>;

/** The size up to which texts are collected: large enough to read many fast, small enough to read for one message. */
export const pageLimit = 64 * 1024;

/** Numbers of the index have four bytes, little-endian as on every supported machine, and are read in place. */
const word = 4;

/**
 * Writes the texts, then, at the next multiple of four, the index: the number of texts; the start of each and the end of the last; the position of
 * each text's first range and the end of the last; the ranges as starts and ends in the page. The last four bytes are the offset of the index.
 */
export function writePage(texts: readonly PageText[]): Buffer {
  const starts = [0];
  const firstRanges = [0];
  const ranges: number[] = [];
  for (const { text, order = [] } of texts) {
    const start = starts.at(-1) as number;
    for (const place of order) ranges.push(start + place);
    starts.push(start + text.length);
    firstRanges.push(ranges.length);
  }
  const size = starts.at(-1) as number;
  const indexAt = Math.ceil(size / word) * word;
  const index = Int32Array.from([texts.length, ...starts, ...firstRanges]);
  const words = Int32Array.from(ranges);
  const bytesOfWords = (numbers: Int32Array): Uint8Array => new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  return Buffer.concat([
    ...texts.map(({ text }) => text),
    new Uint8Array(indexAt - size),
    bytesOfWords(index),
    bytesOfWords(words),
    bytesOfWords(Int32Array.of(indexAt)),
  ]);
}

/** Reads the index of a page. */
export function openPage(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const indexAt = buffer.readUInt32LE(buffer.length - word);
  // Copied, because words must begin at a multiple of four in memory.
  const index = new Int32Array(new Uint8Array(buffer.subarray(indexAt, buffer.length - word)).buffer);
  const count = index[0] as number;
  return {
    bytes: buffer,
    count,
    /** The start of each text in the bytes, and the end of the last. */
    starts: index.subarray(1, count + 2),
    /** The position of each text's first number in `ranges`, and the end of the last. */
    firstRanges: index.subarray(count + 2, 2 * count + 3),
    ranges: index.subarray(2 * count + 3),
  };
}

/** The bytes of a message in a page. */
export const textAt = ({ bytes, starts }: ListPage, index: number): Uint8Array => bytes.subarray(starts[index], starts[index + 1]);

/** `count` messages from `first` on as one text between brackets: parsing one text is cheaper than parsing thousands. */
export function listText({ bytes, starts }: ListPage, first: number, count: number): string {
  const last = first + count;
  const list = Buffer.allocUnsafe((starts[last] as number) - (starts[first] as number) + last - first + 1);
  let end = 0;
  for (let index = first; index < last; index += 1) {
    list[end] = index === first ? openBracket : comma;
    end = end + 1 + bytes.copy(list, end + 1, starts[index], starts[index + 1]);
  }
  list[end] = closeBracket;
  return list.toString('utf8');
}

const openBracket = 0x5b;
const comma = 0x2c;
const closeBracket = 0x5d;

/** Writes canonical messages from `first`, before `last`, each after a comma. Stops at one that must be parsed (`stoppedAt`). Returns the end. */
export function copyCanonicals({ bytes, firstRanges, ranges }: ListPage, first: number, last: number, target: Buffer) {
  let stoppedAt = first;
  while (stoppedAt < last && firstRanges[stoppedAt] !== firstRanges[stoppedAt + 1]) stoppedAt += 1;
  return { end: copyRanges(bytes, firstRanges, ranges, first, stoppedAt, target), stoppedAt };
}

/** The innermost loop of a proof. It takes only arrays, so that its compiled code stays valid for the next proof. */
function copyRanges(bytes: Buffer, firstRanges: Int32Array, ranges: Int32Array, first: number, last: number, target: Buffer): number {
  let end = 0;
  for (let index = first; index < last; index += 1) {
    target[end] = comma;
    end += 1;
    for (let range = firstRanges[index] as number; range < (firstRanges[index + 1] as number); range += 2) {
      const [from, to] = [ranges[range] as number, ranges[range + 1] as number];
      if (to - from >= shortRange) bytes.copy(target, end, from, to);
      else for (let place = from, at = end; place < to; place += 1, at += 1) target[at] = bytes[place] as number;
      end += to - from;
    }
  }
  return end;
}
