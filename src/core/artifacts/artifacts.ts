import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ArtifactNo, type ArtifactRef, badRequest, type Clock, corrupt, notFound, type Timestamp, timestampOf } from '../base/index.js';
import type { Policy } from '../contract/index.js';
import type { WritableDb } from '../store/index.js';
import { blake3Of, hashOfRef, refOfHash } from './hash.js';
import { openPacks } from './packs.js';

export interface PutOptions {
  readonly contentType: string;
  readonly policy?: Policy;
  readonly labels?: readonly string[];
  /** Many objects are put in one transaction: packs are synced once for all, so more goes there. */
  readonly bulk?: boolean;
}

export interface Put {
  readonly no: ArtifactNo;
  readonly ref: ArtifactRef;
  readonly size: number;
  readonly storedSize: number;
  readonly existed: boolean;
}

export interface ArtifactStat {
  readonly no: ArtifactNo;
  readonly ref: ArtifactRef;
  readonly size: number;
  readonly storedSize: number;
  readonly contentType: string;
  readonly policy: Policy;
  readonly labels: readonly string[];
  readonly createdAt: Timestamp;
}

/** The content-addressed store of one project. All sizes are bytes. */
export interface Artifacts {
  /** Stores the bytes, or finds that they are stored. Durable when the transaction around it has ended. */
  put(bytes: Uint8Array, options: PutOptions): Put;
  /** Stores bytes that can be made again at any time: not synced, and gone without harm. */
  putCache(bytes: Uint8Array, contentType: string): Put;
  /** @throws CORRUPT where what is stored is not what the ref names. */
  read(no: ArtifactNo): Uint8Array;
  /** Many at once, in the order asked for: neighbors in the database are read as one range. */
  readAll(nos: readonly ArtifactNo[]): Uint8Array[];
  /** The number behind a ref in full or in short. @throws NOT_FOUND; BAD_REQUEST where a short form is ambiguous. */
  find(name: string): ArtifactNo;
  stat(no: ArtifactNo): ArtifactStat;
  /** Like the database's, with packs synced before the commit that names what is in them. */
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
}

/** What reading needs of a row: few columns, because chains are read by the thousand. */
interface Content {
  readonly no: ArtifactNo;
  readonly hash: Buffer;
  readonly size: number;
  readonly pack: number | null;
  readonly packStart: number | null;
  readonly data: Buffer | null;
}

interface Row extends Content {
  readonly storedSize: number;
  readonly contentType: string;
  readonly policy: Policy;
  readonly labels: string | null;
  readonly createdAt: number;
}

/** Alone, an object in a pack costs a second sync: only large ones are worth it. In bulk the sync is shared. */
const inlineLimit = { alone: 256 * 1024, bulk: 8 * 1024 };

const contentColumns = 'no, hash, size, pack, packStart, data';
const columns = `${contentColumns}, storedSize, contentType, policy, labels, createdAt`;
const keyOf = (hash: Buffer): number => hash.readUIntBE(0, 6);

