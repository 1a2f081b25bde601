import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import { watchAreas } from './area-counts.js';
import { quoted } from './guard.js';
import { tableNamed } from './schema.js';

/**
 * Every row has a checksum over its other columns. Temporary triggers update it, so that no statement needs to mention it, and tables of
 * later migrations get one automatically. A checksum detects a change and corrects nothing.
 */
export const sumColumn = 'rowSum';
const functionName = 'stemmaSum';

/** Tables without checksums: those of objects and counts, and derived ones of earlier formats. Their readers detect damage, or lose nothing. */
const unsummed = /^(sqlite_.*|outline|record|principalCommit|runSum|progress|replicaCopy|search.*|requestMessage|usage.*|teamItem|areaCount)$/;

/** Large columns that the object's hash verifies. The checksum covers only their length. */
const verifiedByHash: Readonly<Record<string, readonly string[]>> = { artifact: ['data', 'chunks'] };

/**
 * Rows of these tables are inserted with their checksum (`summedInsert`) and have no insert trigger: with a trigger that writes, SQLite
 * copies each page before it changes it.
 */
const insertedWithSum = /^(artifact|commits)$/;

/** A value of a column. */
export type Value = null | number | bigint | string | Uint8Array;

/** Registers the checksum function on a connection. Call it before the first write. */
export function registerSums(raw: Database.Database): void {
  raw.function(functionName, { deterministic: true, varargs: true }, (...values: Value[]) => crc32(JSON.stringify(values.map(asJson))));
}

/** Bytes as JSON: one Latin-1 character per byte. */
const asJson = (value: Value): null | number | string => {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1') : value;
};

export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  /** The declared type of each column, in the same order. */
  readonly types: readonly string[];
  /** The primary key; `rowid` if the table has row numbers. */
  readonly key: readonly string[];
  /** The column that holds the row number, if one does. */
  readonly number: string | undefined;
}

/** The ordinary tables, or only those with a name, without the internal ones of a full-text index. */
export function tablesOf(raw: Database.Database, named?: string): TableShape[] {
  const select = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
  const listed = raw.prepare(select).all() as { name: string; wr: number }[];
  return listed
    .filter(({ name }) => named === undefined || name === named)
    .map(({ name, wr: isWithoutNumbers }) => {
      const columns = raw.pragma(`main.table_info(${quoted(name)})`) as { name: string; type: string; pk: number }[];
      const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
      return {
        name,
        columns: columns.map((each) => each.name),
        types: columns.map((each) => each.type),
        key: isWithoutNumbers ? key.map((each) => each.name) : ['rowid'],
        number: !isWithoutNumbers && key.length === 1 && key[0]?.type === 'INTEGER' ? key[0].name : undefined,
      };
    });
}

/**
 * Says how to read the columns of `wanted` from `found`, which may define them in another way: with the expected types, a renamed column by its
 * position, and a removed column as null. The checksums show whether this is right. Undefined if columns are missing and the table has no checksums.
 */
export function readingOf(found: TableShape, wanted: TableShape) {
  const [from, to] = [ownColumns(found), ownColumns(wanted)];
  const isAnyMissing = to.some((name) => !from.includes(name));
  const isSummed = found.columns.includes(sumColumn);
  if (isAnyMissing && !isSummed) return undefined;
  const isKept = wanted.columns.includes(sumColumn) && isSummed;
  const places = wanted.columns.map((_, at) => at).filter((at) => wanted.columns[at] !== sumColumn || isKept);
  return {
    /** `wanted`, with the checksum only if `found` has it. */
    table: { ...wanted, columns: places.map((at) => wanted.columns[at] as string), types: places.map((at) => wanted.types[at] as string) },
    /** The SQL of a column. */
    value: (name: string): string => {
      // If its type was changed, the column that holds the row number is an ordinary column now.
      if (name === wanted.number) return 'rowid';
      if (found.columns.includes(name)) return quoted(name);
      const other = from[to.indexOf(name)];
      return other === undefined || to.includes(other) ? 'NULL' : quoted(other);
    },
  };
}

