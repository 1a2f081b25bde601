import type { ContextId } from '../../core/contract/index.js';

/** A commit that a fork may have come from. */
export interface Candidate {
  readonly id: ContextId;
  readonly text: string;
  readonly createdAt: string;
}

const wordsIn = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** The candidate whose words are most similar to the words of the fork; the oldest candidate if several are equally similar. */
export function mostSimilar(text: string, candidates: readonly Candidate[]): Candidate | undefined {
  const words = wordsIn(text);
  const likeness = (candidate: Candidate): number => {
    const theirs = wordsIn(candidate.text);
    const all = new Set([...words, ...theirs]).size;
    return all === 0 ? 1 : [...words].filter((word) => theirs.has(word)).length / all;
  };
  const rated = candidates.map((candidate) => ({ candidate, rate: likeness(candidate) }));
  return rated.sort((a, b) => b.rate - a.rate || a.candidate.createdAt.localeCompare(b.candidate.createdAt))[0]?.candidate;
}
