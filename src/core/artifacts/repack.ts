import { constants, zstdCompressSync } from 'node:zlib';
import { attempt, concatBytes } from '../base/index.js';
import type { OutputOf } from '../contract/index.js';
import { chunkType, readProgress, setProgress } from '../store/index.js';
import { encodeChunks } from './chunk-list.js';
import { proved } from './content.js';
import { putChunks } from './join.js';
import { type ContentRow, contentColumns, type ReadShelf, type Shelf } from './shelf.js';
import { tidy } from './tidy.js';

export interface RepackOptions {
  /** Younger objects stay as they are. */
  readonly olderThanMs?: number | undefined;
  /** Whether to return free pages of the database to the disk at the end, which rewrites the whole file at once. True by default. */
  readonly shrink?: boolean;
}

export interface Loose {
  readonly objects: number;
  readonly bytes: number;
}

/** The objects that were put since the last run. Counts at most `limit`, because counting all objects of a large import takes long. */
export function looseOf(shelf: ReadShelf, limit = Number.MAX_SAFE_INTEGER): Loose {
  const from = readProgress(shelf, 'repack');
  const last = shelf.db.value<number | null>('SELECT MAX(no) FROM artifact') ?? 0;
  if (last - from >= limit) return { objects: last - from, bytes: 0 };
  return (
    shelf.db.one<Loose>('SELECT COUNT(*) AS objects, IFNULL(SUM(size), 0) AS bytes FROM artifact WHERE no > ?', from) ?? { objects: 0, bytes: 0 }
  );
}

export type Repacked = OutputOf<'artifact.repack'>;

/**
 * Blocks of 128 shrink the deltas of a real session to 0.065, blocks of 32 to 0.074. Reading one takes 0.5 ms, one of 1 MB about 1.5.
 * Objects of more than `wholeBytes` are cut into chunks, so that common parts are stored once and a range can be read alone.
 */
export const packLimits = { perBlock: 128, blockBytes: 1024 * 1024, wholeBytes: 1024 * 1024 };

/** Plain bytes that are packed in one transaction, which takes about 40 ms. No other process can write during that time. */
const bytesAtOnce = 1024 * 1024;
const rowsAtOnce = 1_024;
/** A fast level: a slower search in smaller blocks saves as much in four times the time, more than a minute of idle time for a library. */
const idleLevel = 3;
/** The output of zstd is collected in buffers of this size. */
const chunkSize = 128 * 1024;
/** A compressed block is kept only if it is smaller than this share. */
export const worthIt = 0.9;

/** Compresses small neighbors into blocks and cuts large objects into chunks, each once. Commits do not wait. Completed steps stay. */
export function* repack(shelf: Shelf, { olderThanMs = 0, shrink = true }: RepackOptions): Generator<undefined, Repacked> {
  let total: Repacked = { objects: 0, before: 0, after: 0 };
  for (;;) {
    const step = shelf.db.transaction(() => packSome(shelf, shelf.clock() - olderThanMs));
    if (step.rows === 0) break;
    total = { objects: total.objects + step.objects, before: total.before + step.before, after: total.after + step.after };
    yield;
  }
  if (total.after < total.before) yield* tidy(shelf, { shrink });
  return total;
}

function packSome(shelf: Shelf, until: number): Repacked & { readonly rows: number } {
  const rows = rowsOfStep(shelf, until);
  const loose = rows.filter(isLoose);
  const before = loose.reduce((sum, row) => sum + row.storedSize, 0);
  let after = 0;
  for (const row of loose.filter(({ size }) => size > packLimits.wholeBytes)) after += chunk(shelf, row);
  for (const group of smallGroups(loose)) after += packGroup(shelf, group);
  const last = rows.at(-1);
  // `repack` is the last examined object, `hollow` the number of bytes taken out of rows since the last vacuum.
  if (last) setProgress(shelf, 'repack', last.no);
  setProgress(shelf, 'hollow', readProgress(shelf, 'hollow') + loose.reduce((sum, row) => sum + (row.data?.length ?? 0), 0));
  return { rows: rows.length, objects: loose.length, before, after };
}

const isLoose = (row: ContentRow): boolean => row.gone === null && row.expiresAt === null && (row.data !== null || row.pack !== null);

