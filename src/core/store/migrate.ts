import Database from 'better-sqlite3';
import { corrupt, StemmaError } from '../base/index.js';
import { recountAreas } from './area-counts.js';
import { makeFresh, rememberFresh } from './fresh.js';
import { formatVersion, migrations } from './migrations/index.js';
import { formerTrigger, refuseForeignObjects, schemaOf } from './schema.js';
import { addSums, tablesOf, unwatchRows, watchRows } from './sums.js';

export interface MigrateOptions {
  /** Runs its argument inside one transaction. */
  readonly transaction: <T>(work: () => T) => T;
  /** Called before an existing database is changed. `from` is its format version. */
  readonly beforeMigration?: (from: number) => void;
}

/**
 * Brings a database to the current format version in one transaction. An empty file has version 0.
 * @throws CONFLICT if the database is newer than this Stemma; UNAVAILABLE if it must be migrated but is read-only; CORRUPT
 * if its tables do not fit its version, or if it contains objects that Stemma did not create.
 */
export function migrate(raw: Database.Database, { transaction, beforeMigration }: MigrateOptions): void {
  const from = versionOf(raw);
  refuseNewer(from);
  refuseForeignObjects(raw, from);
  if (from === formatVersion) return;
  if (raw.readonly)
    throw new StemmaError('UNAVAILABLE', `this project has format ${from} and needs a migration to ${formatVersion}, but it is read-only`, {
      reason: 'read-only',
    });
  if (from > 0) beforeMigration?.(from);
  transaction(() => {
    // Another process may have migrated it while this one waited for the lock.
    const current = versionOf(raw);
    if (current === formatVersion) return;
    try {
      for (const { kind, name } of schemaOf(raw)) if (kind === 'trigger' && formerTrigger.test(name)) raw.exec(`DROP TRIGGER main."${name}"`);
      if (current > 0 || !makeFresh(raw)) runSteps(raw, current);
    } catch (error) {
      // A table of a later step exists already: the version number is wrong.
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_ERROR')
        throw corrupt('stemma.db', `its tables are not those of format ${current} (${error.message}); run "stemma fsck --repair"`);
      throw error;
    }
    raw.pragma(`user_version = ${formatVersion}`);
  });
}

function runSteps(raw: Database.Database, from: number): void {
  const before = tablesOf(raw);
  watchRows(raw);
  for (const step of migrations.slice(from)) raw.exec(step);
  unwatchRows(raw);
  addSums(raw, before);
  recountAreas(raw);
  if (from === 0) rememberFresh(raw);
}

/** @throws CONFLICT if this Stemma does not know the format version. */
export function refuseNewer(version: number): void {
  if (version > formatVersion)
    throw new StemmaError(
      'CONFLICT',
      `this project has format ${version}, and this Stemma knows formats up to ${formatVersion}: open it with a newer Stemma`,
      { needed: version, known: formatVersion },
    );
}

/** The format version of a database: the number of migrations that were applied to it. */
export const versionOf = (raw: Database.Database): number => raw.pragma('user_version', { simple: true }) as number;
