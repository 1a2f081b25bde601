import { zstdDecompressSync } from 'node:zlib';
import { type ArtifactNo, concatBytes, corrupt, notFound, orUndefined, StemmaError } from '../base/index.js';
import { type Chunk, decodeChunks } from './chunk-list.js';
import { blake3Of, blake3Parts, hasHash, hashLength, refOfHash } from './hash.js';
import { type ContentRow, contentColumns, type ReadShelf } from './shelf.js';

/** The row of an object. @throws NOT_FOUND for an unknown number. */
export function rowAt<Row>({ db, project }: ReadShelf, no: ArtifactNo, columns: string): Row {
  const row = db.one<Row>(`SELECT ${columns} FROM artifact WHERE no = ? AND project = ? AND key >= 0`, no, project);
  if (!row) throw notFound(`artifact ${no}`, `no artifact has the number ${no}`);
  return row;
}

/** The row of an object, for reading. @throws NOT_FOUND for an unknown number. */
export const contentAt = (shelf: ReadShelf, no: ArtifactNo): ContentRow => rowAt(shelf, no, contentColumns);

/** The object's verified bytes. @throws CORRUPT if they do not match the hash; NOT_FOUND or UNAVAILABLE if they are gone. */
export const read = (shelf: ReadShelf, no: ArtifactNo): Uint8Array => proved(shelf, contentAt(shelf, no));

/** Reads many objects, in the given order: neighboring rows, and neighbors in a pack, together. */
export function readAll(shelf: ReadShelf, nos: readonly ArtifactNo[]): Uint8Array[] {
  const lowest = nos.reduce<number>((least, no) => Math.min(least, no), Number.POSITIVE_INFINITY);
  const highest = nos.reduce<number>((most, no) => Math.max(most, no), 0);
  const isDense = nos.length > 8 && highest - lowest < nos.length * 2;
  if (!isDense) return nos.map((no) => read(shelf, no));
  const found: (Uint8Array | undefined)[] = new Array(highest - lowest + 1).fill(undefined);
  let wanted: ReadonlySet<ArtifactNo> | undefined;
  for (let first = lowest; first <= highest; first += rowsTogether) {
    const last = Math.min(first + rowsTogether - 1, highest);
    const rows = verifiedRows(shelf, first, last);
    for (const { no, data } of rows) found[no - lowest] = data;
    if (rows.length > last - first) continue;
    wanted ??= new Set(nos);
    for (const { no, data } of packedRows(shelf, first, last, wanted)) found[no - lowest] = data;
  }
  const now = shelf.clock();
  return nos.map((no) => {
    const bytes = found[no - lowest];
    if (!bytes) return read(shelf, no);
    shelf.used?.set(no, now);
    return bytes;
  });
}

/** Rows that are read together. Reading and hashing this many costs half as much, because they fit into the processor's cache. */
const rowsTogether = 128;

const amongRows = 'no BETWEEN ? AND ? AND project = ? AND gone IS NULL AND expiresAt IS NULL AND key >= 0';
/** Neighbors in a pack are read together up to this many bytes. */
const bytesTogether = 512 * 1024;

/** The wanted objects of a range that are in packs or blocks, with matching content. */
function packedRows(shelf: ReadShelf, first: number, last: number, wanted: ReadonlySet<ArtifactNo>) {
  const select = `SELECT ${contentColumns} FROM artifact WHERE ${amongRows} AND (pack IS NOT NULL OR block IS NOT NULL)`;
  const rows = shelf.db.all<ContentRow>(select, first, last, shelf.project).filter(({ no }) => wanted.has(no));
  return [...Map.groupBy(rows, ({ pack }) => pack)].flatMap(([pack, some]) => {
    const start = Math.min(...some.map(({ packStart }) => packStart ?? 0));
    const length = Math.max(...some.map(({ packStart, storedSize }) => (packStart ?? 0) + storedSize)) - start;
    const isTogether = pack !== null && some.length > 1 && length <= bytesTogether;
    const bytes = isTogether ? orUndefined(() => shelf.packs.read({ pack, start }, length), ['CORRUPT', 'UNAVAILABLE']) : undefined;
    return some.flatMap((row) => {
      const from = (row.packStart ?? 0) - start;
      const part = bytes?.subarray(from, from + row.storedSize);
      const data = part?.length === row.size && blake3Of(part).equals(row.hash) ? part : attempt(shelf, row);
      return data ? [{ no: row.no, data }] : [];
    });
  });
}