export function openArtifacts({ db, project, folder, clock, newName, remake }: ArtifactsOptions): Artifacts {
  const caches = join(folder, 'snapshots');
  mkdirSync(caches, { recursive: true });
  const packs = openPacks(db, folder, newName, clock);
  const cacheFile = (hash: Buffer): string => join(caches, hash.toString('hex'));

  const known = (hash: Buffer): Row | undefined =>
    db.all<Row>(`SELECT ${columns} FROM artifact WHERE key = ? AND project = ?`, keyOf(hash), project).find((row) => row.hash.equals(hash));

  const insert = (hash: Buffer, size: number, options: PutOptions, place: { pack?: number; start?: number; data?: Uint8Array }): Put => {
    const { rowId } = db.run(
      `INSERT INTO artifact (project, key, hash, size, storedSize, encoding, contentType, policy, labels, createdAt, pack, packStart, data)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`,
      project,
      keyOf(hash),
      hash,
      size,
      size,
      options.contentType,
      options.policy ?? 'default',
      options.labels?.length ? JSON.stringify(options.labels) : null,
      clock(),
      place.pack ?? null,
      place.start ?? null,
      place.data ?? null,
    );
    return { no: rowId as ArtifactNo, ref: refOfHash(hash), size, storedSize: size, existed: false };
  };

  const asPut = (row: Row): Put => ({ no: row.no, ref: refOfHash(row.hash), size: row.size, storedSize: row.storedSize, existed: true });
  const isCache = (row: Content): boolean => row.pack === null && row.data === null;

  const rowOf = (no: ArtifactNo): Row => {
    const row = db.one<Row>(`SELECT ${columns} FROM artifact WHERE no = ? AND project = ?`, no, project);
    if (!row) throw notFound(`artifact ${no}`, `no artifact has the number ${no}`);
    return row;
  };

  const checked = (row: Content): Uint8Array => {
    const bytes = fetch(row);
    if (bytes.length !== row.size || !blake3Of(bytes).equals(row.hash))
      throw corrupt(
        refOfHash(row.hash),
        `what is stored for ${refOfHash(row.hash)} is not what its hash names; import its source again, or restore the project from a copy`,
      );
    return bytes;
  };

  const fetch = (row: Content): Uint8Array => {
    if (row.data !== null) return row.data;
    if (row.pack !== null) return packs.read({ pack: row.pack, start: row.packStart ?? 0 }, 0, row.size);
    const file = cacheFile(row.hash);
    if (existsSync(file)) {
      const bytes = readFileSync(file);
      if (blake3Of(bytes).equals(row.hash)) return bytes;
    }
    const made = remake(row.no);
    if (!made)
      throw notFound(refOfHash(row.hash), `${refOfHash(row.hash)} was dropped from the cache and cannot be made again`, { reason: 'evicted' });
    writeCache(file, made);
    return made;
  };

  const writeCache = (file: string, bytes: Uint8Array): void => {
    const beside = `${file}.${newName()}`;
    writeFileSync(beside, bytes, { mode: 0o600 });
    renameSync(beside, file);
  };

  return {
    put(bytes, options) {
      const hash = blake3Of(bytes);
      const row = known(hash);
      // A cache object that is put for good moves to where it lasts.
      if (row && !isCache(row)) return asPut(row);
      const inline = bytes.length <= (options.bulk ? inlineLimit.bulk : inlineLimit.alone);
      const place = inline ? { data: bytes } : packs.append(bytes);
      if (!row) return insert(hash, bytes.length, options, place);
      db.run(
        'UPDATE artifact SET data = ?, pack = ?, packStart = ? WHERE no = ?',
        inline ? bytes : null,
        'pack' in place ? place.pack : null,
        'pack' in place ? place.start : null,
        row.no,
      );
      return asPut(row);
    },
    putCache(bytes, contentType) {
      const hash = blake3Of(bytes);
      const row = known(hash);
      if (row && !isCache(row)) return asPut(row);
      const file = cacheFile(hash);
      if (!existsSync(file)) writeCache(file, bytes);
      return row ? asPut(row) : insert(hash, bytes.length, { contentType }, {});
    },
    read: (no) => checked(rowOf(no)),
    readAll(nos) {
      const lowest = nos.reduce<number>((least, no) => Math.min(least, no), Number.POSITIVE_INFINITY);
      const highest = nos.reduce<number>((most, no) => Math.max(most, no), 0);
      const isDense = nos.length > 8 && highest - lowest < nos.length * 2;
      if (!isDense) return nos.map((no) => checked(rowOf(no)));
      const wanted = new Set(nos);
      const found = new Map<ArtifactNo, Uint8Array>();
      for (const row of db.all<Content>(`SELECT ${contentColumns} FROM artifact WHERE no BETWEEN ? AND ? AND project = ?`, lowest, highest, project))
        if (wanted.has(row.no)) found.set(row.no, checked(row));
      return nos.map((no) => found.get(no) ?? checked(rowOf(no)));
    },
    find(name) {
      const full = name.startsWith('blake3:');
      const digits = full ? name.slice('blake3:'.length) : name.slice('art-'.length);
      if (full) {
        const row = known(hashOfRef(name as ArtifactRef));
        if (row) return row.no;
        throw notFound(name, `no artifact ${name} is in this project`);
      }
      const key = Number.parseInt(digits.slice(0, 12), 16);
      const rows = db
        .all<Row>(`SELECT ${columns} FROM artifact WHERE key = ? AND project = ?`, key, project)
        .filter((row) => row.hash.toString('hex').startsWith(digits));
      const [row, other] = rows;
      if (!row) throw notFound(name, `no artifact ${name} is in this project`);
      if (other) throw badRequest('ref', `${name} is the beginning of ${rows.length} refs; give more digits`);
      return row.no;
    },
    stat(no) {
      const row = rowOf(no);
      return {
        no,
        ref: refOfHash(row.hash),
        size: row.size,
        storedSize: row.storedSize,
        contentType: row.contentType,
        policy: row.policy,
        labels: row.labels ? (JSON.parse(row.labels) as string[]) : [],
        createdAt: timestampOf(row.createdAt),
      };
    },
    transaction: (work) =>
      db.transaction(() => {
        const result = work();
        packs.sync();
        return result;
      }),
    close: () => packs.close(),
  };
}
