import { ORPCError } from '@orpc/client';
import { notify, refreshProject } from '../state';

/** An error as shown to the user: a message, and details for a bug report. */
export interface ShownProblem {
  readonly message: string;
  readonly code: string;
  readonly details: string;
}

/** Converts any error to a message for the user. */
export function describeProblem(error: unknown): ShownProblem {
  if (error instanceof ORPCError) {
    return {
      message: error.code === 'INTERNAL_SERVER_ERROR' ? 'The engine had an internal error.' : sentence(shortened(error.message)),
      code: error.code,
      details: JSON.stringify({ code: error.code, message: error.message, data: error.data }, null, 2),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (isAway(error)) return { message: 'The engine stopped before it answered.', code: 'AWAY', details: message };
  return { message, code: 'WINDOW', details: error instanceof Error ? (error.stack ?? message) : message };
}

/** The field of a procedure's input that an error names. */
export function fieldOf(error: unknown): string | undefined {
  const data: unknown = error instanceof ORPCError ? error.data : undefined;
  const field = typeof data === 'object' && data !== null && 'field' in data ? data.field : undefined;
  return typeof field === 'string' ? field : undefined;
}

/** Whether oRPC reports that the connection closed during a call. */
export const isAway = (error: unknown): boolean => error instanceof Error && error.message.startsWith('[AsyncIdQueue]');

/** A message with shortened hashes. The details contain the full hashes. */
const shortened = (words: string): string => words.replace(/\bblake3:([0-9a-f]{8})[0-9a-f]{56}\b/g, 'blake3:$1…');

/** Capitalizes a message of the engine, except if it starts with a path or an id. */
const sentence = (words: string): string => words.replace(/^[a-z]+(?= )/, (first) => first[0]?.toUpperCase() + first.slice(1));

/** Shows a short notification about a failed action. */
export const notifyProblem = (error: unknown): void => notify(describeProblem(error).message);

/** The handler of a button whose action may fail: a notification then says why. */
export const attempt = (act: () => Promise<unknown>) => (): void => void act().catch(notifyProblem);

/** Makes lists reload after a change, and says what was done. `undo` takes the change back. */
export async function reloadAndSay(notice: string, undo?: () => Promise<unknown>): Promise<void> {
  await refreshProject();
  notify(notice, undo && { name: 'Undo', act: attempt(() => undo().then(refreshProject)) });
}
