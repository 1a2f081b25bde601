import Database from 'better-sqlite3';
import { StemmaError } from '../base/index.js';
import { versionOf } from './migrate.js';
import { refuseForeignObjects } from './schema.js';
import { matchesSql, registerSums, tablesOf } from './sums.js';

/** Rows that are read before other work gets a turn. */
const rowsAtOnce = 2_000;

/**
 * Compares every row of a copied database with its checksum, in steps. Returns the first problem, or undefined. Afterwards the copy has no
 * log and is a single file.
 */
export function* verifyCopy(path: string): Generator<undefined, string | undefined> {
  let raw: Database.Database | undefined;
  try {
    raw = new Database(path);
    raw.pragma('trusted_schema = OFF');
    raw.pragma('journal_mode = DELETE');
    registerSums(raw);
    refuseForeignObjects(raw, versionOf(raw));
    for (const table of tablesOf(raw)) {
      let read = 0;
      const rows = `SELECT ${matchesSql(table)} FROM "${table.name}"`;
      for (const matches of raw.prepare(rows).pluck().iterate()) {
        if (matches !== 1) return `a row of ${table.name} does not match its checksum`;
        if (++read % rowsAtOnce === 0) yield;
      }
      yield;
    }
    return undefined;
  } catch (error) {
    if (error instanceof Database.SqliteError || error instanceof StemmaError) return error.message;
    throw error;
  } finally {
    raw?.close();
  }
}
