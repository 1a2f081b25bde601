// A closed file of derived data has a seal beside it: its identity, size and times. It has no checksums, so this shows that another program wrote to it.
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { privateFile, readInside, stampOf } from '../../files/index.js';

const sealOf = (file: string): string => `${file}-seal`;

/** What changes with each write to a file. It includes `ctime`, which no program can set back. */
function readState(file: string): string | undefined {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat && stampOf(stat);
}

/** Whether a log with content is beside the file: it is in use, or the last program that used it was killed. */
const isOpen = (file: string): boolean => (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

const maxSealBytes = 400;

/** Whether something has changed the file since the last program that used it closed it. A file without a seal counts as unchanged. */
export function isChanged(file: string): boolean {
  if (isOpen(file)) return false;
  try {
    return readInside(dirname(file), basename(sealOf(file)), { limit: maxSealBytes }).toString() !== readState(file);
  } catch {
    return false;
  }
}

/** Removes the seal: the file is going to change. */
export const breakSeal = (file: string): void => rmSync(sealOf(file), { force: true, recursive: true });

/** Seals a file that has just been closed, unless another program has it open. */
export function seal(file: string): void {
  const state = readState(file);
  if (state === undefined || statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined) return;
  try {
    breakSeal(file);
    writeFileSync(sealOf(file), state, { flag: 'wx', mode: privateFile });
  } catch {
    // The disk is full or read-only: a file without a seal counts as unchanged.
  }
}
