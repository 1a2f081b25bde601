/**
 * Writes the rows and packs of an imported project into an empty one with plain statements, while another thread parses the imported files line by line
 * and does nothing with them. Prints the milliseconds until each of them ends: what an import takes more is the price of the program.
 *
 *   bare-import IMPORTED-PROJECT NEW-PROJECT SESSIONS-PER-TRANSACTION FILES
 */
import { fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { openEngine } from './engine.js';

const [from, to, many, folder] = process.argv.slice(2);
if (!from || !to || !many || !folder) throw new Error('usage: bare-import IMPORTED-PROJECT NEW-PROJECT SESSIONS-PER-TRANSACTION FILES');

type Values = readonly (string | number | bigint | Buffer | null)[];
/** The rows of a table in the order in which an import adds them, with the number of the commit or object that each belongs to. */
interface Rows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly by: 'commit' | 'object';
  readonly rows: readonly (readonly [owner: number, values: Values])[];
}

/** Opens the two databases of a project as an import does. */
function open(folder: string, readonly: boolean): Database.Database {
  const db = new Database(join(folder, 'stemma.db'), { readonly });
  const derived = readdirSync(folder).find((name) => /^derived-\d+\.db$/.test(name));
  if (!derived) throw new Error(`${folder} has no derived data`);
  db.prepare('ATTACH ? AS derived').run(join(folder, derived));
  if (readonly) return db;
  for (const pragma of ['main.journal_mode = WAL', 'derived.journal_mode = WAL', 'main.synchronous = FULL', 'derived.synchronous = OFF'])
    db.pragma(pragma);
  for (const pragma of ['wal_autocheckpoint = 3000', 'cache_size = -32768', 'foreign_keys = OFF']) db.pragma(pragma);
  return db;
}

function readRows(db: Database.Database, table: string, by: Rows['by'], owner: string): Rows {
  const statement = db.prepare(`SELECT ${owner} AS owner, t.* FROM ${table} t ORDER BY 1`).raw();
  const [, ...columns] = statement.columns().map(({ name }) => name);
  return { table, columns, by, rows: (statement.all() as [number, ...Values][]).map(([of, ...values]) => [of, values]) };
}

/** Rows that one statement inserts. */
const rowsAtOnce = 32;

/** A writer of the rows up to a commit and its object. */
function writerOf(db: Database.Database, { table, columns, by, rows }: Rows): (upTo: Record<Rows['by'], number>) => void {
  const one = `(${columns.map(() => '?').join(', ')})`;
  const insert = (count: number) => db.prepare(`INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES ${Array(count).fill(one).join(', ')}`);
  const statements = new Map<number, Database.Statement>();
  let at = 0;
  return (upTo) => {
    let end = at;
    while (end < rows.length && (rows[end]?.[0] ?? 0) <= upTo[by]) end++;
    for (; at < end; at += rowsAtOnce) {
      const some = rows.slice(at, Math.min(end, at + rowsAtOnce));
      const statement = statements.get(some.length) ?? insert(some.length);
      statements.set(some.length, statement);
      statement.run(...some.flatMap(([, values]) => values));
    }
    at = end;
  };
}

const source = open(from, true);
const tables = [
  readRows(source, 'artifact', 'object', 't.no'),
  readRows(source, 'block', 'object', '(SELECT MIN(no) FROM artifact WHERE block = t.no)'),
  readRows(source, 'derived.outline', 'object', 't.artifact'),
  readRows(source, 'commits', 'commit', 't.seq'),
  readRows(source, 'record', 'commit', 't.context'),
  readRows(source, 'derived.usageCall', 'commit', 't.context'),
  readRows(source, 'source', 'commit', '(SELECT MAX(value) FROM json_each(t.tips))'),
];
/** The last commit of each transaction, with the last object before it. */
const ends = source
  .prepare('SELECT MAX(seq) AS "commit", MAX(artifact) AS object FROM commits GROUP BY sessionId ORDER BY 1')
  .all()
  .filter((_, at, all) => at % Number(many) === Number(many) - 1 || at === all.length - 1) as Record<Rows['by'], number>[];
const packs = Buffer.concat(
  readdirSync(join(from, 'objects'))
    .filter((name) => name.endsWith('.pack'))
    .map((name) => readFileSync(join(from, 'objects', name))),
);
source.close();

/** Writes everything, transaction by transaction, and returns the milliseconds. */
function write(folder: string): number {
  const db = open(folder, false);
  const writers = tables.map((rows) => writerOf(db, rows));
  const pack = openSync(join(folder, 'objects', 'bare.pack'), 'w');
  const share = Math.ceil(packs.length / ends.length);
  const began = performance.now();
  for (const [at, end] of ends.entries()) {
    db.exec('BEGIN IMMEDIATE');
    writeSync(pack, packs, at * share, Math.max(0, Math.min(share, packs.length - at * share)));
    for (const writer of writers) writer(end);
    fdatasyncSync(pack);
    db.exec('COMMIT');
  }
  const ms = performance.now() - began;
  db.close();
  return ms;
}

const parse = `const { readFileSync } = require('node:fs');
for (const file of require('node:worker_threads').workerData) {
  const bytes = readFileSync(file);
  for (let start = 0, end; (end = bytes.indexOf(10, start)) >= 0; start = end + 1) JSON.parse(bytes.toString('utf8', start, end));
}`;
openEngine(to).close();
const files = readdirSync(folder).map((name) => join(folder, name));
const began = performance.now();
const parsing = new Worker(parse, { eval: true, workerData: files });
parsing.on('exit', () => console.log(JSON.stringify({ writeMs, parseMs: performance.now() - began })));
const writeMs = write(to);
