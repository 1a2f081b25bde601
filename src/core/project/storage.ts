import { readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type DiskArea, diskAreas, goneWhys, policies, type StorageReport } from '../contract/index.js';
import type { OpenDatabase } from '../store/index.js';
import { database, type ProjectFolder } from './folder.js';

/** Every file of a project's folder, by its path from there. One that goes while we look weighs nothing. */
function filesOf(dir: string): { readonly path: string; readonly bytes: number }[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => {
      const path = join(file.parentPath, file.name);
      return { path: relative(dir, path), bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
    });
}

/** The database with its journal folded in: what is in the journal alone counts, the room that the journal takes does not. */
const databaseBytes = (db: OpenDatabase): number =>
  db.one<{ bytes: number }>('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')?.bytes ?? 0;

/** What a project takes for good, caches included: its folder, with the room of the journal left out. */
export const storedBytes = ({ dir, db }: Pick<ProjectFolder, 'dir' | 'db'>): number =>
  filesOf(dir)
    .filter(({ path }) => !isOfDatabase(path))
    .reduce((sum, { bytes }) => sum + bytes, databaseBytes(db));

/**
 * What takes the space of a project: bytes on disk by what they serve, which but for the journal add up to `storedBytes`, and objects by
 * their policy. Tables are weighed one by one, with a chance for others between them: a large database is read from end to end for it.
 */
export function* storageOf({ dir, db, chain }: Pick<ProjectFolder, 'dir' | 'db' | 'chain'>): Generator<undefined, StorageReport> {
  const weights = new Map<DiskArea, number>();
  const add = (area: DiskArea, bytes: number): void => void weights.set(area, (weights.get(area) ?? 0) + bytes);
  for (const { path, bytes } of filesOf(dir)) if (path !== database) add(areaOfFile(path), bytes);
  add('free', databaseBytes(db));
  for (const { name } of db.all<{ name: string }>("SELECT 'sqlite_schema' AS name UNION ALL SELECT name FROM sqlite_schema WHERE rootpage > 0")) {
    const bytes = db.one<{ bytes: number }>('SELECT pgsize AS bytes FROM dbstat WHERE name = ? AND aggregate = TRUE', name)?.bytes ?? 0;
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
    gone: goneWhys.map((why) => ({ why, count: objects.reduce((sum, { gone, count }) => sum + (gone === why ? count : 0), 0) })),
  };
}

/** The database, its journal, and the index of that. */
const isOfDatabase = (path: string): boolean => path === database || path.startsWith(`${database}-`);

function areaOfFile(path: string): DiskArea {
  if (path.startsWith(`objects${sep}snapshots${sep}`)) return 'caches';
  if (path.startsWith(`objects${sep}`)) return 'content';
  if (isOfDatabase(path)) return 'journal';
  return path.startsWith(`${database}.`) ? 'backups' : 'history';
}

const areasOfTables: readonly (readonly [RegExp, DiskArea])[] = [
  [/^(artifact|block|pack|sqlite_autoindex_pack)/, 'content'],
  [/^search/, 'search'],
  [/^(outline|record|materialized|principalCommit)$/, 'reading'],
  [/^(request|capture)/, 'requests'],
];
const areaOfTable = (name: string): DiskArea => areasOfTables.find(([names]) => names.test(name))?.[1] ?? 'history';
