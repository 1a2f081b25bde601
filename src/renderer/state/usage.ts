import { useMemo } from 'react';
import type { ContextId, EntryKey, UsageCompaction, UsageContext, UsageFork, UsageSeries } from '../../core/contract/index.js';
import { api } from '../client';
import { AnswerMemory } from './memory';
import { type Query, useKeptQuery, useQuery } from './query';

const counts = new AnswerMemory<UsageContext>(60);

/** The provider's count for a context. Does not ask the engine if the commit is null. Commits never change, but their calls can be imported later. */
export const useUsageOf = (project: string, commit: ContextId | null): Query<UsageContext> =>
  useQuery(commit === null ? null : `${project} ${commit}`, (signal) => api.usage.context({ id: commit as ContextId }, { signal }), counts);

/** The tokens that a fork will hold which is cut after an entry and gives it another text. */
export const useForkUsage = (commit: ContextId, at: EntryKey, text: string): Query<UsageFork> =>
  useKeptQuery(`fork ${commit} ${at}`, `fork ${commit} ${at} ${text}`, (signal) => api.usage.fork({ id: commit, at, text }, { signal }));

/** The count of an answer: `loading` until it arrives; undefined if none can arrive. */
export const shownUsage = (query: Query<UsageContext>): UsageContext | 'loading' | undefined =>
  query.status === 'done' ? query.data : query.status === 'loading' ? 'loading' : undefined;

/** What filled the window at each call. `isPart`: only at the last calls. */
export type ShownSeries = UsageSeries & { readonly isPart?: true };

const seriesKnown = new AnswerMemory<ShownSeries>(8);
const firstCalls = 500;

async function seriesOf(query: { readonly id: ContextId; readonly last?: number }, signal: AbortSignal): Promise<ShownSeries> {
  const { packed = '[]', ...series } = await api.usage.series({ ...query, packed: true }, { signal });
  const calls = JSON.parse(packed) as UsageSeries['calls'];
  return { ...series, calls, ...(calls.length === query.last && { isPart: true as const }) };
}

/** What filled the window at each call on the way to a commit: at the last calls first. */
export function useSeries(project: string, id: ContextId): Query<ShownSeries> {
  const last = useQuery(`${project} ${id} last`, (signal) => seriesOf({ id, last: firstCalls }, signal), seriesKnown);
  const whole = useQuery(last.status === 'done' && last.data.isPart ? `${project} ${id}` : null, (signal) => seriesOf({ id }, signal), seriesKnown);
  return whole.status === 'done' ? whole : last;
}

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
