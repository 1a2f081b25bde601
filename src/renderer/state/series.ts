import type { ContextId, UsageSeries } from '../../core/contract/index.js';
import { api } from '../client';
import { AnswerMemory } from './memory';
import { type Query, useQuery } from './query';

/** What filled the window at each call. `isPart`: only at the last calls. */
export type ShownSeries = UsageSeries & { readonly isPart?: true };

const known = new AnswerMemory<ShownSeries>(8);
const firstCalls = 500;

async function seriesOf(query: { readonly id: ContextId; readonly last?: number }, signal: AbortSignal): Promise<ShownSeries> {
  const { packed = '[]', ...series } = await api.usage.series({ ...query, packed: true }, { signal });
  const calls = JSON.parse(packed) as UsageSeries['calls'];
  return { ...series, calls, ...(calls.length === query.last && { isPart: true as const }) };
}

/** What filled the window at each call on the way to a commit: at the last calls first. */
export function useSeries(project: string, id: ContextId): Query<ShownSeries> {
  const last = useQuery(`${project} ${id} last`, (signal) => seriesOf({ id, last: firstCalls }, signal), known);
  const whole = useQuery(last.status === 'done' && last.data.isPart ? `${project} ${id}` : null, (signal) => seriesOf({ id }, signal), known);
  return whole.status === 'done' ? whole : last;
}
