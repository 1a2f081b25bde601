// Writes Parquet files as a stream of parts, one group of rows after the other, so that a file of any size needs the memory of one group.
// Texts that repeat are stored once per group (dictionary). Pages are compressed with zstd. Every column may be null.
import { constants, zstdCompressSync } from 'node:zlib';
import { bytesOf } from '../base/index.js';
import { i32, i64, list, struct, type Thrift, text } from './thrift.js';
import type { ViewColumnKind } from './views.js';

export interface ParquetColumn {
  readonly name: string;
  readonly kind: ViewColumnKind;
}

export type ParquetValue = string | number | null;

/** Numbers of the format. */
const physical: Readonly<Record<ViewColumnKind, number>> = { 'yes-no': 0, count: 2, time: 2, number: 5, text: 6 };
const converted: Readonly<Partial<Record<ViewColumnKind, number>>> = { text: 0, time: 9 };
const encoding = { plain: 0, rle: 3, dictionary: 8 } as const;
const page = { data: 0, dictionary: 2 } as const;
const zstd = 6;
const magic = bytesOf('PAR1');

/** The rows of a group at most. More need more memory, fewer compress worse. */
const rowsPerGroup = 8_192;
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Collects the rows of one Parquet file. */
export interface ParquetFile {
  /** Adds a row. Returns the bytes of a group of rows, when one is full. */
  add(row: readonly ParquetValue[]): readonly Uint8Array[];
  /** The bytes of the rows that were added since the last group. */
  flush(): readonly Uint8Array[];
  /** The last bytes of the file. */
  end(): readonly Uint8Array[];
  /** Rows that wait for their group. */
  readonly waiting: number;
}

/** Begins a file. Its first bytes come with its first group. */
export function parquetFile(columns: readonly ParquetColumn[]): ParquetFile {
  let values: ParquetValue[][] = columns.map(() => []);
  let waiting = 0;
  let rows = 0;
  let offset = 0;
  const groups: Thrift[] = [];
  const out = (parts: readonly Uint8Array[]): readonly Uint8Array[] => {
    for (const part of parts) offset += part.length;
    return parts;
  };
  const begin = (): readonly Uint8Array[] => (offset === 0 ? out([magic]) : []);
  const flush = (): readonly Uint8Array[] => {
    if (waiting === 0) return [];
    const parts: Uint8Array[] = [...begin()];
    const chunks: Thrift[] = [];
    let bytes = 0;
    for (const [at, column] of columns.entries()) {
      const chunk = chunkOf(column, values[at] ?? []);
      chunks.push(struct([2, i64(offset)], [3, metadataOf(column, waiting, chunk, offset)]));
      bytes += chunk.plainBytes;
      parts.push(...out(chunk.parts));
    }
    groups.push(struct([1, list(chunks)], [2, i64(bytes)], [3, i64(waiting)]));
    rows += waiting;
    values = columns.map(() => []);
    waiting = 0;
    return parts;
  };
  return {
    add: (row) => {
      for (let at = 0; at < columns.length; at++) values[at]?.push(row[at] ?? null);
      waiting += 1;
      return waiting >= rowsPerGroup ? flush() : [];
    },
    flush,
    end: () => {
      const parts = [...flush(), ...begin()];
      const footer = struct(
        [1, i32(1)],
        [2, list([struct([4, text('schema')], [5, i32(columns.length)]), ...columns.map(elementOf)])],
        [3, i64(rows)],
        [4, list(groups)],
        [6, text('stemma')],
      ).bytes();
      const length = Buffer.alloc(4);
      length.writeUInt32LE(footer.length);
      return [...parts, ...out([footer, length, magic])];
    },
    get waiting() {
      return waiting;
    },
  };
}

const optional = 1;
const elementOf = ({ name, kind }: ParquetColumn): Thrift =>
  struct([1, i32(physical[kind])], [3, i32(optional)], [4, text(name)], [6, converted[kind] === undefined ? undefined : i32(converted[kind])]);

interface Chunk {
  readonly parts: readonly Uint8Array[];
  readonly plainBytes: number;
  readonly packedBytes: number;
  readonly dictionaryBytes: number;
}

const metadataOf = ({ name, kind }: ParquetColumn, rows: number, chunk: Chunk, offset: number): Thrift =>
  struct(
    [1, i32(physical[kind])],
    [2, list([encoding.plain, encoding.rle, ...(chunk.dictionaryBytes > 0 ? [encoding.dictionary] : [])].map(i32))],
    [3, list([text(name)])],
    [4, i32(zstd)],
    [5, i64(rows)],
    [6, i64(chunk.plainBytes)],
    [7, i64(chunk.packedBytes)],
    [9, i64(offset + chunk.dictionaryBytes)],
    [11, chunk.dictionaryBytes > 0 ? i64(offset) : undefined],
  );

