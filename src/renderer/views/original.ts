import type { ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { type Candidate, mostSimilar } from '../parts';
import { go } from '../state';

/** A commit with the first text that a person wrote in it. */
async function candidateOf(id: ContextId): Promise<Candidate> {
  const [{ createdAt }, { entries }] = await Promise.all([api.context.show({ id }), api.context.entries({ id, stop: id, limit: 20 })]);
  return { id, createdAt, text: entries.find(({ role, kind }) => role === 'user' && kind === 'text')?.text ?? '' };
}

/**
 * Compares a fork with its counterpart on the original branch: the most similar other child of the same parent. Without another child, compares it
 * with the parent.
 */
export async function compareWithOriginal(id: ContextId, parent: ContextId): Promise<void> {
  const { children } = await api.context.show({ id: parent });
  const [fork, ...others] = await Promise.all([id, ...children.filter((child) => child !== id)].map(candidateOf));
  go({ view: 'compare', commit: id, against: mostSimilar(fork?.text ?? '', others)?.id ?? parent, entry: undefined });
}
