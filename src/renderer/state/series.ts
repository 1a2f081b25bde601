import type { ContextId, UsageSeries } from '../../core/contract/index.js';
import { api } from '../client';
import { AnswerMemory } from './memory';
import { type Query, useQuery } from './query';

const known = new AnswerMemory<UsageSeries>(4);

async function seriesOf(id: ContextId, signal: AbortSignal): Promise<UsageSeries> {
  const { packed = '[]', ...series } = await api.usage.series({ id, packed: true }, { signal });
  return { ...series, calls: JSON.parse(packed) as UsageSeries['calls'] };
}

/** What filled the window at each call on the way to a commit. */
export const useSeries = (project: string, commit: ContextId): Query<UsageSeries> =>
  useQuery(`${project} ${commit}`, (signal) => seriesOf(commit, signal), known);
