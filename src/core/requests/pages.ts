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

/** Numbers of the index are four bytes each, little-endian as on every machine that this runs on, and are read as they lie. */
const word = 4;

/**
 * The texts, then at the next multiple of four the index: how many texts; where each begins, and where the last ends; the
 * place of each one's first range, and where the last one's end; the ranges as starts and ends in the page. The last
 * four bytes say where the index begins.
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

export function openPage(bytes: Uint8Array): Page {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const indexAt = buffer.readUInt32LE(buffer.length - word);
  // Copied, since words must begin at a multiple of four in memory.
  const index = new Int32Array(new Uint8Array(buffer.subarray(indexAt, buffer.length - word)).buffer);
  const count = index[0] as number;
  const starts = index.subarray(1, count + 2);
  const firstRange = index.subarray(count + 2, 2 * count + 3);
  const ranges = index.subarray(2 * count + 3);
  return {
    count,
    text: (place) => buffer.subarray(starts[place], starts[place + 1]),
    string: (place) => buffer.toString('utf8', starts[place], starts[place + 1]),
    sizeOf: (place) => (starts[place + 1] as number) - (starts[place] as number),
    startOf: (place) => starts[place] as number,
    copyCanonical(place, target, at) {
      const [first, last] = [firstRange[place] as number, firstRange[place + 1] as number];
      if (first === last) return undefined;
      let end = at;
      for (let range = first; range < last; range += 2) end = copyRange(buffer, ranges[range] as number, ranges[range + 1] as number, target, end);
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
