import { defined } from '../base/index.js';
import { compact, contextEntries, entries, type ReadChain, type WriteChain } from '../chain/index.js';
import { type CompactionPolicy, planCompaction, recordedLayers, shortenMemory, summaryCall, textOf } from '../composer/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';
import type { ModelProvider } from '../turns/index.js';
import { askFor, type TextCall } from './ask.js';

/**
 * Applies the compactor's policy to a context and adds a compaction commit with the summary and the kept entries. Earlier
 * commits stay reachable. If the model does not reply, nothing is written.
 * @throws BAD_REQUEST for an unknown provider; UNAVAILABLE if the model gave no summary.
 */
export async function compactContext(
  chain: WriteChain,
  request: InputOf<'compose.compact'>,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): Promise<OutputOf<'compose.compact'>> {
  const { id } = request;
  const { recorded, messages, previousSummary, policy, call } = planned(chain, request);
  const { provider, model: named } = request;
  const summary = provider !== undefined && call ? await askFor({ provider, model: named }, call, providers, signal) : request.summary;

  const shortened = shortenMemory({ messages, ...policy, ...(previousSummary && { previousSummary }), ...(summary && { summary }) });
  const { historyText: _, patch: __, ...compaction } = shortened;
  if (compaction.removed === 0) return { commit: null, compaction };
  const stays = new Set(compaction.messages.map((message) => message.id));
  const keys = new Set(recorded.memory.filter(({ message }) => stays.has(message.id)).flatMap(({ from }) => from.map((entry) => entry.key)));
  const kept = contextEntries(chain, { id }).flatMap(({ key, entry }) => (keys.has(key) ? [entry] : []));
  return { commit: compact(chain, id, compaction.summary, kept, request.principal), compaction };
}

type Limits = Pick<InputOf<'compose.compact'>, 'id' | 'keepLast' | 'budgetTokens'>;

/** The call that writes the summary of a compaction; undefined if nothing of the context has to be shortened. */
export const compactionCall = (chain: ReadChain, request: Limits): TextCall | undefined => planned(chain, request).call;

function planned(chain: ReadChain, { id, keepLast, budgetTokens }: Limits) {
  const recorded = recordedLayers(entries(chain, { id }).entries);
  const messages = recorded.memory.map(({ message }) => message);
  const previousSummary = textOf(recorded.summaries) || undefined;
  const policy: CompactionPolicy = defined({ keepLast, budgetTokens });
  const { removed } = planCompaction(messages, policy);
  const call: TextCall | undefined = removed.length > 0 ? { call: summaryCall(removed, previousSummary) } : undefined;
  return { recorded, messages, previousSummary, policy, call };
}
