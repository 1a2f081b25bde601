import type Database from 'better-sqlite3';
import { corrupt, StemmaError, unavailable } from '../base/index.js';

/** The error for a database file that SQLite cannot read. */
export const damagedDatabase = (error: Error): StemmaError =>
  corrupt(
    'stemma.db',
    `the database is damaged (${error.message}); run "stemma fsck" to see what is intact, and "stemma fsck --repair" to restore it`,
    {},
    { cause: error },
  );

/** Whether an error means that the file is damaged. SQLite has no separate code for a definition or index that contradicts the rest. */
export const saysDamage = ({ code, message }: InstanceType<typeof Database.SqliteError>): boolean =>
  code === 'SQLITE_NOTADB' ||
  code.startsWith('SQLITE_CORRUPT') ||
  (code === 'SQLITE_ERROR' && /^(?:foreign key mismatch|invalid fts5 file format|malformed database schema)/.test(message));

/** Converts an error of SQLite into one of the contract. Only a damaged file is CORRUPT. An error in our own statement is returned unchanged. */
export function asStemmaError(error: InstanceType<typeof Database.SqliteError>): Error {
  const { code, message } = error;
  if (saysDamage(error)) return damagedDatabase(error);
  if (code === 'SQLITE_CONSTRAINT_TRIGGER') return unavailable(message, { reason: 'read-only' });
  if (code.startsWith('SQLITE_BUSY'))
    return new StemmaError('LOCKED', 'another process is still writing to this project; try again when it has finished');
  if (code === 'SQLITE_FULL') return unavailable('the disk is full: nothing was written', { reason: 'disk full' });
  if (code.startsWith('SQLITE_READONLY')) return unavailable('cannot write to the project: the disk or folder is read-only', { reason: 'read-only' });
  if (code.startsWith('SQLITE_IOERR')) return unavailable(`the disk failed (${code})`, { reason: code });
  if (code.startsWith('SQLITE_CANTOPEN')) return unavailable(`cannot open the database (${message})`, { reason: code });
  return error;
}
