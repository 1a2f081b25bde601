import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blake3Of } from './hash.js';
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
    drop: (name) => rmSync(join(folder, name), { force: true }),
    list: () =>
      readdirSync(folder).flatMap((name) => {
        const stat = statSync(join(folder, name), { throwIfNoEntry: false });
        return stat?.isFile() ? [{ name, size: stat.size, usedAt: Math.max(stat.atimeMs, stat.mtimeMs) }] : [];
      }),
  };
}
