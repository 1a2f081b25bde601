import { constants, zstdCompressSync } from 'node:zlib';
import { type ArtifactNo, concatBytes } from '../base/index.js';
import { type Chunk, encodeChunks } from './chunk-list.js';
import { chunksOf } from './chunks.js';
import { proved } from './content.js';
import { blake3Of } from './hash.js';
import { known, put } from './put.js';
import { type Content, chunkType, contentColumns, progressOf, type Shelf, setProgress } from './shelf.js';
import { tidy } from './tidy.js';

export interface RepackOptions {
  /** Objects that are younger stay as they are for now. */
  readonly olderThanMs?: number | undefined;
  readonly limits?: PackLimits;
  /**
   * Whether the database's free pages are given back to the disk at the end, for which it is written again in one go. True where
   * it is not said. Packs that hold little are always let go of, a step at a time.
   */
  readonly shrink?: boolean;
}

export interface Loose {
  readonly objects: number;
  readonly bytes: number;
}

/** What was put since the last run. */
export const looseOf = (shelf: Shelf): Loose =>
  shelf.db.one<Loose>('SELECT COUNT(*) AS objects, IFNULL(SUM(size), 0) AS bytes FROM artifact WHERE no > ?', progressOf(shelf, 'repack')) ?? {
    objects: 0,
    bytes: 0,
  };

/** What goes together, in objects and bytes. */
export interface PackLimits {
  readonly perBlock: number;
  readonly blockBytes: number;
  /** Larger objects are cut into chunks, so that what two of them share lies there once and a range of one is read alone. */
  readonly wholeBytes: number;
}

export interface Repacked {
  readonly objects: number;
  /** Stored bytes before and after of what was looked at. */
  readonly before: number;
  readonly after: number;
}

/**
 * Neighbors in a chain repeat much: deltas of a real session come to 0.065 of their size 128 at a time, to 0.074 at 32,
 * and a block of that many is read in half a millisecond.
 */
const packLimits: PackLimits = { perBlock: 128, blockBytes: 512 * 1024, wholeBytes: 1024 * 1024 };

/** Plain bytes that are packed in one transaction: about 80 ms, in which nobody else writes. */
const bytesAtOnce = 1024 * 1024;
const rowsAtOnce = 1_024;
/** 3 % smaller than 12, which takes a third of the time; 16 is 5 % smaller still, and takes three times as long. */
const level = 14;
/** Compressed is kept only where it is this much smaller. */
const worthIt = 0.9;

/**
 * Packs closer, off the commit path: small neighbors into compressed blocks, large objects into chunks, each where it
 * helps. What was looked at once is not looked at again; a run that is cut off has done whole steps.
 */
export function* repack(shelf: Shelf, { olderThanMs = 0, limits = packLimits, shrink = true }: RepackOptions): Generator<undefined, Repacked> {
  let total: Repacked = { objects: 0, before: 0, after: 0 };
  for (;;) {
    const step = shelf.db.transaction(() => packSome(shelf, limits, shelf.clock() - olderThanMs));
    if (step.rows === 0) break;
    total = { objects: total.objects + step.objects, before: total.before + step.before, after: total.after + step.after };
    yield;
  }
  if (total.after < total.before) yield* tidy(shelf, shrink);
  return total;
}

interface Step extends Repacked {
  readonly rows: number;
}

