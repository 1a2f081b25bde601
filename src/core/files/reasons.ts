/** The code of a file system error or of a refusal (`ENOENT`, `ELOOP` ...); undefined for any other error. */
export const fileErrorCode = (error: unknown): string | undefined => {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
};