/** The pages of a column: for repeated texts a dictionary and numbers into it, else the values themselves. */
function chunkOf({ kind }: ParquetColumn, values: readonly ParquetValue[]): Chunk {
  const present = values.filter((value) => value !== null);
  const known = kind === 'text' ? dictionaryOf(present as string[]) : undefined;
  const levels = levelsOf(values);
  if (!known) return chunkOfPages([dataPage(values.length, encoding.plain, [levels, plain(kind, present)])], 0);
  const words = pageOf(
    page.dictionary,
    plain('text', known.words),
    (header) => [7, struct([1, i32(known.words.length)], [2, i32(header)])],
    encoding.plain,
  );
  return chunkOfPages([words, dataPage(values.length, encoding.dictionary, [levels, packed(known.numbers, known.words.length)])], 1);
}

interface Page {
  readonly parts: readonly [header: Uint8Array, body: Uint8Array];
  readonly plainBytes: number;
}

function chunkOfPages(pages: readonly Page[], dictionaries: number): Chunk {
  const sizeOf = ({ parts }: Page): number => parts[0].length + parts[1].length;
  return {
    parts: pages.flatMap(({ parts }) => parts),
    plainBytes: pages.reduce((sum, { plainBytes }) => sum + plainBytes, 0),
    packedBytes: pages.reduce((sum, one) => sum + sizeOf(one), 0),
    dictionaryBytes: dictionaries > 0 && pages[0] ? sizeOf(pages[0]) : 0,
  };
}

const dataPage = (rows: number, coding: number, parts: readonly Uint8Array[]): Page =>
  pageOf(
    page.data,
    Buffer.concat(parts),
    (header) => [5, struct([1, i32(rows)], [2, i32(header)], [3, i32(encoding.rle)], [4, i32(encoding.rle)])],
    coding,
  );

function pageOf(type: number, body: Uint8Array, about: (coding: number) => readonly [number, Thrift], coding: number): Page {
  const squeezed = zstdCompressSync(body, fast);
  const header = struct([1, i32(type)], [2, i32(body.length)], [3, i32(squeezed.length)], about(coding)).bytes();
  return { parts: [header, squeezed], plainBytes: header.length + body.length };
}

/** The texts, each once, and the number of each value. Undefined if few repeat. */
function dictionaryOf(values: readonly string[]): { readonly words: readonly string[]; readonly numbers: readonly number[] } | undefined {
  const known = new Map<string, number>();
  const numbers = new Array<number>(values.length);
  const most = values.length / 2;
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as string;
    let number = known.get(value);
    if (number === undefined) {
      number = known.size;
      if (number > most) return undefined;
      known.set(value, number);
    }
    numbers[at] = number;
  }
  return values.length === 0 ? undefined : { words: [...known.keys()], numbers };
}

/** One bit for each value: whether it is not null. The length comes first. */
function levelsOf(values: readonly ParquetValue[]): Uint8Array {
  const groups = Math.ceil(values.length / 8);
  const head = varint((groups << 1) | 1);
  const bytes = Buffer.alloc(4 + head.length + groups);
  bytes.writeUInt32LE(head.length + groups);
  bytes.set(head, 4);
  const from = 4 + head.length;
  for (let at = 0; at < values.length; at++) if (values[at] !== null) bytes[from + (at >> 3)] = (bytes[from + (at >> 3)] ?? 0) | (1 << (at & 7));
  return bytes;
}

/** Numbers below `count`, each in as few bits as the largest needs. */
function packed(numbers: readonly number[], count: number): Uint8Array {
  const width = Math.max(1, 32 - Math.clz32(Math.max(0, count - 1)));
  const groups = Math.ceil(numbers.length / 8);
  const head = varint((groups << 1) | 1);
  const bytes = Buffer.alloc(1 + head.length + groups * width);
  bytes[0] = width;
  bytes.set(head, 1);
  let [place, room, bits] = [1 + head.length, 0, 0];
  for (const number of numbers) {
    for (let left = width, rest = number; left > 0; ) {
      const taken = Math.min(left, 8 - bits);
      room |= (rest & ((1 << taken) - 1)) << bits;
      bits += taken;
      rest >>>= taken;
      left -= taken;
      if (bits < 8) continue;
      bytes[place++] = room;
      [room, bits] = [0, 0];
    }
  }
  if (bits > 0) bytes[place] = room;
  return bytes;
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Uint8Array.from([...bytes, rest]);
}

const wide = 2 ** 32;

function plain(kind: ViewColumnKind, values: readonly ParquetValue[]): Uint8Array {
  if (kind === 'text') return plainTexts(values as readonly string[]);
  if (kind === 'yes-no') {
    const bytes = Buffer.alloc(Math.ceil(values.length / 8));
    for (let at = 0; at < values.length; at++) if (values[at] !== 0) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7));
    return bytes;
  }
  const bytes = Buffer.allocUnsafe(values.length * 8);
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number;
    if (kind === 'number') bytes.writeDoubleLE(value, at * 8);
    else {
      const high = Math.floor(value / wide);
      bytes.writeUInt32LE(value - high * wide, at * 8);
      bytes.writeInt32LE(high, at * 8 + 4);
    }
  }
  return bytes;
}

function plainTexts(values: readonly string[]): Uint8Array {
  const sizes = values.map((value) => Buffer.byteLength(value));
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size + 4, 0));
  let at = 0;
  for (const [index, value] of values.entries()) {
    at = bytes.writeUInt32LE(sizes[index] ?? 0, at);
    at += bytes.write(value, at);
  }
  return bytes;
}
