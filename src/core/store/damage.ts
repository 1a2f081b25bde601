import type Database from 'better-sqlite3';
import { attempt, once, systemClock } from '../base/index.js';
import { matchesSql, sumColumn, type TableShape, tablesOf } from './sums.js';

/** Prepares a statement once. `rows` returns rows as lists of values, `values` the first value of each. */
export type Prepare = (sql: string, shape?: 'rows' | 'values') => Database.Statement;

/** What is known about the rows of some tables. */
export interface Damage {
  /** How many rows of a table do not match their checksum. Tables without such a row are missing. */
  readonly rows: ReadonlyMap<string, number>;
  /** Tables whose rows were never checked all. */
  readonly unchecked: ReadonlySet<string>;
  /** Tables without known damage that another program may have changed since they were checked. */
  readonly stale: ReadonlySet<string>;
}

/** Watches for rows that do not match their checksum. */
export interface DamageWatch {
  /**
   * What is known of these tables, or of all. Small tables that may have changed are checked at once; larger ones piece by piece, now and while
   * the thread waits.
   */
  look(tables?: Iterable<string>): Damage;
  /** The tables with checksums that statements read. For derived data, the tables that it is made from; all tables, if SQLite refuses a statement. */
  readBy(statements: Iterable<string>): ReadonlySet<string>;
}

/** Tables with at most this many rows are checked whenever they may have changed. */
const smallRows = 64;
/**
 * Rows of one piece, and of all pieces that an answer waits for, beside those of small tables. Of tables that were checked before, all answers of
 * `pauseMs` wait for so many, and no answer for more of one table: an import changes large tables all the time.
 */
const pieceRows = 200;
const answerRows = 400;
/** Milliseconds between two pieces, and for each row until a table is checked again: checking takes a few percent of a thread at most. */
const pauseMs = 100;
const restMs = 0.5;
/** After this time, a table is checked again even if no other program wrote: a disk may have changed it. */
const maxAgeMs = 600_000;
/** What derived data is made from. */
const madeFrom = ['commits', 'artifact', 'source', 'firstParentRun'];

interface Watched {
  readonly name: string;
  /** SQL for the first piece of a pass, and for those after a key. They return the key, and whether the row is damaged. */
  readonly first: string;
  readonly next: string;
  /** The last whole pass. */
  known: { readonly rows: number; readonly damaged: number; readonly version: number; readonly at: number } | undefined;
  /** The running pass. */
  pass: { readonly version: number; rows: number; damaged: number; after: readonly unknown[] | undefined } | undefined;
}

function watchedOf(table: TableShape): Watched {
  const key = table.key.map((name) => `"${name}"`).join(', ');
  const select = `SELECT NOT ${matchesSql(table)}, ${key} FROM main."${table.name}"`;
  const order = `ORDER BY ${key} LIMIT ?`;
  const after = `WHERE (${key}) > (${table.key.map(() => '?').join(', ')})`;
  return { name: table.name, first: `${select} ${order}`, next: `${select} ${after} ${order}`, known: undefined, pass: undefined };
}

/** Watches the database of a connection. Nothing is read before the first question. */
export function watchDamage(raw: Database.Database, prepared: Prepare): DamageWatch {
  const all = once((): ReadonlyMap<string, Watched> => {
    const summed = tablesOf(raw).filter(({ columns }) => columns.includes(sumColumn));
    return new Map(summed.map((table) => [table.name, watchedOf(table)]));
  });
  let isWaiting = false;
  let again = { left: answerRows, since: 0 };
  const version = (): number => prepared('PRAGMA main.data_version', 'values').get() as number;
  const step = (watched: Watched, most: number): number => checkPiece(watched, most, (sql, ...values) => prepared(sql, 'rows').all(...values));

  const soon = (): void => {
    if (!isWaiting) setTimeout(work, pauseMs).unref();
    isWaiting = true;
  };
  function work(): void {
    isWaiting = false;
    if (!raw.open) return;
    const [unfinished] = [...all().values()].filter(({ pass }) => pass);
    if (!unfinished) return;
    if (!raw.inTransaction) step(unfinished, pieceRows);
    soon();
  }

  return {
    look: (names) => {
      if (!raw.open) return { rows: new Map(), unchecked: new Set(), stale: new Set() };
      const known = all();
      const asked = names ? [...names].flatMap((name) => known.get(name) ?? []) : [...known.values()];
      const [now, at] = [version(), systemClock()];
      const first = { left: answerRows };
      if (Math.abs(at - again.since) >= pauseMs) again = { left: answerRows, since: at };
      for (const watched of asked) {
        if (!isDue(watched, now, at)) continue;
        const isSmall = !watched.pass && (watched.known?.rows ?? 0) <= smallRows;
        watched.pass ??= { version: now, rows: 0, damaged: 0, after: undefined };
        if (isSmall) step(watched, smallRows + 1);
        const room = watched.known ? again : first;
        while (room.left > 0 && watched.pass && (!watched.known || watched.pass.rows < answerRows)) room.left -= step(watched, pieceRows);
        if (watched.pass) soon();
      }
      return reportOn(asked, now);
    },
    readBy: tablesReadBy(raw, () => [...all().keys()]),
  };
}

