import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { StemmaError } from '../base/index.js';
import type { ReadOnlyReason } from '../contract/index.js';
import { fileErrorCode } from '../files/index.js';

/** The access of a read-only project, with the reason as a sentence for a person. */
export interface ReadOnly {
  readonly mode: 'read-only';
  readonly reason: ReadOnlyReason;
  readonly message: string;
}

/** The access to an open project. */
export type Access = { readonly mode: 'read-write' } | ReadOnly;

export const readWrite: Access = { mode: 'read-write' };

/** Creates read-only access. `message` is the reason, without a period at its end. */
export const readOnly = (reason: ReadOnlyReason, message: string): ReadOnly => ({ mode: 'read-only', reason, message });

/** Whether a project is read-only because it is not trusted on this machine. */
export const isUntrusted = (access: Access): boolean => access.mode === 'read-only' && access.reason === 'restricted';

/** Checks that a project may be written to. @throws UNAUTHORIZED for a restricted project; UNAVAILABLE if the disk or its permissions forbid it. */
export function requireWrite(access: Access): void {
  if (access.mode === 'read-write') return;
  const { reason, message } = access;
  throw new StemmaError(reason === 'restricted' ? 'UNAUTHORIZED' : 'UNAVAILABLE', sentenceOf(message), { reason });
}

/** The error message for a refused write. */
export const sentenceOf = (message: string): string => `This project is open for reading only: ${message}.`;

/** The reason why this user cannot write to a project's folder or database. Undefined if the file system reports no obstacle. */
export function deniedWrite(dir: string, paths: readonly string[]): ReadOnly | undefined {
  for (const path of [dir, ...paths.map((name) => join(dir, name))].filter(existsSync))
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      if (fileErrorCode(error) === 'EROFS')
        return readOnly('read-only-disk', `the disk of ${path} is read-only. Copy the project to another disk to change it`);
      return readOnly('permissions', `you have no permission to write to ${path}. Change its permissions, or copy the project to another folder`);
    }
  return undefined;
}

/** Free bytes that suffice to open a project with a short log. */
const enoughRoom = 1024 * 1024;

/** Whether the disk of a project has free space, for a project whose disk was full. */
export function hasRoom(dir: string, needed = enoughRoom): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize > needed;
}

/** The read-only access to use after opening a database for writing failed. Undefined if the disk was not the cause. */
export function accessAfter(error: unknown, dir: string): ReadOnly | undefined {
  if (!(error instanceof StemmaError) || error.code !== 'UNAVAILABLE') return undefined;
  const reason = String(error.data.reason);
  if (!/^(disk full|ENOSPC|read-only|SQLITE_(CANTOPEN|IOERR_SHM).*)$/.test(reason)) return undefined;
  // The conversion of an earlier format, which has not begun.
  if (typeof error.data.needed === 'number') return readOnly('disk-full', error.message);
  // SQLite gives no reason why it cannot create the index of its log, so the free space decides.
  if (!hasRoom(dir)) return readOnly('disk-full', `the disk of ${dir} is full. Free some space and open it again`);
  return readOnly('permissions', `cannot write to ${dir} (${error.message})`);
}
