import Database from 'better-sqlite3';
import type { Connection } from './connection.js';
import { withoutWaiting } from './derived/index.js';

/** Whether a transaction would begin at once. */
export function isFree(connection: Connection): boolean {
  const { raw, prepared } = connection;
  if (raw.inTransaction || raw.readonly) return true;
  const isBegun = hasBegun(connection, 1);
  if (isBegun) prepared('ROLLBACK').run();
  return isBegun;
}

/** Milliseconds between two looks for a lock that another thread of this process holds again and again, and the number of looks. */
const lookMs = 1;
const mostLooks = 1_000;

/**
 * Begins a transaction. `isShared`: another thread of this process takes the lock again and again, as an import does. SQLite itself waits longer from
 * look to look, and misses the import's short pauses.
 */
export function begin(connection: Connection, isShared: boolean): void {
  if (!isShared || !hasBegun(connection, mostLooks)) connection.prepared('BEGIN IMMEDIATE').run();
}

/** Tries to begin a transaction, up to a number of times. Returns whether it has begun. */
const hasBegun = ({ raw, prepared }: Connection, looks: number): boolean =>
  withoutWaiting(raw, () => {
    for (let look = 1; ; look++)
      try {
        prepared('BEGIN IMMEDIATE').run();
        return true;
      } catch (error) {
        if (!(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))) throw error;
        if (look >= looks) return false;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookMs);
      }
  });
