import type Database from 'better-sqlite3';
import { corrupt, firstOf, inWords } from '../base/index.js';
import { derivedApart, migrations } from './migrations/index.js';

type Kind = 'table' | 'virtual table' | 'index' | 'view' | 'trigger';

/** An object of a database's schema. */
export interface SchemaObject {
  readonly kind: Kind;
  readonly name: string;
}

/** Objects of SQLite itself. No statement can create such a name. */
const ofSqlite = /^sqlite_(autoindex_\w+|sequence|stat[1-4])$/;

/** The tables that earlier formats called by another name, which their files and backups still do. */
const renamed: Readonly<Record<string, string>> = { context: 'commits' };

/** What a table of any format is called now. */
export const presentName = (name: string): string => (Object.hasOwn(renamed, name) ? (renamed[name] as string) : name);

/** The table with this name, or with the one that another format gives it. */
export const tableNamed = <Table extends { readonly name: string }>(tables: readonly Table[], name: string): Table | undefined =>
  tables.find((table) => table.name === name) ?? tables.find((table) => presentName(table.name) === presentName(name));

/** The tables and indexes that exist after the given migration steps. Stemma makes no views, no triggers and no virtual tables in its record. */
function objectsAfter(steps: readonly string[]): SchemaObject[] {
  const known = new Map<string, Kind>();
  const statements = /\b(CREATE|DROP|ALTER)\s+(?:UNIQUE\s+)?(TABLE|INDEX)\s+(?:IF EXISTS\s+)?(\w+)(?:\s+RENAME\s+TO\s+(\w+))?/g;
  for (const step of steps)
    for (const [, verb, noun, name = '', renamed] of step.replaceAll(/--.*$/gm, '').matchAll(statements))
      if (verb === 'CREATE') known.set(name, noun === 'INDEX' ? 'index' : 'table');
      else if (verb === 'DROP') known.delete(name);
      else if (renamed !== undefined) {
        known.delete(name);
        known.set(renamed, 'table');
      }
  return [...known].map(([name, kind]) => ({ name, kind }));
}

/** The objects of a database's schema, as its file describes them. */
export const schemaOf = (raw: Database.Database): SchemaObject[] =>
  raw
    .prepare("SELECT CASE WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'virtual table' ELSE type END AS kind, name FROM sqlite_schema")
    .all() as SchemaObject[];

/** Before format 21, the database contained triggers of these names for row checksums. The migration drops them before it changes a row. */
const lastWithTriggers = 20;
export const formerTrigger = /^\w+Sum(Inserted|Updated)$/;

/** Derived tables of earlier formats, with their indexes. One migration step drops them. */
const formerDerived = /^(?:outline|principalCommit|runSum|search(?:Entry|State|Words(?:_[a-z]+)?)|usage[A-Z]\w*)$/;

/** Whether an earlier version of Stemma made this object in databases of its time. */
function isFormer({ kind, name }: SchemaObject, version: number): boolean {
  if (kind === 'trigger') return version <= lastWithTriggers && formerTrigger.test(name);
  return kind !== 'view' && version <= migrations.indexOf(derivedApart) && formerDerived.test(name);
}

/**
 * Refuses a database with objects that Stemma did not create. SQLite runs a trigger when a row changes and a view when it is read,
 * so call this before any row is read or changed. @throws CORRUPT with the names.
 */
export function refuseForeignObjects(raw: Database.Database, version: number): void {
  if (version < 0) throw corrupt('stemma.db', `the database has the format version ${version}; run "stemma fsck --repair" to restore it`);
  const textOf = ({ kind, name }: SchemaObject): string => `${kind} ${name}`;
  const own = new Set(objectsAfter(migrations.slice(0, version)).map(textOf));
  const foreign = schemaOf(raw).filter((object) => !own.has(textOf(object)) && !ofSqlite.test(object.name) && !isFormer(object, version));
  if (foreign.length === 0) {
    refuseMissingTables(raw, version);
    return;
  }
  const names = foreign.map(({ kind, name }) => `the ${kind} ${inWords(name)}`);
  throw corrupt(
    'stemma.db',
    `stemma.db contains ${firstOf(names, 5)}, which Stemma did not create; none of it was run. "stemma fsck --repair" copies the rows into a new database without it`,
    { foreign: foreign.map(textOf) },
  );
}

function refuseMissingTables(raw: Database.Database, version: number): void {
  const found = new Set(schemaOf(raw).map(({ name }) => name));
  const missing = tablesAfter(migrations.slice(0, version)).filter((name) => !found.has(name));
  if (missing.length > 0)
    throw corrupt('stemma.db', `stemma.db does not contain the table ${missing.join(', ')}; run "stemma fsck --repair" to restore it`);
}

/** The tables that exist after the given migration steps. */
export const tablesAfter = (steps: readonly string[]): string[] => objectsAfter(steps).flatMap(({ kind, name }) => (kind === 'table' ? name : []));
