import { dirname } from 'node:path';
import type { FoundFile } from './files.js';

/**
 * The order of an import: the folder with the newest file first, so that recent work appears first. Inside a folder the oldest file comes first,
 * because a session can continue an earlier one of the same folder. Folders named by a date, as in Codex, count as one.
 */
export function importOrder(files: readonly FoundFile[]): FoundFile[] {
  const newest = new Map<string, number>();
  const keys = new Map(files.map((file) => [file, groupOf(file.path)]));
  const findKey = (file: FoundFile): string => keys.get(file) ?? '';
  for (const file of files) newest.set(findKey(file), Math.max(newest.get(findKey(file)) ?? 0, file.modifiedAt));
  const lastOf = (file: FoundFile): number => newest.get(findKey(file)) ?? 0;
  return files.toSorted((a, b) => lastOf(b) - lastOf(a) || compare(findKey(a), findKey(b)) || a.modifiedAt - b.modifiedAt || compare(a.path, b.path));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The folder, without the parts that are dates or a session's own folder of subagents. */
function groupOf(path: string): string {
  const folder = dirname(path).replace(/[\\/][^\\/]+[\\/]subagents$/, '');
  return folder.replace(/([\\/]\d{1,4}){1,3}$/, '');
}
