import { existsSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { onceFor, unavailable } from '../base/index.js';
import { renameDurably, syncFile, writeNew } from '../files/index.js';
import { longPath } from '../system/index.js';
import { type DamageWatch, type Prepare, watchDamage } from './damage.js';
import { definitionError } from './definitions.js';
import { changesDerived, type Derived, derivedFile, openDerived } from './derived/index.js';
import { asStemmaError, damagedDatabase } from './failures.js';
import { logPages } from './log.js';
import { migrate } from './migrate.js';
import { formatVersion } from './migrations/index.js';
import { type OpenedPlace, placeAt } from './place.js';
import { registerSums, summedInsert, type Value, watchRows } from './sums.js';

export interface ConnectionOptions {
  readonly readonly?: boolean;
  /** Returns the path for a copy of an older database, made before it is migrated. `from` is the old format version. */
  readonly backupPath?: (from: number) => string;
  /** Milliseconds to wait for another process's transaction. The default is a minute. */
  readonly busyMs?: number;
  /** Why nothing may be recorded. With it, only tables of caches and indexes accept writes. */
  readonly derivedOnly?: string;
  /** Further files and folders that must not be replaced while the database is open. */
  readonly beside?: readonly string[];
  /** What this machine puts into the file of derived data of this project. A file with another mark is not used; without a mark, any is. */
  readonly mark?: string | undefined;
}

/** A connection to a database file, with its prepared statements. */
export interface Connection {
  readonly raw: Database.Database;
  readonly place: OpenedPlace;
  readonly derived: Derived;
  readonly damage: DamageWatch;
  /** Whether a statement changes derived data. */
  changesDerived(sql: string): boolean;
  readonly prepared: Prepare;
  /** Inserts a whole row with its checksum. */
  insert(table: string, row: Readonly<Record<string, Value | undefined>>): { readonly rowId: number };
}

const defaultBusyMs = 60_000;

/** Opens a database, migrates it if needed, and keeps the checksums of the rows that it writes. @throws what `openDatabase` does. */
export function connectTo(file: string | Buffer, options: ConnectionOptions): Connection {
  const raw = connect(file, options);
  const apart = typeof file === 'string' ? derivedFile(file) : undefined;
  try {
    return guardOpening(() => {
      migrate(raw, (from) => copyBefore(raw, from, options.backupPath?.(from)));
      if (!raw.readonly) watchRows(raw);
      if (options.derivedOnly !== undefined) refuseRecords(raw, options.derivedOnly);
      const place = placeAt(typeof file === 'string' ? [...(options.beside ?? []), file] : []);
      const derived = openDerived(raw, apart, options.mark, place);
      const statements = statementsOf(raw);
      return { raw, place, derived, damage: watchDamage(raw, statements.prepared), ...statements };
    });
  } catch (error) {
    raw.close();
    throw error;
  }
}

/**
 * Runs work and turns an error of SQLite into one with a code of the contract. With `raw`, an error that comes from a changed definition is damage.
 */
export function guard<T>(work: () => T, raw?: Database.Database): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw (raw && definitionError(raw, error)) ?? asStemmaError(error);
  }
}

/** Like `guard`, while a database is opened: SQLite reads its schema then, and an error in it is damage. */
function guardOpening<T>(work: () => T): T {
  return guard(() => {
    try {
      return work();
    } catch (error) {
      throw error instanceof Database.SqliteError && error.code === 'SQLITE_ERROR' ? damagedDatabase(error) : error;
    }
  });
}

function connect(file: string | Buffer, options: ConnectionOptions): Database.Database {
  // SQLite would create a file that other users can read. The log and its index get the mode of the database.
  if (typeof file === 'string' && !options.readonly && !existsSync(file)) writeNew(file, '');
  return guardOpening(() => {
    const raw = new Database(typeof file === 'string' ? longPath(file) : file, {
      readonly: options.readonly ?? false,
      timeout: options.busyMs ?? defaultBusyMs,
    });
    try {
      // The database may come from another machine: its schema must not call our functions. better-sqlite3 turns on defensive mode.
      raw.pragma('trusted_schema = OFF');
      registerSums(raw);
      if (!raw.readonly) {
        raw.pragma('journal_mode = WAL');
        // better-sqlite3 is compiled with synchronous=NORMAL for WAL, which does not sync each commit.
        raw.pragma('synchronous = FULL');
        raw.pragma(`wal_autocheckpoint = ${logPages}`);
      }
      raw.pragma('foreign_keys = ON');
      raw.pragma('temp_store = MEMORY');
      // Walks read the mapped part faster. What is mapped counts as memory of the process.
      raw.pragma('mmap_size = 67108864');
      // A negative size is in kibibytes.
      raw.pragma('cache_size = -32768');
      return raw;
    } catch (error) {
      raw.close();
      throw error;
    }
  });
}

