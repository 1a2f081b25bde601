import Database from 'better-sqlite3';
import { conflict, corrupt, unavailable } from '../base/index.js';
import { recountAreas } from './area-counts.js';
import { formatVersion, migrations } from './migrations/index.js';
import { formerTrigger, refuseForeignObjects, schemaOf } from './schema.js';
import { addSums, tablesOf, unwatchRows, watchRows } from './sums.js';

/**
 * Brings a database to the current format version in one transaction, or as a part of the open one. An empty file has version 0.
 * @param beforeMigration called with its format version before an existing database is changed.
 * @throws CONFLICT if the database is newer than this Stemma; UNAVAILABLE if it must be migrated but is read-only; CORRUPT
 * if its tables do not fit its version, or if it contains objects that Stemma did not create.
 */
export function migrate(raw: Database.Database, beforeMigration?: (from: number) => void): void {
  const from = versionOf(raw);
  refuseNewer(from);
  refuseForeignObjects(raw, from);
  if (from === formatVersion) return;
  if (raw.readonly)
    throw unavailable(`this project has format ${from} and needs a migration to ${formatVersion}, but it is read-only`, { reason: 'read-only' });
  if (from > 0) beforeMigration?.(from);
  const work = raw.transaction(() => {
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
  work.immediate();
}

/** The statements that create a database of the current format, read from the first new database of this process. */
let fresh: readonly string[] | undefined;

/**
 * Creates the tables of the current format in an empty database at once. Running all migration steps takes ten times as long, because each
 * step reads the whole schema again. Returns false until {@link rememberFresh} has read a database that the steps created.
 */
function makeFresh(raw: Database.Database): boolean {
  if (fresh) raw.exec(fresh.join(';\n'));
  return fresh !== undefined;
}

/** Remembers the definitions of a new database that the migration steps have just created, unless a step inserted rows into a table. */
function rememberFresh(raw: Database.Database): void {
  const own = schemaOf(raw).filter(({ name }) => !name.startsWith('sqlite_'));
  const hasRows = ({ kind, name }: (typeof own)[number]): boolean => kind === 'table' && raw.prepare(`SELECT 1 FROM "${name}"`).get() !== undefined;
  if (own.some(hasRows)) return;
  const definition = raw.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck();
  fresh = own.map(({ name }) => definition.get(name) as string);
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
    throw conflict(`this project has format ${version}, and this Stemma knows formats up to ${formatVersion}: open it with a newer Stemma`, {
      needed: version,
      known: formatVersion,
    });
}

/** The format version of a database: the number of migrations that were applied to it. */
export const versionOf = (raw: Database.Database): number => raw.pragma('user_version', { simple: true }) as number;
