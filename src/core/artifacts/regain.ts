import { type ArtifactNo, StemmaError } from '../base/index.js';
import { read } from './content.js';
import type { Shelf } from './shelf.js';

/**
 * Finds packs and blocks whose rows were lost. Objects still name them by number. A file or range is the right one if an object in it matches
 * its hash. References to packs and blocks that are not found are removed.
 */
export function regain(shelf: Shelf): void {
  regainPacks(shelf);
  regainBlocks(shelf);
  shelf.db.run(
    `UPDATE artifact SET pack = NULL, packStart = NULL, block = NULL, blockStart = NULL, gone = 'lost'
      WHERE (pack IS NOT NULL AND pack NOT IN (SELECT no FROM pack))
         OR (block IS NOT NULL AND block NOT IN (SELECT no FROM block WHERE pack IN (SELECT no FROM pack)))`,
  );
  shelf.db.run('DELETE FROM block WHERE pack NOT IN (SELECT no FROM pack)');
}

function regainPacks(shelf: Shelf): void {
  const missing = shelf.db.all<{ no: number }>(
    'SELECT pack AS no FROM artifact WHERE pack IS NOT NULL AND pack NOT IN (SELECT no FROM pack) UNION SELECT pack FROM block WHERE pack NOT IN (SELECT no FROM pack)',
  );
  // The row of a missing pack may exist under a changed number, to which nothing refers.
  if (missing.length > 0)
    shelf.db.run('DELETE FROM pack WHERE no NOT IN (SELECT pack FROM artifact WHERE pack IS NOT NULL UNION SELECT pack FROM block)');
  for (const { no } of missing) {
    const inIt = shelf.db.one<{ no: ArtifactNo }>('SELECT no FROM artifact WHERE pack = ? OR block IN (SELECT no FROM block WHERE pack = ?)', no, no);
    if (inIt)
      firstThatProves(shelf, inIt.no, shelf.packs.unnamed(), {
        add: (file) => shelf.db.run('INSERT INTO pack (no, file, createdAt) VALUES (?, ?, ?)', no, file, shelf.clock()),
        remove: () => shelf.packs.drop(no),
      });
  }
}

function regainBlocks(shelf: Shelf): void {
  const missing = shelf.db.all<{ block: number; size: number; artifact: ArtifactNo }>(
    `SELECT block, MAX(IFNULL(blockStart, 0) + size) AS size, MIN(no) AS artifact FROM artifact
      WHERE block IS NOT NULL AND block NOT IN (SELECT no FROM block) AND gone IS NULL GROUP BY block`,
  );
  for (const { block, size, artifact } of missing)
    firstThatProves(shelf, artifact, gapsIn(shelf), {
      add: ({ pack, start, length }) =>
        shelf.db.run(
          'INSERT INTO block (no, project, pack, packStart, storedSize, size) VALUES (?, ?, ?, ?, ?, ?)',
          block,
          shelf.project,
          pack,
          start,
          length,
          size,
        ),
      remove: () => {
        shelf.blocks.delete(block);
        shelf.db.run('DELETE FROM block WHERE no = ?', block);
      },
    });
}

function firstThatProves<T>(shelf: Shelf, no: ArtifactNo, places: readonly T[], row: { add(place: T): unknown; remove(): void }): void {
  for (const place of places) {
    row.add(place);
    if (proves(shelf, no)) return;
    row.remove();
  }
}

function proves(shelf: Shelf, no: ArtifactNo): boolean {
  try {
    return read(shelf, no).length >= 0;
  } catch (error) {
    if (error instanceof StemmaError) return false;
    throw error;
  }
}

interface Gap {
  readonly pack: number;
  readonly start: number;
  readonly length: number;
}

/** Ranges of each pack that belong to no object and no block. */
function gapsIn(shelf: Shelf): Gap[] {
  return shelf.db.all<{ no: number }>('SELECT no FROM pack').flatMap(({ no }) => {
    const taken = shelf.db.all<{ start: number; length: number }>(
      `SELECT packStart AS start, storedSize AS length FROM block WHERE pack = ?
        UNION SELECT packStart, storedSize FROM artifact WHERE pack = ? ORDER BY 1`,
      no,
      no,
    );
    const ends = [0, ...taken.map(({ start, length }) => start + length)];
    const starts = [...taken.map(({ start }) => start), shelf.packs.size(no)];
    return starts
      .map((next, at): Gap => ({ pack: no, start: ends[at] as number, length: next - (ends[at] as number) }))
      .filter(({ length }) => length > 0);
  });
}
