import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { decodeText, StemmaError } from '../base/index.js';
import { type DeltaOutline, decodeOutline, encodeOutline, outlineOfParsed, type ParsedDelta } from '../formats/index.js';
import { offer, type ReadChain, type Step, type WriteChain } from './chain.js';

/** Raise this when the content of outlines changes, so that stored ones are rebuilt. */
export const outlineVersion = 6;

/** A stored delta: its object, and the format of its content. */
export type StoredDelta = Pick<Step, 'artifact' | 'format'>;

/** A name of a delta. */
export const deltaKey = ({ artifact, format }: StoredDelta): string => `${artifact}:${format}`;

/** The outline of a stored delta. It is built from the content if it is not stored. */
export function readOutline(chain: ReadChain, delta: StoredDelta): DeltaOutline {
  const recent = chain.outlines.get(deltaKey(delta));
  if (recent) return recent;
  // An unreadable one counts as missing, so that it is rebuilt.
  const stored = ifReadable(() => storedOutline(chain, delta));
  if (stored) return remembered(chain, delta, stored);
  const outline = outlineOfParsed(readParsed(chain, delta));
  offer(chain, { kind: 'outline', artifact: delta.artifact, format: delta.format, data: encodeOutline(outline) });
  return remembered(chain, delta, outline);
}

const outlinesAtOnce = 500;

/** Outlines of many deltas. */
export function outlinesOf(chain: ReadChain, deltas: readonly StoredDelta[]): DeltaOutline[] {
  const found: DeltaOutline[] = [];
  for (let from = 0; from < deltas.length; from += outlinesAtOnce) {
    const some = deltas.slice(from, from + outlinesAtOnce);
    const unknown = some.filter((delta) => chain.outlines.get(deltaKey(delta)) === undefined);
    const known = storedOutlines(chain, unknown);
    for (const delta of some) found.push(known.get(deltaKey(delta)) ?? readOutline(chain, delta));
  }
  return found;
}

/** The stored outlines of deltas, by the names of the deltas. Those that cannot be read are left out. */
function storedOutlines(chain: ReadChain, deltas: readonly StoredDelta[]): ReadonlyMap<string, DeltaOutline> {
  const found = new Map<string, DeltaOutline>();
  if (deltas.length < 2) return found;
  const rows = chain.db.all<StoredDelta & { readonly data: Stored }>(
    'SELECT artifact, format, data FROM outline WHERE artifact IN (SELECT value FROM json_each(?)) AND parser = ?',
    [JSON.stringify(deltas.map(({ artifact }) => artifact)), outlineVersion],
  );
  const wanted = new Set(deltas.map(deltaKey));
  for (const row of rows) {
    const name = deltaKey(row);
    const outline = wanted.has(name) ? ifReadable(() => outlineIn(row, row.data)) : undefined;
    if (outline) found.set(name, remembered(chain, row, outline));
  }
  return found;
}

type Stored = string | Uint8Array;

const storedData = ({ db }: ReadChain, { artifact, format }: StoredDelta): Stored | undefined =>
  db.value<Stored>('SELECT data FROM outline WHERE artifact = ? AND format = ? AND parser = ?', artifact, format, outlineVersion);

function remembered(chain: ReadChain, delta: StoredDelta, outline: DeltaOutline): DeltaOutline {
  chain.outlines.set(deltaKey(delta), outline, outline.entries.length + 1);
  return outline;
}

function ifReadable<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StemmaError) throw error;
    return undefined;
  }
}

/** The stored outline, if this parser version made it. @throws if it does not match its checksum. */
export function storedOutline(chain: ReadChain, delta: StoredDelta): DeltaOutline | undefined {
  const data = storedData(chain, delta);
  return data === undefined ? undefined : outlineIn(delta, data);
}

const outlineIn = (delta: StoredDelta, stored: Stored): DeltaOutline => decodeOutline(dataIn(delta, stored));

function dataIn(delta: StoredDelta, stored: Stored): string {
  const data = typeof stored === 'string' ? stored.slice(sumLength) : stored.subarray(sumLength);
  const sum = typeof stored === 'string' ? stored.slice(0, sumLength) : Buffer.from(stored.subarray(0, sumLength)).toString('latin1');
  if (sum !== outlineSum(delta, data)) throw new Error('the outline does not match its checksum');
  return unpacked(data);
}

/** The encoded outline of a stored delta (see `encodeOutline`). It is neither parsed nor kept, because a question reads those of all deltas once. */
export function encodedOutline(chain: ReadChain, delta: StoredDelta): string {
  const stored = storedData(chain, delta);
  const data = stored === undefined ? undefined : ifReadable(() => dataIn(delta, stored));
  return data ?? encodeOutline(readOutline(chain, delta));
}

/** Shorter outlines are stored as text: they fill a part of a page, and every commit writes one. */
const compressedFrom = 2_048;
/** Outlines shrink to a third. Higher levels take longer and save 1 % more. Small chunks of output leave less garbage. */
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 2_048 };
/** Maximum decompressed size in bytes, so that damaged bytes cannot exhaust memory. */
const maxOutlineBytes = 256 * 1024 ** 2;

/** The text of a column that `packed` wrote. @throws for damaged bytes. */
export const unpacked = (stored: string | Uint8Array): string =>
  typeof stored === 'string' ? stored : decodeText(zstdDecompressSync(stored, { maxOutputLength: maxOutlineBytes }));

/** A derived text as a column stores it: compressed if it is long. */
export function packed(text: string): string | Uint8Array {
  if (text.length < compressedFrom) return text;
  const bytes = Buffer.from(text);
  // With the size, zstd takes only as much memory as that needs.
  return zstdCompressSync(bytes, { ...compression, pledgedSrcSize: bytes.length });
}

/** The checksum before the outline, as it is stored, also covers the artifact and format that the outline belongs to. */
const sumLength = 8;
const outlineSum = ({ artifact, format }: StoredDelta, data: string | Uint8Array): string =>
  crc32(data, (artifact ^ crc32(format)) >>> 0)
    .toString(16)
    .padStart(sumLength, '0');

/** Stores an encoded outline (from `encodeOutline` or `outlined`), which may be packed already. */
export function saveOutline(chain: WriteChain, delta: StoredDelta, encoded: string | Uint8Array): void {
  const { artifact, format } = delta;
  const data = typeof encoded === 'string' ? packed(encoded) : encoded;
  const sum = outlineSum(delta, data);
  const stored = typeof data === 'string' ? sum + data : Buffer.concat([Buffer.from(sum, 'latin1'), data]);
  chain.db.run('INSERT OR REPLACE INTO outline (artifact, format, parser, data) VALUES (?, ?, ?, ?)', artifact, format, outlineVersion, stored);
}

/** Parses a stored delta. A delta of an unknown format becomes one text entry that says so. */
export const readParsed = (chain: ReadChain, delta: StoredDelta): ParsedDelta =>
  chain.parsed.get(deltaKey(delta)) ?? rememberParsed(chain, delta, chain.artifacts.read(delta.artifact));

/** Parses the content of a delta and keeps the result in memory, also before the content is stored. */
export function rememberParsed(chain: ReadChain, delta: StoredDelta, bytes: Uint8Array): ParsedDelta {
  const parsed = chain.reader(delta.format).parse(bytes);
  chain.parsed.set(deltaKey(delta), parsed, bytes.length);
  return parsed;
}
