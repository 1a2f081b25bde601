import { type ArtifactNo, orUndefined } from '../base/index.js';
import { readProgress, setProgress } from '../store/index.js';
import { read } from './content.js';
import { restore } from './put.js';
import type { Shelf } from './shelf.js';

/** Bytes that are rewritten in one transaction, which limits how long others wait. */
const bytesAtOnce = 32 * 1024 * 1024;
/** A block or pack is rewritten if a smaller share of it is in use. */
const worthKeeping = 0.6;

/**
 * Rewrites blocks and packs that contain mostly garbage.
 * @param shrink returns free pages of the database to the disk.
 * @param thorough rewrites the database and every block and pack that contains garbage, so that no removed byte stays on the disk.
 */
export function* tidy(
  shelf: Shelf,
  { shrink = true, thorough = false }: { readonly shrink?: boolean; readonly thorough?: boolean } = {},
): Generator<undefined, void> {
  const share = thorough ? 1 : worthKeeping;
  while (emptySparseBlocks(shelf, share)) yield;
  for (const no of shelf.db.column<number>('SELECT no FROM pack ORDER BY no')) while (emptyPack(shelf, no, share)) yield;
  shelf.packs.sweepFiles();
  if (shrink && shelf.db.shrink(thorough ? Number.POSITIVE_INFINITY : readProgress(shelf, 'hollow'))) setProgress(shelf, 'hollow', 0);
}

/** Moves the remaining objects out of a few sparse blocks. True if there may be more such blocks. */
function emptySparseBlocks(shelf: Shelf, share: number): boolean {
  const { db } = shelf;
  return db.transaction(() => {
    const sparse = db.column<number>(
      `SELECT b.no FROM block b LEFT JOIN artifact a ON a.block = b.no WHERE b.project = ?
        GROUP BY b.no HAVING IFNULL(SUM(a.size), 0) < b.size * ${share} LIMIT 64`,
      shelf.project,
    );
    return sparse.filter((no) => emptyBlock(shelf, no)).length > 0;
  });
}

/** Returns false for a damaged block: it stays, so that a check can report it. */
function emptyBlock(shelf: Shelf, block: number): boolean {
  const { db } = shelf;
  const objects = db.column<ArtifactNo>('SELECT no FROM artifact WHERE block = ?', block);
  const contents = orUndefined(() => objects.map((no) => ({ no, bytes: read(shelf, no) })), ['CORRUPT']);
  if (!contents) return false;
  for (const { no, bytes } of contents) {
    restore(shelf, no, bytes);
    setProgress(shelf, 'repack', Math.min(readProgress(shelf, 'repack'), no - 1));
  }
  db.run('DELETE FROM block WHERE no = ?', block);
  shelf.blocks.delete(block);
  return true;
}

/** Moves some content out of a sparse pack, or removes an empty pack. True if there is more to do. */
function emptyPack(shelf: Shelf, pack: number, share: number): boolean {
  const { db, packs } = shelf;
  return db.transaction(() => {
    if (!db.one('SELECT 1 FROM pack WHERE no = ?', pack)) return false;
    const bytes = db.value<number>(
      `SELECT IFNULL((SELECT SUM(storedSize) FROM artifact WHERE pack = p.no), 0) + IFNULL((SELECT SUM(storedSize) FROM block WHERE pack = p.no), 0)
         FROM pack p WHERE p.no = ?`,
      pack,
    );
    if (!bytes) {
      packs.drop(pack);
      return false;
    }
    const size = packs.size(pack);
    if (size === 0 || bytes >= size * share) return false;
    packs.retire(pack);
    return orUndefined(() => moveSome(shelf, pack), ['CORRUPT']) ?? false;
  });
}

function moveSome(shelf: Shelf, pack: number): boolean {
  const { db, packs } = shelf;
  let moved = 0;
  for (const table of ['artifact', 'block'] as const) {
    const rows = db.all<{ no: number; packStart: number; storedSize: number }>(
      `SELECT no, packStart, storedSize FROM ${table} WHERE pack = ? ORDER BY packStart LIMIT 1000`,
      pack,
    );
    for (const { no, packStart, storedSize } of rows) {
      if (moved >= bytesAtOnce) return true;
      // The bytes are moved unverified: every read verifies them.
      const place = packs.append(packs.read({ pack, start: packStart }, storedSize));
      db.run(`UPDATE ${table} SET pack = ?, packStart = ? WHERE no = ?`, place.pack, place.start, no);
      if (table === 'block') shelf.blocks.delete(no);
      moved += storedSize;
    }
  }
  return true;
}
