import type { ContextId, EntryKey, UsageContext, UsageFork } from '../../core/contract/index.js';
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
