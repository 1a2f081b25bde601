import type { ComposedMessage } from '../../../core/contract/index.js';

/** Splits a composition into the question (the query, else the last message of a person) and the messages before it. */
export function divided(messages: readonly ComposedMessage[]): { readonly before: readonly ComposedMessage[]; readonly question: string } {
  const last = messages.at(-1);
  return last?.role === 'human' ? { before: messages.slice(0, -1), question: last.content } : { before: messages, question: '' };
}
