import { join } from 'node:path';
import { type ArtifactNo, type ArtifactRef, badRequest, type Clock, notFound, recent, type Timestamp, timestampOf } from '../base/index.js';
import type { Policy } from '../contract/index.js';
import type { WritableDb } from '../store/index.js';
import { openCaches } from './caches.js';
import { read, readAll, readInTurn, readParts, readRange } from './content.js';
import { type GcOptions, type GcResult, gc } from './gc.js';
import { blake3Of, hashOfRef, refOfHash } from './hash.js';
import { openPacks } from './packs.js';
import { dropCaches, expire, keep, setPolicy } from './policy.js';
import { type Cached, keyLength, known, type Put, type PutOptions, put, putCache, restore } from './put.js';
import { regain } from './regain.js';
import { type Loose, looseOf, type Repacked, type RepackOptions, repack } from './repack.js';
import { chunkType, type Facts, factColumns, type Gone, isStoredSql, type Shelf } from './shelf.js';
import { type Copies, copiesIn } from './tiers/copies.js';

export interface ArtifactStat {
  readonly no: ArtifactNo;
  readonly ref: ArtifactRef;
  readonly size: number;
  readonly storedSize: number;
  readonly contentType: string;
  readonly policy: Policy;
  readonly labels: readonly string[];
  readonly createdAt: Timestamp;
  readonly expiresAt?: Timestamp;
  readonly gone?: Gone;
}

/** The content-addressed store of one project. All sizes are bytes. */
export interface Artifacts {
  /** The project's number. */
  readonly project: number;
  /** Stores the bytes, or finds that they are stored. Durable when the transaction around it has ended. */
  put(bytes: Uint8Array, options: PutOptions): Put;
  /** Stores bytes that can be made again at any time: not synced, and gone without harm. */
  putCache(content: Uint8Array | Cached, contentType: string): Put;
  /** Writes to the caches what comes a part at a time, for `putCache` to name it, in steps between which others may work. */
  writeCache(parts: Iterable<Uint8Array>): Generator<undefined, Cached>;
  /** @throws CORRUPT where what is stored is not what the ref names; NOT_FOUND where its time is over. */
  read(no: ArtifactNo): Uint8Array;
  /** Many at once, in the order asked for: neighbors in the database are read as one range. */
  readAll(nos: readonly ArtifactNo[]): Uint8Array[];
  /** The same one after the other, a few of them held at a time. */
  readInTurn(nos: readonly ArtifactNo[]): Iterable<Uint8Array>;
  /** One object a part at a time: whether it is what its ref names is known at its end, and thrown there. A cache is not made again. */
  readParts(no: ArtifactNo): Iterable<Uint8Array>;
  /** The bytes from `start` up to `end`. @throws BAD_REQUEST where that is not within the object. */
  readRange(no: ArtifactNo, start: number, end: number): Uint8Array;
  /** The number behind a ref in full or in short. @throws NOT_FOUND; BAD_REQUEST where a short form is ambiguous. */
  find(name: string): ArtifactNo;
  stat(no: ArtifactNo): ArtifactStat;
  /** What was put, as objects and plain bytes, and what it takes up. */
  /** How many objects there are under each policy, and what they weigh as plain bytes; those that are gone by why. */
  byPolicy(): { readonly policy: Policy; readonly gone: Gone | null; readonly count: number; readonly bytes: number }[];
  totals(): { readonly objects: number; readonly logical: number; readonly stored: number };
  setPolicy(no: ArtifactNo, policy: Policy, ttlSeconds?: number): void;
  /** Makes sure that an object which is about to be named by a commit has content that lasts. */
  keep(no: ArtifactNo): void;
  /** Gives an object that is damaged or gone its content again, and its hash where only the beginning of that is known. @throws BAD_REQUEST for other content. */
  restore(no: ArtifactNo, bytes: Uint8Array): void;
  /** Sets a damaged object apart: reading it says that it is lost, until it is restored or put again. */
  giveUp(no: ArtifactNo): void;
  /** After rows were lost: finds again where packs and blocks lie that objects name, and gives up what is not found. */
  regain(): void;
  /** Reads again from the disk what was remembered: a check is about what lies there. */
  forget(): void;
  /** Reads what was set apart as if it had not been: its place may hold it again. */
  tryAgain(): void;
  /** Lets go what is ephemeral and over. Cheap where nothing is. */
  expire(): void;
  /** Removes what nothing names, in steps between which others may work; the last says what was done. */
  gc(options: GcOptions): Generator<undefined, GcResult>;
  /** Packs what is stored closer, in steps between which others may work. */
  repack(options?: RepackOptions): Generator<undefined, Repacked>;
  /** Drops every cache, and says what they weighed. */
  dropCaches(): number;
  /** Objects that were put since they were last packed closer. */
  loose(): Loose;
  /** Which backing stores hold which objects. */
  readonly copies: Copies;
  /** The database's: objects that are put in it are on disk before it commits. */
  transaction<T>(work: () => T): T;
  close(): void;
}

export interface ArtifactsOptions {
  readonly db: WritableDb;
  readonly project: number;
  /** The project's `objects` folder. */
  readonly folder: string;
  readonly clock: Clock;
  readonly newName: () => string;
  /** Makes the bytes of a dropped cache object again, or says that it cannot. */
  readonly remake: (no: ArtifactNo) => Uint8Array | undefined;
  /** Called when content goes that others may have read: what they remember of it must go too. */
  readonly onGone?: () => void;
}

const blockBudget = 16 * 1024 * 1024;

