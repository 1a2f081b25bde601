import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import { asText, asWritten, isText, sumOfValues, type Text, textOf, type Value } from './written.js';

/**
 * Every row carries a sum over its other columns, which triggers keep: a byte that changed without a statement is found by it. A query
 * that changes rows says nothing of sums, and a table of a later migration step has them without being listed here.
 */
export const sumColumn = 'rowSum';
const functionName = 'stemmaSum';

/** Tables that are made again from others or only speed things up: whoever reads them finds out, or loses nothing. */
const unsummed = /^(sqlite_.*|outline|record|principalCommit|progress|tierCopy|search.*|requestMessage)$/;

/** Large columns that prove themselves by the object's hash: of these the length counts. */
const provedElsewhere: Readonly<Record<string, readonly string[]>> = { artifact: ['data', 'chunks'] };

/**
 * Rows of these are inserted with their sums (`summedInsert`) and have no trigger for it: one that writes makes every insert a statement of
 * several, and for these the database copies each page before it changes it. A row that came without a sum is told like one that changed.
 */
const brought = /^(artifact|context)$/;

/** Makes the sum known to a connection. Call before anything is written. */
export function registerSums(raw: Database.Database): void {
  raw.function(functionName, { deterministic: true, varargs: true }, (...values: Value[]) => sumOfValues(values));
}

export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  /** What each column was declared to hold, in their order. */
  readonly types: readonly string[];
  /** The columns that name a row; `rowid` where the table has numbers for rows. */
  readonly key: readonly string[];
}

/** The tables of the schema itself, not those that a full-text index makes for its own use. */
export const tablesOf = (raw: Database.Database): TableShape[] =>
  (raw.prepare(`${selectTables} AND name NOT LIKE 'sqlite_%' ORDER BY name`).all() as ListedTable[]).map((table) => shapeOf(raw, table));

function tableOf(raw: Database.Database, name: string): TableShape | undefined {
  const table = raw.prepare(`${selectTables} AND name = ?`).get(name) as ListedTable | undefined;
  return table && shapeOf(raw, table);
}

const selectTables = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'";

interface ListedTable {
  readonly name: string;
  /** 1 for a table without numbers for rows. */
  readonly wr: number;
}

function shapeOf(raw: Database.Database, { name, wr }: ListedTable): TableShape {
  const columns = raw.prepare('SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid').all(name) as {
    name: string;
    type: string;
    pk: number;
  }[];
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return {
    name,
    columns: columns.map((each) => each.name),
    types: columns.map((each) => each.type),
    key: wr ? key.map((each) => each.name) : ['rowid'],
  };
}

const isSummed = ({ name }: TableShape): boolean => !unsummed.test(name);
const own = ({ columns }: TableShape): readonly string[] => columns.filter((name) => name !== sumColumn);

function sumOf(table: TableShape, value = (name: string): string => `"${name}"`): string {
  const large = provedElsewhere[table.name] ?? [];
  return `${functionName}(${own(table)
    .map((name) => (large.includes(name) ? `length(${value(name)})` : value(name)))
    .join(', ')})`;
}

function triggersOf(table: TableShape): Record<string, string> {
  const where = table.key.map((name) => `${name} = new.${name}`).join(' AND ');
  const set = `BEGIN UPDATE "${table.name}" SET ${sumColumn} = ${sumOf(table, (name) => `new."${name}"`)} WHERE ${where}; END`;
  const columns = own(table)
    .map((name) => `"${name}"`)
    .join(', ');
  const [inserted, updated] = [insertTrigger(table), `${table.name}SumUpdated`];
  return {
    ...(!brought.test(table.name) && {
      [inserted]: `CREATE TRIGGER ${inserted} AFTER INSERT ON "${table.name}" WHEN new.${sumColumn} IS NULL ${set}`,
    }),
    [updated]: `CREATE TRIGGER ${updated} AFTER UPDATE OF ${columns} ON "${table.name}" ${set}`,
  };
}

const insertTrigger = ({ name }: TableShape): string => `${name}SumInserted`;

/**
 * Rows of a table that are what was written, to stand behind FROM: for readers who take a row at its word. `columns` are all of the table's, in
 * its order. Not a view: where there is one, SQLite's check of pages does not tell of those that are of no tree.
 */
export const provedRows = (table: string, columns: readonly string[]): string =>
  `(SELECT ${columns.join(', ')} FROM ${table} WHERE ${sumColumn} IS ${functionName}(${columns.join(', ')}))`;

