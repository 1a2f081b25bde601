import type { ArtifactNo, ArtifactRef } from '../base/index.js';
import type { Policy } from '../contract/index.js';
import { chunkType } from '../store/index.js';
import type { Cached } from './caches.js';
import { blake3Of, refOfHash } from './hash.js';
import { factColumns, type ObjectRow, type ReadShelf, type Shelf } from './shelf.js';

export interface PutOptions {
  readonly contentType: string;
  readonly policy?: Policy | undefined;
  /** How long an ephemeral object stays; a day by default. */
  readonly ttlSeconds?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  /** Set for many objects in one transaction: they share one sync of the packs, so smaller objects go into packs too. */
  readonly bulk?: boolean;
}

export interface Put {
  readonly no: ArtifactNo;
  readonly ref: ArtifactRef;
  readonly size: number;
  readonly storedSize: number;
  readonly existed: boolean;
}

/** Larger objects go into packs. A single object in a pack costs a second sync, so only a large one does; in bulk the sync is shared. */
const inlineLimit = { alone: 256 * 1024, bulk: 1024 };

/** Unreferenced objects younger than this are kept, because a writer may be about to refer to them. */
export const graceMs = 3_600_000;
const defaultTtlSeconds = 86_400;

/** The first bytes of a hash, by which a small index finds the row. */
export const keyLength = 6;
/** The beginning of a hash as a number. */
export const shortKey = (hash: Buffer): number => hash.readUIntBE(0, keyLength);

const factsByKey = `SELECT ${factColumns} FROM artifact WHERE key = ? AND project = ?`;

/** The row of a hash, if the project knows it. */
export const known = (shelf: ReadShelf, hash: Buffer): ObjectRow | undefined =>
  shelf.db.all<ObjectRow>(factsByKey, shortKey(hash), shelf.project).find((row) => row.hash.equals(hash));

/** Stores the bytes unless they are stored already. Call it inside a transaction: they are durable after it. */
export function put(shelf: Shelf, bytes: Uint8Array, options: PutOptions): Put {
  const hash = blake3Of(bytes);
  const row = known(shelf, hash);
  const expiresAt = options.policy === 'ephemeral' ? shelf.clock() + (options.ttlSeconds ?? defaultTtlSeconds) * 1_000 : null;
  if (!row) return insertRow(shelf, hash, bytes.length, options, placeBytes(shelf, bytes, options.bulk), expiresAt);
  const isHere = row.isStored === 1 && row.gone === null && !(row.expiresAt !== null && row.expiresAt <= shelf.clock());
  if (!isHere) restore(shelf, row.no, bytes, options.bulk);
  refresh(shelf, row, options, expiresAt, isHere);
  return { no: row.no, ref: refOfHash(hash), size: row.size, storedSize: isHere ? row.storedSize : row.size, existed: isHere };
}

/** Stores bytes that can be rebuilt at any time. They are not synced, and losing them does no harm. */
export function putCache(shelf: Shelf, content: Uint8Array | Cached, contentType: string): Put {
  const isWritten = !(content instanceof Uint8Array);
  const { hash, size } = isWritten ? content : { hash: blake3Of(content), size: content.length };
  const row = known(shelf, hash);
  const ref = refOfHash(hash);
  if (row?.isStored && row.gone === null) return { no: row.no, ref, size, storedSize: row.storedSize, existed: true };
  if (!isWritten) shelf.caches.write(hash, content);
  return row ? { no: row.no, ref, size, storedSize: row.storedSize, existed: true } : insertRow(shelf, hash, size, { contentType }, {}, null);
}

interface Place {
  readonly data?: Uint8Array;
  readonly pack?: number;
  readonly start?: number;
  readonly block?: number;
  readonly blockStart?: number;
  /** Its share of the stored bytes of the block. */
  readonly storedSize?: number;
}

const placeBytes = (shelf: Shelf, bytes: Uint8Array, bulk = false): Place =>
  bytes.length <= (bulk ? inlineLimit.bulk : inlineLimit.alone) ? { data: bytes } : shelf.packs.append(bytes);

/** Adds the row of an object. Without content it is a cache, or lies in a replica. */
export function insertRow(shelf: Shelf, hash: Buffer, size: number, options: PutOptions, place: Place, expiresAt: number | null): Put {
  const { storedSize = size } = place;
  const { rowId } = shelf.db.insert('artifact', {
    project: shelf.project,
    key: shortKey(hash),
    hash,
    size,
    storedSize,
    encoding: 0,
    contentType: options.contentType,
    policy: options.policy ?? 'default',
    labels: options.labels?.length ? JSON.stringify(options.labels) : null,
    createdAt: shelf.clock(),
    pack: place.pack ?? null,
    packStart: place.start ?? null,
    block: place.block ?? null,
    blockStart: place.blockStart ?? null,
    data: place.data ?? null,
    expiresAt,
  });
  return { no: rowId as ArtifactNo, ref: refOfHash(hash), size, storedSize, existed: false };
}

/** Stores the content of a row: of a cache that becomes durable, or of an expired, evicted or lost object. */
export function restore(shelf: Shelf, no: ArtifactNo, bytes: Uint8Array, bulk = false): void {
  const place = placeBytes(shelf, bytes, bulk);
  shelf.db.run(
    `UPDATE artifact SET data = ?, pack = ?, packStart = ?, block = NULL, blockStart = NULL, chunks = NULL, encoding = 0, storedSize = size, gone = NULL
      WHERE no = ?`,
    [place.data ?? null, place.pack ?? null, place.start ?? null, no],
  );
}

/** Policies from the weakest to the strongest. An object that is put twice gets the stronger one. */
const strength: readonly Policy[] = ['ephemeral', 'default', 'replicate', 'pin'];

function refresh(shelf: Shelf, row: ObjectRow, options: PutOptions, expiresAt: number | null, isHere: boolean): void {
  const now = shelf.clock();
  const asked = options.policy ?? 'default';
  const stronger = isHere ? strength[Math.max(strength.indexOf(row.policy), strength.indexOf(asked))] : asked;
  const policy = stronger ?? asked;
  const until = policy !== 'ephemeral' ? null : isHere ? Math.max(row.expiresAt ?? 0, expiresAt ?? 0) : expiresAt;
  const labels = [...new Set([...((row.labels ? JSON.parse(row.labels) : []) as string[]), ...(options.labels ?? [])])];
  const stored = labels.length ? JSON.stringify(labels) : null;
  const contentType = row.contentType === chunkType ? options.contentType : row.contentType;
  const isFresh = now - (row.touchedAt ?? row.createdAt) < graceMs / 2;
  if (isHere && isFresh && policy === row.policy && until === row.expiresAt && stored === row.labels && contentType === row.contentType) return;
  shelf.db.run('UPDATE artifact SET policy = ?, expiresAt = ?, labels = ?, contentType = ?, touchedAt = ? WHERE no = ?', [
    policy,
    until,
    stored,
    contentType,
    now,
    row.no,
  ]);
}
