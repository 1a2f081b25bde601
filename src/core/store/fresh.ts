import type Database from 'better-sqlite3';
import { schemaOf } from './schema.js';

/** The statements that create a database of the current format, read from the first new database of this process. */
let statements: readonly string[] | undefined;

/**
 * Creates the tables of the current format in an empty database at once. Running all migration steps takes ten times as long, because each
 * step reads the whole schema again. Returns false until {@link rememberFresh} has read a database that the steps created.
 */
export function makeFresh(raw: Database.Database): boolean {
  if (statements === undefined) return false;
  raw.exec(statements.join(';\n'));
  return true;
}

/** Remembers the definitions of a new database that the migration steps have just created, unless a step inserted rows into a table. */
export function rememberFresh(raw: Database.Database): void {
  const own = schemaOf(raw).filter(({ name }) => !name.startsWith('sqlite_'));
  const hasRows = ({ kind, name }: (typeof own)[number]): boolean => kind === 'table' && raw.prepare(`SELECT 1 FROM "${name}"`).get() !== undefined;
  if (own.some(hasRows)) return;
  const definition = raw.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck();
  statements = own.map(({ name }) => definition.get(name) as string);
}
