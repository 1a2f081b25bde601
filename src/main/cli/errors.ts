import { ORPCError } from '@orpc/server';
import { StemmaError } from '../../core/base/index.js';

/** A refused call as programs read it. */
export interface Refusal {
  code: string;
  message: string;
  data: unknown;
}

/** Wrong usage of the command line. The command ends with exit code 2 and has changed nothing. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The code, message and data of an error. An error that nobody raised on purpose is a bug: `INTERNAL_SERVER_ERROR`. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof ORPCError) return { code: error.code, message: error.message, data: error.data ?? {} };
  if (error instanceof StemmaError) return { code: error.code, message: error.message, data: error.data };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'INTERNAL_SERVER_ERROR', message, data: {} };
}
