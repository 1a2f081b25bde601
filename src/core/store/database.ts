import { closeSync, copyFileSync, existsSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { corrupt, StemmaError } from '../base/index.js';
import { migrate } from './migrations.js';
import { changedDefinitions, integrityOf, mendDefinitions, mendHeader, mendRoots, mendSchemaPages, type Salvaged, salvage } from './salvage.js';
import { type ChangedRow, changedRows, mendRows, registerSums, type SummedInsert, summedInsert, tablesOf } from './sums.js';

type Value = string | number | bigint | Uint8Array | null;
/** A value for each `?` in order, or one object with a value for each `:name`. */
type Parameter = Value | { readonly [name: string]: Value };

/** Reads only: what is handed this cannot write, and does not compile if it tries. */
export interface ReadableDb {
  readonly readonly: boolean;
  one<Row>(sql: string, ...parameters: Parameter[]): Row | undefined;
  all<Row>(sql: string, ...parameters: Parameter[]): Row[];
  /** Rows one at a time; the database takes no other statement until the loop is left. */
  each<Row>(sql: string, ...parameters: Parameter[]): IterableIterator<Row>;
  /** Changes whenever any connection, of this process or another, has committed. */
  version(): number;
}

export interface WritableDb extends ReadableDb {
  /** Returns the row id of an insert. */
  run(sql: string, ...parameters: Parameter[]): { readonly changes: number; readonly rowId: number };
  /** A row of a table with numbers for rows, by the names of its columns; those left out are null, and the number is the next. Cheaper than `run` where rows are large. */
  insert(table: string, row: Readonly<Record<string, Value>>): { readonly rowId: number };
  /** All of `work` or nothing, with one sync; inside another transaction it is part of that. */
  transaction<T>(work: () => T): T;
  /**
   * A transaction in which the database does not look for rows that refer to a deleted one: for work that has itself
   * made sure that there are none. Never inside another transaction.
   */
  unenforced<T>(work: () => T): T;
  /** Calls back before a transaction that did its work is made durable: what it names outside of the database must be by then. */
  beforeCommit(listener: () => void): void;
  /** Calls back whenever a transaction was undone: what was remembered of its rows is not true. */
  onRollback(listener: () => void): void;
  /**
   * Gives room back to the disk where that is worth writing the database again: pages that hold nothing, and `hollow`
   * bytes that were taken out of rows, which leave their pages half empty. True where it was done.
   */
  shrink(hollow: number): boolean;
}

export interface OpenDatabase extends WritableDb {
  close(): void;
  /** What is wrong with pages, indexes against tables, and references, each as one line; nothing where all is sound. */
  integrity(): string[];
  /** Rows that are not what was written, by their sums. */
  changedRows(): ChangedRow[];
  /** Puts rows right of which one byte has changed. False where others have as well. */
  mendRows(): boolean;
  /**
   * Puts back what one byte has changed in the schema: in its own pages, or where a table or an index begins. False where that is not the
   * damage. @throws LOCKED where another process has the project open.
   */
  mendSchema(): boolean;
  /**
   * Writes the database anew out of every row that still is what was written, and keeps the damaged file beside it. Derived tables are
   * empty after. @throws LOCKED where another process has the project open.
   */
  salvage(): Salvage;
}

export interface Salvage extends Salvaged {
  /** Where the damaged file is now. */
  readonly path: string;
}

export interface OpenOptions {
  readonly readonly?: boolean;
  /** Where a copy of a database of this older version goes before it is migrated. */
  readonly backupPath?: (from: number) => string;
  /** How long a writer waits for another process's transaction; else a minute: imports hold one for a file. */
  readonly busyMs?: number;
}

const usualBusyMs = 60_000;

/** Pages of the write-ahead log after which it is copied into the database: fewer copies are fewer syncs. */
const logPages = 3_000;

/** A connection that has made so many commits will make more: one of the command line or of a hook never comes here. */
const manyCommits = 64;

/** Less room than this, in bytes, is not given back. */
const leastShrink = 1024 * 1024;

/** @throws CORRUPT where the file is no database, CONFLICT where it is of a newer Stemma. */
export function openDatabase(file: string, options: OpenOptions = {}): OpenDatabase {
  let raw = connect(file, options);
  const statements = new Map<string, Database.Statement>();
  const inserts = new Map<string, SummedInsert & { highest: number | undefined }>();
  const prepared = (sql: string): Database.Statement => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  let commits = 0;
  const listeners = { commit: [] as (() => void)[], rollback: [] as (() => void)[] };
  const pragma = (name: string): number => raw.pragma(name, { simple: true }) as number;
  const transaction = <T>(work: () => T): T => {
    if (raw.inTransaction) return work();
    return guard(() => {
      prepared('BEGIN IMMEDIATE').run();
      try {
        const result = work();
        for (const listener of listeners.commit) listener();
        prepared('COMMIT').run();
        if (++commits === manyCommits) growLog(raw);
        return result;
      } catch (error) {
        if (raw.inTransaction) prepared('ROLLBACK').run();
        for (const listener of listeners.rollback) listener();
        throw error;
      }
    });
  };
  /** Work on the file itself, which nobody has open meanwhile. */
  const aside = <T>(work: () => T): T => {
    guard(() => leaveLog(raw));
    raw.close();
    statements.clear();
    inserts.clear();
    try {
      return work();
    } finally {
      raw = connect(file, options);
    }
  };
  const db: OpenDatabase = {
    readonly: raw.readonly,
    one: <Row>(sql: string, ...parameters: Parameter[]) => guard(() => prepared(sql).get(...parameters) as Row | undefined),
    all: <Row>(sql: string, ...parameters: Parameter[]) => guard(() => prepared(sql).all(...parameters) as Row[]),
    *each<Row>(sql: string, ...parameters: Parameter[]) {
      const rows = guard(() => raw.prepare(sql).iterate(...parameters) as IterableIterator<Row>);
      try {
        for (let next = guard(() => rows.next()); !next.done; next = guard(() => rows.next())) yield next.value;
      } finally {
        rows.return?.();
      }
    },
    version: () => pragma('data_version'),
    run: (sql, ...parameters) =>
      guard(() => {
        const { changes, lastInsertRowid } = prepared(sql).run(...parameters);
        return { changes, rowId: Number(lastInsertRowid) };
      }),
    insert: (table, row) =>
      guard(() => {
        const known = inserts.get(table) ?? { ...summedInsert(raw, table), highest: undefined };
        inserts.set(table, known);
        // The sum is over the number, too, which the database gives: the next one, unless somebody else has written.
        const given = row[known.number] as number | null | undefined;
        const expected = given ?? (known.highest ?? (prepared(known.last).pluck().get() as number | null) ?? 0) + 1;
        const values = known.values(row, expected);
        const rowId = Number(prepared(known.sql).run(...values).lastInsertRowid);
        if (rowId !== expected) prepared(known.correction).run(known.values(row, rowId).at(-1), rowId);
        known.highest = rowId;
        return { rowId };
      }),
    transaction,
    unenforced: (work) => {
      if (raw.inTransaction) throw new Error('references cannot be left unchecked in the middle of a transaction');
      raw.pragma('foreign_keys = OFF');
      try {
        return transaction(work);
      } finally {
        raw.pragma('foreign_keys = ON');
      }
    },
    beforeCommit: (listener) => void listeners.commit.push(listener),
    onRollback: (listener) => void listeners.rollback.push(listener),
    shrink: (hollow) =>
      guard(() => {
        const free = pragma('freelist_count') * pragma('page_size') + hollow;
        if (free < leastShrink || free * 4 < pragma('page_count') * pragma('page_size')) return false;
        raw.exec('VACUUM');
        raw.pragma('wal_checkpoint(TRUNCATE)');
        return true;
      }),
    close: () => raw.close(),
    integrity: () => [
      ...guard(() => integrityOf(raw)),
      ...orWords(() =>
        (raw.pragma('foreign_key_check') as { table: string; rowid: number; parent: string }[]).map(
          ({ table, rowid, parent }) => `row ${rowid} of ${table} refers to a row of ${parent} that is not there`,
        ),
      ),
      ...orWords(() =>
        changedDefinitions(raw).map(({ wanted }) => `the definition of ${wanted.name} is not what was written: a byte of it has changed`),
      ),
    ],
    changedRows: () => tablesOf(raw).flatMap((table) => guard(() => changedRows(raw, table))),
    mendRows: () =>
      db.unenforced(() =>
        tablesOf(raw)
          .map((table) => mendRows(raw, table))
          .every(Boolean),
      ),
    mendSchema: () => aside(() => mendSchemaPages(file) || mendRoots(file)),
    salvage: () => aside(() => guard(() => rescue(file))),
  };
  try {
    guard(() => migrate(db, raw, (from) => backUp(raw, options.backupPath?.(from))));
  } catch (error) {
    raw.close();
    throw error;
  }
  return db;
}

/** Brings all that is in the log into the file, which nobody but us may have open. What is too damaged for that is read as it is. */
function leaveLog(raw: Database.Database): void {
  raw.pragma('busy_timeout = 2000');
  try {
    raw.pragma('journal_mode = DELETE');
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    if (error.code.startsWith('SQLITE_BUSY'))
      throw new StemmaError('LOCKED', 'the project is open elsewhere: close it there, so that its database can be written anew');
    if (!error.code.startsWith('SQLITE_CORRUPT')) throw error;
  }
}

/**
 * The same for a database that is too damaged to be opened: its header is put right, or its rows are salvaged. Undefined where the header
 * was all. @throws CORRUPT where not even its tables are found.
 */
export function rescueDatabase(file: string): Salvage | undefined {
  const asItWas = unusedName(`${file}.damaged`);
  copyFileSync(file, asItWas);
  const isMended = [mendHeader(file), mendSchemaPages(file), mendDefinitions(file), mendRoots(file)].includes(true);
  if (isMended && opens(file)) return undefined;
  try {
    const result = guard(() => rescue(file));
    if (!isMended) rmSync(asItWas);
    return result;
  } catch (error) {
    renameSync(asItWas, file);
    throw error;
  }
}

function opens(file: string): boolean {
  try {
    openDatabase(file).close();
    return true;
  } catch (error) {
    if (error instanceof StemmaError) return false;
    throw error;
  }
}

/** The salvaged rows take the place of the damaged file, which stays beside them. */
function rescue(file: string): Salvage {
  const beside = `${file}.salvaged`;
  rmSync(beside, { force: true });
  mendDefinitions(file);
  const result = salvage(file, beside);
  const path = unusedName(`${file}.damaged`);
  for (const ending of ['-wal', '-shm']) if (existsSync(`${file}${ending}`)) renameSync(`${file}${ending}`, `${path}${ending}`);
  renameSync(file, path);
  syncFile(beside);
  renameSync(beside, file);
  return { ...result, path };
}

function unusedName(name: string): string {
  for (let number = 1; ; number++) if (!existsSync(`${name}-${number}`)) return `${name}-${number}`;
}

function syncFile(path: string): void {
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}

function connect(file: string, options: OpenOptions): Database.Database {
  return guard(() => {
    const raw = new Database(file, { readonly: options.readonly ?? false, timeout: options.busyMs ?? usualBusyMs });
    try {
      registerSums(raw);
      if (!raw.readonly) {
        raw.pragma('journal_mode = WAL');
        // better-sqlite3 is compiled to run WAL at NORMAL, which syncs no commit at all.
        raw.pragma('synchronous = FULL');
        raw.pragma(`wal_autocheckpoint = ${logPages}`);
      }
      raw.pragma('foreign_keys = ON');
      raw.pragma('temp_store = MEMORY');
      raw.pragma('mmap_size = 268435456');
      // Kibibytes, as SQLite counts them when negative.
      raw.pragma('cache_size = -32768');
      return raw;
    } catch (error) {
      raw.close();
      throw error;
    }
  });
}

/** A whole and consistent copy, log included, synced and then named: half a copy never has the name. */
function backUp(raw: Database.Database, path: string | undefined): void {
  if (path === undefined || existsSync(path)) return;
  const beside = `${path}.part`;
  rmSync(beside, { force: true });
  raw.prepare('VACUUM INTO ?').run(beside);
  syncFile(beside);
  renameSync(beside, path);
}

/** What SQLite says where the tables are not those that we made: our own statements fit them. */
const otherTables =
  /^(unsupported file format|foreign key mismatch|no such (table|column|index|trigger|function)|malformed (database schema|JSON)|near |invalid fts5 |unrecognized option|vtable constructor failed)|has no column/;

/** What a look finds, or that the damage does not let it look: what others found stays. */
function orWords(look: () => string[]): string[] {
  try {
    return guard(look);
  } catch (error) {
    if (!(error instanceof StemmaError && error.code === 'CORRUPT')) throw error;
    return [error.message];
  }
}

/** Says SQLite's own refusals in the codes that cross the doors. */
function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    if (
      error.code === 'SQLITE_NOTADB' ||
      error.code.startsWith('SQLITE_CORRUPT') ||
      (error.code === 'SQLITE_ERROR' && otherTables.test(error.message))
    )
      throw corrupt(
        'stemma.db',
        `the database is damaged (${error.message}); run "stemma fsck" to see what is sound, and "stemma fsck --repair" to save that`,
      );
    if (error.code.startsWith('SQLITE_BUSY'))
      throw new StemmaError('LOCKED', 'another process is writing to this project and does not come to an end; try again when it is done');
    if (error.code === 'SQLITE_FULL') throw new StemmaError('UNAVAILABLE', 'the disk is full: nothing of this was written', { reason: 'disk full' });
    if (error.code.startsWith('SQLITE_READONLY'))
      throw new StemmaError('UNAVAILABLE', 'the project cannot be written to: the disk or folder is read-only', { reason: 'read-only' });
    if (error.code.startsWith('SQLITE_IOERR'))
      throw new StemmaError('UNAVAILABLE', `the disk did not do as asked (${error.code})`, { reason: error.code });
    if (error.code.startsWith('SQLITE_CANTOPEN'))
      throw new StemmaError('UNAVAILABLE', `the database cannot be opened (${error.message})`, { reason: error.code });
    throw error;
  }
}

/**
 * Makes the log as long as it gets, before it is needed: a commit that lengthens the file costs its sync more than one that writes over
 * what is there. Zeros behind its end are no part of it, and nobody else appends while the lock is ours.
 */
function growLog(raw: Database.Database): void {
  const length = logHeader + logPages * (frameHeader + (raw.pragma('page_size', { simple: true }) as number));
  let fd: number | undefined;
  try {
    raw.exec('BEGIN IMMEDIATE');
    fd = openSync(`${raw.name}-wal`, 'r+');
    const { size } = fstatSync(fd);
    if (size < length) writeSync(fd, Buffer.alloc(length - size), 0, length - size, size);
  } catch {
    // A disk without the room, or a lock that another holds, is no fault of the commit that came before.
  } finally {
    if (fd !== undefined) closeSync(fd);
    if (raw.inTransaction) raw.exec('ROLLBACK');
  }
}

/** Bytes before the log's first frame, and before each page in it. */
const logHeader = 32;
const frameHeader = 24;
