import { closeSync, openSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  FileRefused,
  listIfExists,
  makeFolderInside,
  openInside,
  privateFile,
  readInside,
  removeInside,
  statInside,
  unlessRefused,
} from '../files/index.js';
import type { ReadableDb } from '../store/index.js';
import { blake3Of, blake3Parts } from './hash.js';
import { onDisk } from './io.js';

export interface CacheFile {
  readonly name: string;
  readonly size: number;
  /** When it was last read or written, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** Parts that were written to the caches. */
export interface Cached {
  readonly hash: Buffer;
  readonly size: number;
}

const uuid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** A hash, a hash that is being written, or parts whose hash is not known yet. Stemma deletes no other file. */
const cacheName = new RegExp(`^([0-9a-f]{64}(\\.${uuid})?|${uuid}\\.part)$`);

/** Bytes that can be rebuilt at any time, one file each, named by their hash. They are not synced, and deleting them loses nothing. */
export type Caches = ReturnType<typeof openCaches>;

/**
 * Opens the cache files of a project. Long because all operations share the folder, the place and the way in which refusals of the disk are ignored.
 * @param objects the `objects` folder of a project; the project's folder is the root below which no link is followed.
 * @param behind for a read-only project, its own `objects` folder; `objects` then belongs to a copy.
 */
export function openCaches(db: ReadableDb, objects: string, newName: () => string, behind?: string) {
  const root = dirname(objects);
  const folder = join(objects, 'snapshots');
  const fileOf = (hash: Buffer): string => join(folder, hash.toString('hex'));
  const beside = (name: string): string => {
    db.place.require();
    return join(makeFolderInside(root, folder), name);
  };
  // If the file system refuses, reading is only slower, because the cache is missing.
  const remove = (path: string): void => void unlessRefused(() => removeInside(root, path));
  return {
    /** The bytes, or undefined if they are not cached or do not match their name. `size` is their number. */
    read: (hash: Buffer, size: number): Uint8Array | undefined =>
      readSound(objects, hash, size) ?? (behind === undefined ? undefined : readSound(behind, hash, size)),
    /** Keeps the bytes if the disk allows it: everything works without a cache, only slower. */
    write(hash: Buffer, bytes: Uint8Array): void {
      const file = fileOf(hash);
      if (unlessRefused(() => statInside(root, file))?.size === bytes.length) return;
      const part = unlessRefused(() => beside(`${hash.toString('hex')}.${newName()}`));
      if (part === undefined) return;
      const isWritten = unlessRefused(() => {
        writeFileSync(part, bytes, { mode: privateFile, flag: 'wx' });
        renameSync(part, file);
        return true;
      });
      if (!isWritten) remove(part);
    },
    /** The same, one part at a time. @throws at the end if the bytes do not match their name. */
    *readParts(hash: Buffer): Generator<Uint8Array> {
      const hasher = blake3Parts();
      const { fd } = openInside(root, fileOf(hash));
      try {
        for (;;) {
          const part = Buffer.allocUnsafe(partSize);
          const read = readSync(fd, part, 0, part.length, null);
          if (read === 0) break;
          hasher.add(part.subarray(0, read));
          yield part.subarray(0, read);
        }
      } finally {
        closeSync(fd);
      }
      if (!hasher.hash().equals(hash)) throw new Error(`the cache ${hash.toString('hex')} does not match its name`);
    },
    /** Stores parts as they come. Yields after each megabyte so that other work can run, and returns the cached content. */
    *writeParts(parts: Iterable<Uint8Array>): Generator<undefined, Cached> {
      const hasher = blake3Parts();
      const part = unlessRefused(() => beside(`${newName()}.part`));
      const file = part === undefined ? undefined : unlessRefused(() => openSync(part, 'wx', privateFile));
      let size = 0;
      let isWritten = file !== undefined;
      try {
        for (const some of gathered(parts)) {
          hasher.add(some);
          size += some.length;
          isWritten &&= unlessRefused(() => writeFully(file as number, some)) !== undefined;
          yield;
        }
      } finally {
        if (file !== undefined) closeSync(file);
        if (!isWritten && part !== undefined) remove(part);
      }
      const hash = hasher.hash();
      if (isWritten && part !== undefined && unlessRefused(() => renameSync(part, fileOf(hash)) ?? true) === undefined) remove(part);
      return { hash, size };
    },
    /** Deletes one of the files that `list` returned. @throws UNAVAILABLE if the folder is a link, or if the disk refuses. */
    drop: (name: string): void =>
      onDisk(() => {
        db.place.require();
        if (!cacheName.test(name)) throw new FileRefused('EOUTSIDE', join(folder, name), 'does not have the name of a cache file');
        removeInside(root, join(folder, name));
      }),
    /** The cache files, including those that a crash left half written; no other file. @throws UNAVAILABLE if the folder is a link. */
    list: (): CacheFile[] =>
      onDisk(() =>
        listIfExists(root, folder).flatMap((entry): CacheFile[] => {
          const { name } = entry;
          const stat = entry.isFile() && cacheName.test(name) ? statInside(root, join(folder, name)) : undefined;
          return stat ? [{ name, size: stat.size, usedAt: Math.max(stat.atimeMs, stat.mtimeMs) }] : [];
        }),
      ),
  };
}

function readSound(objects: string, hash: Buffer, size: number): Uint8Array | undefined {
  return unlessRefused(() => {
    const bytes = readInside(dirname(objects), join(objects, 'snapshots', hash.toString('hex')), { limit: size });
    return blake3Of(bytes).equals(hash) ? bytes : undefined;
  });
}

const partSize = 1024 * 1024;

/** Joins small parts in one reused buffer: each yielded part is valid until the next. */
function* gathered(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  const room = Buffer.allocUnsafe(partSize);
  let filled = 0;
  for (const part of parts) {
    if (filled + part.length > room.length && filled > 0) {
      yield room.subarray(0, filled);
      filled = 0;
    }
    if (part.length > room.length) yield part;
    else {
      room.set(part, filled);
      filled += part.length;
    }
  }
  if (filled > 0) yield room.subarray(0, filled);
}

function writeFully(fd: number, bytes: Uint8Array): true {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done);
  return true;
}
