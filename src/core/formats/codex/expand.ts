import { constants, zstdDecompressSync } from 'node:zlib';
import { StemmaError } from '../../base/index.js';

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Codex puts old rollouts away compressed. */
export const isCompressed = (head: Uint8Array): boolean => Buffer.from(head.subarray(0, magic.length)).equals(magic);

/** A file that says it is more is refused before memory runs out. */
const largest = 2 ** 30;
const largestBeginning = 16 * 1024 * 1024;

/** @throws CORRUPT where the file breaks off, is no zstd inside, or is too large. */
export function expand(file: Uint8Array): Uint8Array {
  try {
    return zstdDecompressSync(file, { maxOutputLength: largest });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new StemmaError('CORRUPT', `it expands to more than ${largest} bytes: what is in it is not read`);
    throw new StemmaError('CORRUPT', `it is compressed, and cannot be expanded: ${message}`);
  }
}

/** What the first bytes of such a file expand to; nothing where they cannot be. */
export function beginningOf(head: Uint8Array): Uint8Array {
  try {
    return zstdDecompressSync(head, { maxOutputLength: largestBeginning, finishFlush: constants.ZSTD_e_flush });
  } catch {
    return new Uint8Array();
  }
}
