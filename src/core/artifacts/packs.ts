import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsyncSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { corrupt } from '../base/index.js';
import type { WritableDb } from '../store/index.js';
import { codeOf, onDisk } from './io.js';

/** A pack is closed to new objects beyond this many bytes. */
const fullAt = 512 * 1024 * 1024;
const ending = '.pack';
/** Of what is appended, so much is brought to the disk meanwhile: who waits for all of it waits for little. */
const broughtAtOnce = 2 * 1024 * 1024;
/** Packs that are open for reading at a time. */
const mostReaders = 64;

export interface PackPlace {
  readonly pack: number;
  readonly start: number;
}

/**
 * Append-only files of large objects and blocks. Each process appends only to packs that it made itself, and only inside
 * a write transaction, so that no two writers meet in one file and nobody removes what is being written; what a crash
 * leaves behind the last named object is garbage that nothing refers to.
 */
export interface Packs {
  /** Call inside a transaction. @throws UNAVAILABLE where the disk refuses. */
  append(bytes: Uint8Array): PackPlace;
  /** Makes durable what was appended. Call before the transaction that names it commits. */
  sync(): void;
  /** @throws CORRUPT where the pack is not there or ends too early. */
  read(place: PackPlace, length: number): Uint8Array;
  /** The pack's file is opened anew when it is read next: it may be another by now. */
  forget(pack: number): void;
  /** Bytes of the pack's file, 0 where it is not there. */
  size(pack: number): number;
  /** Nothing more is appended to this pack by this process. */
  retire(pack: number): void;
  /** Removes the row of a pack that holds nothing any more; the file goes with `sweepFiles` after the commit. */
  drop(pack: number): void;
  /** Files that no row names. */
  unnamed(): string[];
  /** Removes files that no row names, under the write lock. Returns their bytes. */
  sweepFiles(): number;
  close(): void;
}

interface OpenPack {
  readonly no: number;
  readonly file: string;
  readonly fd: number;
  /** The same file once more: what goes wrong when it is brought to the disk meanwhile is told to nobody here, and again at the sync. */
  readonly bringer: number;
  size: number;
  brought: number;
}

export function openPacks(db: WritableDb, folder: string, newName: () => string, now: () => number): Packs {
  const readers = new Map<string, number>();
  let current: OpenPack | undefined;
  let unsynced = false;

  const begin = (): OpenPack => {
    const file = `${newName()}${ending}`;
    // Not opened for appending: a write that failed half way is written over by the next.
    const fd = openSync(join(folder, file), 'wx+', 0o600);
    // The name of the new file must be as durable as what will point to it.
    const folderFd = openSync(folder, 'r');
    fsyncSync(folderFd);
    closeSync(folderFd);
    const { rowId } = db.run('INSERT INTO pack (file, createdAt) VALUES (?, ?)', file, now());
    return { no: rowId, file, fd, bringer: openSync(join(folder, file), 'r+'), size: 0, brought: 0 };
  };

  const sync = (): void => {
    if (unsynced && current) fdatasyncSync(current.fd);
    unsynced = false;
  };

  /** The pack to append to: one of this process that is not full, and whose row is there (its transaction may have been undone). */
  const writable = (): OpenPack => {
    if (current && current.size < fullAt && db.one('SELECT 1 FROM pack WHERE no = ? AND file = ?', current.no, current.file)) return current;
    leave();
    current = begin();
    return current;
  };

  const leave = (): void => {
    sync();
    if (current) closePack(current);
    current = undefined;
  };

  const closePack = ({ fd, bringer }: OpenPack): void => {
    closeSync(fd);
    closeSync(bringer);
  };

  const fileOf = (no: number): string | undefined => db.one<{ file: string }>('SELECT file FROM pack WHERE no = ?', no)?.file;

  /** By file, not by number: the number of a pack that is gone may be given to another process's next one. */
  const reader = (no: number): number => {
    const file = fileOf(no);
    if (file === undefined) throw corrupt(`pack ${no}`, `pack ${no} is named by an object but not known`);
    const open = readers.get(file);
    if (open !== undefined) return open;
    const oldest = readers.size >= mostReaders ? [...readers.keys()].at(0) : undefined;
    if (oldest !== undefined) closeReader(oldest);
    try {
      const fd = openSync(join(folder, file), 'r');
      readers.set(file, fd);
      return fd;
    } catch (error) {
      throw corrupt(
        file,
        `the pack objects/${file} cannot be opened (${codeOf(error) ?? error}); put it back from a copy, or run "stemma fsck" to see what it held`,
      );
    }
  };

  const closeReader = (file: string): void => {
    const fd = readers.get(file);
    if (fd !== undefined) closeSync(fd);
    readers.delete(file);
  };

  const forget = (no: number): void => {
    const file = fileOf(no);
    if (file !== undefined) closeReader(file);
  };

  const unnamed = (): string[] => {
    const named = new Set(db.all<{ file: string }>('SELECT file FROM pack').map((row) => row.file));
    return readdirSync(folder).filter((file) => file.endsWith(ending) && !named.has(file));
  };

  return {
    append: (bytes) =>
      onDisk(() => {
        const pack = writable();
        const { size: start } = pack;
        for (let done = 0; done < bytes.length; ) done += writeSync(pack.fd, bytes, done, bytes.length - done, start + done);
        pack.size += bytes.length;
        if (pack.size - pack.brought >= broughtAtOnce) {
          pack.brought = pack.size;
          fdatasync(pack.bringer, () => undefined);
        }
        unsynced = true;
        return { pack: pack.no, start };
      }),
    sync: () => onDisk(sync),
    read: (place, length) =>
      onDisk(() => {
        const bytes = Buffer.allocUnsafe(length);
        const fd = reader(place.pack);
        for (let done = 0; done < bytes.length; ) {
          const read = readSync(fd, bytes, done, bytes.length - done, place.start + done);
          if (read === 0) throw corrupt(`pack ${place.pack}`, `pack ${place.pack} ends before an object in it does; run "stemma fsck" to see which`);
          done += read;
        }
        return bytes;
      }),
    forget,
    size: (no) => {
      if (current?.no === no) return fstatSync(current.fd).size;
      const file = fileOf(no);
      return file === undefined ? 0 : (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0);
    },
    retire: (no) => {
      if (current?.no === no) leave();
    },
    drop: (no) => {
      forget(no);
      db.run('DELETE FROM pack WHERE no = ?', no);
    },
    unnamed,
    sweepFiles: () =>
      db.transaction(() =>
        unnamed().reduce((freed, file) => {
          const size = statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0;
          rmSync(join(folder, file), { force: true });
          return freed + size;
        }, 0),
      ),
    close: () => {
      for (const fd of readers.values()) closeSync(fd);
      readers.clear();
      if (current) closePack(current);
      current = undefined;
    },
  };
}
