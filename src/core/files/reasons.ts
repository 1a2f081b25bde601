/** The code of a file system error or of a refusal (`ENOENT`, `ELOOP` ...); undefined for any other error. */
export const fileErrorCode = (error: unknown): string | undefined => {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
};

/** The result of `work`; undefined if the file system refuses. */
export function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (fileErrorCode(error) === undefined) throw error;
    return undefined;
  }
}