function packSome(shelf: Shelf, limits: PackLimits, until: number): Step {
  const { db, project } = shelf;
  const from = progressOf(shelf, 'repack');
  let bytes = 0;
  let last = from;
  const rows: Content[] = [];
  for (const row of db.each<Content & { createdAt: number; contentType: string }>(
    `SELECT ${contentColumns}, createdAt, contentType FROM artifact WHERE no > ? AND project = ? ORDER BY no LIMIT ${rowsAtOnce}`,
    from,
    project,
  )) {
    // A chunk was made by a step before this one, of an object that is old enough.
    if ((row.createdAt > until && row.contentType !== chunkType) || bytes > bytesAtOnce) break;
    last = row.no;
    rows.push(row);
    bytes += row.size;
  }
  if (rows.length === 0) return { rows: 0, objects: 0, before: 0, after: 0 };
  const loose = rows.filter((row) => row.gone === null && row.expiresAt === null && (row.data !== null || row.pack !== null));
  const before = loose.reduce((sum, row) => sum + row.storedSize, 0);
  let after = 0;
  for (const row of loose.filter(({ size }) => size > limits.wholeBytes)) after += chunk(shelf, row);
  for (const group of groups(
    loose.filter(({ size }) => size <= limits.wholeBytes),
    limits,
  ))
    after += packGroup(shelf, group);
  setProgress(shelf, 'repack', last);
  setProgress(shelf, 'hollow', progressOf(shelf, 'hollow') + loose.reduce((sum, row) => sum + (row.data?.length ?? 0), 0));
  return { rows: rows.length, objects: loose.length, before, after };
}

/** Neighbors that go into one block each, in order. */
export function groups<Row extends { readonly size: number }>(rows: readonly Row[], limits: PackLimits): Row[][] {
  const result: Row[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const open = result.at(-1);
    if (open && open.length < limits.perBlock && bytes + row.size <= limits.blockBytes) {
      open.push(row);
      bytes += row.size;
    } else {
      result.push([row]);
      bytes = row.size;
    }
  }
  return result;
}

const pressed = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } });

/** Returns the bytes that the group takes now. A damaged object stays where it is, for a check to name. */
function packGroup(shelf: Shelf, group: readonly Content[]): number {
  const { db, packs, project } = shelf;
  const sound = group.flatMap((row) => {
    const bytes = soundBytes(shelf, row);
    return bytes ? [{ row, bytes }] : [];
  });
  const lost = group.filter((row) => !sound.some((one) => one.row === row)).reduce((sum, row) => sum + row.storedSize, 0);
  const size = sound.reduce((sum, { row }) => sum + row.size, 0);
  if (size === 0) return lost;
  const stored = pressed(concatBytes(sound.map(({ bytes }) => bytes)));
  if (stored.length > size * worthIt) return lost + size;
  const place = packs.append(stored);
  const block = db.run(
    'INSERT INTO block (project, pack, packStart, storedSize, size) VALUES (?, ?, ?, ?, ?)',
    project,
    place.pack,
    place.start,
    stored.length,
    size,
  ).rowId;
  let start = 0;
  for (const { row } of sound) {
    // Shares of the block that add up to it.
    const share = Math.round(((start + row.size) * stored.length) / size) - Math.round((start * stored.length) / size);
    db.run(
      'UPDATE artifact SET data = NULL, pack = NULL, packStart = NULL, block = ?, blockStart = ?, storedSize = ? WHERE no = ?',
      block,
      start,
      share,
      row.no,
    );
    start += row.size;
  }
  return lost + stored.length;
}

/** Cuts a large object into chunks, which are objects of their own and are packed like any. */
function chunk(shelf: Shelf, row: Content): number {
  const bytes = soundBytes(shelf, row);
  if (!bytes) return row.storedSize;
  let added = 0;
  const chunks = chunksOf(bytes).map(({ start, end }): Chunk => {
    const part = bytes.subarray(start, end);
    const isKnown = known(shelf, blake3Of(part))?.isStored === 1;
    if (!isKnown) added += part.length;
    return { no: put(shelf, part, { contentType: chunkType, bulk: true }).no as ArtifactNo, size: part.length };
  });
  const list = encodeChunks(chunks, row.hash);
  shelf.db.run('UPDATE artifact SET data = NULL, pack = NULL, packStart = NULL, chunks = ?, storedSize = ? WHERE no = ?', list, list.length, row.no);
  return added + list.length;
}

function soundBytes(shelf: Shelf, row: Content): Uint8Array | undefined {
  try {
    return proved(shelf, row);
  } catch {
    return undefined;
  }
}
