import type { ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { type Candidate, mostSimilar } from '../parts';
import { go } from '../state';

/** A commit with the text that a person wrote first in it. */
async function candidateOf(id: ContextId): Promise<Candidate> {
  const [{ createdAt }, { entries }] = await Promise.all([api.context.show({ id }), api.context.entries({ id, stop: id, limit: 20 })]);
  return { id, createdAt, text: entries.find(({ role, kind }) => role === 'user' && kind === 'text')?.text ?? '' };
}

/**
 * Opens a fork beside the commit that stands in its place on the original branch: of the other commits after the same parent, the one
 * that it most resembles. Without any, beside the commit that it continues.
 */
export async function compareWithOriginal(id: ContextId, parent: ContextId): Promise<void> {
  const { children } = await api.context.show({ id: parent });
  const [fork, ...others] = await Promise.all([id, ...children.filter((child) => child !== id)].map(candidateOf));
  go({ view: 'compare', commit: id, against: mostSimilar(fork?.text ?? '', others)?.id ?? parent, entry: undefined });
}
