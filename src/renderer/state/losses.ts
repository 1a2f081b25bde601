import { useMemo } from 'react';
import type { ContextId, UsageCompaction } from '../../core/contract/index.js';
import { api } from '../client';
import { useQuery } from './query';

/** For each kind of content: the number of items that a compaction replaced, and of items that its summary does not mention. */
export type CompactionLosses = UsageCompaction['totals'];

/** The loaded losses of compactions. Compactions never change, so their losses stay valid. */
const known = new Map<string, CompactionLosses>();
/** Milliseconds that a compaction must be in view before its losses are requested, so that scrolling past it requests nothing. */
const settledMs = 300;

/** The losses of the compactions in view, loaded one after the other. */
export function useLosses(project: string, compactions: readonly ContextId[]): ReadonlyMap<ContextId, CompactionLosses> {
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
