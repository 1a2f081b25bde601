import type Database from 'better-sqlite3';
import { attach, begin, detach, writeFromSql } from './attach.js';
import { definitionsIn, derivedTables } from './tables.js';

/**
 * Attaches an empty file for derived data to a database of a format that kept it inside. Call it before the transaction that migrates. Returns a
 * function that copies the rows, for the step that drops them; undefined if the file cannot be made. The rows are rebuilt then.
 */
export function readyToMove(raw: Database.Database, file: string, mark: string | undefined): (() => void) | undefined {
  try {
    begin(file);
    attach(raw, file);
    raw.exec(definitionsIn('derived'));
    return () => move(raw, mark);
  } catch {
    detach(raw);
    return undefined;
  }
}

/**
 * Tables that are not copied but made again: the index of words has tables inside that only SQLite writes, outlines have their checksum elsewhere, and
 * sessions are stored by cluster now.
 */
const madeAgain = /^(?:search|derived|outline$|usageSession$|usageCommit$)/;

function move(raw: Database.Database, mark: string | undefined): void {
  const inside = new Set(raw.prepare('SELECT name FROM main.sqlite_schema').pluck().all());
  for (const table of derivedTables.filter((name) => inside.has(name) && !madeAgain.test(name))) {
    const before = readColumns(raw, table, 'main');
    const columns = readColumns(raw, table, 'derived')
      .filter((name) => before.includes(name))
      .map((name) => `"${name}"`)
      .join(', ');
    raw.exec(`INSERT INTO derived."${table}" (${columns}) SELECT ${columns} FROM main."${table}"`);
  }
  raw.exec(
    "INSERT INTO derived.derivedProgress (project, name, value) SELECT project, name, value FROM main.progress WHERE name <> 'usage sessions'",
  );
  raw.prepare(writeFromSql).run(mark ?? null);
}

/** The columns of a table. Later layouts have more than the format that kept the rows inside; those are filled when the facts are made again. */
const readColumns = (raw: Database.Database, table: string, schema: string): string[] =>
  raw.prepare('SELECT name FROM pragma_table_info(?, ?)').pluck().all(table, schema) as string[];