export function openArtifacts({ db, project, folder, clock, newName, remake, onGone }: ArtifactsOptions): Artifacts {
  const shelf: Shelf = {
    db,
    project,
    clock,
    remake,
    caches: openCaches(join(folder, 'snapshots'), newName),
    packs: openPacks(db, folder, newName, clock),
    blocks: recent(blockBudget),
    used: undefined,
    onGone: onGone ?? (() => {}),
  };
  // Large objects are on disk before the commit that names them.
  db.beforeCommit(() => shelf.packs.sync());
  db.onRollback(() => shelf.blocks.clear());
  const { transaction } = db;
  return {
    project,
    put: (bytes, options) => transaction(() => put(shelf, bytes, options)),
    putCache: (content, contentType) => transaction(() => putCache(shelf, content, contentType)),
    writeCache: (parts) => shelf.caches.writeParts(parts),
    read: (no) => read(shelf, no),
    readAll: (nos) => readAll(shelf, nos),
    readInTurn: (nos) => readInTurn(shelf, nos),
    readParts: (no) => readParts(shelf, no),
    readRange: (no, start, end) => {
      const { size, hash } = factsAt(shelf, no);
      if (start > end || end > size) throw badRequest('end', `the range ${start} to ${end} is not within the ${size} bytes of ${refOfHash(hash)}`);
      return readRange(shelf, no, start, end);
    },
    find: (name) => find(shelf, name),
    stat: (no) => stat(shelf, no),
    totals: () =>
      db.one<{ objects: number; logical: number; stored: number }>(
        `SELECT COUNT(*) FILTER (WHERE contentType <> '${chunkType}') AS objects,
                IFNULL(SUM(size) FILTER (WHERE contentType <> '${chunkType}'), 0) AS logical,
                IFNULL(SUM(storedSize), 0) AS stored FROM artifact WHERE project = ? AND ${isStoredSql}`,
        project,
      ) ?? { objects: 0, logical: 0, stored: 0 },
    byPolicy: () =>
      db.all(
        `SELECT policy, gone, COUNT(*) AS count, SUM(size) AS bytes FROM artifact
         WHERE project = ? AND key >= 0 AND contentType <> '${chunkType}' AND (gone IS NOT NULL OR ${isStoredSql}) GROUP BY policy, gone`,
        project,
      ),
    setPolicy: (no, policy, ttlSeconds) => transaction(() => setPolicy(shelf, no, policy, ttlSeconds)),
    keep: (no) => transaction(() => keep(shelf, no)),
    restore: (no, bytes) => {
      const { hash } = factsAt(shelf, no);
      const found = blake3Of(bytes);
      if (isBeginning(hash) && found.subarray(0, keyLength).equals(hash.subarray(0, keyLength)))
        db.run('UPDATE artifact SET hash = ?, size = ? WHERE no = ?', found, bytes.length, no);
      else if (!found.equals(hash)) throw badRequest('data', `this is not the content of ${refOfHash(hash)}`);
      transaction(() => restore(shelf, no, bytes));
    },
    giveUp: (no) => void db.run("UPDATE artifact SET gone = 'lost' WHERE no = ? AND project = ?", no, project),
    regain: () => transaction(() => regain(shelf)),
    forget: () => shelf.blocks.clear(),
    tryAgain: () => void db.run(`UPDATE artifact SET gone = NULL WHERE gone = 'lost' AND key >= 0 AND ${isStoredSql} AND project = ?`, project),
    expire: () => void expire(shelf),
    gc: (options) => gc(shelf, options),
    repack: (options = {}) => repack(shelf, options),
    dropCaches: () => dropCaches(shelf),
    loose: () => looseOf(shelf),
    copies: copiesIn(shelf),
    transaction,
    close: () => shelf.packs.close(),
  };
}

/** Of an object whose row was lost, an index still says how its hash begins. */
const isBeginning = (hash: Buffer): boolean => hash.subarray(keyLength).every((byte) => byte === 0);

function factsAt(shelf: Shelf, no: ArtifactNo): Facts {
  const row = shelf.db.one<Facts>(`SELECT ${factColumns} FROM artifact WHERE no = ? AND project = ? AND key >= 0`, no, shelf.project);
  if (!row) throw notFound(`artifact ${no}`, `no artifact has the number ${no}`);
  return row;
}

function stat(shelf: Shelf, no: ArtifactNo): ArtifactStat {
  const row = factsAt(shelf, no);
  return {
    no,
    ref: refOfHash(row.hash),
    size: row.size,
    storedSize: row.storedSize,
    contentType: row.contentType,
    policy: row.policy,
    labels: row.labels ? (JSON.parse(row.labels) as string[]) : [],
    createdAt: timestampOf(row.createdAt),
    ...(row.expiresAt !== null && { expiresAt: timestampOf(row.expiresAt) }),
    ...(row.gone !== null && { gone: row.gone }),
  };
}

function find(shelf: Shelf, name: string): ArtifactNo {
  if (name.startsWith('blake3:')) {
    const row = known(shelf, hashOfRef(name as ArtifactRef));
    if (row) return row.no;
    throw notFound(name, `no artifact ${name} is in this project`);
  }
  const digits = name.slice('art-'.length);
  const rows = shelf.db
    .all<Facts>(`SELECT ${factColumns} FROM artifact WHERE key = ? AND project = ?`, Number.parseInt(digits.slice(0, 12), 16), shelf.project)
    .filter((row) => row.hash.toString('hex').startsWith(digits));
  const [row, other] = rows;
  if (!row) throw notFound(name, `no artifact ${name} is in this project`);
  if (other) throw badRequest('ref', `${name} is the beginning of ${rows.length} refs; give more digits`);
  return row.no;
}
