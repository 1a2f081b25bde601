import Database from 'better-sqlite3';
import { StemmaError } from '../base/index.js';
import { syncFile } from '../files/index.js';
import { checksOf } from './checks.js';
import { type Connection, type ConnectionOptions, connectTo, guard } from './connection.js';
import type { DamageWatch, Prepare } from './damage.js';
import { derivedFile, removeDerived, withoutWaiting } from './derived/index.js';
import { saysDamage } from './failures.js';
import { begin, isFree } from './lock.js';
import { foldLog, growLog, logPages, shortenLog } from './log.js';
import { refuseNewer } from './migrate.js';
import type { OpenedPlace } from './place.js';
import { type RebuiltFile, rebuildFile } from './rebuild.js';
import type { ChangedRow, Value } from './sums.js';
import { trace } from './traced.js';

/** A value for each `?` in order, alone or in lists, or one object with a value for each `:name`. */
type Parameter = Value | readonly Value[] | { readonly [name: string]: Value };

/** The reading part of a database. A function that takes it cannot write: the compiler refuses that. */
export interface ReadableDb {
  readonly readonly: boolean;
  one<Row>(sql: string, ...parameters: Parameter[]): Row | undefined;
  all<Row>(sql: string, ...parameters: Parameter[]): Row[];
  /** The first value of the first row. */
  value<Found>(sql: string, ...parameters: Parameter[]): Found | undefined;
  /** The values of the only column. */
  column<Found>(sql: string, ...parameters: Parameter[]): Found[];
  /** Rows as lists of values, in the order of the columns. */
  rows<Row extends readonly unknown[]>(sql: string, ...parameters: Parameter[]): Row[];
  /** Rows one at a time. The connection runs no other statement until the loop ends. */
  each<Row>(sql: string, ...parameters: Parameter[]): IterableIterator<Row>;
  /** A number that changes when another connection, of this process or another, commits, or when the database was rebuilt. */
  version(): number;
  /** What is known about rows that do not match their checksum. */
  damage(): DamageWatch;
  /** Whether the paths of the database and its folder still lead to the files that were opened. Every transaction checks it. */
  readonly place: OpenedPlace;
}

export interface WritableDb extends ReadableDb {
  /** Returns the row id of an insert. */
  run(sql: string, ...parameters: Parameter[]): { readonly changes: number; readonly rowId: number };
  /**
   * Inserts a row by column names into a table with row numbers. Missing columns are null, and a missing number is the next one. Cheaper
   * than `run` for large rows.
   */
  insert(table: string, row: Readonly<Record<string, Value | undefined>>): { readonly rowId: number };
  /**
   * Runs all of `work` or nothing, with one sync. Inside another transaction it becomes part of that; if `work` throws there, only its own
   * changes are undone, so that the caller can catch the error and continue.
   */
  transaction<T>(work: () => T): T;
  /** Runs work in the open transaction, or in one of its own. If it throws in an open one, the caller lets the error through. */
  joined<T>(work: () => T): T;
  /**
   * Whether a transaction would begin at once: no other connection, of this process or another, is writing. Ask before a write that can
   * wait or be left out, because waiting for the lock blocks the thread.
   */
  isFree(): boolean;
  /**
   * Stops this connection from copying the log into the database, because each copy costs two syncs. Use it while another connection
   * writes much and copies the log itself. Returns a function that undoes this.
   */
  leaveLog(): () => void;
  /** Whether `leaveLog` is in effect: another connection writes much. */
  hasLeftLog(): boolean;
  /**
   * A transaction without foreign key checks, for work that deletes rows and has made sure that no row refers to them.
   * @throws Error inside another transaction.
   */
  unenforced<T>(work: () => T): T;
  /** Calls back before each commit. Files that the transaction refers to must be synced by then. */
  beforeCommit(listener: () => void): void;
  /** Calls back after each rollback. Caches of rows are wrong then. */
  onRollback(listener: () => void): void;
  /**
   * Rewrites the file without its free space if that frees enough. `hollow` is the number of bytes removed from rows, in addition to whole
   * free pages. Returns whether it rewrote the file.
   */
  shrink(hollow: number): boolean;
  /** Returns the bytes of logs that are longer than usual to the disk, unless somebody reads or writes. */
  shortenLogs(): void;
}

/** A reference to a row that does not exist. */
export interface DanglingRow {
  readonly table: string;
  readonly row: number;
  /** The table that the missing row belongs to. */
  readonly parent: string;
}

export interface OpenDatabase extends WritableDb {
  close(): void;
  /** The defects that SQLite finds in pages and indexes, one line each. */
  integrity(): string[];
  /** Rows that refer to a row that does not exist. */
  dangling(): DanglingRow[];
  /** Rows that do not match their checksum. */
  changedRows(): ChangedRow[];
  /** Tables and indexes that another program removed or defined in another way, one line each. */
  changedDefinitions(): string[];
  /** Copies the database to a file by SQLite's online backup, while others read and write. @throws the error of the file system. */
  copyTo(path: string): Promise<void>;
  /** As `rebuildDatabase`. @throws LOCKED if another process has the project open. */
  rebuild(backups: readonly string[]): RebuiltFile;
}

