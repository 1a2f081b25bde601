import { type ArtifactNo, type ArtifactRef, badRequest, notFound, type Timestamp, toTimestamp } from '../base/index.js';
import type { Policy } from '../contract/index.js';
import { chunkType, type WritableDb } from '../store/index.js';
import { type Cached, openCaches } from './caches.js';
import { read, readAll, readInTurn, readParts, readRange, rowAt } from './content.js';
import { copiesIn, copiesToRead } from './copies.js';
import { type GcOptions, type GcResult, gc } from './gc.js';
import { blake3Of, hashOfRef, refOfHash } from './hash.js';
import { putInParts } from './join.js';
import { openPackFiles, openPacks } from './packs.js';
import { dropCaches, expire, expiryIsDue, keep, setPolicy } from './policy.js';
import { type PressedBlock, putBlock } from './pressed.js';
import { keyLength, known, type Put, type PutOptions, put, putCache, restore } from './put.js';
import { type Loose, looseOf, type Repacked, type RepackOptions, repack } from './repack.js';
import { factColumns, type Gone, isStoredSql, type ObjectRow, type ReadShelf, type Shelf } from './shelf.js';

export interface ArtifactStat extends Omit<Put, 'existed'> {
  readonly contentType: string;
  readonly policy: Policy;
  readonly labels: readonly string[];
  readonly createdAt: Timestamp;
  readonly expiresAt?: Timestamp;
  readonly gone?: Gone;
}

export interface ReadArtifactsOptions extends Pick<ReadShelf, 'db' | 'project' | 'clock' | 'blocks' | 'remake'> {
  /** The project's `objects` folder. */
  readonly folder: string;
  /** For a read-only project, its own `objects` folder. `folder` then belongs to the copy of its database. */
  readonly behind?: string | undefined;
  readonly newName: () => string;
}

const shelfWith = (packs: ReadShelf['packs'], { folder, behind, newName, ...rest }: ReadArtifactsOptions): ReadShelf => ({
  ...rest,
  packs,
  caches: openCaches(rest.db, folder, newName, behind),
  used: undefined,
  onGone: () => {},
});

/** The content-addressed store of one project, for reading. All sizes are bytes. */
export type ReadArtifacts = ReturnType<typeof openReadArtifacts>;

/** Opens the object store of a project for reading. */
export function openReadArtifacts(options: ReadArtifactsOptions) {
  const shelf = shelfWith(openPackFiles(options.db, options.folder, options.behind), options);
  return { ...readsOf(shelf), copies: copiesToRead(shelf), close: (): void => shelf.packs.close() };
}

export type Artifacts = ReturnType<typeof openArtifacts>;

