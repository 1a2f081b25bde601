import { lstatSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn, writeNew } from '../../files/index.js';
import { longPath } from '../../system/index.js';
import { breakSeal, isChanged } from './seal.js';
import { definitionList, definitionsIn, derivedLayout, derivedTables } from './tables.js';

/** The name of the file for derived data, beside the database. */
export const derivedName = `derived-${derivedLayout}.db`;
/** Names of such files of every layout, logs included. */
export const isDerivedName = (name: string): boolean => /^derived-\d+\.db(?:-wal|-shm|-journal|-seal)?$/.test(name);

/** The file for what is derived from a database. */
export const derivedFile = (file: string): string => join(dirname(file), derivedName);

/** What both drivers of SQLite have in common. */
interface SqliteDriver {
  exec(sql: string): unknown;
  prepare(sql: string): { get(...values: (string | null)[]): unknown; run(...values: (string | null)[]): unknown };
}

const endings = ['', '-wal', '-shm', '-journal'];

/** Removes the file of derived data and its log, and those of other layouts. */
export function removeDerived(file: string): void {
  for (const name of namesIn(dirname(file))) if (isDerivedName(name)) rmSync(join(dirname(file), name), { force: true, recursive: true });
}

/** Whether SQLite may open the path: regular files only, because SQLite follows links and waits for pipes. */
const isRegular = (file: string): boolean =>
  endings.every((ending) => lstatSync(`${file}${ending}`, { throwIfNoEntry: false })?.isFile() !== false) &&
  lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/**
 * Attaches derived data as the schema `derived` to a connection that may write. A file that is missing, damaged, from another machine, of another
 * layout or ahead of its record is replaced by an empty one. Without a file, or if none can be made, the tables are in memory: that costs time and
 * loses nothing. Nothing waits for the lock of another process.
 * @param mark what this machine puts into files of this project; undefined accepts any.
 * @returns whether a file is attached. `later`: another process holds the lock.
 */
