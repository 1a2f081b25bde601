// Writes Parquet files as a stream of parts, one group of rows after the other, so that a file of any size needs the memory of one group.
// Texts that repeat are stored once per group (dictionary). Pages are compressed with zstd. Every column may be null.
import { constants, zstdCompressSync } from 'node:zlib';
import { encodeText } from '../base/index.js';
import { i32, i64, list, struct, type Thrift, text } from './thrift.js';
import { columnValues, type ParquetValue, type TakenValues } from './values.js';
import type { ViewColumnKind } from './views.js';

export interface ParquetColumn {
  readonly name: string;
  /** Without it, the values decide. */
  readonly kind?: ViewColumnKind;
}

/** Numbers of the format. */
const physical: Readonly<Record<ViewColumnKind, number>> = { 'yes-no': 0, count: 2, time: 2, number: 5, text: 6 };
const converted: Readonly<Partial<Record<ViewColumnKind, number>>> = { text: 0, time: 9 };
const encoding = { plain: 0, rle: 3, dictionary: 8 } as const;
const page = { data: 0, dictionary: 2 } as const;
const zstd = 6;
const magic = encodeText('PAR1');

/** The rows of a group at most, and the bytes of their values, about. More need more memory, fewer compress worse. */
const most = { rows: 16_384, bytes: 4 * 1024 * 1024 } as const;
/** Rows after which the bytes are counted. */
const countEvery = 64;
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export interface ParquetFile {
  /** Adds a row. Returns the bytes of a group of rows, when one is full. @throws KindChanged, as `ColumnValues` */
  add(row: readonly ParquetValue[]): readonly Uint8Array[];
  /** The bytes of the rows that were added since the last group. */
  flush(): readonly Uint8Array[];
  /** The last bytes of the file. */
  end(): readonly Uint8Array[];
  /** Bytes of the rows that wait for their group, about. */
  bytes(): number;
}

/** Begins a file. Its first bytes come with its first group. */
export function parquetFile(columns: readonly ParquetColumn[]): ParquetFile {
  const kept = columns.map(({ name, kind }) => ({ name, values: columnValues(kind) }));
  let waiting = 0;
  let rows = 0;
  let offset = 0;
  /** What the footer says of each group. The kind of a column without values is known at the end. */
  const groups: (() => Thrift)[] = [];
  const out = (parts: readonly Uint8Array[]): readonly Uint8Array[] => {
    for (const part of parts) offset += part.length;
    return parts;
  };
  const begin = (): readonly Uint8Array[] => (offset === 0 ? out([magic]) : []);
  const bytes = (): number => kept.reduce((sum, { values }) => sum + values.bytes(), 0);
  const flush = (): readonly Uint8Array[] => {
    if (waiting === 0) return [];
    const parts: Uint8Array[] = [...begin()];
    const chunks: (() => Thrift)[] = [];
    let plainBytes = 0;
    const count = waiting;
    for (const { name, values } of kept) {
      const { parts: pages, ...chunk } = chunkOf(count, values.take());
      const at = offset;
      chunks.push(() => struct([2, i64(at)], [3, metadataOf({ name, kind: values.kind() }, count, chunk, at)]));
      plainBytes += chunk.plainBytes;
      parts.push(...out(pages));
    }
    groups.push(() => struct([1, list(chunks.map((chunk) => chunk()))], [2, i64(plainBytes)], [3, i64(count)]));
    rows += count;
    waiting = 0;
    return parts;
  };
  return {
    add: (row) => {
      for (let at = 0; at < kept.length; at++) kept[at]?.values.add(row[at] ?? null);
      waiting += 1;
      return waiting >= most.rows || (waiting % countEvery === 0 && bytes() > most.bytes) ? flush() : [];
    },
    flush,
    end: () => {
      const parts = [...flush(), ...begin()];
      const elements = kept.map(({ name, values }) => elementOf({ name, kind: values.kind() }));
      const footer = struct(
        [1, i32(1)],
        [2, list([struct([4, text('schema')], [5, i32(columns.length)]), ...elements])],
        [3, i64(rows)],
        [4, list(groups.map((group) => group()))],
        [6, text('stemma')],
      ).bytes();
      const length = Buffer.alloc(4);
      length.writeUInt32LE(footer.length);
      return [...parts, ...out([footer, length, magic])];
    },
    bytes,
  };
}

const optional = 1;
const elementOf = ({ name, kind }: Required<ParquetColumn>): Thrift =>
  struct([1, i32(physical[kind])], [3, i32(optional)], [4, text(name)], [6, converted[kind] === undefined ? undefined : i32(converted[kind])]);

interface Chunk {
  readonly parts: readonly Uint8Array[];
  readonly plainBytes: number;
  readonly packedBytes: number;
  readonly dictionaryBytes: number;
}

const metadataOf = ({ name, kind }: Required<ParquetColumn>, rows: number, chunk: Omit<Chunk, 'parts'>, offset: number): Thrift =>
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
function chunkOf(rows: number, { levels, values, dictionary }: TakenValues): Chunk {
  if (!dictionary) return chunkOfPages([dataPage(rows, encoding.plain, [levels, values])], 0);
  const words = makePage(page.dictionary, dictionary.words, (coding) => [7, struct([1, i32(dictionary.count)], [2, i32(coding)])], encoding.plain);
  return chunkOfPages([words, dataPage(rows, encoding.dictionary, [levels, values])], 1);
}

interface Page {
  readonly parts: readonly [header: Uint8Array, body: Uint8Array];
  readonly plainBytes: number;
}

function chunkOfPages(pages: readonly Page[], dictionaries: number): Chunk {
  const pageSize = ({ parts }: Page): number => parts[0].length + parts[1].length;
  return {
    parts: pages.flatMap(({ parts }) => parts),
    plainBytes: pages.reduce((sum, { plainBytes }) => sum + plainBytes, 0),
    packedBytes: pages.reduce((sum, one) => sum + pageSize(one), 0),
    dictionaryBytes: dictionaries > 0 && pages[0] ? pageSize(pages[0]) : 0,
  };
}

/** Pages are put together in one place, because each is written before the next: new memory for each would be freed later than it is needed. */
let scratch = Buffer.alloc(0);

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(length * 2);
  let at = 0;
  for (const part of parts) {
    scratch.set(part, at);
    at += part.length;
  }
  return scratch.subarray(0, length);
}

const dataPage = (rows: number, coding: number, parts: readonly Uint8Array[]): Page =>
  makePage(
    page.data,
    joined(parts),
    (header) => [5, struct([1, i32(rows)], [2, i32(header)], [3, i32(encoding.rle)], [4, i32(encoding.rle)])],
    coding,
  );

function makePage(type: number, body: Uint8Array, about: (coding: number) => readonly [number, Thrift], coding: number): Page {
  const squeezed = zstdCompressSync(body, fast);
  const header = struct([1, i32(type)], [2, i32(body.length)], [3, i32(squeezed.length)], about(coding)).bytes();
  return { parts: [header, squeezed], plainBytes: header.length + body.length };
}