/**
 * Copies a database of an earlier format and its log to a file. The copy gets its final name only when it is complete and synced.
 * @throws UNAVAILABLE if its disk has no room for the copy and the conversion. Nothing has changed then.
 */
function copyBefore(raw: Database.Database, from: number, path: string | undefined): void {
  if (path === undefined) return;
  requireRoom(raw, from, path);
  const beside = `${path}.part`;
  rmSync(beside, { force: true });
  try {
    // SQLite writes into an empty file. One that it makes itself can be read by others.
    writeNew(beside, '');
    raw.prepare('VACUUM INTO ?').run(beside);
    syncFile(beside);
    renameDurably(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** Free space that a conversion leaves on its disk, in bytes. */
const spareBytes = 1024 * 1024;

/** A conversion may write each page of the database once more, into its log, beside the copy. */
function requireRoom(raw: Database.Database, from: number, path: string): void {
  const pragma = (name: string): number => raw.pragma(name, { simple: true }) as number;
  const needed = 2 * pragma('page_count') * pragma('page_size') + spareBytes;
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize >= needed) return;
  const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  throw unavailable(
    `Stemma keeps a copy of this project until its conversion from format ${from} to ${formatVersion} is checked, which needs ${inMegabytes(needed)} on the disk of ${dirname(path)}, where ${inMegabytes(bavail * bsize)} are free`,
    { reason: 'disk full', needed },
  );
}

/** Tables of objects, caches and counts, which a copy for reading may change. */
const changeable = /^(artifact|block|pack|progress|materialized|record|replicaCopy|areaCount|sqlite_.*)$/;

/** Makes this connection refuse every change of what was recorded. */
function refuseRecords(raw: Database.Database, message: string): void {
  const tables = raw.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").pluck().all() as string[];
  const quoted = message.replaceAll("'", "''");
  for (const table of tables.filter((name) => !changeable.test(name)))
    for (const change of ['INSERT', 'UPDATE', 'DELETE'])
      raw.exec(`CREATE TEMP TRIGGER "refuse ${change} of ${table}" BEFORE ${change} ON main."${table}" BEGIN SELECT RAISE(ABORT, '${quoted}'); END`);
}

/**
 * A statement that is not planned for each value. SQLite plans a join or a sorted statement again for each call if a column equals a parameter, and
 * better-sqlite3 compiles a new function for its rows then, which takes longer than most such statements. A plus leaves the value as it is.
 */
const plannedOnce = (sql: string): string => sql.replaceAll(/(?<= (?:=|IS|LIMIT) )(?=[?:])/g, '+');

function statementsOf(raw: Database.Database): Pick<Connection, 'prepared' | 'insert' | 'changesDerived'> {
  const statements = {
    objects: onceFor((sql: string) => raw.prepare(plannedOnce(sql))),
    rows: onceFor((sql: string) => raw.prepare(plannedOnce(sql)).raw()),
    values: onceFor((sql: string) => raw.prepare(plannedOnce(sql)).pluck()),
  };
  const prepared: Prepare = (sql, shape) => statements[shape ?? 'objects'](sql);
  const insertsInto = onceFor((table: string) => ({ ...summedInsert(raw, table), highest: undefined as number | undefined }));
  const insert: Connection['insert'] = (table, row) => {
    const known = insertsInto(table);
    // The checksum covers the row number, so the number is predicted. SQLite assigns another one if another connection inserted a row meanwhile.
    const given = row[known.number] as number | null | undefined;
    const expected = given ?? (known.highest ?? (prepared(known.last, 'values').get() as number | null) ?? 0) + 1;
    const values = known.values(row, expected);
    const rowId = Number(prepared(known.sql).run(...values).lastInsertRowid);
    if (rowId !== expected) prepared(known.correction).run(known.values(row, rowId).at(-1), rowId);
    known.highest = rowId;
    return { rowId };
  };
  return { prepared, insert, changesDerived: onceFor(changesDerived) };
}
