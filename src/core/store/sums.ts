import { crc32 } from 'node:zlib';
import type Database from 'better-sqlite3';

/**
 * Every row carries a sum over its other columns, which triggers keep: a byte that changed without a statement is found by it. A query
 * that changes rows says nothing of sums, and a table of a later migration step has them without being listed here.
 */
const column = 'rowSum';
const functionName = 'stemmaSum';

/** Tables that are made again from others or only speed things up: whoever reads them finds out, or loses nothing. */
const unsummed = /^(sqlite_.*|outline|materialized|record|principalCommit|progress|tierCopy|search.*|requestMessage)$/;

/** Large columns that prove themselves by the object's hash: of these the length counts. */
const provedElsewhere: Readonly<Record<string, readonly string[]>> = { artifact: ['data', 'chunks'] };

/**
 * Rows of these are inserted with their sums (`summedInsert`) and have no trigger for it: one that writes makes every insert a statement of
 * several, and for these the database copies each page before it changes it. A row that came without a sum is told like one that changed.
 */
const brought = /^(artifact|context)$/;

type Value = null | number | bigint | string | Uint8Array;

/** Makes the sum known to a connection. Call before anything is written. */
export function registerSums(raw: Database.Database): void {
  raw.function(functionName, { deterministic: true, varargs: true }, (...values: Value[]) => crc32(JSON.stringify(values.map(asText))));
}

const asText = (value: Value): null | number | string => {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1') : value;
};

export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns that name a row; `rowid` where the table has numbers for rows. */
  readonly key: readonly string[];
}

/** The tables of the schema itself, not those that a full-text index makes for its own use. */
export function tablesOf(raw: Database.Database): TableShape[] {
  const tables = raw
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string; wr: number }[];
  return tables.map(({ name, wr }) => {
    const columns = raw.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(name) as { name: string; pk: number }[];
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    return { name, columns: columns.map((each) => each.name), key: wr ? key.map((each) => each.name) : ['rowid'] };
  });
}

const isSummed = ({ name }: TableShape): boolean => !unsummed.test(name);
const own = ({ columns }: TableShape): readonly string[] => columns.filter((name) => name !== column);

function sumOf(table: TableShape, value = (name: string): string => `"${name}"`): string {
  const large = provedElsewhere[table.name] ?? [];
  return `${functionName}(${own(table)
    .map((name) => (large.includes(name) ? `length(${value(name)})` : value(name)))
    .join(', ')})`;
}

function triggersOf(table: TableShape): Record<string, string> {
  const where = table.key.map((name) => `${name} = new.${name}`).join(' AND ');
  const set = `BEGIN UPDATE "${table.name}" SET ${column} = ${sumOf(table, (name) => `new."${name}"`)} WHERE ${where}; END`;
  const columns = own(table)
    .map((name) => `"${name}"`)
    .join(', ');
  const [inserted, updated] = [insertTrigger(table), `${table.name}SumUpdated`];
  return {
    ...(!brought.test(table.name) && { [inserted]: `CREATE TRIGGER ${inserted} AFTER INSERT ON "${table.name}" WHEN new.${column} IS NULL ${set}` }),
    [updated]: `CREATE TRIGGER ${updated} AFTER UPDATE OF ${columns} ON "${table.name}" ${set}`,
  };
}

const insertTrigger = ({ name }: TableShape): string => `${name}SumInserted`;

/** Gives every table that is to have sums its column and triggers; rows of a table that had none, or other columns, get theirs anew. */
export function keepSums(raw: Database.Database): void {
  for (const table of tablesOf(raw).filter(isSummed)) {
    const wanted = triggersOf(table);
    const known = raw.prepare('SELECT name, sql FROM sqlite_schema WHERE type = ? AND tbl_name = ? AND name IN (?, ?)');
    const kept = known.all('trigger', table.name, insertTrigger(table), `${table.name}SumUpdated`) as { name: string; sql: string }[];
    if (kept.length === Object.keys(wanted).length && kept.every(({ name, sql }) => wanted[name] === sql)) continue;
    for (const { name } of kept) raw.exec(`DROP TRIGGER ${name}`);
    if (!table.columns.includes(column)) raw.exec(`ALTER TABLE "${table.name}" ADD COLUMN ${column} INTEGER`);
    raw.exec(`UPDATE "${table.name}" SET ${column} = ${sumOf(table)}`);
    for (const sql of Object.values(wanted)) raw.exec(sql);
  }
}

/** Gives sums to rows that came from a database of before there were any. */
export function fillSums(raw: Database.Database, table: TableShape): void {
  if (isSummed(table)) raw.exec(`UPDATE "${table.name}" SET ${column} = ${sumOf(table)} WHERE ${column} IS NULL`);
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
  const table = tablesOf(raw).find((each) => each.name === name);
  const numbered = raw.prepare("SELECT name FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER'").pluck().get(name) as string | undefined;
  if (!table || !isSummed(table) || numbered === undefined) throw new Error(`rows of ${name} have no number, or no sum`);
  const names = own(table);
  const known = new Set(names);
  const numberPlace = names.indexOf(numbered);
  const isLarge = names.map((each) => provedElsewhere[name]?.includes(each) ?? false);
  return {
    sql: `INSERT INTO "${name}" (${names.map((each) => `"${each}"`).join(', ')}, ${column}) VALUES (${names.map(() => '?').join(', ')}, ?)`,
    number: numbered,
    values: (row, number) => {
      for (const each in row) if (!known.has(each)) throw new Error(`${name} has no column ${each}`);
      const values = names.map((each) => row[each] ?? null);
      const summed = values.map((value, place) => (isLarge[place] ? ((value as Uint8Array | null)?.length ?? null) : asStored(value)));
      summed[numberPlace] = number;
      values.push(crc32(JSON.stringify(summed)));
      return values;
    },
    correction: `UPDATE "${name}" SET ${column} = ? WHERE "${numbered}" = ?`,
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

/** Rows whose sum does not prove. @throws what SQLite says of a table that cannot be read. */
export function changedRows(raw: Database.Database, table: TableShape): ChangedRow[] {
  if (!isSummed(table)) return [];
  const id = [`${table.name}Id`, 'id'].find((name) => table.columns.includes(name));
  const rows = raw
    .prepare(`SELECT ${table.key.join(" || ' ' || ")} AS row${id ? `, ${id} AS id` : ''} FROM "${table.name}" WHERE ${column} IS NOT ${sumOf(table)}`)
    .all() as { row: number | string; id?: unknown }[];
  return rows.map(({ row, id }) => ({ table: table.name, row: String(row), ...(typeof id === 'string' && { id }) }));
}

/** Takes rows as they are now: their sums are made anew. */
export function acceptRows(raw: Database.Database): void {
  for (const table of tablesOf(raw).filter(isSummed))
    raw.exec(`UPDATE "${table.name}" SET ${column} = ${sumOf(table)} WHERE ${column} IS NOT ${sumOf(table)}`);
}
