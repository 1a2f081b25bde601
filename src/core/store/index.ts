// store: opens and migrates the SQLite database of a project, for typed reads and writes. No other folder opens it.
// Acknowledged writes are synced: WAL with synchronous=FULL, one sync per commit.
// migrations/ has the tables, one file per step; derived/ those that are made again; sums.ts detects changed rows; rebuild.ts copies intact ones.

export { chunkType } from './area-counts.js';
export { changedSql } from './changed.js';
export { type ConfinedDatabase, missingDerived, openConfined } from './confined.js';
export { copyForReading, removeUnused as removeUnusedCopies, versionIn } from './copy.js';
export type { Damage, DamageWatch } from './damage.js';
export * from './database.js';
export { derivedFile, derivedName, isDerivedName } from './derived/index.js';
export { databaseBytes, type ForeignRows, type Mirror, mirrorOf, RowTooLarge, withForeign } from './foreign.js';
export { formatVersion } from './migrations/index.js';
export type { OpenedPlace } from './place.js';
export { commitProgress, readDerivedProgress, readProgress, setDerivedProgress, setProgress, upToBytes } from './progress.js';
export { canRestoreRows, type RebuiltFile } from './rebuild.js';
export { type ChangedRow, matchingRow, matchingRows } from './sums.js';
export { traced } from './traced.js';
export { verifyCopy } from './verify.js';
