import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputOf } from '../contract/index.js';
import { namesIn, removeInside } from '../files/index.js';
import { formatVersion, versionIn } from '../store/index.js';
import { database, findProjectIn } from './manifest.js';

/** A conversion first copies the database to its own name with this and the earlier format: `stemma.db.format-44`. */
export const beforeFormat = '.format-';

const copyName = new RegExp(`^${database}\\${beforeFormat}(?<from>\\d+)(?<part>\\.part)?$`);

/** Removes the copies of earlier formats, because a check has found no damage in what they were converted to. */
export function removeEarlierFormats(dir: string): void {
  for (const name of namesIn(dir)) if (copyName.test(name) && !name.endsWith('.part')) removeInside(dir, join(dir, name));
}

/**
 * Whether opening a project begins a conversion. It reads the file of the database, so no thread of this process may have the project open.
 * @throws NOT_FOUND if no project is at the path
 */
export function needsConversion(path: string): boolean {
  const file = join(findProjectIn(path).dir, database);
  const version = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0 ? versionIn(file) : 0;
  return version > 0 && version < formatVersion;
}

/**
 * How far the conversion of a project from an earlier format has come; null if its folder has no copy of one. Reads names and sizes only: to open
 * and close a file that this process has open would end SQLite's locks on it.
 * @throws NOT_FOUND if no project is at the path
 */
export function conversionOf(path: string): OutputOf<'project.conversion'> {
  const { dir } = findProjectIn(path);
  const size = (name: string): number => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0;
  const copies = namesIn(dir)
    .map((name) => copyName.exec(name))
    .filter((found) => found !== null);
  const copy = copies.find(({ groups }) => groups?.part !== undefined) ?? copies.at(-1);
  if (!copy) return null;
  const { from, part } = copy.groups ?? {};
  return {
    from: Number(from),
    to: formatVersion,
    isCopied: part === undefined,
    copied: size(copy[0]),
    bytes: size(database) + size(`${database}-wal`),
  };
}
