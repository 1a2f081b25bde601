import { ORPCError } from '@orpc/client';
import { notify } from '../state';

/** What an error says to a person, and what it says to whoever has to mend it. */
export interface Problem {
  readonly message: string;
  readonly code: string;
  readonly details: string;
}

export function problemOf(error: unknown): Problem {
  if (error instanceof ORPCError) {
    return {
      message: error.code === 'INTERNAL_SERVER_ERROR' ? 'The engine failed in a way that it did not expect.' : sentence(error.message),
      code: error.code,
      details: JSON.stringify({ code: error.code, message: error.message, data: error.data }, null, 2),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (isAway(error)) return { message: 'The engine went away before it answered.', code: 'AWAY', details: message };
  return { message, code: 'WINDOW', details: error instanceof Error ? (error.stack ?? message) : message };
}

/** What oRPC says of a call that was under way when its line broke. */
export const isAway = (error: unknown): boolean => error instanceof Error && error.message.startsWith('[AsyncIdQueue]');

/** The engine's words begin small, to stand in a line of a terminal; here they stand alone. A path or an id stays as it is. */
const sentence = (words: string): string => words.replace(/^[a-z]+(?= )/, (first) => first[0]?.toUpperCase() + first.slice(1));

/** Says a failed small action where it was asked for, for a moment. */
export const notifyProblem = (error: unknown): void => notify(problemOf(error).message);