/** Opens the object store of a project. `onGone` is called when content is removed, so that others drop their copies of it. */
export function openArtifacts(options: ReadArtifactsOptions & { readonly db: WritableDb; readonly onGone?: () => void }) {
  const { db, project, onGone = () => {} } = options;
  const packs = openPacks(db, options.folder, options.newName, options.clock, options.behind);
  const shelf: Shelf = { ...shelfWith(packs, options), db, packs, onGone };
  // Large objects are on disk before the commit that names them.
  db.beforeCommit(() => shelf.packs.sync());
  db.onRollback(() => shelf.blocks.clear());
  const { transaction } = db;
  return {
    ...readsOf(shelf),
    /** Stores the bytes unless they are stored already. Durable after the surrounding transaction. */
    put: (bytes: Uint8Array, options: PutOptions): Put => db.joined(() => put(shelf, bytes, options)),
    /** Stores objects that were compressed together before. Undefined if one of them is known: put them one by one. Call it inside a transaction. */
    putBlock: (block: PressedBlock, options: PutOptions): Put[] | undefined => putBlock(shelf, block, options),
    /** Stores an object in parts, one in memory at a time. Call it outside of a transaction. @throws CORRUPT if they do not match the ref. */
    putInParts: (ref: ArtifactRef, parts: Iterable<Uint8Array>, options: PutOptions): Put => putInParts(shelf, ref, parts, options),
    /** Stores bytes that can be rebuilt at any time. They are not synced, and losing them does no harm. */
    putCache: (content: Uint8Array | Cached, contentType: string): Put => transaction(() => putCache(shelf, content, contentType)),
    setPolicy: (no: ArtifactNo, policy: Policy, ttlSeconds?: number): void => transaction(() => setPolicy(shelf, no, policy, ttlSeconds)),
    /** Makes the content of an object durable before a commit names it. */
    keep: (no: ArtifactNo): void => transaction(() => keep(shelf, no)),
    /** Restores the content of a damaged or missing object, and its hash if only its beginning is known. @throws BAD_REQUEST for other content. */
    restore: (no: ArtifactNo, bytes: Uint8Array): void => {
      const { hash } = factsAt(shelf, no);
      const found = blake3Of(bytes);
      if (isBeginning(hash) && found.subarray(0, keyLength).equals(hash.subarray(0, keyLength)))
        db.run('UPDATE artifact SET hash = ?, size = ? WHERE no = ?', found, bytes.length, no);
      else if (!found.equals(hash)) throw badRequest('data', `this is not the content of ${refOfHash(hash)}`);
      transaction(() => restore(shelf, no, bytes));
    },
    /** Marks a damaged object as lost until it is restored or put again. */
    giveUp: (no: ArtifactNo): void => void db.run("UPDATE artifact SET gone = 'lost' WHERE no = ? AND project = ?", no, project),
    /** Marks the objects of packs and blocks that have no row as lost. */
    giveUpUnplaced: (): void => transaction(() => giveUpUnplaced(shelf)),
    /** Checks lost objects again, because a person may have put a missing file back. */
    tryAgain: (): void => void db.run(`UPDATE artifact SET gone = NULL WHERE gone = 'lost' AND key >= 0 AND ${isStoredSql} AND project = ?`, project),
    /** Removes expired objects. Cheap if there are none. */
    expire: (): void => void expire(shelf),
    /** Removes objects that nothing refers to. Other work may run between its steps. */
    gc: (options: GcOptions): Generator<undefined, GcResult> => gc(shelf, options),
    /** Compresses and deduplicates stored objects. Other work may run between its steps. */
    repack: (options: RepackOptions = {}): Generator<undefined, Repacked> => repack(shelf, options),
    /** Drops every cache and returns their bytes. */
    dropCaches: (): number => dropCaches(shelf),
    copies: copiesIn(shelf),
    /** A transaction of the database. Objects that are put in it are on disk before it commits. */
    transaction,
    close: (): void => shelf.packs.close(),
  };
}

