import { basename, dirname, join } from 'node:path';
import { type LocatedFile, listInside } from '../files/index.js';
import { unlessUnreadable } from './files.js';

/** Agents sort sessions into folders of years, months and days. */
const ofADate = /^\d{1,4}$/;
const deepest = 3;
/** Agents compress old transcripts. */
const endings = ['.jsonl', '.jsonl.zst'];

/** Whether a transcript's name of another one can be a session's id. A shorter text would be a part of strangers' names, too. */
export const isSessionName = (name: string): boolean => /^[\w-]{8,64}$/.test(name);

/**
 * Finds the transcript of the session that this one continues: beside it or in the folder of another day, with a name that ends in `part`.
 * `part` comes from a transcript, so it is only compared with existing names and not used as a path (T13).
 */
export function fileNear(path: string, part: string): LocatedFile | undefined {
  if (!isSessionName(part)) return undefined;
  let top = dirname(path);
  for (let up = 0; up < deepest && ofADate.test(basename(top)); up++) top = dirname(top);
  const search = (folder: string, depth: number): string | undefined => {
    for (const entry of (unlessUnreadable(() => listInside(top, folder)) ?? []).sort((a, b) => (a.name < b.name ? 1 : -1))) {
      const inside = join(folder, entry.name);
      if (entry.isFile() && endings.some((ending) => entry.name.endsWith(`${part}${ending}`)) && inside !== path) return inside;
      const found = entry.isDirectory() && depth < deepest && ofADate.test(entry.name) ? search(inside, depth + 1) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const found = search(top, 0);
  return found === undefined ? undefined : { root: top, path: found };
}
