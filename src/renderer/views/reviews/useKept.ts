import { useRef } from 'react';
import type { Query } from '../../state';

/** An answer stays on the screen while the same question is asked again; `thing` says what is the same question. */
export function useKept<T>(thing: string, query: Query<T>): Query<T> {
  const kept = useRef<{ thing: string; data: T }>(undefined);
  if (query.status === 'done') kept.current = { thing, data: query.data };
  return query.status === 'loading' && kept.current?.thing === thing ? { status: 'done', data: kept.current.data } : query;
}
