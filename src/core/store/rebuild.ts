import { existsSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { corrupt } from '../base/index.js';
import { renameDurably, syncFile, writeNew } from '../files/index.js';
import { recountAreas } from './area-counts.js';
import { migrate, refuseNewer, versionOf } from './migrate.js';
import { formatVersion, migrations } from './migrations/index.js';
import { presentName, tableNamed, tablesAfter } from './schema.js';
import { addSums, type ChangedRow, fitsSql, matchesSql, readingOf, registerSums, type TableShape, tablesOf, type Value } from './sums.js';

export interface RebuiltFile {
  /** Where the damaged file is now. */
  readonly path: string;
  /** Tables of which rows could not be read. */
  readonly unread: readonly string[];
  /** Unread tables that no backup contains. */
  readonly lost: readonly string[];
  /** The number of rows from backups, by table. */
  readonly fromBackups: ReadonlyMap<string, number>;
  /** Row numbers of lost commits by id, and the first 48 bits of the hashes of lost objects by row number. Both come from intact indexes. */
  readonly lostCommits: ReadonlyMap<string, number>;
  readonly lostObjects: ReadonlyMap<number, number>;
}

/** Tables of caches and counts. A rebuilt database starts with empty ones. */
const derived = /^(materialized|progress|areaCount)$/;

/**
 * Writes a new database from one with unreadable pages, changed rows or a foreign schema. It copies each readable row by ordinary SQL. A row that is
 * missing or does not match its checksum comes from the newest backup that has it. If no backup has it, the changed row is copied as it is, with its
 * checksum, so that it stays reported. The damaged file is kept. If no row of the file can be read, all rows come from the newest backup.
 * @throws CONFLICT if a newer Stemma wrote the file; CORRUPT if neither the file nor a backup can be read. Then nothing changes.
 */
export function rebuildFile(file: string, backups: readonly string[]): RebuiltFile {
  const beside = `${file}.rebuilt`;
  if (!existsSync(file)) writeNew(file, '');
  removeCopy(beside);
  // SQLite would make a file that others can read.
  writeNew(beside, '');
  let result: Omit<RebuiltFile, 'path'>;
  try {
    result = copyRows(file, beside, backups);
  } catch (error) {
    removeCopy(beside);
    throw error;
  }
  const path = unusedName(`${file}.damaged`);
  for (const ending of ['-wal', '-shm']) if (existsSync(`${file}${ending}`)) renameSync(`${file}${ending}`, `${path}${ending}`);
  renameSync(file, path);
  syncFile(beside);
  renameDurably(beside, file);
  return { ...result, path };
}

function unusedName(name: string): string {
  for (let number = 1; ; number++) if (!existsSync(`${name}-${number}`)) return `${name}-${number}`;
}

const shapesOf = (raw: Database.Database | undefined): TableShape[] => (raw && readable(() => tablesOf(raw))) ?? [];

const commitTable = (raw: Database.Database | undefined): string => tableNamed(shapesOf(raw), 'commits')?.name ?? 'commits';

function removeCopy(copy: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${copy}${ending}`, { force: true });
}

/** A damaged database or a backup of it, with its readable tables. */
interface Source {
  readonly raw: Database.Database | undefined;
  readonly tables: readonly TableShape[];
  readonly isBackup: boolean;
}

/** The damaged file and its backups, newest first, without those that have no tables. @throws CORRUPT with advice if none has tables. */
function sourcesOf(opened: readonly (Database.Database | undefined)[]): [Source, ...Source[]] {
  const [newest, ...older] = opened
    .map((raw, at): Source => ({ raw, tables: shapesOf(raw), isBackup: at > 0 }))
    .filter(({ tables }) => tables.length > 0);
  if (newest) return [newest, ...older];
  throw corrupt(
    'stemma.db',
    'nothing of stemma.db can be read, and the project has no backup that can be. Nothing was changed. Put stemma.db back from a copy of ' +
      'your own. Without a copy, rename stemma.db and import the histories again with "stemma import": Stemma then makes a new database ' +
      'for this project. Keep the folder objects and the replicas as they are',
  );
}

function copyRows(file: string, beside: string, backups: readonly string[]): Omit<RebuiltFile, 'path'> {
  const fresh = new Database(beside);
  const opened = [file, ...backups].map(openToRead);
  try {
    const [from, ...earlier] = sourcesOf(opened);
    const version = versionToWrite(from.raw);
    registerSums(fresh);
    fresh.pragma('foreign_keys = OFF');
    fresh.pragma('synchronous = OFF');
    fresh.exec('BEGIN');
    makeTables(fresh, version);
    const fromBackups = new Map<string, number>();
    const unread: string[] = [];
    const lost: string[] = [];
    for (const table of tablesOf(fresh).filter(({ name }) => !derived.test(name))) {
      const name = presentName(table.name);
      const doubtful: Value[][] = [];
      const isRead = copyTable(from, fresh, table, doubtful);
      const isComplete = isRead && !from.isBackup;
      const before = from.isBackup ? 0 : countOf(fresh, table);
      const backedUp = isRead && doubtful.length === 0 ? [] : earlier.map((backup) => copyTable(backup, fresh, table));
      const found = countOf(fresh, table) - before;
      if (found > 0) fromBackups.set(name, found);
      if (!isComplete) unread.push(name);
      const isPlaced = insertUnverified(fresh, table, doubtful);
      if (!isPlaced || !(isRead || backedUp.includes(true))) lost.push(name);
    }
    recountAreas(fresh);
    const [old] = opened;
    // Compares ids, not row numbers: if the row now has another id, it was changed, and the commit with this id is lost.
    const commits = `SELECT id, seq FROM ${commitTable(old)} INDEXED BY contextId ORDER BY project, id`;
    const lostCommits = lostOf<string>(old, commits, 'string', fresh.prepare(`SELECT 1 FROM ${commitTable(fresh)} WHERE id = ?`));
    const objects = 'SELECT no, key FROM artifact INDEXED BY artifactKey ORDER BY key';
    const lostObjects = lostOf<number>(old, objects, 'number', fresh.prepare('SELECT 1 FROM artifact WHERE no = ?'));
    fresh.exec('COMMIT');
    fresh.pragma('journal_mode = WAL');
    return { unread, lost, fromBackups, lostCommits, lostObjects };
  } finally {
    for (const each of opened) each?.close();
    fresh.close();
  }
}

/** Undefined if the file is not a database. Schema entries that do not parse are ignored. */
function openToRead(file: string): Database.Database | undefined {
  return readable(() => {
    const raw = new Database(file, { readonly: true, fileMustExist: true });
    raw.pragma('trusted_schema = OFF');
    raw.pragma('cell_size_check = ON');
    raw.unsafeMode();
    raw.pragma('writable_schema = ON');
    registerSums(raw);
    return raw;
  });
}

/** The format version of the copy: the file's, unless its tables show that this number is wrong. @throws CONFLICT if it is newer. */
function versionToWrite(old: Database.Database | undefined): number {
  const version = (old && readable(() => versionOf(old))) ?? formatVersion;
  refuseNewer(version);
  const found = new Set(old && readable(() => tablesOf(old).map(({ name }) => name)));
  const isCurrent = tablesAfter(migrations).every((name) => derived.test(name) || found.has(name));
  return version < 1 || isCurrent ? formatVersion : version;
}

/** The first format version whose rows have checksums. */
const firstWithSums = 16;

function makeTables(fresh: Database.Database, version: number): void {
  if (version === formatVersion) {
    migrate(fresh);
    return;
  }
  for (const step of migrations.slice(0, version)) fresh.exec(step);
  if (version >= firstWithSums) addSums(fresh, []);
  fresh.pragma(`user_version = ${version}`);
}

const countOf = (raw: Database.Database, { name }: TableShape): number => raw.prepare(`SELECT COUNT(*) FROM "${name}"`).pluck().get() as number;

/** Copies the rows that match their checksum and are not in the copy yet. Others go to `doubtful`. Returns whether every row could be read. */
function copyTable(source: Source, fresh: Database.Database, table: TableShape, doubtful: Value[][] = []): boolean {
  const from = source.raw;
  const found = tableNamed(source.tables, table.name);
  const reading = found && readingOf(found, table);
  if (!from || !reading) return false;
  const { value } = reading;
  const insert = insertInto(fresh, table);
  let unfit = 0;
  const meet = ([, matches, ...row]: Value[]): void => {
    if (matches === 1) insert(row);
    else if (matches === 0) doubtful.push(row);
    else unfit += 1;
  };
  const columns = table.columns.map((name) => (reading.table.columns.includes(name) ? value(name) : 'NULL'));
  // The second column is null for a row with a value of the wrong type. Such a row is lost.
  const select = `SELECT ${table.key[0] === 'rowid' ? 'rowid' : 'NULL'}, CASE WHEN ${fitsSql(reading.table, value)} THEN ${matchesSql(reading.table, value)} END, ${columns.join(', ')} FROM "${found.name}"`;
  const order = (way: string): string => `ORDER BY ${table.key.map((name) => (name === 'rowid' ? name : value(name))).join(` ${way}, `)} ${way}`;
  const seen = { first: Number.NaN, last: Number.NaN };
  const all = readRows(from, `${select} ${order('ASC')}`, (row) => {
    seen.first = Number(row[0]);
    meet(row);
  });
  if (all) return unfit === 0;
  // Read backward from the last row to the damage, then look up the rows between both stops one by one.
  readRows(from, `${select} ${order('DESC')}`, (row) => {
    seen.last = Number(row[0]);
    meet(row);
  });
  if (table.key[0] === 'rowid') readBetween(from, select, seen, meet);
  return false;
}

/** Maximum number of rows that are looked up one by one. */
const maxLookups = 400_000;

function readBetween(from: Database.Database, select: string, { first, last }: { first: number; last: number }, meet: (row: Value[]) => void): void {
  const start = Number.isNaN(first) ? 1 : first + 1;
  const end = Math.min(Number.isNaN(last) ? start + maxLookups / 4 : last, start + maxLookups);
  const one = readable(() => from.prepare(`${select} WHERE rowid = ?`).raw());
  for (let number = start; one && number < end; number++)
    readable(() => {
      const row = one.get(number) as Value[] | undefined;
      if (row) meet(row);
    });
}

/** True if all rows of the query could be read. */
const readRows = (from: Database.Database, sql: string, meet: (row: Value[]) => void): boolean =>
  readable(() => {
    for (const row of from.prepare(sql).raw().iterate()) meet(row as Value[]);
    return true;
  }) ?? false;

function insertInto(fresh: Database.Database, { name, columns }: TableShape): (row: readonly Value[]) => boolean {
  const names = columns.map((column) => `"${column}"`).join(', ');
  const insert = fresh.prepare(`INSERT OR IGNORE INTO "${name}" (${names}) VALUES (${columns.map(() => '?').join(', ')})`);
  return (row) => (readable(() => insert.run(...row))?.changes ?? 0) > 0;
}

/** Inserts rows that do not match their checksum, unless another row has their key. Returns whether the copy has a row for each. */
function insertUnverified(fresh: Database.Database, table: TableShape, rows: readonly Value[][]): boolean {
  const insert = insertInto(fresh, table);
  return rows.map((row) => insert(row) || hasKey(fresh, table, row)).every(Boolean);
}

function hasKey(fresh: Database.Database, table: TableShape, row: readonly Value[]): boolean {
  const key = table.key[0] === 'rowid' ? table.columns.slice(0, 1) : table.key;
  const values = key.map((name) => row[table.columns.indexOf(name)] ?? null);
  return fresh.prepare(`SELECT 1 FROM "${table.name}" WHERE ${key.map((name) => `"${name}" IS ?`).join(' AND ')}`).get(...values) !== undefined;
}

/** What an index of the damaged file names that the new file does not have, with the number beside it. */
function lostOf<Id extends string | number>(
  from: Database.Database | undefined,
  listed: string,
  type: 'string' | 'number',
  known: Database.Statement,
) {
  const lost = new Map<Id, number>();
  if (from)
    readRows(from, listed, ([id, number]) => {
      if (typeof id === type && typeof number === 'number' && number >= 0 && !known.get(id)) lost.set(id as Id, number);
    });
  return lost;
}

/** Whether a backup has a sound version of one of these rows. */
export function canRestoreRows(backups: readonly string[], rows: readonly ChangedRow[]): boolean {
  return backups.some((path) => {
    const backup = rows.length > 0 ? openToRead(path) : undefined;
    try {
      const tables = backup && readable(() => tablesOf(backup));
      return rows.some(({ table, row }) => {
        const shape = tables && tableNamed(tables, table);
        const sql = shape && `SELECT 1 FROM "${shape.name}" WHERE ${shape.key.join(" || ' ' || ")} = ? AND ${matchesSql(shape)}`;
        return sql !== undefined && readable(() => backup?.prepare(sql).get(shape?.key[0] === 'rowid' ? Number(row) : row)) !== undefined;
      });
    } finally {
      backup?.close();
    }
  });
}

/** The result of `read`; undefined if SQLite cannot read the data. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined;
    throw error;
  }
}
