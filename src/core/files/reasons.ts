/** The code of a file system error or of a refusal (`ENOENT`, `ELOOP` ...); undefined for any other error. */
export const fileErrorCode = (error: unknown): string | undefined => {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
};

const writeReasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this disk is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EEXIST: 'a part of the path is a file',
  ENOTDIR: 'a part of the path is a file',
};

/** Why the file system refused to write, in words. */
export const writeReason = (error: unknown): string => writeReasons[fileErrorCode(error) ?? ''] ?? (error as Error).message;

/** The result of `work`; undefined if the file system refuses, for any reason or with one of these codes. */
export function unlessRefused<T>(work: () => T, codes?: readonly string[]): T | undefined {
  try {
    return work();
  } catch (error) {
    const code = fileErrorCode(error);
    if (code === undefined || codes?.includes(code) === false) throw error;
    return undefined;
  }
}