/** A connection with this many commits is no short-lived command or hook: more commits will follow. */
const manyCommits = 64;

/** Pages that a backup copies before other work gets a turn. */
const pagesAtOnce = 500;

/** Minimum number of free bytes that are worth rewriting the file. */
const minShrinkBytes = 1024 * 1024;

/**
 * Opens a database file, or one in memory from its bytes. A missing file is created, and an older database is migrated.
 * @throws CORRUPT if the file is not a sound database; CONFLICT if a newer Stemma wrote it; UNAVAILABLE if the disk refuses.
 */
export function openDatabase(file: string | Buffer, options: ConnectionOptions = {}): OpenDatabase {
  let connection = connectTo(file, options);
  let rebuilds = 0;
  const current = (): Connection => connection;
  return {
    ...readsOf(current),
    version: () => {
      const { prepared, derived } = connection;
      derived.refresh();
      const versionOf = (name: string): number => prepared(`PRAGMA ${name}.data_version`, 'values').get() as number;
      return (rebuilds + derived.attached()) * 2 ** 32 + versionOf('main') + (derived.isStored() ? versionOf('derived') : 0);
    },
    ...writesOf(current),
    ...checksOf(current),
    get place() {
      return connection.place;
    },
    close: () => {
      connection.raw.close();
      connection.derived.closed();
    },
    copyTo: async (path) => {
      connection.place.require();
      await connection.raw.backup(path, { progress: () => pagesAtOnce });
      syncFile(path);
    },
    rebuild: (backups) => {
      const { raw } = connection;
      guard(() => foldLog(raw));
      raw.close();
      try {
        return rebuildDatabase(raw.name, backups);
      } finally {
        connection = connectTo(file, options);
        rebuilds += 1;
      }
    },
  };
}

/** Rebuilds a database that cannot be opened (see `rebuildFile`). @throws CONFLICT if a newer Stemma wrote it. */
export function rebuildDatabase(file: string, backups: readonly string[]): RebuiltFile {
  const rebuilt = guard(() => rebuildFile(file, backups));
  removeDerived(derivedFile(file));
  return rebuilt;
}

/** Runs statements. If they fail because derived data is damaged, it is begun anew, and they run again. */
const guardedBy =
  (current: () => Connection) =>
  <T>(work: () => T): T =>
    guard(() => healing(current(), work), current().raw);

function healing<T>({ derived }: Connection, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // A statement inside a transaction was guarded already.
    const cause = error instanceof StemmaError ? error.cause : error;
    if (cause instanceof Database.SqliteError && saysDamage(cause) && derived.heal()) return work();
    throw error;
  }
}

function readsOf(current: () => Connection): Omit<ReadableDb, 'version' | 'place'> {
  const guarded = guardedBy(current);
  const prepared: Prepare = (sql, shape) => {
    trace(sql);
    return current().prepared(sql, shape);
  };
  return {
    readonly: current().raw.readonly,
    damage: () => current().damage,
    one: <Row>(sql: string, ...parameters: Parameter[]) => guarded(() => prepared(sql).get(...parameters) as Row | undefined),
    all: <Row>(sql: string, ...parameters: Parameter[]) => guarded(() => prepared(sql).all(...parameters) as Row[]),
    value: <Found>(sql: string, ...parameters: Parameter[]) => guarded(() => prepared(sql, 'values').get(...parameters) as Found | undefined),
    column: <Found>(sql: string, ...parameters: Parameter[]) => guarded(() => prepared(sql, 'values').all(...parameters) as Found[]),
    rows: <Row extends readonly unknown[]>(sql: string, ...parameters: Parameter[]) =>
      guarded(() => prepared(sql, 'rows').all(...parameters) as Row[]),
    *each<Row>(sql: string, ...parameters: Parameter[]) {
      trace(sql);
      // A kept statement runs once at a time.
      const rows = guarded(() => {
        const statement = current().raw.prepare(sql);
        return statement.iterate(...parameters) as IterableIterator<Row>;
      });
      try {
        for (let next = guarded(() => rows.next()); !next.done; next = guarded(() => rows.next())) yield next.value;
      } finally {
        rows.return?.();
      }
    },
  };
}

