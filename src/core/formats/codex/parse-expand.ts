import { constants, zstdDecompressSync } from 'node:zlib';
import { StemmaError } from '../../base/index.js';
import { expandsTooMuch, maxExpanded } from '../shared/expansion.js';
import { unzstd } from '../shared/zstd.js';

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Codex compresses old rollouts. */
export const isCompressed = (head: Uint8Array): boolean => Buffer.from(head.subarray(0, magic.length)).equals(magic);

const largest = 512 * 1024 ** 2;
const maxBeginningBytes = 16 * 1024 * 1024;

/** Expands a compressed rollout. @throws CORRUPT if the file is incomplete, not zstd, or expands beyond the limits. */
export function expand(file: Uint8Array): Uint8Array {
  const most = Math.min(largest, maxExpanded(file.length));
  try {
    return unzstd(file, { maxOutputLength: most });
  } catch (error) {
    if (error instanceof StemmaError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw expandsTooMuch('it', file.length, most);
    throw new StemmaError('CORRUPT', `it is compressed and cannot be expanded: ${message}`);
  }
}

/** The expanded beginning of a compressed file; empty if it cannot be expanded. */
export function expandBeginning(head: Uint8Array): Uint8Array {
  try {
    return zstdDecompressSync(head, { maxOutputLength: maxBeginningBytes, finishFlush: constants.ZSTD_e_flush });
  } catch {
    return new Uint8Array();
  }
}
