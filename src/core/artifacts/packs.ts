import { closeSync, fdatasyncSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { corrupt } from '../base/index.js';
import type { WritableDb } from '../store/index.js';

/** A pack is closed to new objects beyond this many bytes. */
const fullAt = 512 * 1024 * 1024;

export interface PackPlace {
  readonly pack: number;
  readonly start: number;
}

/**
 * Append-only files of large objects. Each process appends only to packs that it made itself, so that no two writers
 * meet in one file; what a crash leaves behind the last named object is garbage that nothing refers to.
 */
export interface Packs {
  append(bytes: Uint8Array): PackPlace;
  /** Makes durable what was appended. Call before the transaction that names it commits. */
  sync(): void;
  read(place: PackPlace, start: number, end: number): Uint8Array;
  close(): void;
}

interface OpenPack {
  readonly no: number;
  readonly fd: number;
  size: number;
}

export function openPacks(db: WritableDb, folder: string, newName: () => string, now: () => number): Packs {
  const readers = new Map<number, number>();
  let current: OpenPack | undefined;
  let unsynced = false;

  const begin = (): OpenPack => {
    const file = `${newName()}.pack`;
    const fd = openSync(join(folder, file), 'ax+', 0o600);
    // The name of the new file must be as durable as what will point to it.
    const folderFd = openSync(folder, 'r');
    fsyncSync(folderFd);
    closeSync(folderFd);
    const { rowId } = db.run('INSERT INTO pack (file, createdAt) VALUES (?, ?)', file, now());
    readers.set(rowId, fd);
    return { no: rowId, fd, size: 0 };
  };

  const reader = (no: number): number => {
    const open = readers.get(no);
    if (open !== undefined) return open;
    const row = db.one<{ file: string }>('SELECT file FROM pack WHERE no = ?', no);
    if (!row) throw corrupt(`pack ${no}`, `pack ${no} is named by an object but not known`);
    try {
      const fd = openSync(join(folder, row.file), 'r');
      readers.set(no, fd);
      return fd;
    } catch (error) {
      throw corrupt(
        row.file,
        `the pack objects/${row.file} cannot be opened (${(error as NodeJS.ErrnoException).code}); put it back from a copy, or run "stemma fsck" to see what it held`,
      );
    }
  };

  return {
    append(bytes) {
      // A pack that began in a transaction which was rolled back has no row any more.
      if (!current || current.size >= fullAt || !db.one('SELECT 1 FROM pack WHERE no = ?', current.no)) current = begin();
      const start = current.size;
      for (let done = 0; done < bytes.length; ) done += writeSync(current.fd, bytes, done, bytes.length - done, start + done);
      current.size += bytes.length;
      unsynced = true;
      return { pack: current.no, start };
    },
    sync() {
      if (unsynced && current) fdatasyncSync(current.fd);
      unsynced = false;
    },
    read(place, start, end) {
      const bytes = Buffer.allocUnsafe(end - start);
      const fd = reader(place.pack);
      for (let done = 0; done < bytes.length; ) {
        const read = readSync(fd, bytes, done, bytes.length - done, place.start + start + done);
        if (read === 0) throw corrupt(`pack ${place.pack}`, `pack ${place.pack} ends before an object in it does; run "stemma fsck" to see which`);
        done += read;
      }
      return bytes;
    },
    close() {
      for (const fd of readers.values()) closeSync(fd);
      readers.clear();
      current = undefined;
    },
  };
}
