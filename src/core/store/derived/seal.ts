// A closed file of derived data has a seal beside it: its identity, size and times, of which no program can set `ctime` back. It has no checksums, so
// this shows that another program wrote to it.
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { attempt } from '../../base/index.js';
import { privateFile, readInside, stampAt } from '../../files/index.js';

const sealOf = (file: string): string => `${file}-seal`;

/** Whether a log with content is beside the file: it is in use, or the last program that used it was killed. */
const isOpen = (file: string): boolean => (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

const maxSealBytes = 400;

/** Whether something has changed the file since the last program that used it closed it. A file without a seal counts as unchanged. */
export function isChanged(file: string): boolean {
  const sealed = isOpen(file) ? undefined : attempt(() => readInside(dirname(file), basename(sealOf(file)), { limit: maxSealBytes }).toString());
  return sealed !== undefined && sealed !== stampAt(file);
}

/** Removes the seal: the file is going to change. */
export const breakSeal = (file: string): void => rmSync(sealOf(file), { force: true, recursive: true });

/** Seals a file that has just been closed, unless another program has it open. */
export function seal(file: string): void {
  const state = stampAt(file);
  if (state === undefined || statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined) return;
  // The disk may be full or read-only: a file without a seal counts as unchanged.
  attempt(() => {
    breakSeal(file);
    writeFileSync(sealOf(file), state, { flag: 'wx', mode: privateFile });
  });
}
