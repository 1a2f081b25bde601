import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { attempt } from '../base/index.js';
import { fileErrorCode } from './reasons.js';

/**
 * The real path of a file or folder: without links, and with the names as the disk has them, so that two spellings of one path on a disk without
 * case are one path. @throws the error of the file system (ENOENT ...).
 */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    // Some virtual disks of Windows know no real paths.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(fileErrorCode(error) ?? '')) throw error;
    return realpathSync(path);
  }
}

/** As {@link realPath}; undefined if the file system refuses. */
export const realPathIfExists = (path: string): string | undefined => attempt(() => realPath(path));

/** As {@link realPath}. If the end of the path does not exist, the existing part is resolved. */
export function realPathOf(path: string): string {
  const real = realPathIfExists(path);
  if (real !== undefined) return real;
  const full = resolve(path);
  const parent = dirname(full);
  return parent === full ? full : join(realPathOf(parent), basename(full));
}