/** The objects of a range whose own rows hold matching content. Leaves out packs, blocks, chunks and rows that change meanwhile. */
function verifiedRows(shelf: ReadShelf, first: number, last: number): { readonly no: ArtifactNo; readonly data: Buffer }[] {
  const among = `${amongRows} AND data IS NOT NULL ORDER BY no`;
  const rows = shelf.db.all<{ no: ArtifactNo; data: Buffer }>(`SELECT no, data FROM artifact WHERE ${among}`, first, last, shelf.project);
  // Reads all hashes as one text, because a buffer for each costs as much as reading the content.
  const select = `SELECT group_concat(digits, '') FROM (SELECT hex(hash) AS digits FROM artifact WHERE ${among})`;
  const hex = shelf.db.value<string | null>(select, first, last, shelf.project);
  const hashes = Buffer.from(hex ?? '', 'hex');
  return rows.filter(({ data }, place) => hasHash(data, hashes, place * hashLength));
}

/** Approximate number of bytes of one object, and of several objects, that are in memory at a time. */
const heldAtOnce = 4 * 1024 * 1024;
const heldInTurn = 1024 * 1024;

/** Many objects one after the other, with a few of them in memory at a time. */
export function* readInTurn(shelf: ReadShelf, nos: readonly ArtifactNo[]): Generator<Uint8Array> {
  let count = 16;
  for (let at = 0; at < nos.length; ) {
    const some = readAll(shelf, nos.slice(at, at + count));
    at += count;
    yield* some;
    const bytes = some.reduce((sum, each) => sum + each.length, 0);
    count = bytes > heldInTurn ? Math.max(1, count >> 1) : bytes * 2 < heldInTurn ? count * 2 : count;
  }
}

/** One object, part by part. The last step verifies it. @throws as `read`; NOT_FOUND for a missing cache. */
export function* readParts(shelf: ReadShelf, no: ArtifactNo): Generator<Uint8Array> {
  const row = contentAt(shelf, no);
  refuseGone(shelf, row);
  if (row.chunks !== null) yield* readInTurn(shelf, chunkNumbers(row));
  else if (isCache(row)) yield* cachedParts(shelf, row);
  else if (row.pack !== null && row.size > heldAtOnce) yield* packedParts(shelf, row, row.pack);
  else yield proved(shelf, row);
}

function* packedParts(shelf: ReadShelf, row: ContentRow, pack: number): Generator<Uint8Array> {
  const hasher = blake3Parts();
  for (let at = 0; at < row.size; at += heldAtOnce) {
    const start = (row.packStart ?? 0) + at;
    const part = orUndefined(() => shelf.packs.read({ pack, start }, Math.min(heldAtOnce, row.size - at)), ['CORRUPT']);
    if (!part) break;
    hasher.add(part);
    yield part;
  }
  if (hasher.hash().equals(row.hash)) return;
  // Another process may have moved the object meanwhile. Then the object is intact, but the returned bytes are not.
  proved(shelf, contentAt(shelf, row.no));
  throw new StemmaError('UNAVAILABLE', `${refOfHash(row.hash)} was moved while it was read. Try again.`, { id: refOfHash(row.hash) });
}

function* cachedParts(shelf: ReadShelf, row: ContentRow): Generator<Uint8Array> {
  try {
    yield* shelf.caches.readParts(row.hash);
  } catch {
    throw dropped(row.hash);
  }
}

/** A range of the object's bytes. Of a large object only the chunks of the range are read, each verified by its own hash. */
export function readRange(shelf: ReadShelf, no: ArtifactNo, start: number, end: number): Uint8Array {
  const row = contentAt(shelf, no);
  refuseGone(shelf, row);
  if (row.chunks === null) return proved(shelf, row).subarray(start, end);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const chunk of chunkListOf(row)) {
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, chunk.size)];
    if (from < to) parts.push(read(shelf, chunk.no).subarray(from, to));
    at += chunk.size;
  }
  return concatBytes(parts);
}

/** @throws CORRUPT if the list does not match its checksum. */
function chunkListOf(row: ContentRow): Chunk[] {
  const chunks = row.chunks && decodeChunks(row.chunks, row.hash);
  if (!chunks) throw damaged(row.hash);
  return chunks;
}

const chunkNumbers = (row: ContentRow): ArtifactNo[] => chunkListOf(row).map(({ no }) => no);

const damaged = (hash: Buffer): StemmaError =>
  corrupt(
    refOfHash(hash),
    `the content of ${refOfHash(hash)} does not match its hash; "stemma fsck --repair" restores it from its source or a replica where it can`,
  );

