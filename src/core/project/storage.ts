import { readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type DiskArea, diskAreas, goneReasons, policies, type StorageReport } from '../contract/index.js';
import { derivedName, isDerivedName, type ReadableDb } from '../store/index.js';
import { database } from './manifest.js';
import type { ReadProject } from './reading.js';

/** Sizes of all files of a project's folder, by relative path. A file that disappears counts as 0. */
function measureFiles(dir: string): { readonly path: string; readonly bytes: number }[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => {
      const path = join(file.parentPath, file.name);
      return { path: relative(dir, path), bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
    });
}

/** The databases of a project: the record and, if it has a file, what is derived from it. */
const schemasOf = (db: ReadableDb): readonly string[] => db.column("SELECT name FROM pragma_database_list WHERE name IN ('main', 'derived')");

/** The size of the databases after a checkpoint of their journals. */
const databaseBytes = (db: ReadableDb): number => {
  const select = 'SELECT page_count * page_size FROM pragma_page_count(?), pragma_page_size(?)';
  return schemasOf(db).reduce((sum, schema) => sum + (db.value<number>(select, schema, schema) ?? 0), 0);
};

/** The size of a project, caches included, without the journal. */
export const storedBytes = ({ dir, db }: Pick<ReadProject, 'dir' | 'db'>): number =>
  measureFiles(dir)
    .filter(({ path }) => !isOfDatabase(path))
    .reduce((sum, { bytes }) => sum + bytes, databaseBytes(db));

/**
 * The space that a project uses: bytes on disk by purpose, which add up to `storedBytes` without the journal, and objects by
 * policy. Measuring reads the whole database, so it yields after each table to let other calls run.
 */
export function* storageOf({ dir, db, chain }: Pick<ReadProject, 'dir' | 'db' | 'chain'>): Generator<undefined, StorageReport> {
  const weights = new Map<DiskArea, number>();
  const add = (area: DiskArea, bytes: number): void => void weights.set(area, (weights.get(area) ?? 0) + bytes);
  for (const { path, bytes } of measureFiles(dir)) if (path !== database && path !== derivedName) add(areaOfFile(path), bytes);
  add('free', databaseBytes(db));
  for (const schema of schemasOf(db))
    for (const name of db.column<string>(`SELECT 'sqlite_schema' UNION ALL SELECT name FROM ${schema}.sqlite_schema WHERE rootpage > 0`)) {
      const bytes = db.value<number>('SELECT pgsize FROM dbstat(?) WHERE name = ? AND aggregate = TRUE', schema, name) ?? 0;
      add(areaOfTable(name), bytes);
      add('free', -bytes);
      yield;
    }
  const objects = chain.artifacts.byPolicy();
  const total = (rows: typeof objects, what: 'count' | 'bytes'): number => rows.reduce((sum, row) => sum + row[what], 0);
  const stays = objects.filter(({ gone }) => gone === null);
  return {
    logical: total(stays, 'bytes'),
    disk: diskAreas.map((area) => ({ area, bytes: Math.max(0, weights.get(area) ?? 0) })),
    objects: policies.map((policy) => {
      const own = stays.filter((row) => row.policy === policy);
      return { policy, count: total(own, 'count'), bytes: total(own, 'bytes') };
    }),
    gone: goneReasons.map((why) => ({ why, count: objects.reduce((sum, { gone, count }) => sum + (gone === why ? count : 0), 0) })),
  };
}

/** The databases, their journals, and the indexes of the journals. */
const isOfDatabase = (path: string): boolean => path === database || path.startsWith(`${database}-`) || isDerivedName(path);

function areaOfFile(path: string): DiskArea {
  if (path.startsWith(`objects${sep}snapshots${sep}`)) return 'caches';
  if (path.startsWith(`objects${sep}`)) return 'content';
  if (isOfDatabase(path)) return 'journal';
  return path.startsWith(`${database}.`) || path.startsWith(`backups${sep}`) ? 'backups' : 'history';
}

const areasOfTables: readonly (readonly [RegExp, DiskArea])[] = [
  [/^(artifact|block|pack|sqlite_autoindex_pack)/, 'content'],
  [/^search/, 'search'],
  [/^(outline|record|materialized|principalCommit|runSum|derived\w+)$/, 'reading'],
  [/^(request|capture|usage)/, 'requests'],
];
const areaOfTable = (name: string): DiskArea => areasOfTables.find(([names]) => names.test(name))?.[1] ?? 'history';
