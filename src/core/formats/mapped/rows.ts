// Rows of other programs' databases.

import { decodeText, type Json, parseJson } from '../../base/index.js';
import type { ColumnValue, DatabaseRows } from '../format.js';
import { isDeep } from '../shared/jsonl.js';

type Row = Readonly<Record<string, ColumnValue>>;

/** A column as text. */
export const columnText = (value: ColumnValue | undefined): string =>
  typeof value === 'string' ? value : value instanceof Uint8Array ? decodeText(value) : value === null || value === undefined ? '' : String(value);

/** The JSON in a column. A value that nests too deeply or is not JSON stays a text. */
export function columnJson(value: ColumnValue | undefined): Json {
  const text = columnText(value);
  const read = parseJson(text);
  return read === undefined || isDeep(read) ? text : read;
}

/** The rows of a table, limited to the existing columns. A list, because SQLite reads one table at a time. */
export function readRows(rows: DatabaseRows, table: string, columns: readonly string[], where?: Readonly<Record<string, string>>): Row[] {
  const known = rows.tables.get(table) ?? [];
  const names = columns.filter((column) => known.includes(column));
  return names.length > 0 && Object.keys(where ?? {}).every((column) => known.includes(column)) ? [...rows.each(table, names, where)] : [];
}

/** Whether a table has these columns. */
export const has = (tables: DatabaseRows['tables'], table: string, columns: readonly string[]): boolean =>
  columns.every((column) => tables.get(table)?.includes(column));

/** Sorts rows by a number. */
export const byNumber =
  (column: string) =>
  (a: Row, b: Row): number =>
    Number(a[column]) - Number(b[column]);

/** The last row of each session: it changes when a row is added. */
export function lastIds(rows: DatabaseRows, table: string, column: string): ReadonlyMap<string, string> {
  const last = new Map<string, number>();
  if (!has(rows.tables, table, ['session_id', column])) return new Map();
  for (const row of rows.each(table, ['session_id', column])) {
    const id = columnText(row.session_id);
    last.set(id, Math.max(last.get(id) ?? 0, Number(row[column])));
  }
  return new Map([...last].map(([id, number]) => [id, String(number)]));
}
