import { closeSync, copyFileSync, existsSync, constants as fileSystem, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onceFor, orUndefined, StemmaError, unavailable } from '../base/index.js';
import { fillFrom, type LocatedFile, makeTemporary, openNamed, statLocated, unlessRefused } from '../files/index.js';
import { longPath } from '../system/index.js';
import { quoted } from './guard.js';

export type ForeignValue = string | number | bigint | Uint8Array | null;
export type ForeignRow = Readonly<Record<string, ForeignValue>>;

/** The rows of another program's database, in undefined order. */
export interface ForeignRows {
  /** The columns of each real table. Views, virtual tables and computed columns are left out. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /**
   * Reads columns of the rows that have the given values.
   * @throws CORRUPT if the database is damaged, or returns more rows than a file of its size can hold: pages that refer to each other in a
   * ring return rows forever.
   * @throws RowTooLarge for a row that is larger than any row of a history. It is not read into memory.
   */
  each(table: string, columns: readonly string[], where?: Readonly<Record<string, string>>): Iterable<ForeignRow>;
}

/** Creates a database and returns the bytes of its file. `tables` are the SQL statements that create its tables. */
export function databaseBytes({
  tables,
  rows,
}: {
  readonly tables: readonly string[];
  readonly rows: readonly { readonly table: string; readonly values: Readonly<Record<string, ForeignValue>> }[];
}): Uint8Array {
  const raw = new Database(':memory:');
  try {
    for (const sql of tables) raw.exec(sql);
    for (const { table, values } of rows) {
      const names = Object.keys(values);
      raw
        .prepare(`INSERT INTO ${quoted(table)} (${names.map(quoted).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
        .run(...Object.values(values));
    }
    return raw.serialize();
  } finally {
    raw.close();
  }
}

export interface ForeignDatabase {
  readonly rows: ForeignRows;
  /** Copies of the files, the database first. They exist while `work` runs. Empty if the database was too large to copy. */
  readonly files: readonly { readonly name: 'database' | 'log'; readonly copy: string }[];
}

/** The most bytes of one row. No message of an agent comes near it. */
const maxRowBytes = 128 * 1024 ** 2;

/** The error for a row that is too large to read. The other rows can be read. */
export class RowTooLarge extends Error {
  constructor(table: string, bytes: number) {
    super(`a row of its table ${table} has ${bytes} bytes, more than ${maxRowBytes}`);
  }
}

/** The column with the size of a row. */
const sizeColumn = 'stemma row bytes';

/** Limits that detect endless rows: the least bytes of a row in a file, and how often a reader reads the whole file. */
const minRowBytes = 4;
const maxReadings = 4;

/** Attempts to copy a database that changes meanwhile. */
const maxCopies = 5;

/**
 * Opens another program's SQLite database for reading while `work` runs. It reads a copy of the database and its log, so that no file
 * appears beside the original and its owner waits for no lock (F33). A database that is too large to copy is read in place, in one read
 * transaction. Its schema is not trusted: no view, trigger, computed column or extension runs.
 * @throws UNAVAILABLE if it is in use or changes faster than it can be copied; CORRUPT if it is damaged or not a database; the error of the file system
 * if it cannot be read.
 */
export function withForeign<T>(file: LocatedFile, work: (foreign: ForeignDatabase) => T, { maxCopied = maxCopyBytes } = {}): T {
  const { path } = file;
  const size = checkedSize(file);
  if (size > maxCopied && canOpen(path)) return opened(path, path, size, [], work);
  const folder = makeTemporary('read');
  try {
    const copy = join(folder, 'copy.db');
    const log = copyWhole(path, copy);
    const files = [{ name: 'database', copy } as const, ...(log ? [{ name: 'log', copy: log } as const] : [])];
    return opened(path, copy, statSync(copy).size + (log ? statSync(log).size : 0), files, work);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const maxCopyBytes = 1024 * 1024 * 1024;

/** Whether a database can be read where it is. Without its log, in a folder that cannot be written, SQLite refuses one whose program uses a log. */
const canOpen = (path: string): boolean => orUndefined(() => opened(path, path, 0, [], () => true), ['UNAVAILABLE']) ?? false;

/** Another program's database that is read repeatedly while its owner writes to it. */
export type Mirror = ReturnType<typeof mirrorOf>;

/** Creates a mirror of another program's database. Nothing is copied before the first read. */
export function mirrorOf(file: LocatedFile, { maxCopied = maxCopyBytes } = {}) {
  const { path } = file;
  let kept: { readonly folder: string; stamp: string | undefined } | undefined;
  return {
    /** As {@link withForeign}, but copies the database again only if its own file changed. The log is always copied. */
    read<T>(work: (foreign: Pick<ForeignDatabase, 'rows'>) => T): T {
      const size = checkedSize(file);
      if (size > maxCopied) return opened(path, path, size, [], work);
      kept ??= { folder: makeTemporary('follow'), stamp: undefined };
      const copy = join(kept.folder, 'copy.db');
      // The index that an earlier reader left beside the copy belongs to the previous log.
      rmSync(`${copy}-shm`, { force: true });
      copyWhole(path, copy, kept);
      if (isHot(`${copy}-journal`)) throw inUse(path);
      return opened(path, copy, size, [], work, true);
    },
    /** Deletes the copies. A later read copies again. */
    close(): void {
      if (kept) rmSync(kept.folder, { recursive: true, force: true });
      kept = undefined;
    },
  };
}

/**
 * The size of a database with its log. SQLite and the copy open files by name, so this checks first that the database, its log and its
 * index are regular files, without a link between them and the root.
 * @throws FileRefused
 */
function checkedSize({ root, path }: LocatedFile): number {
  const sizes = ['', '-wal', '-shm'].map((ending) => statLocated({ root: root === path ? path + ending : root, path: path + ending })?.size ?? 0);
  const [database = 0, log = 0] = sizes;
  return database + log;
}

function opened<T>(
  path: string,
  file: string,
  size: number,
  files: ForeignDatabase['files'],
  work: (foreign: ForeignDatabase) => T,
  readonly = file === path,
): T {
  const raw = inWords(path, () => new Database(longPath(file), { readonly, fileMustExist: true }));
  try {
    inWords(path, () => {
      raw.pragma('trusted_schema = OFF');
      raw.pragma('cell_size_check = ON');
      raw.pragma('query_only = ON');
      if (file === path) raw.exec('BEGIN');
    });
    return work({ rows: openRows(raw, path, size), files });
  } finally {
    raw.close();
  }
}

/**
 * Copies the database and its log consistently, and returns the path of the log's copy. The log only grows until it is copied into the
 * database, so both copies belong together if the database file did not change meanwhile.
 * @param had the state of the database that the copy already has; updated by the call.
 * @throws UNAVAILABLE if the database changes faster than it can be copied.
 */
export function copyWhole(path: string, copy: string, had: { stamp: string | undefined } = { stamp: undefined }): string | undefined {
  const stamp = (): string => {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  };
  for (let tries = 0; tries < maxCopies; tries++) {
    const before = stamp();
    if (had.stamp !== before) copyFileSync(path, copy, fileSystem.COPYFILE_FICLONE);
    had.stamp = before;
    const log = copyLog(`${path}-wal`, `${copy}-wal`);
    // A journal undoes a write that has not ended, also in the copy.
    copyLog(`${path}-journal`, `${copy}-journal`);
    if (stamp() === before) return log;
  }
  throw unavailable(`Cannot read ${path}: it changes faster than it can be copied. Try again when its program is idle.`, { path });
}

/** The first bytes of a file; zeros after its end. */
export function headOf(file: string, length: number): Buffer {
  const head = Buffer.alloc(length);
  const { fd } = openNamed(file);
  try {
    fillFrom(fd, head, 0);
  } finally {
    closeSync(fd);
  }
  return head;
}

/** Whether the copy of a journal undoes a write that has not ended. A program can leave an empty one beside its database. */
const isHot = (journal: string): boolean => existsSync(journal) && headOf(journal, 8).toString('hex') === 'd9d505f920a163d7';

function copyLog(log: string, copy: string): string | undefined {
  rmSync(copy, { force: true });
  return unlessRefused(() => {
    if (statSync(log).size === 0) return undefined;
    copyFileSync(log, copy, fileSystem.COPYFILE_FICLONE);
    return copy;
  }, ['ENOENT']);
}

function openRows(raw: Database.Database, path: string, size: number): ForeignRows {
  const tables = inWords(path, () => tablesOf(raw));
  let left = size * maxReadings;
  const spend = (row: ForeignRow): void => {
    left -= minRowBytes + bytesIn(row);
    if (left < 0) throw damaged(path, 'it returns more rows than a file of its size can hold');
  };
  const prepared = onceFor((sql: string) => raw.prepare(sql));
  /** The tables and columns for which there is an index. */
  const looked = new Set<string>();
  return {
    tables,
    *each(table, columns, where = {}) {
      const known = new Set(tables.get(table));
      const conditions = Object.entries(where);
      const unknown = [...columns, ...conditions.map(([column]) => column)].find((column) => !known.has(column));
      if (unknown !== undefined) throw new Error(`${table} of ${path} has no column ${unknown}: check \`tables\` first`);
      const lookup = JSON.stringify([table, ...Object.keys(where)]);
      if (!looked.has(lookup)) inWords(path, () => indexed(raw, table, Object.keys(where), spend));
      looked.add(lookup);
      const condition = conditions.length > 0 ? ` WHERE ${conditions.map(([column]) => `${quoted(column)} = ?`).join(' AND ')}` : '';
      // The size of a value is known without reading it.
      const sizes = columns.map((column) => `octet_length(${quoted(column)})`);
      const values = columns.map((column, at) => `iif(${sizes[at]} > ${maxRowBytes}, NULL, ${quoted(column)}) AS ${quoted(column)}`);
      const sql = `SELECT ${values.join(', ')}, ${sizes.map((size) => `ifnull(${size}, 0)`).join(' + ')} AS ${quoted(sizeColumn)} FROM ${quoted(table)}${condition}`;
      const statement = inWords(path, () => prepared(sql).iterate(...conditions.map(([, value]) => value)) as IterableIterator<ForeignRow>);
      try {
        for (let next = inWords(path, () => statement.next()); !next.done; next = inWords(path, () => statement.next())) {
          const { [sizeColumn]: bytes, ...row } = next.value;
          if (Number(bytes) > maxRowBytes) throw new RowTooLarge(table, Number(bytes));
          spend(row);
          yield row;
        }
      } finally {
        statement.return?.();
      }
    },
  };
}

