// Writes Parquet files as a stream of parts, one group of rows after the other, so that a file of any size needs the memory of one group.
// Texts that repeat are stored once per group (dictionary). Pages are compressed with zstd. Every column may be null.
import { constants, zstdCompressSync } from 'node:zlib';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { defined, encodeText } from '../base/index.js';
import { columnValues, type ParquetValue, type TakenValues } from './values.js';
import type { ViewColumnKind } from './views.js';

type FileMetaData = Parameters<typeof writeMetadata>[1];
type SchemaElement = FileMetaData['schema'][number];
type RowGroup = FileMetaData['row_groups'][number];
type PageHeader = Parameters<typeof writePageHeader>[1];

export interface ParquetColumn {
  readonly name: string;
  /** Without it, the values decide. */
  readonly kind?: ViewColumnKind;
}

const physical = { 'yes-no': 'BOOLEAN', count: 'INT64', time: 'INT64', number: 'DOUBLE', text: 'BYTE_ARRAY' } as const;
const converted: Readonly<Partial<Record<ViewColumnKind, NonNullable<SchemaElement['converted_type']>>>> = { text: 'UTF8', time: 'TIMESTAMP_MILLIS' };
const magic = encodeText('PAR1');

/** The rows of a group at most, and the bytes of their values, about. More need more memory, fewer compress worse. */
const most = { rows: 16_384, bytes: 4 * 1024 * 1024 } as const;
/** Rows after which the bytes are counted. */
const countEvery = 64;
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Begins a file. Its first bytes come with its first group. */
export function parquetFile(columns: readonly ParquetColumn[]) {
  const kept = columns.map(({ name, kind }) => ({ name, values: columnValues(kind) }));
  let waiting = 0;
  let rows = 0;
  let offset = 0;
  /** What the footer says of each group. The kind of a column without values is known at the end. */
  const groups: (() => RowGroup)[] = [];
  const out = (parts: readonly Uint8Array[]): readonly Uint8Array[] => {
    for (const part of parts) offset += part.length;
    return parts;
  };
  const begin = (): readonly Uint8Array[] => (offset === 0 ? out([magic]) : []);
  /** Bytes of the rows that wait for their group, about. */
  const bytes = (): number => kept.reduce((sum, { values }) => sum + values.bytes(), 0);
  /** The bytes of the rows that were added since the last group. */
  const flush = (): readonly Uint8Array[] => {
    if (waiting === 0) return [];
    const parts: Uint8Array[] = [...begin()];
    const chunks: (() => RowGroup['columns'][number])[] = [];
    let plainBytes = 0;
    const count = waiting;
    for (const { name, values } of kept) {
      const { parts: pages, ...chunk } = chunkOf(count, values.take());
      const at = offset;
      chunks.push(() => ({ file_offset: BigInt(at), meta_data: metadataOf({ name, kind: values.kind() }, count, chunk, at) }));
      plainBytes += chunk.plainBytes;
      parts.push(...out(pages));
    }
    groups.push(() => ({ columns: chunks.map((chunk) => chunk()), total_byte_size: BigInt(plainBytes), num_rows: BigInt(count) }));
    rows += count;
    waiting = 0;
    return parts;
  };
  return {
    /** Adds a row. Returns the bytes of a group of rows, when one is full. @throws KindChanged, as `columnValues` */
    add: (row: readonly ParquetValue[]): readonly Uint8Array[] => {
      for (let at = 0; at < kept.length; at++) kept[at]?.values.add(row[at] ?? null);
      waiting += 1;
      return waiting >= most.rows || (waiting % countEvery === 0 && bytes() > most.bytes) ? flush() : [];
    },
    flush,
    /** The last bytes of the file. */
    end: (): readonly Uint8Array[] => {
      const parts = [...flush(), ...begin()];
      const footer = new ByteWriter();
      writeMetadata(footer, {
        version: 1,
        schema: [{ name: 'schema', num_children: columns.length }, ...kept.map(({ name, values }) => elementOf({ name, kind: values.kind() }))],
        num_rows: BigInt(rows),
        row_groups: groups.map((group) => group()),
        created_by: 'stemma',
        metadata_length: 0,
      });
      return [...parts, ...out([footer.getBytes(), magic])];
    },
    bytes,
  };
}

const elementOf = ({ name, kind }: Required<ParquetColumn>): SchemaElement => ({
  type: physical[kind],
  repetition_type: 'OPTIONAL',
  name,
  ...defined({ converted_type: converted[kind] }),
});

interface Chunk {
  readonly parts: readonly Uint8Array[];
  readonly plainBytes: number;
  readonly packedBytes: number;
  readonly dictionaryBytes: number;
}

const metadataOf = (
  { name, kind }: Required<ParquetColumn>,
  rows: number,
  { plainBytes, packedBytes, dictionaryBytes }: Omit<Chunk, 'parts'>,
  offset: number,
): NonNullable<RowGroup['columns'][number]['meta_data']> => ({
  type: physical[kind],
  encodings: ['PLAIN', 'RLE', ...(dictionaryBytes > 0 ? (['RLE_DICTIONARY'] as const) : [])],
  path_in_schema: [name],
  codec: 'ZSTD',
  num_values: BigInt(rows),
  total_uncompressed_size: BigInt(plainBytes),
  total_compressed_size: BigInt(packedBytes),
  data_page_offset: BigInt(offset + dictionaryBytes),
  ...(dictionaryBytes > 0 && { dictionary_page_offset: BigInt(offset) }),
});

/** The pages of a column: for repeated texts a dictionary and numbers into it, else the values themselves. */
function chunkOf(rows: number, { levels, values, dictionary }: TakenValues): Chunk {
  const data = (encoding: 'PLAIN' | 'RLE_DICTIONARY'): Page =>
    makePage(joined([levels, values]), {
      type: 'DATA_PAGE',
      data_page_header: { num_values: rows, encoding, definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' },
    });
  if (!dictionary) return { ...data('PLAIN'), dictionaryBytes: 0 };
  const { words, count } = dictionary;
  const first = makePage(words, { type: 'DICTIONARY_PAGE', dictionary_page_header: { num_values: count, encoding: 'PLAIN' } });
  const second = data('RLE_DICTIONARY');
  return {
    parts: [...first.parts, ...second.parts],
    plainBytes: first.plainBytes + second.plainBytes,
    packedBytes: first.packedBytes + second.packedBytes,
    dictionaryBytes: first.packedBytes,
  };
}

type Page = Omit<Chunk, 'dictionaryBytes'>;

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

function makePage(body: Uint8Array, about: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>): Page {
  const squeezed = zstdCompressSync(body, fast);
  const header = new ByteWriter();
  writePageHeader(header, { ...about, uncompressed_page_size: body.length, compressed_page_size: squeezed.length });
  const parts = [header.getBytes(), squeezed];
  return { parts, plainBytes: header.offset + body.length, packedBytes: header.offset + squeezed.length };
}