/** Gives every table that is to have sums its column and triggers; rows of a table that had none, or other columns, get theirs anew. */
export function keepSums(raw: Database.Database): void {
  for (const table of tablesOf(raw).filter(isSummed)) {
    const wanted = triggersOf(table);
    const known = raw.prepare('SELECT name, sql FROM sqlite_schema WHERE type = ? AND tbl_name = ? AND name IN (?, ?)');
    const kept = known.all('trigger', table.name, insertTrigger(table), `${table.name}SumUpdated`) as { name: string; sql: string }[];
    if (kept.length === Object.keys(wanted).length && kept.every(({ name, sql }) => wanted[name] === sql)) continue;
    for (const { name } of kept) raw.exec(`DROP TRIGGER ${name}`);
    if (!table.columns.includes(sumColumn)) raw.exec(`ALTER TABLE "${table.name}" ADD COLUMN ${sumColumn} INTEGER`);
    raw.exec(`UPDATE "${table.name}" SET ${sumColumn} = ${sumOf(table)}`);
    for (const sql of Object.values(wanted)) raw.exec(sql);
  }
}

/** Gives sums to rows that came from a database of before there were any. */
export function fillSums(raw: Database.Database, table: TableShape): void {
  if (isSummed(table)) raw.exec(`UPDATE "${table.name}" SET ${sumColumn} = ${sumOf(table)} WHERE ${sumColumn} IS NULL`);
}

/** How whole rows are inserted with their sums. */
export interface SummedInsert {
  /** A `?` for each of the values. */
  readonly sql: string;
  /** The column of row numbers. */
  readonly number: string;
  /** The values of a row, without its number where it has none yet, and the sum that it has when it gets this number. @throws where a column is not known. */
  values(row: Readonly<Record<string, Value>>, number: number): Value[];
  /** Corrects the sum of a row, first `?`, that got another number, second `?`. */
  readonly correction: string;
  /** The highest number that there is, or null. */
  readonly last: string;
}

/**
 * The trigger writes a row a second time, with all of its pages: what is written all the time brings its sum along instead, made here,
 * as a call back from the database for each row costs more than the row. Only for tables with numbers for rows.
 */
export function summedInsert(raw: Database.Database, name: string): SummedInsert {
  const table = tableOf(raw, name);
  const numbered = raw.prepare("SELECT name FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER'").pluck().get(name) as string | undefined;
  if (!table || !isSummed(table) || numbered === undefined) throw new Error(`rows of ${name} have no number, or no sum`);
  const names = own(table);
  const known = new Set(names);
  const numberPlace = names.indexOf(numbered);
  const isLarge = names.map((each) => provedElsewhere[name]?.includes(each) ?? false);
  return {
    sql: `INSERT INTO "${name}" (${names.map((each) => `"${each}"`).join(', ')}, ${sumColumn}) VALUES (${names.map(() => '?').join(', ')}, ?)`,
    number: numbered,
    values: (row, number) => {
      for (const each in row) if (!known.has(each)) throw new Error(`${name} has no column ${each}`);
      const values = names.map((each) => row[each] ?? null);
      const summed = values.map((value, place) => (isLarge[place] ? ((value as Uint8Array | null)?.length ?? null) : asStored(value)));
      summed[numberPlace] = number;
      values.push(crc32(JSON.stringify(summed)));
      return values;
    },
    correction: `UPDATE "${name}" SET ${sumColumn} = ? WHERE "${numbered}" = ?`,
    last: `SELECT MAX("${numbered}") FROM "${name}"`,
  };
}

/** What is summed of a value once it is stored: the database keeps text as UTF-8, which has no halves of characters. */
const asStored = (value: Value): Value => (typeof value === 'string' ? value.toWellFormed() : asText(value));

/** A row that is not what was written. */
export interface ChangedRow {
  readonly table: string;
  /** Its number, or the columns that name it. */
  readonly row: string;
  /** The id by which others know it, where it has one. */
  readonly id?: string;
}

/** What stands in a column by its declared type, beside nothing. The sum is the same over text and the bytes of its letters. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  TEXT: ['text'],
  BLOB: ['blob'],
  INTEGER: ['integer', 'real'],
  REAL: ['integer', 'real'],
};

const fitsSql = ({ columns, types }: TableShape): string =>
  columns
    .map((name, at) => `typeof("${name}") IN (${['null', ...(kinds[types[at] ?? ''] ?? [])].map((kind) => `'${kind}'`).join(', ')})`)
    .join(' AND ');

/** SQL that is true of a row that is what was written. */
const provesSql = (table: TableShape): string =>
  isSummed(table) && table.columns.includes(sumColumn) ? `(${sumColumn} IS ${sumOf(table)} AND ${fitsSql(table)})` : 'TRUE';

