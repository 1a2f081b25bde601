import { closeSync, fsyncSync, unlinkSync, writeSync } from 'node:fs';
import { attempt } from '../../core/base/index.js';
import { createPrivate } from '../../core/files/index.js';

export interface BearerFile {
  /** Removes the file: its bearer stops working with the host. */
  remove(): void;
}

/** Writes the bearer, without a newline, into a new file that only its owner can read. @throws Error if it exists or cannot be written */
export function writeBearerFile(path: string, bearer: string): BearerFile {
  const file = openNew(path);
  writeSync(file, bearer);
  fsyncSync(file);
  closeSync(file);
  return {
    // Somebody may have removed the file already.
    remove: () => attempt(() => unlinkSync(path)),
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
