import { ORPCError } from '@orpc/client';
import { StemmaError } from '../../core/base/index.js';

/** Invalid usage of the command line. The command ends with exit code 2 before it changes anything. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The code, message and data of an error. An unexpected error is a bug and gets the code `INTERNAL_SERVER_ERROR`. */
export function refusalOf(error: unknown): { code: string; message: string; data: unknown } {
  if (error instanceof ORPCError) return { code: error.code, message: error.message, data: error.data ?? {} };
  if (error instanceof StemmaError) return { code: error.code, message: error.message, data: error.data };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'INTERNAL_SERVER_ERROR', message, data: {} };
}
