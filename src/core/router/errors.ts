import { ORPCError, ValidationError } from '@orpc/server';
import { isObject, StemmaError } from '../base/index.js';
import { contract, describeInvalid, describeProcedure, type JsonSchema } from '../contract/index.js';

type Stream = AsyncGenerator<unknown, unknown, undefined>;

/** Whether a procedure answered with a stream. */
export const isStream = (output: unknown): output is Stream => isObject(output) && Symbol.asyncIterator in output;

/** Passes a stream on and converts the errors that it throws with `refuse`. */
export async function* refusing(stream: Stream, refuse: (error: unknown) => unknown): Stream {
  try {
    return yield* stream;
  } catch (error) {
    throw refuse(error);
  }
}

/** Converts an error for the caller, with the code and data of the contract. A bug stays as it is. `call` is the path of the procedure. */
export function asRefusal(error: unknown, call: string): unknown {
  const refuse = (message: string): unknown => new ORPCError('BAD_REQUEST', { message, data: { field: 'input', call }, status: 400 });
  try {
    // Node refuses such a path wherever it is used.
    if ((error as { readonly code?: unknown } | null)?.code === 'ERR_INVALID_ARG_VALUE' && /null bytes/.test(String(error)))
      return refuse('A path of the input holds a NUL, which no file system allows.');
    return isTooDeep(error) ? refuse(tooDeep) : contractError(error, call);
  } catch (problem) {
    // The message of a refusal quotes the value.
    if (isTooDeep(problem)) return refuse(tooDeep);
    throw problem;
  }
}

const tooDeep = 'The input, or what it names, is nested too deeply.';
const isTooDeep = (error: unknown): boolean => error instanceof RangeError && /call stack/.test(error.message);

function contractError(error: unknown, call: string): unknown {
  if (error instanceof StemmaError)
    return new ORPCError(error.code, { message: error.message, data: { ...error.data, call }, status: statusOf[error.code] });
  if (error instanceof ORPCError && error.cause instanceof ValidationError && error.code === 'BAD_REQUEST') {
    const { issues, data } = error.cause;
    const { field, message } = describeInvalid(issues, data, (path) => fieldsAt(call, path));
    return new ORPCError('BAD_REQUEST', { message, data: { field, call }, status: 400 });
  }
  return error;
}

/** The names of the fields of a procedure's input at a path. */
function fieldsAt(call: string, path: readonly string[]): string[] {
  const input = describeProcedure(contract, call)?.input;
  const at = path.reduce<JsonSchema | undefined>((schema, name) => (/^\d+$/.test(name) ? schema?.items : schema?.properties?.[name]), input);
  return Object.keys(at?.properties ?? {});
}

/** The HTTP status of each code. */
const statusOf = { BAD_REQUEST: 400, UNAUTHORIZED: 401, NOT_FOUND: 404, CONFLICT: 409, LOCKED: 423, CORRUPT: 500, UNAVAILABLE: 503 } as const;
