import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statfsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { systemClock, unavailable } from '../base/index.js';
import {
  fileErrorCode,
  hasEnded,
  makeFolders,
  makeOwn,
  makeTemporary,
  namesIn,
  privateFile,
  processName,
  realPath,
  removeQuietly,
  stampAt,
  syncFile,
  temporaryPlaces,
  unlessRefused,
} from '../files/index.js';
import { copyWhole, headOf } from './foreign.js';
import { formatVersion } from './migrations/index.js';

/** A private copy of a database. Reading the copy creates no files beside the original. */
export interface DatabaseCopy {
  /** The folder of the copy, which only this user can read. Undefined if no disk had room and the copy is in memory. */
  readonly folder: string | undefined;
  readonly database: string | Buffer;
  /** Ends the use of the copy. Removes the copy unless it is kept for the next use. */
  release(): void;
  /** Removes a kept copy that turned out to be damaged. Undefined for a copy made just now: its damage comes from the original. */
  readonly discard: (() => void) | undefined;
}

/**
 * Copies a database and its log. SQLite cannot read the log in a folder that is not writable, unless the log's index exists there already.
 * Without the log, the newest commits would be missing.
 * @param kept a folder in which copies stay, so that a database that did not change is not copied again.
 * @throws UNAVAILABLE if no place has room for the copy, or if the database changes faster than it can be copied.
 */
export function copyForReading(file: string, kept?: string): DatabaseCopy {
  let full: unknown;
  const ways = [
    ...(kept !== undefined && existsSync(file) ? [() => keptCopy(file, kept)] : []),
    ...temporaryPlaces()
      .filter((place) => existsSync(place))
      .map((place) => () => temporaryCopy(file, place)),
  ];
  for (const way of ways)
    try {
      return way();
    } catch (error) {
      if (!isWithoutRoom(error)) throw error;
      full = error;
    }
  return { folder: undefined, database: readDatabase(file, full), release: () => {}, discard: undefined };
}

const isWithoutRoom = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR', 'EEXIST', 'ENOENT'].includes(fileErrorCode(error) ?? '');

const nameInCopy = 'stemma.db';
/** A file with the path of the original. */
const nameOfOriginal = 'original';

function temporaryCopy(file: string, place: string): DatabaseCopy {
  const folder = makeTemporary('read', place);
  try {
    const database = join(folder, nameInCopy);
    if (existsSync(file)) {
      requireRoom(file, folder);
      copyPrivately(file, database);
    }
    return { folder, database, release: () => rmSync(folder, { recursive: true, force: true }), discard: undefined };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Free space that a copy leaves on its disk, in bytes. */
const spareBytes = 64 * 1024 * 1024;

/** Checks the free space first, because a file with holes may be much larger than any disk. @throws the error of a full disk. */
function requireRoom(file: string, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const size = ['', '-wal'].reduce((sum, ending) => sum + (statSync(`${file}${ending}`, { throwIfNoEntry: false })?.size ?? 0), 0);
  // The copy of an earlier format is converted, which may write each page once more.
  const needed = versionIn(file) < formatVersion ? 2 * size : size;
  if (bavail * bsize < needed + spareBytes) throw Object.assign(new Error(`there is no room for ${needed} bytes in ${folder}`), { code: 'ENOSPC' });
}

/** The format version in the header of a database. */
export const versionIn = (file: string): number => headOf(file, 64).readUInt32BE(60);

/** Copies a database and makes the copy writable, even if the original is read-only. */
function copyPrivately(file: string, copy: string): void {
  copyWhole(file, copy);
  for (const each of [copy, `${copy}-wal`]) if (existsSync(each)) makeOwn(each);
}

/**
 * Kept copies are folders `DATABASE-STATE` in `kept`. While a process uses one, the folder has a file with the process's name and the ending
 * `.user`. A copy is removed when its users have ended and its original has changed, or nobody used it for a while.
 */
function keptCopy(file: string, kept: string): DatabaseCopy {
  makeFolders(kept);
  removeUnused(kept);
  const state = readState(file);
  const folder = join(kept, `${hash(realPath(file))}-${state}`);
  const isNew = !existsSync(join(folder, nameInCopy));
  if (isNew) makeKeptCopy(file, state, folder);
  const user = join(folder, `${processName}.${randomUUID()}.user`);
  writeFileSync(user, '', { mode: privateFile });
  const now = systemClock() / 1000;
  utimesSync(folder, now, now);
  return {
    folder,
    database: join(folder, nameInCopy),
    release: () => rmSync(user, { force: true }),
    discard: isNew ? undefined : () => removeQuietly(folder),
  };
}

/** @throws UNAVAILABLE if the database changes faster than it can be copied. */
function makeKeptCopy(file: string, state: string, folder: string): void {
  const part = `${folder}.${processName}.part`;
  removeQuietly(part);
  try {
    makeFolders(part);
    const database = join(part, nameInCopy);
    requireRoom(file, part);
    copyPrivately(file, database);
    writeFileSync(join(part, nameOfOriginal), realPath(file), { mode: privateFile });
    if (readState(file) !== state) throw unavailable(`${file} changes while it is read; try again when its program is idle`, { path: file });
    // After a power cut, a part of the copy could be missing.
    syncFile(database);
    renameSync(part, folder);
  } catch (error) {
    removeQuietly(part);
    // Another process made the same copy meanwhile.
    if (!existsSync(join(folder, nameInCopy))) throw error;
  }
}

/** A value that changes whenever the database or its log changes. It includes `ctime`, which no program can set back. */
const readState = (file: string): string => hash([formatVersion, stampAt(file), stampAt(`${file}-wal`)].join(' '));

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const unusedMs = 7 * 86_400_000;

/** Removes the copies of databases that changed, moved or were not read for a while, and copies that were not finished. */
export function removeUnused(kept: string): void {
  for (const name of namesIn(kept)) {
    const folder = join(kept, name);
    const [, maker] = /^\w+-\w+\.(\d+-\d+)\.part$/.exec(name) ?? [];
    if (maker !== undefined ? hasEnded(maker) : isFree(folder) && (isStale(folder) || isOld(folder))) removeQuietly(folder);
  }
}

/** Whether the original has changed since the copy was made, or cannot be read. */
function isStale(folder: string): boolean {
  const state = unlessRefused(() => readState(readFileSync(join(folder, nameOfOriginal), 'utf8')));
  return state === undefined || !folder.endsWith(`-${state}`);
}

const isOld = (folder: string): boolean => systemClock() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) > unusedMs;

/** Whether no running process uses a copy. */
const isFree = (folder: string): boolean => namesIn(folder).every((name) => !name.endsWith('.user') || hasEnded(name));

/** Maximum size of a database that is read into memory, in bytes. */
const maxBytes = 1024 * 1024 * 1024;

/** The database, log included, in the form of a database in memory. */
function readDatabase(file: string, full: unknown): Buffer {
  const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (statSync(file).size > maxBytes)
    throw unavailable(`Cannot read ${file}: no disk has room for a copy. Free some space on the disk of ${tmpdir()}.`, {
      reason: 'disk-full',
      cause: (full as Error).message,
    });
  const bytes = hasLog ? serialized(file) : readFileSync(file);
  // These two bytes of the header say whether the database has a log. One in memory has none: 1.
  bytes.fill(1, 18, 20);
  return bytes;
}

function serialized(file: string): Buffer {
  const raw = new Database(file, { readonly: true });
  try {
    return raw.serialize();
  } finally {
    raw.close();
  }
}
