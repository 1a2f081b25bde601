import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { corrupt } from '../base/index.js';
import { steps } from './schema.js';
import { fillSums, foundColumns, keepSums, registerSums, rowAsWritten, sumColumn, type TableShape, tablesOf } from './sums.js';
import { isByteAway, type Value } from './written.js';

/** Rows that could not be read, or are not what was written. */
export interface LostRows {
  readonly table: string;
  /** Those that are known: by number, or by the columns that name them. */
  readonly known: readonly (number | string)[];
  /** Rows that are lost and that nothing names are not counted: at least these are. */
  readonly rows: number;
}

/** What an index still says of a row that is lost: its columns are those of the index. */
export type Trace = Readonly<Record<string, number | string | null>>;

export interface Salvaged {
  readonly lost: readonly LostRows[];
  /** Of lost rows, by table and number. */
  readonly traces: ReadonlyMap<string, ReadonlyMap<number, Trace>>;
}

/** Tables that are made again from the others: a salvage leaves them empty. */
const madeAgain = /^(outline|materialized|principalCommit|search.*|progress)$/;

/** So many numbers are looked for one by one, where a row that cannot be read stands between them. */
const mostProbes = 400_000;

type Row = Readonly<Record<string, unknown>>;

/**
 * Copies every row that can be read from a database whose pages are damaged into a new file, row by row around what cannot: those that are
 * what was written by their sums, or are again with one byte of them changed. What indexes still say of lost rows comes back with the
 * result. The old file stays as it is. @throws what SQLite says where not even the schema reads.
 */
export function salvage(from: string, to: string): Salvaged {
  const old = new Database(from, { readonly: true });
  const fresh = new Database(to);
  try {
    // Without a schema nobody knows what is a row of what.
    if (old.prepare('SELECT COUNT(*) FROM sqlite_schema').pluck().get() === 0) throw corrupt('stemma.db', 'the database has no tables');
    registerSums(old);
    registerSums(fresh);
    fresh.pragma('foreign_keys = OFF');
    fresh.pragma('synchronous = OFF');
    const lost: LostRows[] = [];
    const traces = new Map<string, Map<number, Trace>>();
    fresh.exec('BEGIN');
    makeTables(fresh);
    const found = readable(() => tablesOf(old)) ?? [];
    for (const table of tablesOf(fresh).filter(({ name }) => !madeAgain.test(name))) {
      const { kept, changed, unread } = copyTable(
        old,
        fresh,
        table,
        found.find(({ name }) => name === table.name),
      );
      fillSums(fresh, table);
      const said = tracesOf(old, table, kept);
      if (said.size > 0) traces.set(table.name, said);
      const known = [...new Set([...said.keys(), ...changed.filter((row) => typeof row === 'string' || !kept.has(row))])];
      if (unread > 0 || known.length > 0) lost.push({ table: table.name, known, rows: Math.max(unread, known.length) });
    }
    fresh.exec('COMMIT');
    fresh.pragma('journal_mode = WAL');
    fresh.pragma('synchronous = FULL');
    return { lost, traces };
  } finally {
    old.close();
    fresh.close();
  }
}

interface Copied {
  readonly kept: ReadonlySet<number>;
  /** Rows that are not what was written, by number, or by the columns that name them. */
  readonly changed: readonly (number | string)[];
  readonly unread: number;
}

