import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { derivedFile, openDatabase } from '../../../src/core/store/index.js';
import { scratch } from '../../support/project.js';

const file = join(import.meta.dirname, '../../../docs/data-model.md');

interface Table {
  readonly columns: string;
  readonly references: string;
}

/** The tables of a new project, without SQLite's own and those inside the full-text index. */
function tables(): ReadonlyMap<string, Table> {
  const path = join(scratch(), 'stemma.db');
  openDatabase(path).close();
  return new Map([path, derivedFile(path)].flatMap((each) => [...tablesIn(each)]));
}

function tablesIn(path: string): ReadonlyMap<string, Table> {
  const raw = new Database(path, { readonly: true });
  const list = (sql: string, table: string): string[] => raw.prepare(sql).pluck().all(table) as string[];
  const names = raw
    .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[];
  const found = new Map(
    names.map((name) => [
      name,
      {
        columns: list("SELECT name FROM pragma_table_info(?) WHERE name <> 'rowSum' ORDER BY cid", name)
          .map((column) => `\`${column}\``)
          .join(', '),
        references: list(`SELECT '\`' || "from" || '\` to ' || "table" FROM pragma_foreign_key_list(?) ORDER BY 1`, name).join(', ') || 'none',
      },
    ]),
  );
  raw.close();
  return found;
}

/** The document with the generated lines of each table as the schema has them. */
function withTables(text: string, schema: ReadonlyMap<string, Table>): string {
  return text.replace(/^### (\w+)\n[^#]*/gm, (section, name: string) =>
    section
      .replace(/^- Columns:.*$/m, `- Columns: ${schema.get(name)?.columns ?? 'no such table'}`)
      .replace(/^- References:.*$/m, `- References: ${schema.get(name)?.references ?? 'no such table'}`),
  );
}

test('docs/data-model.md lists every table, column and reference of the schema', () => {
  const schema = tables();
  const text = readFileSync(file, 'utf8');
  if (process.env.UPDATE_DOCS) writeFileSync(file, withTables(text, schema));
  const documented = [...text.matchAll(/^### (\w+)$/gm)].map((match) => match[1] ?? '');
  expect(documented.toSorted()).toEqual([...schema.keys()].toSorted());
  expect(readFileSync(file, 'utf8')).toBe(withTables(text, schema));
});
