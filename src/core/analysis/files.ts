import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { badRequest, defined, onceFor } from '../base/index.js';
import type { AnalysisFormat } from '../contract/index.js';
import { makeFolders, openNewFile, writeNew } from '../files/index.js';
import type { ConfinedDatabase } from '../store/index.js';
import { dayMs, monthOfDay } from '../usage/index.js';
import { type ParquetColumn, parquetFile } from './parquet.js';
import type { Statement } from './question.js';
import { schemaPage } from './schema-page.js';
import { KindChanged, type ParquetValue } from './values.js';
import { type View, type ViewColumnKind, viewList } from './views.js';

export interface WrittenFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Bytes that are collected before they are written. */
const atOnce = 256 * 1024;

/** Writes the rows of a statement to a new file. If it fails, no file remains. @throws as `ConfinedDatabase.select`; CONFLICT if the path is taken */
export function writeAnswer(db: ConfinedDatabase, statement: Statement, format: AnalysisFormat, path: string): WrittenFile {
  try {
    return writeRows(db, statement, path, (columns) => encoderOf(format, columns));
  } catch (error) {
    if (!(error instanceof KindChanged)) throw error;
    // Rare: the first 16,384 values of a column are integers, and a later one is not.
    return writeRows(db, statement, path, (columns) => encoderOf(format, columns, kindsOf(db, statement, columns.length)));
  }
}

function writeRows(db: ConfinedDatabase, { sql, values }: Statement, path: string, encoderFor: (columns: readonly string[]) => Encoder): WrittenFile {
  // A wrong statement leaves no file.
  const found = db.select(sql, values);
  const encode = encoderFor(found.columns);
  const file = openNewFile(path);
  try {
    let rows = 0;
    file.write(encode.begin);
    for (const row of found.rows()) {
      rows += 1;
      for (const part of encode.row(row)) file.write(part);
    }
    for (const part of encode.end()) file.write(part);
    return { path, rows, bytes: file.finish() };
  } catch (error) {
    file.discard();
    throw error;
  }
}

type Row = readonly ParquetValue[];

interface Encoder {
  readonly begin: string;
  row(row: Row): readonly (Uint8Array | string)[];
  end(): readonly (Uint8Array | string)[];
}

function encoderOf(format: AnalysisFormat, columns: readonly string[], kinds: readonly ViewColumnKind[] = []): Encoder {
  switch (format) {
    case 'csv':
      return lines(csvLine, csvLine(columns));
    case 'jsonl':
      return lines((row) => `${JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null])))}\n`);
    case 'parquet': {
      const names = new Set<string>();
      const file = parquetFile(columns.map((name, at) => ({ name: unusedName(name, names), ...defined({ kind: kinds[at] }) })));
      return { begin: '', row: file.add, end: file.end };
    }
  }
}

/** Two columns of a statement may have the same name, and those of a file may not. */
function unusedName(name: string, names: Set<string>): string {
  let unused = name === '' ? 'column' : name;
  for (let at = 2; names.has(unused); at++) unused = `${name}_${at}`;
  names.add(unused);
  return unused;
}

function lines(write: (row: Row) => string, begin = ''): Encoder {
  let text = '';
  const take = (): string[] => {
    const all = text;
    text = '';
    return all === '' ? [] : [all];
  };
  return {
    begin,
    row: (row) => {
      text += write(row);
      return text.length < atOnce ? [] : take();
    },
    end: take,
  };
}

/** A line of RFC 4180. Null is nothing, and an empty text is a pair of quotes. */
const csvLine = (row: Row): string =>
  `${row.map((value) => (typeof value === 'string' ? (value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value) : (value ?? ''))).join(',')}\n`;