/** The row's bytes if they match its hash. Otherwise reads the row once more, because its content may have moved since. */
export function proved(shelf: ReadShelf, row: ContentRow): Uint8Array {
  refuseGone(shelf, row);
  shelf.used?.set(row.no, shelf.clock());
  const bytes = attempt(shelf, row);
  if (bytes) return bytes;
  if (row.pack !== null) shelf.packs.forget(row.pack);
  if (row.block !== null) forgetBlock(shelf, row.block);
  const again = contentAt(shelf, row.no);
  refuseGone(shelf, again);
  const second = attempt(shelf, again);
  if (!second) throw damaged(row.hash);
  return second;
}

function refuseGone(shelf: ReadShelf, row: ContentRow): void {
  if (row.gone === null && row.expiresAt === null) return;
  const ref = refOfHash(row.hash);
  if (row.gone === 'expired' || (row.expiresAt !== null && row.expiresAt <= shelf.clock()))
    throw notFound(ref, `${ref} was stored for a limited time and has expired`, { reason: 'expired' });
  if (row.gone === 'deleted') throw notFound(ref, `${ref} was freed: only deleted sessions contained it`, { reason: 'deleted' });
  if (row.gone === 'evicted') throw new StemmaError('UNAVAILABLE', `${ref} is in a backing store only`, { reason: elsewhere, id: ref });
  if (row.gone === 'lost') throw corrupt(ref, `${ref} was damaged and could not be restored: put the same content again, or import its source`);
}

/** The reason why content is missing, if a replica may have it. */
export const elsewhere = 'elsewhere';

function attempt(shelf: ReadShelf, row: ContentRow): Uint8Array | undefined {
  if (isCache(row)) return cached(shelf, row);
  // A short or missing pack is damage. A chunk that a replica has is not.
  const bytes = orUndefined(() => fetch(shelf, row), ['CORRUPT']);
  return bytes?.length === row.size && blake3Of(bytes).equals(row.hash) ? bytes : undefined;
}

/** Whether a row has no content of its own: its bytes are in the caches. */
export const isCache = (row: ContentRow): boolean => row.data === null && row.pack === null && row.block === null && row.chunks === null;

function fetch(shelf: ReadShelf, row: ContentRow): Uint8Array {
  if (row.data !== null) return row.data;
  if (row.block !== null) return plainBlock(shelf, row.block).subarray(row.blockStart ?? 0, (row.blockStart ?? 0) + row.size);
  if (row.chunks !== null) return concatBytes(readAll(shelf, chunkNumbers(row)));
  return shelf.packs.read({ pack: row.pack ?? 0, start: row.packStart ?? 0 }, row.storedSize);
}

function plainBlock(shelf: ReadShelf, no: number): Uint8Array {
  const known = shelf.blocks.get(no);
  if (known) return known;
  const block = shelf.db.one<{ pack: number; packStart: number; storedSize: number; size: number }>(
    'SELECT pack, packStart, storedSize, size FROM block WHERE no = ?',
    no,
  );
  if (!block) throw corrupt(`block ${no}`, `an object refers to block ${no}, which the database does not list`);
  const plain = unpacked(shelf.packs.read({ pack: block.pack, start: block.packStart }, block.storedSize), block.size);
  shelf.blocks.set(no, plain, plain.length);
  return plain;
}

function forgetBlock(shelf: ReadShelf, no: number): void {
  shelf.blocks.delete(no);
  const pack = shelf.db.value<number>('SELECT pack FROM block WHERE no = ?', no);
  if (pack !== undefined) shelf.packs.forget(pack);
}

/** Maximum plain size of a block. Stemma writes much smaller ones. */
const maxBlockBytes = 16 * 1024 ** 2;

/** Decompresses with a limit, so that damaged bytes cannot exhaust memory. @throws CORRUPT if they are not zstd or have another size. */
function unpacked(stored: Uint8Array, size: number): Uint8Array {
  if (size > maxBlockBytes) throw corrupt('objects', `a block claims to have ${size} bytes; the limit is ${maxBlockBytes}`);
  try {
    return zstdDecompressSync(stored, { maxOutputLength: Math.max(size, 1) });
  } catch (error) {
    throw corrupt('objects', `a compressed object cannot be read (${(error as Error).message})`);
  }
}

function cached(shelf: ReadShelf, row: ContentRow): Uint8Array {
  const kept = shelf.caches.read(row.hash, row.size);
  if (kept) return kept;
  const made = shelf.remake(row.no);
  if (!made || !blake3Of(made).equals(row.hash)) throw dropped(row.hash);
  shelf.caches.write(row.hash, made);
  return made;
}

const dropped = (hash: Buffer): StemmaError =>
  notFound(refOfHash(hash), `${refOfHash(hash)} was dropped from the cache and cannot be rebuilt`, { reason: 'dropped' });
