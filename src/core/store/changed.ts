import { onceFor } from '../base/index.js';
import type { ReadableDb } from './database.js';
import { matchingRow, sumColumn } from './sums.js';

/** The columns of the tables of a database. Their names do not change while it is open. */
const columns = new WeakMap<ReadableDb, (table: string) => readonly string[]>();
function readColumns(db: ReadableDb, table: string): readonly string[] {
  const columnsOf = columns.get(db) ?? onceFor((name: string) => db.column<string>('SELECT name FROM pragma_table_info(?) ORDER BY cid', name));
  columns.set(db, columnsOf);
  return columnsOf(table);
}

/** SQL that is true for a row that does not match its checksum; undefined for a table without checksums. */
export function changedSql(db: ReadableDb, table: string, alias: string): string | undefined {
  const listed = readColumns(db, table);
  const own = listed.filter((name) => name !== sumColumn).map((name) => `"${name}"`);
  return listed.includes(sumColumn) ? `NOT ${matchingRow(own, alias)}` : undefined;
}