function copyTable(old: Database.Database, fresh: Database.Database, table: TableShape, found: TableShape | undefined): Copied {
  const there = table.columns.filter((name) => found?.columns.includes(name));
  const kept = new Set<number>();
  const changed: (number | string)[] = [];
  if (!found || there.length === 0) return { kept, changed, unread: 1 };
  // With columns that it did not have, a row gets another sum.
  const columns = there.length === table.columns.length ? there : there.filter((name) => name !== sumColumn);
  const hasNumbers = table.key[0] === 'rowid';
  const names = `${table.key.join(', ')}, ${foundColumns(found)}`;
  const insert = fresh.prepare(
    `INSERT OR IGNORE INTO "${table.name}" (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const keep = (row: Value[]): void => {
    const key = row.splice(0, table.key.length);
    const written = rowAsWritten(found, row);
    const inserted = written && readable(() => insert.run(...columns.map((name) => written[name])));
    if (!inserted) changed.push(hasNumbers ? Number(key[0]) : key.join(' '));
    else if (inserted.changes > 0) kept.add(Number(inserted.lastInsertRowid));
  };
  if (hasNumbers) return { kept, unread: byNumber(old, table, names, keep), changed };
  // Without numbers a table is read from both ends, up to what cannot be.
  const order = (way: Way): string => table.key.map((name) => `"${name}" ${way}`).join(', ');
  const readFrom = (way: Way): boolean => readTo(old, `SELECT ${names} FROM "${table.name}" ORDER BY ${order(way)}`, keep);
  const isWhole = readFrom('ASC');
  if (!isWhole) readFrom('DESC');
  return { kept, changed, unread: isWhole ? 0 : 1 };
}

type Way = 'ASC' | 'DESC';

/** Meets the rows of a query up to what cannot be read. True where that is the end of them. */
const readTo = (old: Database.Database, sql: string, meet: (row: Value[]) => void): boolean =>
  readable(() => {
    for (const row of old.prepare(sql).raw().iterate()) meet(row as Value[]);
    return true;
  }) ?? false;

/**
 * Reads from both ends up to what cannot be read, and in between number by number: each way of looking misses others where one number is not
 * what it was. Returns how many could not be read, or one where nobody knows. `names` are columns, the number first.
 */
function byNumber(old: Database.Database, table: TableShape, names: string, keep: (row: Value[]) => void): number {
  const seen = new Set<number>();
  const meet = (row: Value[]): void => {
    seen.add(Number(row[0]));
    keep(row);
  };
  const readFrom = (way: Way): boolean => readTo(old, `SELECT ${names} FROM "${table.name}" ORDER BY rowid ${way}`, meet);
  if (readFrom('ASC')) return 0;
  readFrom('DESC');
  const one = old.prepare(`SELECT ${names} FROM "${table.name}" WHERE rowid = ?`).raw();
  const last = highest(old, table);
  let probes = 0;
  let unread = 0;
  for (let number = 0; number <= last && probes < mostProbes; number++) {
    if (seen.has(number)) continue;
    probes += 1;
    const isRead = readable(() => {
      const row = one.get(number) as Value[] | undefined;
      if (row) meet(row);
      return true;
    });
    if (!isRead) unread += 1;
  }
  return Math.max(unread, 1);
}

/** The highest number that a row may have: the last row's, else what an index says, else as many rows as fit into the file. */
function highest(old: Database.Database, { name }: TableShape): number {
  const asked = [
    `SELECT MAX(rowid) FROM "${name}"`,
    ...indexesOf(old, name).map((index) => `SELECT MAX(rowid) FROM "${name}" INDEXED BY "${index}"`),
  ];
  const found = asked.flatMap((sql) => readable(() => old.prepare(sql).pluck().get() as number | null) ?? []);
  const pages = old.pragma('page_count', { simple: true }) as number;
  return found.length > 0 ? Math.max(...found) : Math.min(pages * 64, mostProbes / 4);
}

const indexesOf = (old: Database.Database, table: string): string[] =>
  (readable(() => old.prepare("SELECT name FROM pragma_index_list(?) WHERE name NOT LIKE 'sqlite_%'").pluck().all(table)) ?? []) as string[];

/** What indexes say of rows that were not kept: each is a tree of its own, and names its rows by number. */
function tracesOf(old: Database.Database, table: TableShape, kept: ReadonlySet<number>): Map<number, Trace> {
  const traces = new Map<number, Trace>();
  if (table.key[0] !== 'rowid') return traces;
  for (const index of indexesOf(old, table.name)) {
    const columns = ((readable(() => old.prepare('SELECT name FROM pragma_index_info(?)').pluck().all(index)) ?? []) as (string | null)[]).filter(
      (name) => name !== null,
    );
    const partial = readable(() => old.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(index) as string) ?? '';
    const where = /\bWHERE\b(.*)$/is.exec(partial)?.[1];
    readable(() => {
      const rows = old.prepare(
        `SELECT rowid AS rowNumber, ${columns.map((name) => `"${name}"`).join(', ')} FROM "${table.name}" INDEXED BY "${index}"${where ? ` WHERE ${where}` : ''} ORDER BY ${columns.map((name) => `"${name}"`).join(', ')}`,
      );
      for (const row of rows.iterate() as IterableIterator<Row>) {
        const { rowNumber, ...said } = row;
        const number = Number(rowNumber);
        if (!kept.has(number) && isPlain(said)) traces.set(number, { ...traces.get(number), ...said });
      }
    });
  }
  return traces;
}

const isPlain = (said: Row): said is Trace =>
  Object.values(said).every((value) => value === null || typeof value === 'number' || typeof value === 'string');

/** Undefined where the database does not let it be read. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined;
    throw error;
  }
}

/** All that a database of this version has before anything is in it. Call inside a transaction. */
function makeTables(raw: Database.Database): void {
  for (const step of steps) raw.exec(step);
  keepSums(raw);
  raw.pragma(`user_version = ${steps.length}`);
}

/** A database of this version, with nothing in it: what every project's is made like. */
function withSample<T>(read: (sample: Database.Database) => T): T {
  const sample = new Database(':memory:');
  try {
    registerSums(sample);
    sample.exec('BEGIN');
    makeTables(sample);
    sample.exec('COMMIT');
    return read(sample);
  } finally {
    sample.close();
  }
}

interface Definition {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string;
}
const definitions = 'SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL';

/**
 * Definitions that differ by one character from what this version makes: no statement wrote them so. A project that came from older
 * versions may have others, and these are left alone.
 */
export function changedDefinitions(raw: Database.Database): { readonly rowid: number; readonly found: Definition; readonly wanted: Definition }[] {
  const found = raw.prepare(definitions).all() as (Definition & { rowid: number })[];
  const made = definitionsMade();
  const known = new Set(made.map(textOf));
  return found.flatMap((one) => {
    const wanted = known.has(textOf(one)) ? undefined : made.find((other) => isNear(textOf(one), textOf(other)));
    return wanted ? [{ rowid: one.rowid, found: one, wanted }] : [];
  });
}

let made: readonly Definition[] | undefined;
/** The same for every project: made once. */
function definitionsMade(): readonly Definition[] {
  made ??= withSample((sample) => sample.prepare(definitions).all() as Definition[]);
  return made;
}

const textOf = ({ type, name, tbl_name, sql }: Definition): string => [type, name, tbl_name, sql].join('\n');

function isNear(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let others = 0;
  for (let at = 0; at < a.length && others < 2; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) others += 1;
  return others < 2;
}

/** Work on what the schema itself says. One entry that does not parse is passed over, and not the end of reading; what does not work is no help. */
function onSchema(file: string, work: (raw: Database.Database) => boolean): boolean {
  const raw = new Database(file);
  try {
    raw.unsafeMode();
    raw.pragma('writable_schema = ON');
    return work(raw);
  } catch (error) {
    if (error instanceof Database.SqliteError) return false;
    throw error;
  } finally {
    raw.close();
  }
}

/** Puts definitions right that differ by one character. False where there are none. */
export const mendDefinitions = (file: string): boolean =>
  onSchema(file, (raw) => {
    const changed = changedDefinitions(raw);
    const write = raw.prepare('UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE rowid = ?');
    for (const { rowid, wanted } of changed) write.run(wanted.type, wanted.name, wanted.tbl_name, wanted.sql, rowid);
    return changed.length > 0;
  });

/**
 * Puts a byte of the schema's own pages back. They are the same in every project that this version made: nothing is written to them later.
 * False where none has changed, or more than one: a project that came from older versions has pages of its own.
 */
export function mendSchemaPages(file: string): boolean {
  const { whole, pages } = withSample((sample) => ({
    whole: sample.serialize(),
    pages: sample.prepare("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'").pluck().all() as number[],
  }));
  const { pageSize, bytes } = readPages(file, pages);
  const changed: number[] = [];
  for (const [page, found] of bytes) {
    const start = (page - 1) * pageSize;
    if (found.equals(whole.subarray(start, start + pageSize))) continue;
    for (const [at, byte] of found.entries()) if (start + at >= headerLength && byte !== whole[start + at]) changed.push(start + at);
  }
  const [place] = changed;
  if (place === undefined || changed.length > 1) return false;
  const fd = openSync(file, 'r+');
  try {
    writeSync(fd, whole, place, 1, place);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return true;
}

/** Places that are tried for a tree that is not where the schema says: for each all pages are read through. */
const mostPlaces = 200;

/**
 * Puts right where a table or an index begins, where one byte of that has changed: its pages are then of no tree, and with the first of
 * them for its own all pages are read through again. False where that is not the damage.
 */
export const mendRoots = (file: string): boolean =>
  onSchema(file, (raw) => {
    const firsts = firstPages(file, orphansIn(raw));
    if (firsts.length === 0) return false;
    const trees = raw.prepare("SELECT rowid, type, rootpage FROM sqlite_schema WHERE typeof(rootpage) = 'integer' AND rootpage > 0").all() as Tree[];
    const write = raw.prepare('UPDATE sqlite_schema SET rootpage = ? WHERE rowid = ?');
    const move = ({ rowid }: Tree, page: number): void => {
      write.run(BigInt(page), rowid);
      // What was read of the schema is forgotten.
      raw.pragma('writable_schema = RESET');
      raw.pragma('writable_schema = ON');
    };
    let tries = 0;
    for (const tree of trees)
      for (const { page } of firsts.filter((each) => isByteAway(each.page, tree.rootpage) && !(tree.type === 'index' && each.isOfRows))) {
        if (++tries > mostPlaces) return false;
        move(tree, page);
        if (integrityOf(raw, 1).length === 0) return true;
        move(tree, tree.rootpage);
      }
    return false;
  });

interface Tree {
  readonly rowid: number;
  readonly type: string;
  readonly rootpage: number;
}

/** How pages of trees begin: those of rows by number, and those of indexes and of tables without numbers; inner ones point to others. */
const kinds = { inner: [2, 5], ofRows: [5, 13], all: [2, 5, 10, 13] };

/** Of pages that are of no tree those that none of the others points to: trees begin there. */
function firstPages(file: string, pages: readonly number[]): { page: number; isOfRows: boolean }[] {
  const { pageSize, bytes } = readPages(file, pages);
  const kindOf = (page: number): number => bytes.get(page)?.at(0) ?? 0;
  const pointedTo = new Set(
    pages.filter((page) => kinds.inner.includes(kindOf(page))).flatMap((page) => pointersIn(bytes.get(page) as Buffer, pageSize)),
  );
  return pages
    .filter((page) => kinds.all.includes(kindOf(page)) && !pointedTo.has(page))
    .map((page) => ({ page, isOfRows: kinds.ofRows.includes(kindOf(page)) }));
}

/** The pages that an inner page points to: the last one in its header, the others at the beginning of its cells. */
const pointersIn = (page: Buffer, pageSize: number): number[] => [
  page.readUInt32BE(8),
  ...Array.from({ length: page.readUInt16BE(3) }, (_, cell) => page.readUInt16BE(Math.min(12 + cell * 2, pageSize - 2)))
    .filter((at) => at <= pageSize - 4)
    .map((at) => page.readUInt32BE(at)),
];

function readPages(file: string, pages: readonly number[]): { pageSize: number; bytes: Map<number, Buffer> } {
  const fd = openSync(file, 'r');
  try {
    const read = (length: number, at: number): Buffer => {
      const into = Buffer.alloc(length);
      readSync(fd, into, 0, length, at);
      return into;
    };
    // The largest page size does not fit into two bytes, and is written as one.
    const said = read(2, 16).readUInt16BE();
    const pageSize = said === 1 ? 65_536 : said;
    return { pageSize, bytes: new Map(pages.map((page) => [page, read(pageSize, (page - 1) * pageSize)])) };
  } finally {
    closeSync(fd);
  }
}

/** What is wrong with pages and indexes, a line each, so far as the damage lets it be looked at. */
export function integrityOf(raw: Database.Database, mostLines = 100): string[] {
  const lines: string[] = [];
  try {
    for (const line of raw.prepare(`PRAGMA integrity_check(${mostLines})`).pluck().iterate()) lines.push(String(line));
  } catch (error) {
    if (!(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CORRUPT'))) throw error;
    lines.push(error.message);
  }
  return lines.filter((line) => line !== 'ok');
}

/** Pages that are of no tree and not free. */
const orphansIn = (raw: Database.Database): number[] =>
  [
    ...integrityOf(raw, 10_000_000)
      .join('\n')
      .matchAll(/^Page (\d+): never used$/gm),
  ].map(([, page]) => Number(page));

/** The first bytes of a database: its kind, page size and version. */
const headerLength = 100;

/**
 * Puts the header right where that alone keeps a database from being opened: it is the same in every project, but for how many pages there
 * are. False where it was no help to try.
 */
export function mendHeader(file: string): boolean {
  const header = withSample((sample) => sample.serialize().subarray(0, headerLength));
  const fd = openSync(file, 'r+');
  try {
    const found = Buffer.alloc(headerLength);
    if (readSync(fd, found, 0, headerLength, 0) < headerLength) return false;
    const mended = Buffer.from(found);
    // Kind, page size, WAL on both sides, and the fractions that are always the same.
    header.copy(mended, 0, 0, 24);
    mended.writeUInt8(2, 18);
    mended.writeUInt8(2, 19);
    const { size } = fstatSync(fd);
    const pageSize = mended.readUInt16BE(16);
    if (size % pageSize === 0) mended.writeUInt32BE(size / pageSize, 28);
    // Schema format, encoding and the project's own version.
    header.copy(mended, 44, 44, 48);
    header.copy(mended, 56, 56, 64);
    mended.fill(0, 72, 92);
    if (mended.equals(found)) return false;
    writeSync(fd, mended, 0, headerLength, 0);
    fsyncSync(fd);
    return true;
  } finally {
    closeSync(fd);
  }
}
