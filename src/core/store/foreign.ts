import { copyFileSync, constants as fileSystem, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StemmaError } from '../base/index.js';

export type ForeignValue = string | number | bigint | Uint8Array | null;
export type ForeignRow = Readonly<Record<string, ForeignValue>>;

/** The rows of another program's database: only whole tables, only named columns, in no promised order. */
export interface ForeignRows {
  /** The columns of each real table; views, virtual tables and columns that are computed are not among them. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /**
   * @throws CORRUPT where the database is damaged, or gives more than it can hold: pages that point at each other in a ring or a fan
   * give rows without end.
   */
  each(table: string, columns: readonly string[], where?: Readonly<Record<string, string>>): Iterable<ForeignRow>;
}

/** A database in memory as the bytes of its file: `tables` are statements that make them, `rows` go in as they are. */
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

export interface Foreign {
  readonly rows: ForeignRows;
  /** The files that were read, the database first: copies, to be read while it is open; none of a database that was too large to copy. */
  readonly files: readonly { readonly name: 'database' | 'log'; readonly copy: string }[];
}

/** Every row takes some bytes of its file, so that a file of a size can hold so many; readers go over it a few times. */
const leastRow = 4;
const mostReadings = 4;
const mostCopies = 5;

/**
 * Opens another program's SQLite database for reading, for as long as `work` runs: a copy of it and of its log, so that nothing appears
 * beside the original, no lock holds its owner up, and what was read is what can be kept. One that is too large to be copied is read where
 * it lies, as of one moment, and never written to. What is read is data: its schema is not trusted, nothing of it is executed (no views,
 * triggers, computed columns or extensions), and what it gives is bounded by its size.
 * @throws UNAVAILABLE where it is written to faster than it can be copied; CORRUPT where it is no database or damaged; what the file
 * system says where it cannot be read.
 */