/** The rows of the next step. If more rows would join the last block, its rows are left for the step after it. */
function rowsOfStep(shelf: Shelf, until: number): ContentRow[] {
  const rows: ContentRow[] = [];
  let bytes = 0;
  let hasMore = false;
  for (const row of shelf.db.each<ContentRow & { createdAt: number; contentType: string }>(
    `SELECT ${contentColumns}, createdAt, contentType FROM artifact WHERE no > ? AND project = ? ORDER BY no LIMIT ${rowsAtOnce}`,
    [readProgress(shelf, 'repack'), shelf.project],
  )) {
    // Chunks are new rows of old objects, so their age does not matter.
    if (row.createdAt > until && row.contentType !== chunkType) break;
    hasMore = bytes > bytesAtOnce;
    if (hasMore) break;
    rows.push(row);
    bytes += isLoose(row) ? row.size : 0;
  }
  const found = smallGroups(rows.filter(isLoose));
  const [first] = found.at(-1) ?? [];
  return hasMore && found.length > 1 && first ? rows.slice(0, rows.indexOf(first)) : rows;
}

/** Groups of small neighbors, one for each block, in order. */
function smallGroups(loose: readonly ContentRow[]): ContentRow[][] {
  const result: ContentRow[][] = [];
  let bytes = 0;
  for (const row of loose.filter(({ size }) => size <= packLimits.wholeBytes)) {
    const open = result.at(-1);
    if (open && open.length < packLimits.perBlock && bytes + row.size <= packLimits.blockBytes) {
      open.push(row);
      bytes += row.size;
    } else {
      result.push([row]);
      bytes = row.size;
    }
  }
  return result;
}

/** The bytes of neighbors, compressed as a block. */
export const pressed = (bytes: Uint8Array, level = idleLevel): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level }, pledgedSrcSize: bytes.length, chunkSize });

/** Returns the stored bytes of the group. A damaged object stays in its place, so that a check can name it. */
function packGroup(shelf: Shelf, group: readonly ContentRow[]): number {
  const { db } = shelf;
  const sound = group.flatMap((row) => {
    const bytes = attempt(() => proved(shelf, row));
    return bytes ? [{ row, bytes }] : [];
  });
  const lost = group.filter((row) => !sound.some((one) => one.row === row)).reduce((sum, row) => sum + row.storedSize, 0);
  const size = sound.reduce((sum, { row }) => sum + row.size, 0);
  if (size === 0) return lost;
  const stored = pressed(concatBytes(sound.map(({ bytes }) => bytes)));
  if (stored.length > size * worthIt) return lost + size;
  const block = addBlock(shelf, stored, size);
  const update = 'UPDATE artifact SET data = NULL, pack = NULL, packStart = NULL, block = ?, blockStart = ?, storedSize = ? WHERE no = ?';
  let start = 0;
  for (const { row } of sound) {
    const share = shareOf(stored.length, { start, end: start + row.size, of: size });
    db.run(update, block, start, share, row.no);
    start += row.size;
  }
  return lost + stored.length;
}

/** Adds a compressed block of so many plain bytes. Returns its number. */
export function addBlock({ db, packs, project }: Shelf, stored: Uint8Array, size: number): number {
  const { pack, start } = packs.append(stored);
  return db.run('INSERT INTO block (project, pack, packStart, storedSize, size) VALUES (?, ?, ?, ?, ?)', project, pack, start, stored.length, size)
    .rowId;
}

/** An object's share of the stored bytes of its block. The shares add up exactly. */
export const shareOf = (stored: number, { start, end, of }: { readonly start: number; readonly end: number; readonly of: number }): number =>
  Math.round((end * stored) / of) - Math.round((start * stored) / of);

/** Cuts a large object into chunks, which are objects of their own and are packed later. */
function chunk(shelf: Shelf, row: ContentRow): number {
  const bytes = attempt(() => proved(shelf, row));
  if (!bytes) return row.storedSize;
  const { chunks, added } = putChunks(shelf, bytes);
  const list = encodeChunks(chunks, row.hash);
  shelf.db.run('UPDATE artifact SET data = NULL, pack = NULL, packStart = NULL, chunks = ?, storedSize = ? WHERE no = ?', list, list.length, row.no);
  return added + list.length;
}
