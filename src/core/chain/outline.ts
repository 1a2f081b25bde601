import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type ArtifactNo, decodeText, StemmaError } from '../base/index.js';
import { countTokens, type DeltaOutline, decodeOutline, type Elision, encodeOutline, outlineOfParsed, type ParsedDelta } from '../formats/index.js';
import { offer, type ReadChain, type WriteChain } from './chain.js';

/** Raise this when the content of outlines changes, so that stored ones are rebuilt. */
export const outlineVersion = 6;

/** The outline of a stored delta. It is built from the content if it is not stored. */
export function readOutline(chain: ReadChain, artifact: ArtifactNo, format: string): DeltaOutline {
  const recent = chain.outlines.get(outlineKey(artifact, format));
  if (recent) return recent;
  // An unreadable one counts as missing, so that it is rebuilt.
  const stored = ifReadable(() => storedOutline(chain, artifact, format));
  if (stored) return remembered(chain, artifact, format, stored);
  const outline = outlineOfParsed(readParsed(chain, artifact, format));
  offer(chain, { kind: 'outline', artifact, format, data: encodeOutline(outline) });
  return remembered(chain, artifact, format, outline);
}

type Delta = { readonly artifact: ArtifactNo; readonly format: string };

const outlinesAtOnce = 500;

/** Outlines of many deltas. */
export function outlinesOf(chain: ReadChain, deltas: readonly Delta[]): DeltaOutline[] {
  const found: DeltaOutline[] = [];
  for (let from = 0; from < deltas.length; from += outlinesAtOnce) {
    const some = deltas.slice(from, from + outlinesAtOnce);
    const unknown = some.filter(({ artifact, format }) => chain.outlines.get(outlineKey(artifact, format)) === undefined);
    const known = storedOutlines(chain, unknown);
    for (const { artifact, format } of some) found.push(known.get(outlineKey(artifact, format)) ?? readOutline(chain, artifact, format));
  }
  return found;
}

/** The stored outlines of deltas, by the names of the deltas. Those that cannot be read are left out. */
function storedOutlines(chain: ReadChain, deltas: readonly Delta[]): ReadonlyMap<string, DeltaOutline> {
  const found = new Map<string, DeltaOutline>();
  if (deltas.length < 2) return found;
  const rows = chain.db.all<Delta & { readonly data: Stored }>(
    'SELECT artifact, format, data FROM outline WHERE artifact IN (SELECT value FROM json_each(?)) AND parser = ?',
    [JSON.stringify(deltas.map(({ artifact }) => artifact)), outlineVersion],
  );
  const wanted = new Set(deltas.map(({ artifact, format }) => outlineKey(artifact, format)));
  for (const { artifact, format, data } of rows) {
    const name = outlineKey(artifact, format);
    const outline = wanted.has(name) ? ifReadable(() => outlineIn(artifact, format, data)) : undefined;
    if (outline) found.set(name, remembered(chain, artifact, format, outline));
  }
  return found;
}

type Stored = string | Uint8Array;

const storedData = ({ db }: ReadChain, artifact: ArtifactNo, format: string): Stored | undefined =>
  db.value<Stored>('SELECT data FROM outline WHERE artifact = ? AND format = ? AND parser = ?', artifact, format, outlineVersion);

function remembered(chain: ReadChain, artifact: ArtifactNo, format: string, outline: DeltaOutline): DeltaOutline {
  chain.outlines.set(outlineKey(artifact, format), outline, outline.entries.length + 1);
  return outline;
}

const outlineKey = (artifact: ArtifactNo, format: string): string => `${artifact}:${format}`;

function ifReadable<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StemmaError) throw error;
    return undefined;
  }
}

/** The stored outline, if this parser version made it. @throws if it does not match its checksum. */
export function storedOutline(chain: ReadChain, artifact: ArtifactNo, format: string): DeltaOutline | undefined {
  const data = storedData(chain, artifact, format);
  return data === undefined ? undefined : outlineIn(artifact, format, data);
}

const outlineIn = (artifact: ArtifactNo, format: string, stored: Stored): DeltaOutline => decodeOutline(dataIn(artifact, format, stored));

function dataIn(artifact: ArtifactNo, format: string, stored: Stored): string {
  const data = typeof stored === 'string' ? stored.slice(sumLength) : stored.subarray(sumLength);
  const sum = typeof stored === 'string' ? stored.slice(0, sumLength) : Buffer.from(stored.subarray(0, sumLength)).toString('latin1');
  if (sum !== outlineSum(artifact, format, data)) throw new Error('the outline does not match its checksum');
  return unpacked(data);
}

/** The encoded outline of a stored delta (see `encodeOutline`). It is neither parsed nor kept, because a question reads those of all deltas once. */
export function encodedOutline(chain: ReadChain, artifact: ArtifactNo, format: string): string {
  const stored = storedData(chain, artifact, format);
  const data = stored === undefined ? undefined : ifReadable(() => dataIn(artifact, format, stored));
  return data ?? encodeOutline(readOutline(chain, artifact, format));
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
const outlineSum = (artifact: ArtifactNo, format: string, data: string | Uint8Array): string =>
  crc32(data, (artifact ^ crc32(format)) >>> 0)
    .toString(16)
    .padStart(sumLength, '0');

/** Stores an encoded outline (from `encodeOutline` or `outlined`), which may be packed already. */
export function saveOutline(chain: WriteChain, artifact: ArtifactNo, format: string, encoded: string | Uint8Array): void {
  const data = typeof encoded === 'string' ? packed(encoded) : encoded;
  const sum = outlineSum(artifact, format, data);
  const stored = typeof data === 'string' ? sum + data : Buffer.concat([Buffer.from(sum, 'latin1'), data]);
  chain.db.run('INSERT OR REPLACE INTO outline (artifact, format, parser, data) VALUES (?, ?, ?, ?)', artifact, format, outlineVersion, stored);
}

/** Parses a stored delta. A delta of an unknown format becomes one text entry that says so. */
export function readParsed(chain: ReadChain, artifact: ArtifactNo, format: string): ParsedDelta {
  return chain.parsed.get(outlineKey(artifact, format)) ?? rememberParsed(chain, artifact, format, chain.artifacts.read(artifact));
}

/** Parses the content of a delta and keeps the result in memory, also before the content is stored. */
export function rememberParsed(chain: ReadChain, artifact: ArtifactNo, format: string, bytes: Uint8Array): ParsedDelta {
  const parsed = chain.reader(format).parse(bytes);
  chain.parsed.set(outlineKey(artifact, format), parsed, bytes.length);
  return parsed;
}

/** Tokens of the text that replaces an elided result. */
export const elidedTokens = (elision: Elision): number => countTokens(elision.text);
