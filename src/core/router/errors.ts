import { ORPCError, ValidationError } from '@orpc/server';
import { isObject, StemmaError } from '../base/index.js';

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
  if (error instanceof StemmaError)
    return new ORPCError(error.code, { message: error.message, data: { ...error.data, call }, status: statusOf[error.code] });
  if (error instanceof ORPCError && error.cause instanceof ValidationError && error.code === 'BAD_REQUEST') {
    // Reports an unknown field first: a misspelled field is often the reason why another one is missing.
    const { issues } = error.cause;
    const issue = withinUnion(issues.find((each) => 'keys' in each) ?? issues[0]);
    const unknown = issue && 'keys' in issue && Array.isArray(issue.keys) ? issue.keys.slice(0, 1) : [];
    const field = [...(issue?.path ?? []), ...unknown].map((part) => (isObject(part) ? String(part.key) : String(part))).join('.') || 'input';
    return new ORPCError('BAD_REQUEST', { message: `${field}: ${issue?.message ?? 'the input does not fit'}`, data: { field, call }, status: 400 });
  }
  return error;
}

/** What Zod says of a union that has no message of its own. */
const unnamed = 'Invalid input';

type Issue = ValidationError['issues'][number];

/** For a value that matches no variant of a union, the issue in the variant with the fewest issues. A message that names all variants stays. */
function withinUnion(issue: Issue | undefined): Issue | undefined {
  const forms = issue && 'errors' in issue && Array.isArray(issue.errors) ? (issue.errors as readonly (readonly Issue[])[]) : [];
  const byIssues = forms.toSorted((a, b) => a.length - b.length);
  const nearest = byIssues.flatMap((form) => form.slice(0, 1)).find((each) => (each.path?.length ?? 0) > 0);
  if (!issue || !nearest) return issue;
  const { path = [], message } = withinUnion(nearest) ?? nearest;
  return { ...issue, path: [...(issue.path ?? []), ...path], message: issue.message === unnamed ? message : issue.message };
}

/** The HTTP status of each code. */
const statusOf = { BAD_REQUEST: 400, UNAUTHORIZED: 401, NOT_FOUND: 404, CONFLICT: 409, LOCKED: 423, CORRUPT: 500, UNAVAILABLE: 503 } as const;
