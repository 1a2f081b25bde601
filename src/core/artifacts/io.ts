import { StemmaError } from '../base/index.js';
import { FileRefused, fileErrorCode } from '../files/index.js';

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: nothing of this was written',
  EDQUOT: 'the quota of this disk is used up: nothing of this was written',
  EROFS: 'the project cannot be written to: the disk is read-only',
  EACCES: 'the project cannot be written to: this user may not write there',
  EPERM: 'the project cannot be written to: this user may not write there',
  EMFILE: 'too many files are open',
};

/** Runs work on the disk and converts a refusal of the file system into an error of the contract. @throws UNAVAILABLE with the reason. */
export function onDisk<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = fileErrorCode(error);
    if (code === undefined || error instanceof StemmaError) throw error;
    const reason = error instanceof FileRefused ? error.message : (reasons[code] ?? `the file system refused (${code})`);
    throw new StemmaError('UNAVAILABLE', reason, { reason: code });
  }
}
