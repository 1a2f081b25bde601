/** The error codes of the contract. */
export const errorCodes = ['BAD_REQUEST', 'NOT_FOUND', 'CONFLICT', 'CORRUPT', 'LOCKED', 'UNAUTHORIZED', 'UNAVAILABLE'] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** Details of an error as plain JSON: `field` of a bad request, `id` of a missing object. */
export type ErrorData = Readonly<Record<string, unknown>>;

/**
 * The only error that the engine throws on purpose. Its message says what was wrong, with which value, and what would be
 * right; `data` holds the same facts for programs. Any other thrown error is a bug.
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

/** An invalid input. `field` is the path of the invalid field. */
export const badRequest = (field: string, message: string, data: ErrorData = {}): StemmaError =>
  new StemmaError('BAD_REQUEST', message, { field, ...data });

/** A missing object. `id` is its id. */
export const notFound = (id: string, message: string, data: ErrorData = {}): StemmaError => new StemmaError('NOT_FOUND', message, { id, ...data });

/** An operation that the present state does not allow. */
export const conflict = (message: string, data: ErrorData = {}): StemmaError => new StemmaError('CONFLICT', message, data);

/** Something that does not answer, or cannot be used now. */
export const unavailable = (message: string, data: ErrorData = {}, options?: ErrorOptions): StemmaError =>
  new StemmaError('UNAVAILABLE', message, data, options);

/** Damaged data. `id` is the id of the damaged object, row or file. */
export const corrupt = (id: string, message: string, data: ErrorData = {}, options?: ErrorOptions): StemmaError =>
  new StemmaError('CORRUPT', message, { id, ...data }, options);

/** The codes of a content that is damaged, that has expired, or that no place returns now. */
export const contentGone: readonly ErrorCode[] = ['CORRUPT', 'NOT_FOUND', 'UNAVAILABLE'];

/** The result of `read`; undefined if the engine refuses it, for any reason or with one of these codes. */
export function orUndefined<Value>(read: () => Value, codes: readonly ErrorCode[] = errorCodes): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StemmaError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

/** A refusal as plain data, which can be sent to another thread or process. */
export type Refusal = Pick<StemmaError, 'code' | 'message' | 'data'>;
/** The result of work, or why it was refused, as plain data. */
export type Settled = { readonly result: unknown } | { readonly refused: Refusal };

/** Turns an error into plain data. @throws any error that is a bug */
export function refusalIn(error: unknown): Refusal {
  if (!(error instanceof StemmaError)) throw error;
  const { code, message, data } = error;
  return { code, message, data };
}

/** The error of a refusal. */
export const errorOf = ({ code, message, data }: Refusal): StemmaError => new StemmaError(code, message, data);

/** Does work and turns its result or its refusal into plain data. @throws any error that is a bug */
export async function settled(work: () => unknown): Promise<Settled> {
  try {
    return { result: await work() };
  } catch (error) {
    return { refused: refusalIn(error) };
  }
}

/** The result of work that {@link settled} did. @throws the error of its refusal */
export function resultOf(work: Settled): unknown {
  if ('refused' in work) throw errorOf(work.refused);
  return work.result;
}

/** A short, printable form of any value for use in an error message. */
export function inWords(value: unknown, limit = 80): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** The first of some names, and the number of the others: `a, b and 3 more`. */
export const firstOf = (names: readonly string[], most: number, between = ', '): string =>
  `${names.slice(0, most).join(between)}${names.length > most ? ` and ${names.length - most} more` : ''}`;

/** The default of a switch over a closed union. It does not compile if a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`no case for ${inWords(value)}`);
}
