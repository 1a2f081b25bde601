import type { ContextId } from '../base/index.js';
import { type Chain, compact, contextEntries, entries } from '../chain/index.js';
import { recordedLayers, shortenMemory } from '../composer/index.js';
import type { Commit, Compaction } from '../contract/index.js';

export interface CompactionRequest {
  readonly id: ContextId;
  readonly keepLast?: number | undefined;
  readonly budgetTokens?: number | undefined;
  /** A summary that somebody wrote. Without it the extractive one is made. */
  readonly summary?: string | undefined;
}

export interface ContextCompaction {
  /** The compaction, or null where the policy leaves everything as it is. */
  readonly commit: Commit | null;
  readonly compaction: Compaction;
}

/**
 * Applies the compactor's policy to a commit's context, and puts what comes of it on the chain: a compaction commit of
 * the summary and the entries that stay. What was there before stays reachable behind it.
 */
export function compactContext(chain: Chain, { id, summary, ...policy }: CompactionRequest): ContextCompaction {
  const recorded = recordedLayers(entries(chain, { id }).entries);
  const previousSummary = recorded.summaries.map((entry) => entry.text ?? '').join('\n\n');
  const {
    historyText: _,
    patch: __,
    ...compaction
  } = shortenMemory({
    messages: recorded.memory.map(({ message }) => message),
    ...(previousSummary === '' ? {} : { previousSummary }),
    ...(summary === undefined ? {} : { summary }),
    ...(policy.keepLast === undefined ? {} : { keepLast: policy.keepLast }),
    ...(policy.budgetTokens === undefined ? {} : { budgetTokens: policy.budgetTokens }),
  });
  if (compaction.removed === 0) return { commit: null, compaction };

  const stays = new Set(compaction.messages.map((message) => message.id));
  const keys = new Set(recorded.memory.filter(({ message }) => stays.has(message.id)).flatMap(({ from }) => from.map((entry) => entry.key)));
  const kept = contextEntries(chain, { id }).flatMap(({ key, entry }) => (keys.has(key) ? [entry] : []));
  return { commit: compact(chain, id, compaction.summary, kept), compaction };
}
