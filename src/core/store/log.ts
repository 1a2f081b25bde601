import { closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StemmaError } from '../base/index.js';
import { withoutWaiting } from './derived/index.js';

/** Pages of the write-ahead log after which SQLite copies it into the database. Each copy costs syncs. */
export const logPages = 3_000;

/** Bytes before the first frame of the log, and before each page in it. */
const logHeader = 32;
const frameHeader = 24;

/**
 * Extends the log to its full length, filled with zeros that SQLite ignores. Syncing a write inside a file is cheaper than syncing a
 * longer file. It holds the write lock, so no other process appends meanwhile. Returns false if another one holds it: try again later.
 */
export function growLog(raw: Database.Database): boolean {
  const length = fullLength(raw, 'main');
  let fd: number | undefined;
  try {
    withoutWaiting(raw, () => raw.exec('BEGIN IMMEDIATE'));
    fd = openSync(`${raw.name}-wal`, 'r+');
    const { size } = fstatSync(fd);
    if (size < length) writeSync(fd, Buffer.alloc(length - size), 0, length - size, size);
    return true;
  } catch (error) {
    // The disk may be full. Only speed is lost, because the commit has succeeded already.
    return !(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'));
  } finally {
    if (fd !== undefined) closeSync(fd);
    if (raw.inTransaction) raw.exec('ROLLBACK');
  }
}

/**
 * Returns the bytes of a log to the disk that has become longer than usual, because somebody read during a large import. Copies it into the database
 * first. Does nothing while another connection reads or writes.
 */
export function shortenLog(raw: Database.Database, schema: 'main' | 'derived'): void {
  const { file } = raw.prepare('SELECT file FROM pragma_database_list WHERE name = ?').get(schema) as { readonly file: string };
  const length = fullLength(raw, schema);
  if (file === '' || (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) <= length) return;
  withoutWaiting(raw, () => raw.pragma(`${schema}.wal_checkpoint(TRUNCATE)`));
}

/** The bytes of a log of the usual length. */
const fullLength = (raw: Database.Database, schema: 'main' | 'derived'): number =>
  logHeader + logPages * (frameHeader + (raw.pragma(`${schema}.page_size`, { simple: true }) as number));

/**
 * Copies the log into the database file. A log that is too damaged for that stays beside the file.
 * @throws LOCKED if another process has the project open.
 */
export function foldLog(raw: Database.Database): void {
  raw.pragma('busy_timeout = 2000');
  try {
    raw.pragma('main.journal_mode = DELETE');
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    if (error.code.startsWith('SQLITE_BUSY'))
      throw new StemmaError('LOCKED', 'Another process has this project open. Close it there, so that the database can be rebuilt.');
    if (!error.code.startsWith('SQLITE_CORRUPT')) throw error;
  }
}