export function attachForWriting(raw: SqliteDriver, file: string | undefined, mark: string | undefined): boolean | 'later' {
  if (file !== undefined)
    for (const isAnew of [false, true])
      try {
        if (isAnew || !isRegular(file) || isChanged(file)) begin(file);
        breakSeal(file);
        withoutWaiting(raw, () => {
          attach(raw, file);
          settle(raw, mark);
        });
        return true;
      } catch (error) {
        requireOther(error);
        detach(raw);
        if (isBusy(error)) {
          inMemory(raw);
          return 'later';
        }
      }
  return inMemory(raw);
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');

/** Does something with a connection that fails at once where another process holds a lock. */
export function withoutWaiting<T>(raw: SqliteDriver, work: () => T): T {
  const { timeout } = raw.prepare('PRAGMA busy_timeout').get() as { timeout: number };
  raw.exec('PRAGMA busy_timeout = 0');
  try {
    return work();
  } finally {
    raw.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}

/** Throws an error in our own statements again. Others come from the file, the disk or another process. */
function requireOther(error: unknown): void {
  if (error instanceof Error && 'code' in error && error.code === 'SQLITE_ERROR' && !/^(?:malformed|invalid fts5)/.test(error.message)) throw error;
}

/** Makes an empty file, in place of any other. */
export function begin(file: string): void {
  removeDerived(file);
  // SQLite would create a file that other users can read.
  writeNew(file, '');
}

/** Attaches derived data to a connection that only reads; empty tables in memory if the file cannot be used. Returns whether a file is attached. */
export function attachForReading(raw: SqliteDriver, file: string | undefined, mark: string | undefined): boolean {
  try {
    if (file !== undefined && isRegular(file) && !isChanged(file)) {
      raw.prepare('ATTACH ? AS derived').run(longPath(file));
      raw.exec(memory(8));
      if (isSound(raw, mark)) return true;
    }
  } catch (error) {
    // Another process replaces the file, or it is damaged.
    requireOther(error);
  }
  detach(raw);
  return inMemory(raw);
}

function inMemory(raw: SqliteDriver): false {
  if (!raw.prepare("SELECT 1 FROM temp.sqlite_schema WHERE name = 'derivedFrom'").get()) raw.exec(definitionsIn('temp'));
  return false;
}

/** Removes the tables in memory, which would hide those of a file. */
export function leaveMemory(raw: SqliteDriver): void {
  for (const table of derivedTables) raw.exec(`DROP TABLE IF EXISTS temp."${table}"`);
}

/** Sums and lists read long ranges once: a file that is mapped would fill the memory of the process with them, and saves no time. */
const memory = (megabytes: number): string => `PRAGMA derived.mmap_size = 0; PRAGMA derived.cache_size = -${megabytes * 1024}`;

/** The bytes of a page of a new file. Most rows have 1 to 2 kB: in pages of 4 kB, a project of long sessions takes half as much space again. */
const pageSize = 8_192;

/** Attaches a file for reading and writing. */
export function attach(raw: SqliteDriver, file: string): void {
  raw.prepare('ATTACH ? AS derived').run(longPath(file));
  // Without full syncs: after a power cut, the newest facts are made again.
  raw.exec(`PRAGMA derived.page_size = ${pageSize}; PRAGMA derived.journal_mode = WAL; PRAGMA derived.synchronous = NORMAL; ${memory(32)}`);
}

/** Ends the use of the file, if one is attached. */
export function detach(raw: SqliteDriver): void {
  if (raw.prepare("SELECT 1 FROM pragma_database_list WHERE name = 'derived'").get()) raw.exec('DETACH derived');
}

/** Makes the tables, if they are not there or not to be used. */
function settle(raw: SqliteDriver, mark: string | undefined): void {
  if (isSound(raw, mark)) return;
  raw.exec('BEGIN IMMEDIATE');
  try {
    if (!isSound(raw, mark)) {
      for (const table of derivedTables) raw.exec(`DROP TABLE IF EXISTS derived."${table}"`);
      raw.exec(definitionsIn('derived'));
      raw.prepare(writeFromSql).run(mark ?? null);
      // A file from elsewhere may hold more than tables of these names.
      if (!isSound(raw, mark)) throw new Error('the file is not one of Stemma');
    }
    raw.exec('COMMIT');
  } catch (error) {
    raw.exec('ROLLBACK');
    throw error;
  }
}

/** The tables and indexes of the file, without those inside the index of words. */
const ownObjects = "SELECT name, sql FROM derived.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'searchWords^_%' ESCAPE '^'";
/** What `ownObjects` returns for a file of this layout, as SQLite stores the statements. */
const expected = JSON.stringify(definitionList.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Whether the file was made by this machine, with these tables, from this record, and not from a later state of it. */
function isSound(raw: SqliteDriver, mark: string | undefined): boolean {
  const found = raw.prepare(`SELECT json_group_array(json_array(name, sql)) AS found FROM (${ownObjects} ORDER BY name)`).get() as { found: string };
  if (found.found !== expected) return false;
  const from = raw.prepare(`SELECT mark, newest, id, changes, ${stateOfRecord} FROM derived.derivedFrom`).get() as
    | { mark: string | null; changes: number; changed: number; isKnown: number }
    | undefined;
  if (!from) return false;
  return (mark === undefined || from.mark === mark) && from.changes <= from.changed && from.isKnown === 1;
}

/** The number of changes of the record, and whether it has the newest commit of which the derived data knows. */
const stateOfRecord = `(SELECT COALESCE(SUM(changes), 0) FROM main.areaCount) AS changed,
  newest = 0 OR EXISTS (SELECT 1 FROM main.commits WHERE seq = newest AND commits.id = derivedFrom.id) AS isKnown`;

/** SQL that stores how far the record has come, with the mark of this machine. Run it in each transaction that changes derived data. */
export const writeFromSql = `INSERT OR REPLACE INTO derived.derivedFrom (one, mark, newest, id, changes)
  SELECT 1, COALESCE(?, (SELECT mark FROM derived.derivedFrom)), COALESCE(c.seq, 0), c.id, (SELECT COALESCE(SUM(changes), 0) FROM main.areaCount)
    FROM (SELECT 1) LEFT JOIN (SELECT seq, id FROM main.commits ORDER BY seq DESC LIMIT 1) c`;
