import type { ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { go } from '../state';

interface Candidate {
  readonly id: ContextId;
  readonly text: string;
  readonly createdAt: string;
}

const wordsIn = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** The candidate whose words are most like those of the fork; the oldest one if several are. */
export function mostAlike(text: string, candidates: readonly Candidate[]): Candidate | undefined {
  const words = wordsIn(text);
  const likeness = (candidate: Candidate): number => {
    const theirs = wordsIn(candidate.text);
    const all = new Set([...words, ...theirs]).size;
    return all === 0 ? 1 : [...words].filter((word) => theirs.has(word)).length / all;
  };
  const rated = candidates.map((candidate) => ({ candidate, rate: likeness(candidate) }));
  return rated.sort((a, b) => b.rate - a.rate || a.candidate.createdAt.localeCompare(b.candidate.createdAt))[0]?.candidate;
}

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
  go({ view: 'compare', commit: id, against: mostAlike(fork?.text ?? '', others)?.id ?? parent, entry: undefined });
}
