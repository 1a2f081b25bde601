import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { corrupt, inWords } from '../base/index.js';
import {
  fileErrorCode,
  fillFrom,
  folderInside,
  type LocatedFile,
  listInside,
  openInside,
  privateFile,
  removeInside,
  statInside,
} from '../files/index.js';
import type { ReadableDb, WritableDb } from '../store/index.js';
import { onDisk } from './io.js';

/** A pack is closed to new objects beyond this many bytes. */
const fullAt = 512 * 1024 * 1024;
const ending = '.pack';
/** Stemma reads and deletes only packs with such names, whatever the database says. */
const packName = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.pack$/;
/** Appended bytes after which writing to the disk starts in the background, so that the final sync is short. */
const backgroundSyncBytes = 2 * 1024 * 1024;
/** Objects are appended in writes of this many bytes. Larger objects are written alone. */
const stagedBytes = 256 * 1024;
const maxReaders = 64;

/** A function created inside `append` would keep the appended bytes in memory until the sync ends, which is after the import. */
const ignoreResult = (): void => undefined;

export interface PackPlace {
  readonly pack: number;
  readonly start: number;
}

interface OpenPack {
  readonly no: number;
  readonly file: string;
  readonly fd: number;
  /** A second handle for syncing in the background. Its errors are ignored, because the final sync reports them again. */
  readonly syncFd: number;
  size: number;
  syncedUpTo: number;
}

/** The append-only files of large objects and blocks, for reading. */
export type ReadPacks = ReturnType<typeof openPackFiles>;

/**
 * Opens the packs of a project for reading.
 * @param folder the `objects` folder of a project; the project's folder is the root below which no link is followed.
 * @param behind for a read-only project, its own `objects` folder; `folder` then belongs to a copy.
 */
export function openPackFiles(db: ReadableDb, folder: string, behind?: string) {
  const root = dirname(folder);
  const readers = new Map<string, number>();

  /** The name of a pack's file; undefined if the database does not list the pack. @throws CORRUPT for a name that no pack has. */
  const fileOf = (no: number): string | undefined => {
    const file = db.value<string>('SELECT file FROM pack WHERE no = ?', no);
    if (file !== undefined && !packName.test(file))
      throw corrupt(`pack ${no}`, `the database names ${inWords(file)} as a pack; packs are named UUID.pack`);
    return file;
  };

  /** Open files are found by name, because another process may use the number of a removed pack again. */
  const reader = (no: number): number => {
    const file = fileOf(no);
    if (file === undefined) throw corrupt(`pack ${no}`, `an object refers to pack ${no}, which the database does not list`);
    const open = readers.get(file);
    if (open !== undefined) return open;
    const oldest = readers.size >= maxReaders ? [...readers.keys()].at(0) : undefined;
    if (oldest !== undefined) closeReader(oldest);
    try {
      const { root: top, path } = placeOf(file);
      const { fd } = openInside(top, path);
      readers.set(file, fd);
      return fd;
    } catch (error) {
      db.place.require();
      throw corrupt(
        file,
        `the pack objects/${file} cannot be opened (${fileErrorCode(error) ?? error}); put it back from a copy, or run "stemma fsck" to see what it held`,
      );
    }
  };

  const placeOf = (file: string): LocatedFile =>
    behind === undefined || statInside(root, join(folder, file))
      ? { root, path: join(folder, file) }
      : { root: dirname(behind), path: join(behind, file) };

  const closeReader = (file: string): void => {
    const fd = readers.get(file);
    if (fd !== undefined) closeSync(fd);
    readers.delete(file);
  };

  /** Closes the pack's file, so that the next read opens it again: it may be another file now. */
  const forget = (no: number): void => {
    const file = fileOf(no);
    if (file !== undefined) closeReader(file);
  };

  const sizeOf = (file: string): number => {
    const { root: top, path } = placeOf(file);
    return statInside(top, path)?.size ?? 0;
  };

  return {
    fileOf,
    sizeOf,
    /** @throws CORRUPT if the pack is missing or too short. */
    read: (place: PackPlace, length: number): Uint8Array =>
      onDisk(() => {
        const fd = reader(place.pack);
        const short = (): Error =>
          corrupt(`pack ${place.pack}`, `pack ${place.pack} ends before an object in it does; run "stemma fsck" to see which`);
        // The length comes from the database. A wrong length must not allocate more memory than the pack has bytes.
        if (place.start + length > fstatSync(fd).size) throw short();
        const bytes = Buffer.allocUnsafe(length);
        if (fillFrom(fd, bytes, place.start) < length) throw short();
        return bytes;
      }),
    forget,
    close: (): void => {
      for (const fd of readers.values()) closeSync(fd);
      readers.clear();
    },
  };
}

/**
 * Append-only files of large objects and blocks. Each process appends only to packs that it created, and only inside a write transaction. So two
 * writers never share a file, and no other process removes a pack during a write. Bytes that a crash leaves after the last named object are garbage.
 */
export type Packs = ReturnType<typeof openPacks>;