/**
 * Creates an index in a copy, so that lookups do not scan, unless one begins with all the columns that are looked up: rows can agree in the others.
 * It reads all rows first, because indexing endless rows would never finish.
 */
function indexed(raw: Database.Database, table: string, columns: readonly string[], spend: (row: ForeignRow) => void): void {
  if (columns.length === 0 || raw.readonly) return;
  const indexes = raw.pragma(`index_list(${quoted(table)})`) as { name: string; partial: number }[];
  const begins = (name: string): boolean => {
    const own = raw.pragma(`index_info(${quoted(name)})`) as { name: string | null }[];
    const leading = new Set(own.slice(0, columns.length).map((column) => column.name));
    return columns.every((column) => leading.has(column));
  };
  if (indexes.some(({ name, partial }) => !partial && begins(name))) return;
  for (const row of raw.prepare(`SELECT NULL FROM ${quoted(table)}`).iterate()) spend(row as ForeignRow);
  raw.pragma('query_only = OFF');
  raw.exec(`CREATE INDEX ${quoted(`stemma ${table} ${columns.join(' ')}`)} ON ${quoted(table)}(${columns.map(quoted).join(', ')})`);
  raw.pragma('query_only = ON');
}

/** Ordinary tables: no views, no virtual tables. */
function tablesOf(raw: Database.Database): ReadonlyMap<string, readonly string[]> {
  const found = raw.pragma('table_list') as { schema: string; name: string; type: string }[];
  const names = found.filter(({ schema, type, name }) => schema === 'main' && type === 'table' && !name.startsWith('sqlite_'));
  return new Map(
    names.map(({ name }) => {
      const columns = raw.pragma(`table_xinfo(${quoted(name)})`) as { name: string; hidden: number }[];
      return [name, columns.filter(({ hidden }) => hidden === 0).map((column) => column.name)];
    }),
  );
}

const bytesIn = (row: ForeignRow): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0), 0);

const inUse = (path: string): StemmaError => unavailable(`Cannot read ${path}: its program is writing to it. Try again when it is idle.`, { path });

const damaged = (path: string, why: string): StemmaError => new StemmaError('CORRUPT', `${path} cannot be read: ${why}`, { path });

function inWords<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    if (/^SQLITE_(?:BUSY|LOCKED)/.test(error.code)) throw inUse(path);
    if (/^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH)/.test(error.code))
      throw unavailable(`Cannot read ${path}: ${error.message}. Copy it to a folder of your own and import the copy.`, { path });
    throw damaged(path, error.message);
  }
}