function writesOf(current: () => Connection): Omit<WritableDb, keyof ReadableDb> {
  const guarded = guardedBy(current);
  const listeners = { commit: [] as (() => void)[], rollback: [] as (() => void)[] };
  const changed = { derived: false };
  const logs = logLeaver(current);
  const transaction = transactions(current, listeners, changed, logs.hasLeftLog);
  const requirePlace = (connection: Connection): void => {
    if (connection.raw.inTransaction) return;
    requireFormat(connection);
    connection.place.require();
  };
  return {
    run: (sql, ...parameters) =>
      guarded(() => {
        const connection = current();
        requirePlace(connection);
        trace(sql);
        const { changes, lastInsertRowid } = connection.prepared(sql).run(...parameters);
        const rowId = Number(lastInsertRowid);
        if (connection.changesDerived(sql)) {
          if (connection.raw.inTransaction) changed.derived = true;
          else connection.derived.follow();
        }
        return { changes, rowId };
      }),
    insert: (table, row) =>
      guarded(() => {
        const connection = current();
        requirePlace(connection);
        return connection.insert(table, row);
      }),
    transaction,
    joined: (work) => (current().raw.inTransaction ? work() : transaction(work)),
    isFree: () => {
      current().derived.refresh();
      return guard(() => isFree(current()));
    },
    ...logs,
    unenforced: (work) => {
      const { raw } = current();
      if (raw.inTransaction) throw new Error('foreign keys cannot be turned off inside a transaction');
      raw.pragma('foreign_keys = OFF');
      try {
        return transaction(work);
      } finally {
        raw.pragma('foreign_keys = ON');
      }
    },
    beforeCommit: (listener) => void listeners.commit.push(listener),
    onRollback: (listener) => void listeners.rollback.push(listener),
    shrink: (hollow) => guard(() => shrink(current(), hollow)),
    shortenLogs: () =>
      guard(() => {
        const { raw, place, derived } = current();
        place.require();
        shortenLog(raw, 'main');
        if (derived.isStored()) shortenLog(raw, 'derived');
      }),
  };
}

type Listeners = Readonly<Record<'commit' | 'rollback', readonly (() => void)[]>>;

/** Creates `WritableDb.transaction`. The place is checked before the commit; work that writes files checks it itself. */
function transactions(current: () => Connection, listeners: Listeners, changed: { derived: boolean }, hasLeftLog: () => boolean) {
  let commits = 0;
  let hasGrown = false;
  const guarded = guardedBy(current);
  return <T>(work: () => T): T => {
    const connection = current();
    const { raw, place, derived, prepared } = connection;
    if (raw.inTransaction) return nested(connection, listeners, work);
    return guarded(() => {
      derived.refresh();
      changed.derived = false;
      begin(connection, hasLeftLog());
      try {
        requireFormat(connection);
        const result = work();
        for (const listener of listeners.commit) listener();
        if (changed.derived) derived.follow();
        place.require();
        prepared('COMMIT').run();
        commits += 1;
        if (!hasGrown && commits >= manyCommits && place.isSame()) hasGrown = growLog(raw);
        return result;
      } catch (error) {
        if (raw.inTransaction) prepared('ROLLBACK').run();
        for (const listener of listeners.rollback) listener();
        throw error;
      }
    });
  };
}

/** A newer Stemma may have migrated the project while this one has it open. @throws CONFLICT if it did. */
const requireFormat = ({ prepared }: Connection): void => refuseNewer(prepared('PRAGMA user_version', 'values').get() as number);

/** Runs work inside an open transaction. If it throws, its changes are undone, and those before it stay. */
function nested<T>({ raw, prepared }: Connection, listeners: Listeners, work: () => T): T {
  prepared('SAVEPOINT nested').run();
  try {
    const result = work();
    prepared('RELEASE nested').run();
    return result;
  } catch (error) {
    // SQLite itself undoes the whole transaction if the disk is full or fails.
    if (raw.inTransaction) {
      prepared('ROLLBACK TO nested').run();
      prepared('RELEASE nested').run();
      for (const listener of listeners.rollback) listener();
    }
    throw error;
  }
}

/** Makes the function `leaveLog` of a database. */
function logLeaver(current: () => Connection): Pick<WritableDb, 'leaveLog' | 'hasLeftLog'> {
  let others = 0;
  const copyAfter = (pages: number): void => {
    const { raw } = current();
    if (raw.open && !raw.readonly) raw.pragma(`wal_autocheckpoint = ${pages}`);
  };
  return {
    hasLeftLog: () => others > 0,
    leaveLog: () => {
      others += 1;
      copyAfter(0);
      return () => {
        others -= 1;
        if (others === 0) copyAfter(logPages);
      };
    },
  };
}

function shrink({ raw, place, derived }: Connection, hollow: number): boolean {
  place.require();
  const isShrunk = shrinkOne(raw, 'main', hollow);
  // Bytes that were removed from rows are rows of the record. Infinity stands for every byte.
  if (derived.isStored()) shrinkOne(raw, 'derived', Number.isFinite(hollow) ? 0 : hollow);
  return isShrunk;
}

function shrinkOne(raw: Database.Database, schema: string, hollow: number): boolean {
  const pragma = (name: string): number => raw.pragma(`${schema}.${name}`, { simple: true }) as number;
  const free = pragma('freelist_count') * pragma('page_size') + hollow;
  if (free < minShrinkBytes || free * 4 < pragma('page_count') * pragma('page_size')) return false;
  raw.exec(`VACUUM ${schema}`);
  const cutLog = (): unknown => raw.pragma(`${schema}.wal_checkpoint(TRUNCATE)`);
  // SQLite would wait for readers and let nobody write meanwhile. Only content that was removed must leave the files at once.
  if (Number.isFinite(hollow)) withoutWaiting(raw, cutLog);
  else cutLog();
  return true;
}
