import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt } from '../base/index.js';
import { memoryFolders, thisSystem } from '../system/index.js';
import { fileErrorCode, unlessRefused } from './reasons.js';

/** The purpose of a temporary folder. It is part of the folder's name. */
export type TemporaryKind = 'read' | 'follow' | 'repair' | 'rules';

const temporaryName = /^stemma-(?:read|follow|repair|rules)-(\d+-\d+)-\w+$/;

/** Names this process uniquely among all that share a disk: its process id and the id's namespace (a container has its own). */
export const processName = `${process.pid}-${numberSpace()}`;

function numberSpace(): string {
  return attempt(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]) ?? '0';
}

/** Whether the process whose `processName` begins this name has ended. A process of another container counts as running. */
export function hasEnded(name: string): boolean {
  const [, pid, space] = /^(\d+)-(\d+)/.exec(name) ?? [];
  if (space !== numberSpace()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return fileErrorCode(error) === 'ESRCH';
  }
}

let isSwept = false;

/** Makes a new folder for temporary files of this process, for this user alone. @throws the error of the file system. */
export function makeTemporary(kind: TemporaryKind, place = tmpdir()): string {
  if (!isSwept) removeLeftovers(temporaryPlaces());
  isSwept = true;
  return mkdtempSync(join(place, `stemma-${kind}-${processName}-`));
}

/** Where temporary copies may go. The temporary folder is often on the same disk as a project; on Linux, there is also a folder in memory. */
export const temporaryPlaces = (): string[] => [tmpdir(), ...memoryFolders(thisSystem)];

/** Removes temporary folders whose process was killed. */
export function removeLeftovers(places: readonly string[]): void {
  for (const place of places)
    for (const name of namesIn(place)) {
      const owner = temporaryName.exec(name)?.[1];
      if (owner !== undefined && hasEnded(owner)) removeQuietly(join(place, name));
    }
}

/** The names in a folder; none if it cannot be read. */
export const namesIn = (folder: string): string[] => unlessRefused(() => readdirSync(folder)) ?? [];

/** Deletes a folder or a file, unless the file system refuses it: a folder of that name may belong to another user. */
export const removeQuietly = (path: string): void => unlessRefused(() => rmSync(path, { recursive: true, force: true }));
