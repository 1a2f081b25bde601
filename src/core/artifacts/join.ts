import { type ArtifactRef, corrupt, StemmaError } from '../base/index.js';
import { chunkType } from '../store/index.js';
import { type Chunk, encodeChunks } from './chunk-list.js';
import { chunksOf } from './chunks.js';
import { blake3Parts, hashOfRef } from './hash.js';
import { insertRow, known, type Put, type PutOptions, put } from './put.js';
import type { Shelf } from './shelf.js';

/**
 * Stores an object that comes in parts, one of them in memory at a time: its chunks first, each part in a transaction, then the object.
 * @throws CORRUPT if the parts do not match the ref; UNAVAILABLE if garbage collection removed chunks meanwhile.
 */
export function putInParts(shelf: Shelf, ref: ArtifactRef, parts: Iterable<Uint8Array>, options: PutOptions): Put {
  const hash = hashOfRef(ref);
  const hasher = blake3Parts();
  const chunks: Chunk[] = [];
  for (const part of parts) {
    hasher.add(part);
    shelf.db.transaction(() => chunks.push(...putChunks(shelf, part).chunks));
  }
  if (!hasher.hash().equals(hash)) throw corrupt(ref, `The received parts do not match ${ref}.`);
  return shelf.db.transaction(() => {
    requireAll(shelf, chunks, ref);
    const row = known(shelf, hash);
    const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0);
    if (row?.isStored === 1 && row.gone === null) return { no: row.no, ref, size, storedSize: row.storedSize, existed: true };
    const made = row ? { no: row.no, ref, size, storedSize: 0, existed: false } : insertRow(shelf, hash, size, options, {}, null);
    const list = encodeChunks(chunks, hash);
    shelf.db.run(
      'UPDATE artifact SET data = NULL, pack = NULL, packStart = NULL, block = NULL, blockStart = NULL, chunks = ?, storedSize = ?, gone = NULL WHERE no = ?',
      [list, list.length, made.no],
    );
    return { ...made, storedSize: list.length };
  });
}

/** Cuts bytes into chunks and stores them as objects. `added`: the bytes that were not stored before. */
export function putChunks(shelf: Shelf, bytes: Uint8Array): { readonly chunks: readonly Chunk[]; readonly added: number } {
  let added = 0;
  const chunks = chunksOf(bytes).map(({ start, end }): Chunk => {
    const { no, size, existed } = put(shelf, bytes.subarray(start, end), { contentType: chunkType, bulk: true });
    if (!existed) added += size;
    return { no, size };
  });
  return { chunks, added };
}

/** Garbage collection removes chunks of an object that takes longer than the grace time to arrive. @throws UNAVAILABLE if it did. */
function requireAll(shelf: Shelf, chunks: readonly Chunk[], ref: ArtifactRef): void {
  const nos = new Set(chunks.map(({ no }) => no));
  const here = shelf.db.value<number>(
    'SELECT COUNT(*) FROM artifact WHERE no IN (SELECT value FROM json_each(?)) AND key >= 0 AND gone IS NULL',
    JSON.stringify([...nos]),
  );
  if (here !== nos.size) throw new StemmaError('UNAVAILABLE', `Parts of ${ref} were removed while it arrived. Try again.`, { id: ref });
}
