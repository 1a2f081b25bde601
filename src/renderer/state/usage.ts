import type { ContextId, UsageContext } from '../../core/contract/index.js';
import { api } from '../client';
import { Memory } from './memory';
import { type Query, useQuery } from './query';

const counts = new Memory<UsageContext>(60);

/** What the provider counted for a context; `null` asks nothing. Commits never change, but calls of theirs can be imported later. */
export const useUsageOf = (project: string, commit: ContextId | null): Query<UsageContext> =>
  useQuery(commit === null ? null : `${project} ${commit}`, (signal) => api.usage.context({ id: commit as ContextId }, { signal }), counts);

/** What an answer shows: `loading` until the count arrives; undefined where none can arrive. */
export const shownUsage = (query: Query<UsageContext>): UsageContext | 'loading' | undefined =>
  query.status === 'done' ? query.data : query.status === 'loading' ? 'loading' : undefined;