function readsOf(shelf: ReadShelf) {
  const { db, project } = shelf;
  return {
    project,
    /** Writes parts to the caches; pass the result to `putCache`. Other work may run between its steps. */
    writeCache: (parts: Iterable<Uint8Array>): Generator<undefined, Cached> => shelf.caches.writeParts(parts),
    /** The bytes of a result that `writeCache` wrote. Undefined if they are not cached any more. */
    readCached: ({ hash, size }: Cached): Uint8Array | undefined => shelf.caches.read(hash, size),
    /** @throws CORRUPT if the stored bytes do not match the ref, NOT_FOUND for an expired object. */
    read: (no: ArtifactNo): Uint8Array => read(shelf, no),
    /** Reads many objects, in the given order. Neighbors in the database are read as one range. */
    readAll: (nos: readonly ArtifactNo[]): Uint8Array[] => readAll(shelf, nos),
    /** Reads many objects one after the other, and holds a few of them at a time. */
    readInTurn: (nos: readonly ArtifactNo[]): Iterable<Uint8Array> => readInTurn(shelf, nos),
    /** Reads one object in parts. Throws at the end if the bytes do not match the ref. Does not rebuild a dropped cache. */
    readParts: (no: ArtifactNo): Iterable<Uint8Array> => readParts(shelf, no),
    /** The bytes from `start` up to `end`. @throws BAD_REQUEST for a range outside of the object. */
    readRange: (no: ArtifactNo, start: number, end: number): Uint8Array => {
      const { size, hash } = factsAt(shelf, no);
      if (start > end || end > size) throw badRequest('end', `the range ${start} to ${end} is not within the ${size} bytes of ${refOfHash(hash)}`);
      return readRange(shelf, no, start, end);
    },
    /** The number of an object by its full or short ref. @throws NOT_FOUND for an unknown ref, BAD_REQUEST for an ambiguous short one. */
    find: (name: string): ArtifactNo => find(shelf, name),
    stat: (no: ArtifactNo): ArtifactStat => stat(shelf, no),
    /** Whether the object still has this number and its content. */
    has: (no: ArtifactNo, ref: ArtifactRef): boolean => {
      const row = known(shelf, hashOfRef(ref));
      return row?.no === no && row.isStored === 1 && row.gone === null;
    },
    /** The number and plain bytes of the objects under each policy. Objects that are gone are counted by reason. */
    byPolicy: () =>
      db.all<{ policy: Policy; gone: Gone | null; count: number; bytes: number }>(
        `SELECT policy, gone, COUNT(*) AS count, SUM(size) AS bytes FROM artifact
         WHERE project = ? AND key >= 0 AND contentType <> '${chunkType}' AND (gone IS NOT NULL OR ${isStoredSql}) GROUP BY policy, gone`,
        project,
      ),
    /** Whether the content of an object has expired and is not removed yet. Cached results may contain it. */
    expiryIsDue: (): boolean => expiryIsDue(shelf),
    /** Forgets blocks in memory, so that a check reads the disk. */
    forget: (): void => shelf.blocks.clear(),
    /** Objects that were put since the last repack. Bytes are not counted for `limit` objects and more. */
    loose: (limit?: number): Loose => looseOf(shelf, limit),
  };
}

/** For a lost row, an index may still have the beginning of the hash. */
const isBeginning = (hash: Buffer): boolean => hash.subarray(keyLength).every((byte) => byte === 0);

const factsAt = (shelf: ReadShelf, no: ArtifactNo): ObjectRow => rowAt(shelf, no, factColumns);

function giveUpUnplaced({ db }: Shelf): void {
  db.run(
    `UPDATE artifact SET pack = NULL, packStart = NULL, block = NULL, blockStart = NULL, gone = 'lost'
      WHERE (pack IS NOT NULL AND pack NOT IN (SELECT no FROM pack))
         OR (block IS NOT NULL AND block NOT IN (SELECT no FROM block WHERE pack IN (SELECT no FROM pack)))`,
  );
  db.run('DELETE FROM block WHERE pack NOT IN (SELECT no FROM pack)');
}

function stat(shelf: ReadShelf, no: ArtifactNo): ArtifactStat {
  const row = factsAt(shelf, no);
  return {
    no,
    ref: refOfHash(row.hash),
    size: row.size,
    storedSize: row.storedSize,
    contentType: row.contentType,
    policy: row.policy,
    labels: row.labels ? (JSON.parse(row.labels) as string[]) : [],
    createdAt: toTimestamp(row.createdAt),
    ...(row.expiresAt !== null && { expiresAt: toTimestamp(row.expiresAt) }),
    ...(row.gone !== null && { gone: row.gone }),
  };
}

function find(shelf: ReadShelf, name: string): ArtifactNo {
  if (name.startsWith('blake3:')) {
    const row = known(shelf, hashOfRef(name as ArtifactRef));
    if (row) return row.no;
    throw notFound(name, `this project has no artifact ${name}`);
  }
  const digits = name.slice('art-'.length);
  const rows = shelf.db
    .all<ObjectRow>(`SELECT ${factColumns} FROM artifact WHERE key = ? AND project = ?`, Number.parseInt(digits.slice(0, 12), 16), shelf.project)
    .filter((row) => row.hash.toString('hex').startsWith(digits));
  const [row, other] = rows;
  if (!row) throw notFound(name, `this project has no artifact ${name}`);
  if (other) throw badRequest('ref', `${name} is the beginning of ${rows.length} refs; give more digits`);
  return row.no;
}