const isSummed = ({ name }: Pick<TableShape, 'name'>): boolean => !unsummed.test(name);
const hasSums = (table: TableShape): boolean => isSummed(table) && table.columns.includes(sumColumn);
const ownColumns = ({ columns }: TableShape): readonly string[] => columns.filter((name) => name !== sumColumn);

function checksumSql(table: TableShape, value = quoted): string {
  const large = verifiedByHash[table.name] ?? [];
  const values = ownColumns(table).map((name) => (large.includes(name) ? `length(${value(name)})` : value(name)));
  return `${functionName}(${values.join(', ')})`;
}

/** The triggers that update the checksums of a table. They are temporary: a database file has no triggers (schema.ts). */
function triggersOf(table: TableShape): string[] {
  const where = table.key.map((name) => `${name} = new.${name}`).join(' AND ');
  const set = `BEGIN UPDATE "${table.name}" SET ${sumColumn} = ${checksumSql(table, (name) => `new."${name}"`)} WHERE ${where}; END`;
  const columns = ownColumns(table).map(quoted).join(', ');
  const inserted = `CREATE TEMP TRIGGER ${table.name}SumInserted AFTER INSERT ON main."${table.name}" WHEN new.${sumColumn} IS NULL ${set}`;
  const updated = `CREATE TEMP TRIGGER ${table.name}SumUpdated AFTER UPDATE OF ${columns} ON main."${table.name}" ${set}`;
  return insertedWithSum.test(table.name) ? [updated] : [inserted, updated];
}

