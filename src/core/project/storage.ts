import { readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type DiskArea, diskAreas, goneWhys, policies, type StorageReport } from '../contract/index.js';
import type { ProjectFolder } from './folder.js';

/** Every file of a project's folder, by its path from there. One that goes while we look weighs nothing. */
function filesOf(dir: string): { readonly path: string; readonly bytes: number }[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => {
      const path = join(file.parentPath, file.name);
      return { path: relative(dir, path), bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
    });
}

/** What the folder weighs on disk, caches included. */
export const folderBytes = (dir: string): number => filesOf(dir).reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * What takes the space of a project: bytes on disk by what they serve, which add up to the folder's, and objects by their policy. Tables
 * are weighed one by one, with a chance for others between them: a large database is read from end to end for it.
 */
export function* storageOf({ dir, db, chain }: Pick<ProjectFolder, 'dir' | 'db' | 'chain'>): Generator<undefined, StorageReport> {
  const weights = new Map<DiskArea, number>();
  const add = (area: DiskArea, bytes: number): void => void weights.set(area, (weights.get(area) ?? 0) + bytes);
  for (const { path, bytes } of filesOf(dir)) add(areaOfFile(path), bytes);
  for (const { name } of db.all<{ name: string }>('SELECT name FROM sqlite_schema WHERE rootpage > 0')) {
    const bytes = db.one<{ bytes: number }>('SELECT pgsize AS bytes FROM dbstat WHERE name = ? AND aggregate = TRUE', name)?.bytes ?? 0;
    add(areaOfTable(name), bytes);
    // A table may still stand in the journal alone; what is left of file and journal in the end holds no table.
    add('journal', -bytes);
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

function areaOfFile(path: string): DiskArea {
  if (path.startsWith(`objects${sep}snapshots${sep}`)) return 'caches';
  if (path.startsWith(`objects${sep}`)) return 'content';
  if (path === 'stemma.db' || path.startsWith('stemma.db-')) return 'journal';
  return path.startsWith('stemma.db.') ? 'backups' : 'history';
}

const areasOfTables: readonly (readonly [RegExp, DiskArea])[] = [
  [/^(artifact|block|pack|sqlite_autoindex_pack)/, 'content'],
  [/^search/, 'search'],
  [/^(outline|record|materialized|principalCommit)$/, 'reading'],
  [/^(request|capture)/, 'requests'],
];
const areaOfTable = (name: string): DiskArea => areasOfTables.find(([names]) => names.test(name))?.[1] ?? 'history';