/** Checks the next rows of a table. Returns their number. A table that SQLite cannot read counts as damaged: the calls that read it fail. */
function checkPiece(watched: Watched, most: number, all: (sql: string, ...values: unknown[]) => unknown[]): number {
  const { pass } = watched;
  if (!pass) return 0;
  let rows: (readonly [number, ...unknown[]])[] = [];
  try {
    rows = (pass.after ? all(watched.next, ...pass.after, most) : all(watched.first, most)) as typeof rows;
  } catch {
    pass.damaged += 1;
  }
  pass.rows += rows.length;
  for (const [isDamaged] of rows) pass.damaged += isDamaged;
  pass.after = rows.at(-1)?.slice(1);
  if (rows.length < most) {
    watched.known = { rows: pass.rows, damaged: pass.damaged, version: pass.version, at: systemClock() };
    watched.pass = undefined;
  }
  return rows.length;
}

/** Whether a table should be checked: it may have changed, and it was not checked a moment ago. A damaged one may have been repaired here. */
function isDue({ known, pass }: Watched, version: number, at: number): boolean {
  if (!known || pass) return true;
  if (known.version === version && known.damaged === 0 && at - known.at < maxAgeMs) return false;
  return known.rows <= smallRows || at - known.at > known.rows * restMs;
}

function reportOn(asked: readonly Watched[], version: number): Damage {
  const damaged = ({ known, pass }: Watched): number => Math.max(known?.damaged ?? 0, pass?.damaged ?? 0);
  const sound = asked.filter((watched) => damaged(watched) === 0);
  return {
    rows: new Map(asked.filter((watched) => damaged(watched) > 0).map((watched) => [watched.name, damaged(watched)])),
    unchecked: new Set(sound.filter(({ known }) => !known).map(({ name }) => name)),
    stale: new Set(sound.filter(({ known }) => known && known.version !== version).map(({ name }) => name)),
  };
}

/** More statements than this are not remembered. */
const mostStatements = 2_000;

/** Makes `DamageWatch.readBy`. SQLite itself says which tables a statement opens. */
function tablesReadBy(raw: Database.Database, all: () => readonly string[]): DamageWatch['readBy'] {
  const known = new Map<string, readonly string[]>();
  const opened = (sql: string): readonly string[] => {
    const found = known.get(sql) ?? openedBy(raw, sql) ?? all();
    if (known.size >= mostStatements) known.clear();
    known.set(sql, found);
    return found;
  };
  return (statements) => new Set([...statements].flatMap(opened));
}

function openedBy(raw: Database.Database, sql: string): readonly string[] | undefined {
  return attempt(() => {
    // EXPLAIN wants a value for each parameter, and none changes what is opened.
    const plain = sql.replaceAll(/\?\d*|[:@$][A-Za-z_]\w*/g, 'NULL');
    const steps = raw.prepare(`EXPLAIN ${plain}`).all() as { opcode: string; p2: number; p3: number }[];
    const reads = steps.filter(({ opcode }) => opcode === 'OpenRead');
    const pages = JSON.stringify(reads.filter(({ p3 }) => p3 === 0).map(({ p2 }) => p2));
    const tables = 'SELECT DISTINCT tbl_name FROM main.sqlite_schema WHERE rootpage IN (SELECT value FROM json_each(?))';
    const names = raw.prepare(tables).pluck().all(pages) as string[];
    return [...names, ...(reads.some(({ p3 }) => p3 !== 0) ? madeFrom : [])];
  });
}