/** Makes this connection update the checksums of rows that it writes and the counts of the areas, until `unwatchRows`. */
export function watchRows(raw: Database.Database): void {
  const schema = JSON.stringify(raw.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").raw().all());
  if (lastWatched.schema !== schema) lastWatched = { schema, triggers: tablesOf(raw).filter(hasSums).flatMap(triggersOf).join(';\n') };
  raw.exec(lastWatched.triggers);
  watchAreas(raw);
}

/** The triggers of the last watched schema. Most databases of a process share a schema, and listing the triggers takes half of the time. */
let lastWatched = { schema: '', triggers: '' };

/** Removes the triggers of `watchRows`. */
export function unwatchRows(raw: Database.Database): void {
  const names = raw.prepare("SELECT name FROM sqlite_temp_schema WHERE type = 'trigger'").pluck().all() as string[];
  for (const name of names) raw.exec(`DROP TRIGGER temp."${name}"`);
}

/**
 * Adds a checksum column to every table that needs one, and computes the checksums again if a table has another number of columns than
 * `before`. Renaming a column keeps the checksums, so that damage stays visible.
 */
export function addSums(raw: Database.Database, before: readonly TableShape[]): void {
  for (const table of tablesOf(raw).filter(isSummed)) {
    const isNew = !table.columns.includes(sumColumn);
    const earlier = tableNamed(before, table.name);
    if (isNew) raw.exec(`ALTER TABLE "${table.name}" ADD COLUMN ${sumColumn} INTEGER`);
    if (isNew || earlier === undefined || ownColumns(earlier).length !== ownColumns(table).length)
      raw.exec(`UPDATE "${table.name}" SET ${sumColumn} = ${checksumSql(table)}`);
  }
}

/**
 * Prepares inserts of whole rows that compute the checksum in JavaScript, because a callback from SQLite costs more than the row itself.
 * @throws Error if the table has no row numbers of its own (as with a key of several columns) or no checksums.
 */
export function summedInsert(raw: Database.Database, name: string) {
  const [table] = tablesOf(raw, name);
  const numbered = table?.number;
  if (!table || !isSummed(table) || numbered === undefined) throw new Error(`rows of ${name} have no number, or no checksum`);
  const names = ownColumns(table);
  const known = new Set(names);
  const numberPlace = names.indexOf(numbered);
  const isLarge = names.map((each) => verifiedByHash[name]?.includes(each) ?? false);
  return {
    /** It has a `?` for each value. */
    sql: `INSERT INTO "${name}" (${names.map((each) => `"${each}"`).join(', ')}, ${sumColumn}) VALUES (${names.map(() => '?').join(', ')}, ?)`,
    /** The column of row numbers. */
    number: numbered,
    /** The values of a row and its checksum, if the row gets this number. @throws SqliteError for an unknown column. */
    values: (row: Readonly<Record<string, Value | undefined>>, number: number): Value[] => {
      // The same error as SQLite's own: another program may have changed the table.
      for (const each in row) if (!known.has(each)) throw new Database.SqliteError(`table ${name} has no column named ${each}`, 'SQLITE_ERROR');
      const values = names.map((each) => row[each] ?? null);
      const summed = values.map((value, place) => (isLarge[place] ? ((value as Uint8Array | null)?.length ?? null) : asStored(value)));
      summed[numberPlace] = number;
      values.push(crc32(JSON.stringify(summed)));
      return values;
    },
    /** SQL that sets the checksum (first `?`) of the row with a number (second `?`). Needed if SQLite gave another number. */
    correction: `UPDATE "${name}" SET ${sumColumn} = ? WHERE "${numbered}" = ?`,
    /** SQL for the highest number in the table, or null. */
    last: `SELECT MAX("${numbered}") FROM "${name}"`,
  };
}

/** The value as the checksum reads it after storing. SQLite stores text as UTF-8, which has no lone surrogates. */
const asStored = (value: Value): Value => (typeof value === 'string' ? value.toWellFormed() : asJson(value));

/** A row that does not match its checksum. */
export interface ChangedRow {
  readonly table: string;
  /** Its number, or the values of its key. */
  readonly row: string;
  /** Its id, if it has one. */
  readonly id?: string;
}

/** The storage classes that each declared type allows, beside null. */
const storageClasses: Readonly<Record<string, readonly string[]>> = {
  TEXT: ['text'],
  BLOB: ['blob'],
  INTEGER: ['integer', 'real'],
  REAL: ['integer', 'real'],
};

/** SQL that is true for a row whose values have the types of their columns. */
export const fitsSql = ({ columns, types }: TableShape, value = quoted): string =>
  columns
    .map((name, at) => {
      const kinds = ['null', ...(storageClasses[types[at] ?? ''] ?? [])];
      return `typeof(${value(name)}) IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`;
    })
    .join(' AND ');

/** SQL that is true for a row that matches its checksum. */
export const matchesSql = (table: TableShape, value = quoted): string =>
  hasSums(table) ? `(${sumColumn} IS ${checksumSql(table, value)} AND ${fitsSql(table, value)})` : `(${fitsSql(table, value)})`;

/**
 * SQL that is true for a row of `alias` that matches its checksum, for queries that must not return changed rows. `columns` are all columns
 * of the table, in its order.
 */
export const matchingRow = (columns: readonly string[], alias?: string): string => {
  const of = alias === undefined ? '' : `${alias}.`;
  return `${of}${sumColumn} IS ${functionName}(${columns.map((name) => `${of}${name}`).join(', ')})`;
};

/** A subquery with the rows of a table that match their checksum. `columns` are all columns of the table, in its order. */
export const matchingRows = (table: string, columns: readonly string[]): string =>
  `(SELECT ${columns.join(', ')} FROM ${table} WHERE ${matchingRow(columns)})`;

/** Rows that do not match their checksum. @throws SqliteError if the table cannot be read. */
export function changedRows(raw: Database.Database, table: TableShape): ChangedRow[] {
  if (!hasSums(table)) return [];
  const id = [`${table.name}Id`, 'id'].find((name) => table.columns.includes(name));
  const rows = raw
    .prepare(`SELECT ${table.key.join(" || ' ' || ")} AS row${id ? `, ${id} AS id` : ''} FROM "${table.name}" WHERE NOT ${matchesSql(table)}`)
    .all() as { row: number | string; id?: unknown }[];
  return rows.map(({ row, id }) => ({ table: table.name, row: String(row), ...(typeof id === 'string' && { id }) }));
}