export function withForeign<T>(path: string, work: (foreign: Foreign) => T, { mostCopied = largestCopy }: { readonly mostCopied?: number } = {}): T {
  const size = sizeOf(path) + sizeOf(`${path}-wal`);
  if (size > mostCopied) return opened(path, path, size, [], work);
  const folder = mkdtempSync(join(tmpdir(), 'stemma-read-'));
  try {
    const copy = join(folder, 'copy.db');
    const log = copyWhole(path, copy);
    const files = [{ name: 'database', copy } as const, ...(log ? [{ name: 'log', copy: log } as const] : [])];
    return opened(path, copy, statSync(copy).size + (log ? statSync(log).size : 0), files, work);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const largestCopy = 1024 * 1024 * 1024;

/** Another program's database that is read again and again while its owner writes to it. */
export interface Mirror {
  /** As {@link withForeign}: the database is copied again only where it changed itself, and not its log alone. */
  read<T>(work: (foreign: Pick<Foreign, 'rows'>) => T): T;
  /** Takes the copies away. It may be read again: then it is copied anew. */
  close(): void;
}

export function mirrorOf(path: string, { mostCopied = largestCopy }: { readonly mostCopied?: number } = {}): Mirror {
  let kept: { readonly folder: string; stamp: string | undefined } | undefined;
  return {
    read(work) {
      const size = sizeOf(path) + sizeOf(`${path}-wal`);
      if (size > mostCopied) return opened(path, path, size, [], work);
      kept ??= { folder: mkdtempSync(join(tmpdir(), 'stemma-follow-')), stamp: undefined };
      const copy = join(kept.folder, 'copy.db');
      // What a reader leaves beside the copy belongs to the log that was there then.
      rmSync(`${copy}-shm`, { force: true });
      copyWhole(path, copy, kept);
      return opened(path, copy, size, [], work, true);
    },
    close() {
      if (kept) rmSync(kept.folder, { recursive: true, force: true });
      kept = undefined;
    },
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function opened<T>(path: string, file: string, size: number, files: Foreign['files'], work: (foreign: Foreign) => T, readonly = file === path): T {
  const raw = inWords(path, () => new Database(file, { readonly, fileMustExist: true }));
  try {
    inWords(path, () => {
      raw.pragma('trusted_schema = OFF');
      raw.pragma('cell_size_check = ON');
      raw.pragma('query_only = ON');
      if (file === path) raw.exec('BEGIN');
    });
    return work({ rows: rowsOf(raw, path, size), files });
  } finally {
    raw.close();
  }
}

/**
 * Copies the database and its log as they are at one moment: a log only grows until it is written into the database, so that the two
 * belong together if the database did not change while they were copied. Says where the log's copy is.
 * @param had which state of the database the copy has already.
 */
function copyWhole(path: string, copy: string, had: { stamp: string | undefined } = { stamp: undefined }): string | undefined {
  const stamp = (): string => {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  };
  for (let tries = 0; tries < mostCopies; tries++) {
    const before = stamp();
    if (had.stamp !== before) copyFileSync(path, copy, fileSystem.COPYFILE_FICLONE);
    had.stamp = before;
    const log = copyLog(`${path}-wal`, `${copy}-wal`);
    if (stamp() === before) return log;
  }
  throw new StemmaError('UNAVAILABLE', `${path} changes faster than it can be read; try again when its program is at rest`, { path });
}

function copyLog(log: string, copy: string): string | undefined {
  rmSync(copy, { force: true });
  try {
    if (statSync(log).size === 0) return undefined;
    copyFileSync(log, copy, fileSystem.COPYFILE_FICLONE);
    return copy;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function rowsOf(raw: Database.Database, path: string, size: number): ForeignRows {
  const tables = inWords(path, () => tablesOf(raw));
  let left = size * mostReadings;
  const spend = (row: ForeignRow): void => {
    left -= leastRow + bytesIn(row);
    if (left < 0) throw damaged(path, 'it gives more than a file of its size can hold');
  };
  const statements = new Map<string, Database.Statement>();
  const prepared = (sql: string): Database.Statement => {
    const statement = statements.get(sql) ?? raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    tables,
    *each(table, columns, where = {}) {
      const known = new Set(tables.get(table));
      const conditions = Object.entries(where);
      const unknown = [...columns, ...conditions.map(([column]) => column)].find((column) => !known.has(column));
      if (unknown !== undefined) throw new Error(`${table} of ${path} has no column ${unknown}: ask the tables first`);
      inWords(path, () => indexed(raw, table, Object.keys(where), spend));
      const condition = conditions.length > 0 ? ` WHERE ${conditions.map(([column]) => `${quoted(column)} = ?`).join(' AND ')}` : '';
      const sql = `SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(table)}${condition}`;
      const statement = inWords(path, () => prepared(sql).iterate(...conditions.map(([, value]) => value)) as IterableIterator<ForeignRow>);
      try {
        for (let next = inWords(path, () => statement.next()); !next.done; next = inWords(path, () => statement.next())) {
          spend(next.value);
          yield next.value;
        }
      } finally {
        statement.return?.();
      }
    },
  };
}

/** Makes sure, in a copy, that rows are looked up and not searched for; the rows are gone over first, because an index of endless ones has no end. */
function indexed(raw: Database.Database, table: string, columns: readonly string[], spend: (row: ForeignRow) => void): void {
  const [first] = columns;
  if (first === undefined || raw.readonly) return;
  const indexes = raw.pragma(`index_list(${quoted(table)})`) as { name: string; partial: number }[];
  const leading = (name: string): unknown => (raw.pragma(`index_info(${quoted(name)})`) as { name: string | null }[])[0]?.name;
  if (indexes.some(({ name, partial }) => !partial && columns.includes(leading(name) as string))) return;
  for (const row of raw.prepare(`SELECT NULL FROM ${quoted(table)}`).iterate()) spend(row as ForeignRow);
  raw.pragma('query_only = OFF');
  raw.exec(`CREATE INDEX ${quoted(`stemma ${table} ${first}`)} ON ${quoted(table)}(${quoted(first)})`);
  raw.pragma('query_only = ON');
}

/** Tables that hold their rows themselves. */
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

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const bytesIn = (row: ForeignRow): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0), 0);

const damaged = (path: string, why: string): StemmaError => new StemmaError('CORRUPT', `${path} cannot be read: ${why}`, { path });

function inWords<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Database.SqliteError) throw damaged(path, error.message);
    throw error;
  }
}
