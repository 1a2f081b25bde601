import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { StemmaError } from '../base/index.js';
import type { ReadOnlyReason } from '../contract/index.js';
import { fileErrorCode } from '../files/index.js';

/** A project that is open for reading only, and the sentence that tells a person why. */
export interface ReadOnly {
  readonly mode: 'read-only';
  readonly reason: ReadOnlyReason;
  readonly message: string;
}

/** What may be done with an open project. */
export type Access = { readonly mode: 'read-write' } | ReadOnly;

export const readWrite: Access = { mode: 'read-write' };

/** The access of a project that may be read only. `message` says why, and ends without a period. */
export const readOnly = (reason: ReadOnlyReason, message: string): ReadOnly => ({ mode: 'read-only', reason, message });

/** Whether a project is read-only because it is not trusted on this machine. */
export const isUntrusted = (access: Access): boolean => access.mode === 'read-only' && access.reason === 'restricted';

/** Refuses a write. @throws UNAUTHORIZED for a restricted project; UNAVAILABLE if the disk or its rights do not allow it. */
export function requireWrite(access: Access): void {
  if (access.mode === 'read-only') throw refusalOf(access);
}

function refusalOf({ reason, message }: ReadOnly): StemmaError {
  return new StemmaError(reason === 'restricted' ? 'UNAUTHORIZED' : 'UNAVAILABLE', sentenceOf(message), { reason });
}

/** The error message for a write. */
export const sentenceOf = (message: string): string => `This project is open for reading only: ${message}.`;

/** Why this user cannot write to a project's folder or database. Undefined if the file system allows it, or does not say. */
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

/** Enough to open a project with a short log, in bytes. */
const enoughRoom = 1024 * 1024;

/** Whether the disk of a project that was full has some room again. */
export function hasRoom(dir: string): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize > enoughRoom;
}

/** The access that remains when opening a database for writing was refused. Undefined if the refusal is not the disk's. */
export function accessAfter(error: unknown, dir: string): ReadOnly | undefined {
  if (!(error instanceof StemmaError) || error.code !== 'UNAVAILABLE') return undefined;
  const reason = String(error.data.reason);
  if (!/^(disk full|ENOSPC|read-only|SQLITE_(CANTOPEN|IOERR_SHM).*)$/.test(reason)) return undefined;
  // SQLite does not say why it cannot create the index of its log.
  if (!hasRoom(dir)) return readOnly('disk-full', `the disk of ${dir} is full. Free some space and open it again`);
  return readOnly('permissions', `cannot write to ${dir} (${error.message})`);
}
