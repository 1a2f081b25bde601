import { useMemo } from 'react';
import type { ContextId, UsageCompaction } from '../../core/contract/index.js';
import { api } from '../client';
import { useQuery } from './query';

/** For each kind of content: what a compaction replaced, and how much of it the summary does not mention. */
export type Losses = UsageCompaction['totals'];

/** What was found for compactions. They never change, so neither do their losses. */
const known = new Map<string, Losses>();
/** How long a compaction is in view before the engine is asked about it, so that scrolling past asks nothing. */
const settledMs = 300;

/** The losses of compactions in view, found one after the other. */
export function useLosses(project: string, compactions: readonly ContextId[]): ReadonlyMap<ContextId, Losses> {
  const next = compactions.find((id) => !known.has(`${project}\n${id}`));
  useQuery(next === undefined ? null : `${project} ${next} losses`, async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, settledMs));
    if (next === undefined || signal.aborted) return undefined;
    // A compaction whose content is damaged shows no losses. The inspector says why.
    const totals = await api.usage.compaction({ id: next, limit: 1 }, { signal }).then(
      (found) => found.totals,
      () => [],
    );
    if (!signal.aborted) known.set(`${project}\n${next}`, totals);
    return totals;
  });
  const names = compactions.join();
  const count = known.size;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` stands for the ids, `count` for what arrived
  return useMemo(() => {
    const found = compactions.map((id) => [id, known.get(`${project}\n${id}`)] as const);
    return new Map(found.flatMap(([id, losses]) => (losses ? [[id, losses] as const] : [])));
  }, [project, names, count]);
}
