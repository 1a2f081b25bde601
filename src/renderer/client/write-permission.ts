import { ORPCError } from '@orpc/client';
import { create } from 'zustand';

/** A new file that the engine may write only after the person has confirmed its path. */
export interface WriteQuestion {
  readonly path: string;
  readonly folder: string;
}

/** The open question to the person, and the function that answers it. */
export const useWriteQuestion = create<{ question: WriteQuestion | undefined; answer: (isAllowed: boolean) => void }>(() => ({
  question: undefined,
  answer: () => {},
}));

/** The file that a refused call wants to write; undefined if the call was refused for another reason. */
export function fileToConfirm(error: unknown): WriteQuestion | undefined {
  if (!(error instanceof ORPCError) || error.code !== 'UNAUTHORIZED') return undefined;
  const { path, folder } = (error.data ?? {}) as Partial<WriteQuestion>;
  return typeof path === 'string' && typeof folder === 'string' ? { path, folder } : undefined;
}

let last: Promise<unknown> = Promise.resolve();

/** Asks the person, one question at a time, and resolves with the answer. */
export function askToWrite(question: WriteQuestion): Promise<boolean> {
  const answered = last.then(
    () =>
      new Promise<boolean>((resolve) => {
        const answer = (isAllowed: boolean): void => {
          useWriteQuestion.setState({ question: undefined, answer: () => {} });
          resolve(isAllowed);
        };
        useWriteQuestion.setState({ question, answer });
      }),
  );
  last = answered;
  return answered;
}
