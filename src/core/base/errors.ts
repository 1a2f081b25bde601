/** The codes that cross every door (contract, "Error codes"). */
export const errorCodes = ['BAD_REQUEST', 'NOT_FOUND', 'CONFLICT', 'CORRUPT', 'LOCKED', 'UNAUTHORIZED', 'UNAVAILABLE'] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** Facts about a refusal, as plain JSON: `field` of a bad request, `id` of what was not found. */
export type ErrorData = Readonly<Record<string, unknown>>;

/**
 * The one error that the engine raises on purpose. Its message says what was wrong, with which value, and what
 * would be right; `data` says the same to programs. Everything else that is thrown is a bug.
 */
export class StemmaError extends Error {
  override readonly name = 'StemmaError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly data: ErrorData = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const badRequest = (field: string, message: string, data: ErrorData = {}): StemmaError =>
  new StemmaError('BAD_REQUEST', message, { field, ...data });

export const notFound = (id: string, message: string, data: ErrorData = {}): StemmaError => new StemmaError('NOT_FOUND', message, { id, ...data });

export const corrupt = (id: string, message: string, data: ErrorData = {}, options?: ErrorOptions): StemmaError =>
  new StemmaError('CORRUPT', message, { id, ...data }, options);

/** A short, printable form of any value for use in an error message. */
export function inWords(value: unknown, limit = 80): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** The answer of a switch over a closed union that has no case left: does not compile when one is missing. */
export function unreachable(value: never): never {
  throw new Error(`no case for ${inWords(value)}`);
}
