import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { blake3Of, blake3Parts } from './hash.js';
import { codeOf } from './io.js';

export interface CacheFile {
  readonly name: string;
  readonly size: number;
  /** When it was last read or written, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** Bytes that can be made again at any time, a file each, named by their hash: not synced, and gone without harm. */
export interface Caches {
  /** The bytes, or undefined where they are not there or not what their name says. */
  read(hash: Buffer): Uint8Array | undefined;
  /** Keeps the bytes if the disk lets it: without a cache all works, only slower. */
  write(hash: Buffer, bytes: Uint8Array): void;
  /** The same, a part at a time; whether they are what their name says is known at the end. @throws where they are not. */
  readParts(hash: Buffer): Generator<Uint8Array>;
  /** Keeps what comes a part at a time, with a chance for others after each megabyte, and says what it was. */
  writeParts(parts: Iterable<Uint8Array>): Generator<undefined, { readonly hash: Buffer; readonly size: number }>;
  drop(name: string): void;
  list(): CacheFile[];
}

export function openCaches(folder: string, newName: () => string): Caches {
  mkdirSync(folder, { recursive: true });
  const fileOf = (hash: Buffer): string => join(folder, hash.toString('hex'));
  return {
    read(hash) {
      try {
        const bytes = readFileSync(fileOf(hash));
        return blake3Of(bytes).equals(hash) ? bytes : undefined;
      } catch (error) {
        if (codeOf(error) === undefined) throw error;
        return undefined;
      }
    },
    write(hash, bytes) {
      const file = fileOf(hash);
      if (statSync(file, { throwIfNoEntry: false })?.size === bytes.length) return;
      const beside = `${file}.${newName()}`;
      try {
        writeFileSync(beside, bytes, { mode: 0o600 });
        renameSync(beside, file);
      } catch (error) {
        if (codeOf(error) === undefined) throw error;
        rmSync(beside, { force: true });
      }
    },
    *readParts(hash) {
      const hasher = blake3Parts();
      const fd = openSync(fileOf(hash), 'r');
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
      if (!hasher.hash().equals(hash)) throw new Error(`the cache ${hash.toString('hex')} is not what its name says`);
    },
    *writeParts(parts) {
      const hasher = blake3Parts();
      const beside = join(folder, `${newName()}.part`);
      const file = orNothing(() => openSync(beside, 'wx', 0o600));
      let size = 0;
      let isWritten = file !== undefined;
      try {
        for (const part of gathered(parts)) {
          hasher.add(part);
          size += part.length;
          isWritten &&= orNothing(() => writeFully(file as number, part)) !== undefined;
          yield;
        }
      } finally {
        if (file !== undefined) closeSync(file);
        if (!isWritten) rmSync(beside, { force: true });
      }
      const hash = hasher.hash();
      if (isWritten && orNothing(() => renameSync(beside, fileOf(hash)) ?? true) === undefined) rmSync(beside, { force: true });
      return { hash, size };
    },
    drop: (name) => rmSync(join(folder, name), { force: true }),
    list: () =>
      readdirSync(folder).flatMap((name) => {
        const stat = statSync(join(folder, name), { throwIfNoEntry: false });
        return stat?.isFile() ? [{ name, size: stat.size, usedAt: Math.max(stat.atimeMs, stat.mtimeMs) }] : [];
      }),
  };
}

const partSize = 1024 * 1024;

/** Small parts together, in a room that is used again and again. */
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

/** What a disk refuses a cache is no fault of who asked. */
function orNothing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
