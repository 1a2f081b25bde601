// store: the one SQLite connection of a project: opened, migrated, and spoken to by typed reads and writes.
// Nobody else opens the database. What was acknowledged is synced (WAL with synchronous=FULL, one sync a commit).
// Tables are described in schema.ts, which every migration step makes or changes; sums.ts proves rows, salvage.ts reads around damage.
export * from './database.js';
export * from './foreign.js';
export { formatVersion } from './migrations.js';
export type { Trace } from './salvage.js';
export { type ChangedRow, provedRows } from './sums.js';
