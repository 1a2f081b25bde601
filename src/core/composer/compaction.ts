import type { MemoryMessage, OutputOf } from '../contract/index.js';
import { type CompactionPolicy, costOf, extractiveSummary, historyText, planCompaction } from './compact.js';
import { buildPatch } from './state.js';

export interface ShortenInput extends CompactionPolicy {
  readonly messages: readonly MemoryMessage[];
  /** `compression__context` so far. */
  readonly previousSummary?: string;
  /** A given summary, for example of a model. Without it an extractive summary is made. */
  readonly summary?: string;
}

/** `historyText` is the text for a summarizing model. `patch` holds the summary and the shortened memory, and is empty if nothing changed. */
export type Shortened = OutputOf<'compose.shorten'>;

/** Applies the compaction policy to a memory. The caller applies the patch to its state. */
export function shortenMemory({ messages, previousSummary, summary, ...policy }: ShortenInput): Shortened {
  const { kept, removed } = planCompaction(messages, policy);
  const before = costOf(messages);
  if (removed.length === 0)
    return { messages: [...messages], summary: '', removed: 0, kept: 0, tokens: { before, after: before }, historyText: '', patch: {} };
  const text = summary?.trim() || extractiveSummary(removed, previousSummary);
  return {
    messages: [...kept],
    summary: text,
    removed: removed.length,
    kept: kept.length,
    tokens: { before, after: costOf(kept) },
    historyText: historyText(removed),
    patch: buildPatch({}, [['memory.compact', { messages: kept, summary: text }]]),
  };
}
