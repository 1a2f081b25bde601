import { dirname, isAbsolute, join, resolve } from 'node:path';
import { decodeText, repositoryOf } from '../base/index.js';
import { thisSystem } from '../system/index.js';
import { readInside, statInside } from './inside.js';

/** How many folders above a working folder are searched for the top of its checkout. */
const maxLevels = 12;
/** The file `.git` of a worktree names a folder of its repository. */
const maxBytes = 4_096;
const marks = 4_000;
const known = new Map<string, string>();

/**
 * The repository of a working folder. Where the folder is on this disk and is a worktree of Git, its file `.git` names the repository; else its path
 * does. The answer is kept: a worktree does not change its repository.
 */
export function repositoryAt(folder: string): string {
  const before = known.get(folder);
  if (before !== undefined) return before;
  if (known.size >= marks) known.clear();
  const named = repositoryOf(folder);
  const here = [named, folder].find(isOnThisMachine);
  const worktree = here === undefined ? undefined : worktreeOf(here);
  const found = worktree === undefined ? named : repositoryOf(worktree);
  known.set(folder, found);
  return found;
}

/**
 * Whether a folder that a history names may be looked at: an absolute path of this system. A path of a network would reach a server that the history
 * names.
 */
export const isOnThisMachine = (folder: string): boolean =>
  isAbsolute(folder) && !/^[\\/]{2}/.test(folder) && (thisSystem === 'windows') === /^[a-z]:/i.test(folder);

/** The repository of the worktree that a folder is in; undefined for any other folder. */
function worktreeOf(folder: string): string | undefined {
  let at = folder;
  for (let level = 0; level < maxLevels; level++) {
    const mark = readMark(at);
    if (mark === 'folder') return undefined;
    if (mark !== undefined) {
      const place = /^gitdir:\s*(.+?)\s*$/m.exec(mark)?.[1];
      // Windows and its Linux write each other's files: a path of Windows is absolute on both.
      const path = place === undefined ? '' : /^[a-z]:[\\/]/i.test(place) ? place : resolve(at, place);
      const repository = /^(.+)[/\\]worktrees[/\\][^/\\]+[/\\]?$/.exec(path)?.[1];
      // The folder of a repository without a checkout is the repository.
      return repository === undefined ? undefined : repository.replace(/[/\\]\.[^/\\]*$/, '') || '/';
    }
    const above = dirname(at);
    if (above === at) return undefined;
    at = above;
  }
  return undefined;
}

/** The file `.git` of a folder, or that it is a folder; undefined if there is neither. */
function readMark(folder: string): string | 'folder' | undefined {
  try {
    const path = join(folder, '.git');
    return statInside(folder, path) && decodeText(readInside(folder, path, { limit: maxBytes }));
  } catch {
    // A folder, a link or a file that cannot be read names no repository.
    return 'folder';
  }
}
