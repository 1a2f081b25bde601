import { notFound } from '../base/index.js';

/** What a person says that a tool would have answered; undefined where they let the run stop there. */
export type ToolAnswer = { readonly text: string; readonly isError: boolean } | undefined;

/** Calls of tools that wait for a person. A run asks, whoever holds the id answers; nothing of it outlives the process. */
export interface Questions {
  ask(signal: AbortSignal | undefined): { readonly questionId: string; readonly answer: Promise<ToolAnswer> };
  /** @throws NOT_FOUND where nobody waits for it any more. */
  answer(questionId: string, answer: ToolAnswer): void;
}

export function openQuestions(newId: () => string): Questions {
  const open = new Map<string, (answer: ToolAnswer) => void>();
  return {
    ask(signal) {
      const questionId = newId();
      const answer = new Promise<ToolAnswer>((resolve) => {
        const settle = (given: ToolAnswer): void => {
          open.delete(questionId);
          signal?.removeEventListener('abort', stop);
          resolve(given);
        };
        const stop = (): void => settle(undefined);
        open.set(questionId, settle);
        signal?.addEventListener('abort', stop);
        if (signal?.aborted) stop();
      });
      return { questionId, answer };
    },
    answer(questionId, answer) {
      const settle = open.get(questionId);
      if (!settle) throw notFound(questionId, 'no run waits for this answer any more: it was answered, stopped or ended');
      settle(answer);
    },
  };
}
