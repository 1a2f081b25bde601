import { randomBytes } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { blake3Of } from '../../core/artifacts/index.js';
import { corrupt, recent } from '../../core/base/index.js';
import type { BackingStore } from '../../core/replicas/index.js';
import { maxParcelBytes, type SentObject } from '../../core/sync/index.js';
import { type BucketLimits, patientStore } from './bucket.js';
import { type InProject, inStatements } from './database.js';
import { hashArray } from './names.js';

/**
 * The objects of a hub. Objects that arrive together become one compressed file in the bucket, so that many small objects need few requests. The
 * bucket is never called inside a transaction: while it hangs, no connection to the database waits for it.
 */
export type HubObjects = ReturnType<typeof openHubObjects>;

export interface BucketObject {
  readonly hash: string;
  readonly type: string;
  readonly file: string;
  readonly start: number;
  readonly size: number;
}

interface Written {
  readonly hash: Buffer;
  readonly size: number;
  readonly objects: readonly SentObject[];
}

/** Bytes of unpacked files to keep in memory, because objects of the same file are read one after the other. */
const keptBytes = 64 * 1024 * 1024;
const uniqueBytes = 16;

/** Opens the objects of a hub in a backing store. */
export function openHubObjects(given: BackingStore, limits?: Partial<BucketLimits>) {
  const store = patientStore(given, limits);
  const kept = recent<string, Buffer>(keptBytes);
  const readContent = async (name: string): Promise<Buffer> => {
    const known = kept.get(name);
    if (known) return known;
    const packed = await store.get(name);
    if (!packed || blake3Of(packed).toString('hex') !== name)
      throw corrupt(name, `The hub's bucket ${packed ? 'holds other bytes under' : 'does not hold'} the file ${name}. Restore it from a backup.`);
    const content = zstdDecompressSync(packed, { maxOutputLength: maxParcelBytes });
    kept.set(name, content, content.length);
    return content;
  };
  return {
    /** Writes the objects to the bucket, before the transaction that records them: a file that nothing refers to does no harm. */
    write: async (objects: readonly SentObject[]): Promise<Written | undefined> => {
      if (objects.length === 0) return undefined;
      // Random bytes at the end make every file unique, so that a file can be removed without checking for other references.
      const packed = zstdCompressSync(Buffer.concat([...objects.map(({ bytes }) => bytes), randomBytes(uniqueBytes)]));
      const hash = blake3Of(packed);
      await store.put(hash.toString('hex'), packed);
      return { hash, size: packed.length, objects };
    },
    record,
    locate,
    /** Reads located objects. Call it outside of a transaction. */
    read: async (located: readonly BucketObject[]): Promise<SentObject[]> => {
      const found: SentObject[] = [];
      for (const { hash, type, file, start, size } of located)
        found.push({ hash, contentType: type, bytes: (await readContent(file)).subarray(start, start + size) });
      return found;
    },
  };
}

/** Finds objects by their hashes, up to about `bytes` in total. Unknown objects are omitted. */
async function locate(tx: InProject, hashes: readonly string[], bytes: number): Promise<BucketObject[]> {
  if (hashes.length === 0) return [];
  const rows = await tx
    .selectFrom('object')
    .innerJoin('pack', 'pack.no', 'object.pack')
    .select(['object.hash', 'object.type', 'object.start', 'object.size', 'pack.hash as file'])
    .where(sql<boolean>`object.hash = any(${hashArray(hashes)}::bytea[])`)
    .where('object.expired_at', 'is', null)
    .orderBy('object.pack')
    .orderBy('object.start')
    .execute();
  let total = 0;
  const end = rows.findIndex(({ size }, i) => {
    total += Number(size);
    return i > 0 && total > bytes;
  });
  return (end < 0 ? rows : rows.slice(0, end)).map(({ hash, file, start, size, type }) => ({
    hash: hash.toString('hex'),
    type,
    file: file.toString('hex'),
    start: Number(start),
    size: Number(size),
  }));
}

/** Records written objects in the database. Objects that the hub already has stay in their files. */
async function record(tx: InProject, project: number, { hash, size, objects }: Written): Promise<void> {
  const pack = { project, hash, size: String(size) };
  const { no } = await tx.insertInto('pack').values(pack).returning('no').executeTakeFirstOrThrow();
  let start = 0;
  const known = new Set<string>();
  const all = objects.map((object) => {
    const size = object.bytes.length;
    start += size;
    return { project, hash: Buffer.from(object.hash, 'hex'), type: object.contentType, pack: no, start: String(start - size), size: String(size) };
  });
  // A parcel may name an object twice, but one statement stores a row only once.
  const rows = all.filter(({ hash }) => known.size < known.add(hash.toString('hex')).size);
  for (const some of inStatements(rows))
    await tx
      .insertInto('object')
      .values(some)
      // A new push restores content that retention removed.
      .onConflict((conflict) =>
        conflict
          .columns(['project', 'hash'])
          .doUpdateSet(({ ref }) => ({ pack: ref('excluded.pack'), start: ref('excluded.start'), size: ref('excluded.size'), expired_at: null }))
          .where('object.expired_at', 'is not', null),
      )
      .execute();
}
