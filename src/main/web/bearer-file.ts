import { closeSync, fsyncSync, unlinkSync, writeSync } from 'node:fs';
import { createPrivate } from '../../core/files/index.js';

/** A file with the bearer token of this run of the host. */
export interface BearerFile {
  /** Removes the file: its bearer stops working with the host. */
  remove(): void;
}

/**
 * Writes the bearer token into a new file that only its owner can read, without a newline. @throws Error when the file exists or its folder
 * cannot be written to.
 */
export function writeBearerFile(path: string, bearer: string): BearerFile {
  const file = openNew(path);
  writeSync(file, bearer);
  fsyncSync(file);
  closeSync(file);
  return {
    remove: () => {
      try {
        unlinkSync(path);
      } catch {
        // The file was already removed.
      }
    },
  };
}

function openNew(path: string): number {
  try {
    return createPrivate(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'the file exists. Remove it, or name another path' : message;
    throw new Error(`Cannot write the bearer to ${path}: ${why}.`);
  }
}
