import Database from 'better-sqlite3';
import { corrupt, StemmaError } from '../base/index.js';
import { migrate } from './migrations.js';

type Parameter = string | number | bigint | Uint8Array | null;

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
  /** All of `work` or nothing, with one sync; inside another transaction it is part of that. */
  transaction<T>(work: () => T): T;
}

export interface OpenDatabase extends WritableDb {
  close(): void;
  /** A consistent copy of the database as it is now. */
  backup(path: string): Promise<void>;
  integrity(): string[];
}

export interface OpenOptions {
  readonly readonly?: boolean;
  /** Called with the version that the file has before it is migrated, to copy it away first. */
  readonly beforeMigration?: (from: number) => void;
}

/** How long a writer waits for another process's transaction. Imports hold one for a file, so this is generous. */
const busyMs = 60_000;

/** @throws CORRUPT where the file is no database, CONFLICT where it is of a newer Stemma. */
export function openDatabase(file: string, options: OpenOptions = {}): OpenDatabase {
  const raw = connect(file, options);
  const statements = new Map<string, Database.Statement>();
  const prepared = (sql: string): Database.Statement => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const db: OpenDatabase = {
    readonly: raw.readonly,
    one: <Row>(sql: string, ...parameters: Parameter[]) => guard(() => prepared(sql).get(...parameters) as Row | undefined),
    all: <Row>(sql: string, ...parameters: Parameter[]) => guard(() => prepared(sql).all(...parameters) as Row[]),
    each: <Row>(sql: string, ...parameters: Parameter[]) => raw.prepare(sql).iterate(...parameters) as IterableIterator<Row>,
    version: () => raw.pragma('data_version', { simple: true }) as number,
    run: (sql, ...parameters) =>
      guard(() => {
        const { changes, lastInsertRowid } = prepared(sql).run(...parameters);
        return { changes, rowId: Number(lastInsertRowid) };
      }),
    transaction: <T>(work: () => T) => {
      if (raw.inTransaction) return work();
      return guard(() => {
        prepared('BEGIN IMMEDIATE').run();
        try {
          const result = work();
          prepared('COMMIT').run();
          return result;
        } catch (error) {
          if (raw.inTransaction) prepared('ROLLBACK').run();
          throw error;
        }
      });
    },
    close: () => raw.close(),
    backup: async (path) => {
      await raw.backup(path);
    },
    integrity: () =>
      (raw.pragma('integrity_check') as { integrity_check: string }[]).map((row) => row.integrity_check).filter((line) => line !== 'ok'),
  };
  try {
    migrate(db, raw, options.beforeMigration);
  } catch (error) {
    raw.close();
    throw error;
  }
  return db;
}

function connect(file: string, options: OpenOptions): Database.Database {
  return guard(() => {
    const raw = new Database(file, { readonly: options.readonly ?? false, timeout: busyMs });
    if (!raw.readonly) {
      raw.pragma('journal_mode = WAL');
      // better-sqlite3 is compiled to run WAL at NORMAL, which syncs no commit at all.
      raw.pragma('synchronous = FULL');
    }
    raw.pragma('foreign_keys = ON');
    raw.pragma('temp_store = MEMORY');
    raw.pragma('mmap_size = 268435456');
    raw.pragma('cache_size = -32768');
    return raw;
  });
}

/** Says SQLite's own refusals in the codes that cross the doors. */
function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    if (error.code === 'SQLITE_NOTADB' || error.code.startsWith('SQLITE_CORRUPT'))
      throw corrupt('stemma.db', `the database is damaged (${error.message}); run "stemma fsck" to see what is sound`);
    if (error.code.startsWith('SQLITE_BUSY'))
      throw new StemmaError('LOCKED', 'another process has been writing to this project for a minute; try again when it is done');
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
