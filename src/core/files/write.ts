import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, promises, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { badRequest, StemmaError } from '../base/index.js';
import { absolutePath } from './home.js';
import { privateFile, privateFolder, restrictNew, setPermissions } from './private.js';
import { fileErrorCode, unlessRefused } from './reasons.js';

/**
 * Makes a folder and the missing folders above it, for their owner alone, and syncs the folders that received an entry.
 * Node's own `recursive` never returns on file systems such as /proc, which report an existing folder as missing.
 * @throws the error of the file system (ENOTDIR, EACCES, EROFS ...).
 */
export function makeFolders(dir: string): void {
  const missing: string[] = [];
  for (let at = resolve(dir); !isFolder(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const [index, each] of missing.reverse().entries()) {
    try {
      mkdirSync(each, privateFolder);
      // The folders in it get its access list.
      if (index === 0) restrictNew(each);
    } catch (error) {
      // Another process may have made it meanwhile.
      if (!isFolder(each)) throw error;
    }
    syncFolder(dirname(each));
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Writes a new file durably: its bytes and its name survive a power cut. Never overwrites.
 * @throws CONFLICT if the path is taken; BAD_REQUEST if the folder does not exist or may not be written to.
 */
export function writeNew(path: string, bytes: Uint8Array | string): void {
  writeNewParts(path, [bytes]);
}

/** As {@link writeNew}, one part at a time. If a part fails, no file remains. */
export function writeNewParts(path: string, parts: Iterable<Uint8Array | string>): void {
  const file = openNewFile(path);
  try {
    for (const part of parts) file.write(part);
    file.finish();
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** Begins a new file for its owner alone. @throws as {@link writeNew} */
export function openNewFile(given: string) {
  const path = absolutePath(given);
  const file = openNew(path);
  let size = 0;
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    write: (part: Uint8Array | string): void => {
      writeFileSync(file, part);
      size += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
    },
    /** Syncs and closes it. Returns its size in bytes. */
    finish: (): number => {
      fsyncSync(file);
      close();
      syncFolder(dirname(path));
      return size;
    },
    /** Closes and removes it. */
    discard: (): void => {
      close();
      rmSync(path, { force: true });
    },
  };
}

/**
 * Replaces a file, or creates it. After a power cut or a full disk the path holds the old bytes or the new ones and no mix of them (T34).
 * @param mode the new file's mode; by default it is for its owner alone.
 * @throws the error of the file system (ENOSPC, EACCES, EROFS ...); then the old file is unchanged.
 */
export function replaceFile(path: string, bytes: Uint8Array | string, mode = privateFile): void {
  const beside = `${path}.${randomUUID().slice(0, 8)}.part`;
  try {
    const file = openSync(beside, 'wx', privateFile);
    try {
      if (mode !== privateFile) setPermissions(file, mode);
      writeFileSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameDurably(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** Renames a file or folder whose content is already synced, and syncs the folders on both sides. @throws the error of the file system. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
  if (dirname(from) !== dirname(to)) syncFolder(dirname(from));
}

/** Syncs a file's bytes to the disk. @throws the error of the file system. */
export const syncFile = (path: string): void => syncOpened(openSync(path, 'r+'));

/** Syncs an open file or folder, and closes it. */
function syncOpened(opened: number): void {
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** As {@link syncFolder}, without blocking the thread, because a folder may be on another machine. @throws the error of the disk (EIO ...). */
export async function syncFolderLater(dir: string): Promise<void> {
  let folder: promises.FileHandle | undefined;
  try {
    folder = await promises.open(dir, 'r');
    await folder.sync();
  } catch (error) {
    if (!cannotSync.includes(fileErrorCode(error) ?? '')) throw error;
  } finally {
    await folder?.close();
  }
}

/** File systems that cannot open or sync a folder: Windows, and some network and user-space file systems. */
const cannotSync = ['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'];

/** Syncs the names in a folder to the disk, if the file system supports that. @throws the error of the disk (EIO ...). */
export const syncFolder = (dir: string): void => unlessRefused(() => syncOpened(openSync(dir, 'r')), cannotSync);

function openNew(path: string): number {
  try {
    return openSync(path, 'wx', privateFile);
  } catch (error) {
    const code = fileErrorCode(error);
    if (code === 'EEXIST') throw new StemmaError('CONFLICT', `Cannot write ${path}: it already exists, and Stemma overwrites no file.`, { path });
    if (code === 'ENOENT' || code === 'ENOTDIR') throw badRequest('path', `Cannot write ${path}: its folder does not exist.`);
    if (code === 'EACCES' || code === 'EPERM') throw badRequest('path', `Cannot write ${path}: you may not write in that folder.`);
    if (code === 'EROFS') throw badRequest('path', `Cannot write ${path}: the disk is read-only.`);
    throw error;
  }
}
