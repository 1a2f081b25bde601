import Database from 'better-sqlite3';
import { corrupt, StemmaError } from '../base/index.js';
import type { WritableDb } from './database.js';
import { steps } from './schema.js';
import { keepSums } from './sums.js';

/** The version of the project format that this Stemma writes: the number of migration steps. */
export const formatVersion = steps.length;

/** Brings the database from whatever version it has to this one, in one transaction; an empty file is version 0. */
export function migrate(db: WritableDb, raw: Database.Database, beforeMigration?: (from: number) => void): void {
  const from = raw.pragma('user_version', { simple: true }) as number;
  if (from === formatVersion) return;
  if (from > formatVersion)
    throw new StemmaError(
      'CONFLICT',
      `this project has format ${from}, and this Stemma knows formats up to ${formatVersion}: open it with a newer Stemma`,
      {
        needed: from,
        known: formatVersion,
      },
    );
  if (raw.readonly)
    throw new StemmaError('UNAVAILABLE', `this project has format ${from} and must be migrated to ${formatVersion}, but it is read-only`, {
      reason: 'read-only',
    });
  if (from > 0) beforeMigration?.(from);
  db.transaction(() => {
    // Another process may have done it while we waited for the lock.
    const current = raw.pragma('user_version', { simple: true }) as number;
    if (current === formatVersion) return;
    try {
      for (const step of steps.slice(current)) raw.exec(step);
      keepSums(raw);
    } catch (error) {
      // A table that a later step makes is there already: the version is not what was written.
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_ERROR')
        throw corrupt('stemma.db', `its tables are not those of format ${current} (${error.message}); run "stemma fsck --repair"`);
      throw error;
    }
    raw.pragma(`user_version = ${formatVersion}`);
  });
}
