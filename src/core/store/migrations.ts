import type Database from 'better-sqlite3';
import { StemmaError } from '../base/index.js';
import type { WritableDb } from './database.js';
import { steps } from './schema.js';

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
    for (const step of steps.slice(current)) raw.exec(step);
    raw.pragma(`user_version = ${formatVersion}`);
  });
}
