import { StemmaError } from '../base/index.js';

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: nothing of this was written',
  EDQUOT: 'the quota of this disk is used up: nothing of this was written',
  EROFS: 'the project cannot be written to: the disk is read-only',
  EACCES: 'the project cannot be written to: this user may not write there',
  EPERM: 'the project cannot be written to: this user may not write there',
  EMFILE: 'too many files are open',
};

/** Says what a file system refuses in a code that crosses the doors. @throws UNAVAILABLE with the reason. */
export function onDisk<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || error instanceof StemmaError) throw error;
    throw new StemmaError('UNAVAILABLE', reasons[code] ?? `the disk did not do as asked (${code})`, { reason: code });
  }
}

/** The file system's name for what went wrong, or undefined where it was not the file system. */
export const codeOf = (error: unknown): string | undefined => {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
};