/** Rows whose sum does not prove. @throws what SQLite says of a table that cannot be read. */
export function changedRows(raw: Database.Database, table: TableShape): ChangedRow[] {
  if (!isSummed(table)) return [];
  const id = [`${table.name}Id`, 'id'].find((name) => table.columns.includes(name));
  const rows = raw
    .prepare(`SELECT ${table.key.join(" || ' ' || ")} AS row${id ? `, ${id} AS id` : ''} FROM "${table.name}" WHERE NOT ${provesSql(table)}`)
    .all() as { row: number | string; id?: unknown }[];
  return rows.map(({ row, id }) => ({ table: table.name, row: String(row), ...(typeof id === 'string' && { id }) }));
}

/** The columns of a query for rows as `rowAsWritten` takes them. Text comes as bytes: what is no text any more would be another one as such. */
export const foundColumns = (table: TableShape): string =>
  [
    provesSql(table),
    ...table.columns.map((name) => `CASE typeof("${name}") WHEN 'text' THEN CAST("${name}" AS BLOB) ELSE "${name}" END, typeof("${name}")`),
  ].join(', ');

/**
 * A row by the names of its columns, as it was written: as it is, with one byte of it changed, or as it came without a sum. Undefined where
 * more of it has changed.
 */
export function rowAsWritten(table: TableShape, [proves, ...found]: readonly Value[]): Readonly<Record<string, Value>> | undefined {
  const stored = new Map(
    table.columns.map((name, at) => [name, storedAs(table.types[at] ?? '', found[at * 2] ?? null, found[at * 2 + 1] as string)]),
  );
  const row = Object.fromEntries(
    [...stored].map(([name, value]): [string, Value] => [name, value !== undefined && isText(value) ? textOf(value) : (value ?? null)]),
  );
  if (proves) return row;
  if (!isSoundRow(stored)) return undefined;
  const isLarge = (name: string): boolean => provedElsewhere[table.name]?.includes(name) ?? false;
  const summed = own(table).map((name) => {
    const value = stored.get(name) ?? null;
    return isLarge(name) && value instanceof Uint8Array ? value.length : value;
  });
  const written = row[sumColumn] === null ? summed.map((value) => (isText(value) ? textOf(value) : value)) : asWritten(summed, row[sumColumn]);
  // Where the length of what is large was the byte, nobody has the rest.
  if (!written || own(table).some((name, at) => isLarge(name) && written[at] !== summed[at])) return undefined;
  const values = own(table).map((name, at) => [name, isLarge(name) ? row[name] : written[at]]);
  return { ...Object.fromEntries(values), [sumColumn]: sumOfValues(written) };
}

const isSoundRow = (row: ReadonlyMap<string, Value | Text | undefined>): row is ReadonlyMap<string, Value | Text> =>
  ![...row.values()].includes(undefined);

/** A value as its column has it: text and bytes are told apart by one bit. Undefined for what never stands there. */
function storedAs(type: string, value: Value, kind: string): Value | Text | undefined {
  if (value instanceof Uint8Array) return type === 'TEXT' ? { utf8: value } : type === 'BLOB' ? value : undefined;
  return value === null || kinds[type]?.includes(kind) ? value : undefined;
}

/** Puts rows right of which one byte has changed, and gives a sum to those that have none. False where others are left. */
export function mendRows(raw: Database.Database, table: TableShape): boolean {
  if (!isSummed(table)) return true;
  const columns = table.columns.filter((name) => !provedElsewhere[table.name]?.includes(name));
  const where = table.key.map((name) => `"${name}" IS ?`).join(' AND ');
  const update = raw.prepare(`UPDATE "${table.name}" SET ${columns.map((name) => `"${name}" = ?`).join(', ')} WHERE ${where}`);
  const changed = raw
    .prepare(`SELECT ${table.key.join(', ')}, ${foundColumns(table)} FROM "${table.name}" WHERE NOT ${provesSql(table)}`)
    .raw()
    .all() as Value[][];
  return changed
    .map((found) => {
      const key = found.splice(0, table.key.length);
      const written = rowAsWritten(table, found);
      return written !== undefined && isTaken(() => update.run(...columns.map((name) => written[name]), ...key));
    })
    .every(Boolean);
}

/** False where the row would stand in another's place. */
function isTaken(write: () => unknown): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT')) return false;
    throw error;
  }
}
