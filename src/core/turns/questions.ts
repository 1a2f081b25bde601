import { notFound } from '../base/index.js';

/** A person's answer to a tool call; undefined stops the run at the call. */
export type QuestionAnswer = { readonly text: string; readonly isError: boolean } | undefined;

/** Tool calls that wait for a person. A run asks, and another request answers by the question's id. Nothing is stored. */
export interface Questions {
  ask(signal: AbortSignal | undefined): { readonly questionId: string; readonly answer: Promise<QuestionAnswer> };
  /** @throws NOT_FOUND if no run waits for this answer. */
  answer(questionId: string, answer: QuestionAnswer): void;
}

/** Creates an empty set of questions. `newId` returns a unique id. */
export function openQuestions(newId: () => string): Questions {
  const open = new Map<string, (answer: QuestionAnswer) => void>();
  return {
    ask(signal) {
      const questionId = newId();
      const { promise: answer, resolve } = Promise.withResolvers<QuestionAnswer>();
      const settle = (given: QuestionAnswer): void => {
        open.delete(questionId);
        signal?.removeEventListener('abort', stop);
        resolve(given);
      };
      const stop = (): void => settle(undefined);
      open.set(questionId, settle);
      signal?.addEventListener('abort', stop);
      if (signal?.aborted) stop();
      return { questionId, answer };
    },
    answer(questionId, answer) {
      const settle = open.get(questionId);
      if (!settle) throw notFound(questionId, 'No run waits for this answer: it was answered already, or the run ended.');
      settle(answer);
    },
  };
}
