import { useMemo } from 'react';
import type { ContextId, ReplayStep, UsageContext, UsageSeries } from '../../../core/contract/index.js';
import type { ShownUsage } from '../../parts';
import { useSeries } from '../../state';

/** What the provider counted as the input of the call whose reply a step belongs to or follows. */
export function useCounted(project: string, commit: ContextId, steps: readonly ReplayStep[], place: number): ShownUsage {
  const query = useSeries(project, commit);
  const series = query.data;
  const places = useMemo(() => placesOfReplies(series, steps), [series, steps]);
  return useMemo(() => {
    if (query.status === 'loading') return 'loading';
    const from = places.findLast((reply) => reply.place <= place);
    // After a compaction, nothing is counted until the next call.
    const isCompacted = from === undefined || steps.slice(from.place + 1, place + 1).some(({ dropped }) => dropped !== undefined);
    return series === undefined || isCompacted ? undefined : countedUsage(series, from.call);
  }, [query.status, series, places, steps, place]);
}

type Call = UsageSeries['calls'][number];

/** The step at which the reply of each call begins. */
function placesOfReplies(series: UsageSeries | undefined, steps: readonly ReplayStep[]): { readonly place: number; readonly call: Call }[] {
  const calls = new Map(series?.calls.map((call) => [call.replyKey, call]));
  return steps.flatMap(({ key }, place) => {
    const call = calls.get(key);
    return call ? [{ place, call }] : [];
  });
}

function countedUsage({ kinds, basis }: UsageSeries, { requestId, counted, limit, parts, notRecorded }: Call): UsageContext {
  return {
    counted,
    requestId,
    estimated: parts.reduce((sum, tokens) => sum + tokens, 0),
    limit,
    model: null,
    parts: kinds.map((kind, at) => ({ kind, tokens: parts[at] ?? 0, basis })).filter(({ tokens }) => tokens > 0),
    notRecorded,
  };
}
