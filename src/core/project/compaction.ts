import type { ContextId } from '../base/index.js';
import { type Chain, compact, contextEntries, entries } from '../chain/index.js';
import { type CompactionPolicy, planCompaction, recordedLayers, requestBody, shortenMemory, summaryCall } from '../composer/index.js';
import type { Commit, Compaction } from '../contract/index.js';
import type { ModelProvider } from '../turns/index.js';
import { askFor } from './ask.js';

export interface CompactionRequest {
  readonly id: ContextId;
  readonly keepLast?: number | undefined;
  readonly budgetTokens?: number | undefined;
  /** A summary that somebody wrote. Without it and without a provider the extractive one is made. */
  readonly summary?: string | undefined;
  /** Who writes the summary. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

export interface ContextCompaction {
  /** The compaction, or null where the policy leaves everything as it is. */
  readonly commit: Commit | null;
  readonly compaction: Compaction;
}

/**
 * Applies the compactor's policy to a commit's context, and puts what comes of it on the chain: a compaction commit of
 * the summary and the entries that stay. What was there before stays reachable behind it. Where a model is to write
 * the summary and does not answer, nothing is written.
 * @throws BAD_REQUEST for an unknown provider; UNAVAILABLE where the model gave no summary.
 */
export async function compactContext(
  chain: Chain,
  request: CompactionRequest,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): Promise<ContextCompaction> {
  const { id } = request;
  const recorded = recordedLayers(entries(chain, { id }).entries);
  const messages = recorded.memory.map(({ message }) => message);
  const previousSummary = recorded.summaries.map((entry) => entry.text ?? '').join('\n\n') || undefined;
  const policy: CompactionPolicy = {
    ...(request.keepLast !== undefined && { keepLast: request.keepLast }),
    ...(request.budgetTokens !== undefined && { budgetTokens: request.budgetTokens }),
  };
  const { removed } = planCompaction(messages, policy);
  const { provider, model: named } = request;
  const summary =
    provider !== undefined && removed.length > 0
      ? await askFor(
          { provider, model: named },
          (wire, model) => requestBody(summaryCall(removed, previousSummary), wire, model) as Record<string, unknown>,
          providers,
          signal,
        )
      : request.summary;

  const shortened = shortenMemory({ messages, ...policy, ...(previousSummary && { previousSummary }), ...(summary && { summary }) });
  const { historyText: _, patch: __, ...compaction } = shortened;
  if (compaction.removed === 0) return { commit: null, compaction };
  const stays = new Set(compaction.messages.map((message) => message.id));
  const keys = new Set(recorded.memory.filter(({ message }) => stays.has(message.id)).flatMap(({ from }) => from.map((entry) => entry.key)));
  const kept = contextEntries(chain, { id }).flatMap(({ key, entry }) => (keys.has(key) ? [entry] : []));
  return { commit: compact(chain, id, compaction.summary, kept), compaction };
}
