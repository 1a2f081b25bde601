import type { ReadableDb } from './database.js';
import { matchingRow, sumColumn } from './sums.js';

/** The columns of the tables of a database. Their names do not change while it is open. */
const columns = new WeakMap<ReadableDb, Map<string, readonly string[]>>();
function readColumns(db: ReadableDb, table: string): readonly string[] {
  const known = columns.get(db) ?? new Map<string, readonly string[]>();
  columns.set(db, known);
  const listed = known.get(table) ?? db.column<string>('SELECT name FROM pragma_table_info(?) ORDER BY cid', table);
  known.set(table, listed);
  return listed;
}

/** SQL that is true for a row that does not match its checksum; undefined for a table without checksums. */
export function changedSql(db: ReadableDb, table: string, alias: string): string | undefined {
  const listed = readColumns(db, table);
  const own = listed.filter((name) => name !== sumColumn).map((name) => `"${name}"`);
  return listed.includes(sumColumn) ? `NOT ${matchingRow(own, alias)}` : undefined;
}