/** The kinds of the columns of a statement, from all of its values: SQLite has types of values and none of columns. */
function kindsOf(db: ConfinedDatabase, { sql, values }: Statement, columns: number): ViewColumnKind[] {
  const kinds = new Array<ViewColumnKind | undefined>(columns).fill(undefined);
  let left = columns;
  for (const row of db.select(sql, values).rows()) {
    for (let at = 0; at < columns && left > 0; at++) {
      const value = row[at] ?? null;
      if (value === null || kinds[at] === 'text') continue;
      if (typeof value === 'string') {
        kinds[at] = 'text';
        left -= 1;
      } else kinds[at] = Number.isInteger(value) && kinds[at] !== 'number' ? 'count' : 'number';
    }
    if (left === 0) break;
  }
  return kinds.map((kind) => kind ?? 'text');
}

/** Bytes of the rows of all open files that wait for their group at most. More need more memory. */
const mostWaiting = 16 * 1024 * 1024;
/** Rows after which these bytes are counted. */
const countEvery = 4_096;

/** Writes all views, with times as numbers, as a folder `VIEW/month=2026-01/part-0.parquet` with a schema page. An error leaves no folder. */
export function writeDataset(db: ConfinedDatabase, path: string, projectName: string): WrittenFile {
  makeFolders(path);
  try {
    let [rows, bytes] = [0, 0];
    const counts: [name: string, rows: number][] = [];
    for (const view of viewList) {
      const written = writeView(db, view, path);
      rows += written.rows;
      bytes += written.bytes;
      counts.push([view.name, written.rows]);
    }
    const page = schemaPage(projectName, counts);
    writeNew(join(path, 'README.md'), page);
    return { path, rows, bytes: bytes + Buffer.byteLength(page) };
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    throw error;
  }
}

type Part = ReturnType<typeof newPart>;

function writeView(db: ConfinedDatabase, view: View, folder: string): { readonly rows: number; readonly bytes: number } {
  const columns = view.columns.filter(({ isContent }) => !isContent);
  const at = columns.findIndex(({ name }) => name === view.month);
  const parts = new Map<string, Part>();
  const monthAt = onceFor(monthOfDay);
  let [rows, bytes] = [0, 0];
  const write = ({ file }: Part, groups: readonly Uint8Array[]): void => {
    for (const group of groups) file.write(group);
  };
  try {
    for (const row of db.select(`SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${view.name}`).rows()) {
      const month = monthOf(row[at] ?? null, monthAt);
      const part = parts.get(month) ?? newPart(join(folder, view.name, `month=${month}`), columns);
      parts.set(month, part);
      rows += 1;
      write(part, part.parquet.add(row));
      if (rows % countEvery === 0) for (const each of tooLarge([...parts.values()])) write(each, each.parquet.flush());
    }
    for (const part of parts.values()) {
      write(part, part.parquet.end());
      bytes += part.file.finish();
    }
    return { rows, bytes };
  } catch (error) {
    for (const { file } of parts.values()) file.discard();
    throw error;
  }
}

/** The parts whose rows are written now, the largest first, so that those of all open files need little memory. */
function tooLarge(parts: readonly Part[]): readonly Part[] {
  const sizes = parts.map((part) => ({ part, bytes: part.parquet.bytes() })).sort((a, b) => b.bytes - a.bytes);
  let waiting = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const large: Part[] = [];
  for (const { part, bytes } of sizes) {
    if (waiting <= mostWaiting) break;
    waiting -= bytes;
    large.push(part);
  }
  return large;
}

function newPart(folder: string, columns: readonly ParquetColumn[]) {
  makeFolders(folder);
  return { file: openNewFile(join(folder, 'part-0.parquet')), parquet: parquetFile(columns) };
}

/** The month of a time or a day, in UTC. */
function monthOf(value: ParquetValue, monthAt: typeof monthOfDay): string {
  if (value === null) return 'unknown';
  return typeof value === 'string' ? value.slice(0, 7) : monthAt(Math.floor(value / dayMs));
}

/** Refuses an export whose input cannot be written. @throws BAD_REQUEST */
export function checkExport({ dataset, format }: { readonly dataset?: true | undefined; readonly format: AnalysisFormat }): void {
  if (dataset && format !== 'parquet') throw badRequest('format', `A dataset is written as parquet, not as ${format}.`);
}
