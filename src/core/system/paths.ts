import { nameProblem } from './names.js';
import { pathRules, type System, thisSystem } from './system.js';

/** Whether names that differ only in case mean the same file, as the disks of a system usually have it. */
export const ignoresCase = (system: System): boolean => system !== 'linux';

/** A path in the form in which a system compares it: two paths of one file have the same form, unless a link or a short name is between them. */
export function comparable(path: string, system: System = thisSystem): string {
  const plain = pathRules(system).resolve(path);
  // macOS stores names in composed or decomposed form and finds both.
  return ignoresCase(system) ? plain.normalize('NFC').toLowerCase() : plain;
}

/** Whether a path is the folder or lies below it. */
export function isWithin(path: string, folder: string, system: System = thisSystem): boolean {
  const { sep } = pathRules(system);
  const [inner, outer] = [comparable(path, system), comparable(folder, system)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

/** The last part of a path of any system: a history may come from another machine. */
export const lastName = (path: string): string => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

/** Why a path below a folder cannot be used on a system: it leaves the folder, or a part of it is no name there. Undefined if it can be used. */
export function outsideProblem(root: string, path: string, system: System): string | undefined {
  const { isAbsolute, relative, resolve, sep } = pathRules(system);
  const folder = resolve(root);
  const below = relative(folder, resolve(folder, path));
  if (below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) || path.includes('\0')) return `is not inside ${folder}`;
  // Windows removes dots and spaces at the end of a name and opens devices and streams, so the name that is checked is not the file that is opened.
  const given = system === 'windows' ? below.split(sep) : [];
  for (const name of given) {
    const problem = nameProblem(name, system);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Whether a path leads to another machine: Windows sends the person's password hash to the machine that such a path names, so a path from a history
 * is not even looked at. The Linux systems inside Windows are on this machine.
 */
export function isOnNetwork(path: string, system: System = thisSystem): boolean {
  if (system !== 'windows') return false;
  const plain = path.replaceAll('/', '\\');
  if (/^\\\\[?.]\\unc\\/i.test(plain)) return isOnNetwork(`\\\\${plain.slice(8)}`, system);
  // `\\?\C:\` and `\\.\C:\` are local; other names there are devices and pipes, which are not looked at either.
  if (/^\\\\[?.]\\/.test(plain)) return !/^\\\\[?.]\\[a-z]:(?:\\|$)/i.test(plain);
  return plain.startsWith('\\\\') && !/^\\\\wsl(?:\.localhost|\$)\\/i.test(plain);
}

/** The longest path that a program of Windows without support for long paths opens. */
const longestPath = 247;

/**
 * A path in the form that a library without Node's own handling of long paths opens, such as SQLite: on Windows, a path of more than 247 characters
 * gets the prefix `\\?\`.
 */
export function longPath(path: string, system: System = thisSystem): string {
  if (system !== 'windows' || path.length <= longestPath) return path;
  return pathRules(system).toNamespacedPath(path);
}