/**
 * Opens the packs of a project. Long because appending and sweeping share the state of the current pack.
 * @param folder the `objects` folder of a project; the project's folder is the root below which no link is followed.
 * @param behind for a read-only project, its own `objects` folder; `folder` then belongs to a copy.
 */
export function openPacks(db: WritableDb, folder: string, newName: () => string, now: () => number, behind?: string) {
  const root = dirname(folder);
  const files = openPackFiles(db, folder, behind);
  const { fileOf, sizeOf, forget } = files;
  let current: OpenPack | undefined;
  let unsynced = false;
  /** Whether the row of the current pack was seen in this transaction. */
  let isListed = false;
  /** The last appended bytes, which are written together. */
  const staged = { bytes: undefined as Buffer | undefined, length: 0 };

  const begin = (): OpenPack => {
    db.place.require();
    const file = `${newName()}${ending}`;
    const path = join(folderInside(root, folder), file);
    // Opened for writing, not appending, so that the next write overwrites one that failed halfway.
    const fd = openSync(path, 'wx+', privateFile);
    // The name of the new file must be as durable as the rows that refer to it.
    const folderFd = openSync(folder, 'r');
    fsyncSync(folderFd);
    closeSync(folderFd);
    const { rowId } = db.run('INSERT INTO pack (file, createdAt) VALUES (?, ?)', file, now());
    return { no: rowId, file, fd, syncFd: openInside(root, path, { mode: 'readWrite' }).fd, size: 0, syncedUpTo: 0 };
  };

  const write = ({ fd }: OpenPack, bytes: Uint8Array, start: number): void => {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, start + done);
  };

  const writeStaged = (): void => {
    if (current && staged.bytes && staged.length > 0) write(current, staged.bytes.subarray(0, staged.length), current.size - staged.length);
    staged.length = 0;
  };

  db.onRollback(() => {
    isListed = false;
  });

  const sync = (): void => {
    isListed = false;
    writeStaged();
    if (unsynced && current) fdatasyncSync(current.fd);
    unsynced = false;
  };

  /** The pack to append to: one of this process that is not full and whose row exists (its transaction may have been rolled back). */
  const writable = (): OpenPack => {
    if (current && current.size < fullAt && (isListed || db.one('SELECT 1 FROM pack WHERE no = ? AND file = ?', current.no, current.file)))
      isListed = true;
    else {
      leave();
      current = begin();
    }
    return current;
  };

  const leave = (): void => {
    sync();
    if (current) closePack(current);
    current = undefined;
  };

  const closePack = ({ fd, syncFd }: OpenPack): void => {
    closeSync(fd);
    closeSync(syncFd);
  };

  const unnamed = (): string[] => {
    const named = new Set(db.column<string>('SELECT file FROM pack'));
    return listInside(root, folder)
      .filter((entry) => entry.isFile() && packName.test(entry.name) && !named.has(entry.name))
      .map(({ name }) => name);
  };

  return {
    ...files,
    /** Call it inside a transaction. @throws UNAVAILABLE if the disk refuses. */
    append: (bytes: Uint8Array): PackPlace =>
      onDisk(() => {
        const pack = writable();
        const { size: start } = pack;
        if (staged.length + bytes.length > stagedBytes) writeStaged();
        if (bytes.length > stagedBytes) write(pack, bytes, start);
        else {
          staged.bytes ??= Buffer.allocUnsafeSlow(stagedBytes);
          staged.bytes.set(bytes, staged.length);
          staged.length += bytes.length;
        }
        pack.size += bytes.length;
        if (pack.size - pack.syncedUpTo >= backgroundSyncBytes) {
          writeStaged();
          pack.syncedUpTo = pack.size;
          fdatasync(pack.syncFd, ignoreResult);
        }
        unsynced = true;
        return { pack: pack.no, start };
      }),
    /** Makes appended bytes durable. Call it before the transaction that names them commits. */
    sync: (): void => onDisk(sync),
    read: (place: PackPlace, length: number): Uint8Array => {
      if (place.pack === current?.no) onDisk(writeStaged);
      return files.read(place, length);
    },
    /** The size of the pack's file; 0 if it is missing. */
    size: (no: number): number => {
      onDisk(writeStaged);
      if (current?.no === no) return fstatSync(current.fd).size;
      const file = fileOf(no);
      return file === undefined ? 0 : sizeOf(file);
    },
    /** Ends appending to this pack in this process. */
    retire: (no: number): void => {
      if (current?.no === no) leave();
    },
    /** Deletes the row of an empty pack. `sweepFiles` deletes the file after the commit. */
    drop: (no: number): void => {
      forget(no);
      db.run('DELETE FROM pack WHERE no = ?', no);
    },
    /** Deletes regular files that are named like packs and that no row names, under the write lock. Returns their bytes. */
    sweepFiles: (): number =>
      db.transaction(() => {
        db.place.require();
        return unnamed().reduce((freed, file) => {
          const size = sizeOf(file);
          removeInside(root, join(folder, file));
          return freed + size;
        }, 0);
      }),
    close: (): void => {
      files.close();
      if (current) closePack(current);
      current = undefined;
    },
  };
}
