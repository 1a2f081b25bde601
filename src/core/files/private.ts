import { chmodSync, fchmodSync, lstatSync, openSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { unlessRefused } from './reasons.js';

/** Modes of everything that Stemma writes: for its owner alone. Windows ignores them; there, the folder's access list protects what is in it. */
export const privateFile = 0o600;
export const privateFolder = 0o700;
/** Mode of a program that only its owner may read and run. */
export const privateProgram = 0o700;

/** The permissions that others than the owner have. */
const forOthers = 0o077;

/** Restricts a new folder, and all that will be in it, to its owner. */
type Restrict = (path: string) => void;

let restrict: Restrict | undefined;

/** Sets how files are made private on a system without modes. A host sets it in each thread, because that needs a process and core starts none. */
export function restrictWith(work: Restrict | undefined): void {
  restrict = work;
}

/** Makes a new folder or an empty file private by the system's access list, where modes do not do it. */
export const restrictNew = (path: string): void => restrict?.(path);

/** Creates an empty file that only its owner can read, before anything is written to it. @throws EEXIST if the path is taken. */
export function createPrivate(path: string): number {
  const file = openSync(path, 'wx', privateFile);
  restrictNew(path);
  return file;
}

/** The permissions of a file, for a file that replaces it. */
export const permissionsOf = ({ mode }: Stats): number => mode & 0o777;

/** Whether every user may pass through a folder to what is in it. */
export const othersMayEnter = ({ mode }: Stats): boolean => (mode & 0o001) !== 0;

/** Lets every user pass through a folder whose content stays private. A server that runs as another user needs it. */
export const letOthersPass = (folder: string): void => chmodSync(folder, 0o711);

/** Gives an open file permissions other than those that it was created with. */
export const setPermissions = (file: number, mode: number): void => fchmodSync(file, mode);

/** Does work that makes files by itself, so that only their owner can read them. Only the main thread of a process can do this. */
export function privately(work: () => void): void {
  const mask = process.umask(forOthers);
  try {
    work();
  } finally {
    process.umask(mask);
  }
}

/** Lets the owner, and nobody else, read and write a file, whatever it was before. */
export const makeOwn = (path: string): void => chmodSync(path, privateFile);

/** The user that this process acts as; undefined on Windows. */
const userId = (): number | undefined => process.geteuid?.();

const isOpenToOthers = (stat: Stats): boolean => userId() !== undefined && (stat.mode & forOthers) !== 0;

/**
 * Removes the access of other users to a file or folder that belongs to this user. Ignores links and missing paths. Does nothing on Windows, where
 * the folder was made private when it was created.
 */
export function makePrivate(path: string): void {
  unlessRefused(() => {
    // Changes the mode by path: opening and closing a database file would release SQLite's locks on it in this process.
    const stat = lstatSync(path);
    if (!(stat.isFile() || stat.isDirectory()) || !isOpenToOthers(stat) || stat.uid !== userId()) return;
    chmodSync(path, stat.mode & privateFolder);
  });
}

/**
 * Removes the access of other users to a folder and to what lies directly in it. If only the owner can enter the folder already, what lies
 * in it is left as it is, unless `always` is set.
 */
export function makePrivateFolder(dir: string, { always = false } = {}): void {
  unlessRefused(() => {
    const isOpen = isOpenToOthers(lstatSync(dir));
    makePrivate(dir);
    if (isOpen || always) for (const name of readdirSync(dir)) makePrivate(join(dir, name));
  });
}
