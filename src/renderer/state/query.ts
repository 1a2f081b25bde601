import { useCallback, useEffect, useRef, useState } from 'react';

export type Query<T> =
  | { readonly status: 'idle' }
  | { readonly status: 'loading'; readonly since: number; readonly cancel: () => void }
  | { readonly status: 'done'; readonly data: T }
  | { readonly status: 'failed'; readonly error: unknown; readonly retry: () => void }
  | { readonly status: 'canceled'; readonly retry: () => void };

/**
 * Asks the engine once per `key` and forgets an answer that nobody waits for anymore. A `null` key asks nothing.
 * `ask` gets a signal that is aborted when the key changes, the view goes, or the person cancels.
 */
export function useQuery<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Query<T> {
  const [state, setState] = useState<{ key: string | null; query: Query<T> }>({ key: null, query: { status: 'idle' } });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const retry = useCallback(() => setRound((n) => n + 1), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks the same question again
  useEffect(() => {
    if (key === null) return setState({ key, query: { status: 'idle' } });
    const controller = new AbortController();
    const settle = (query: Query<T>) => {
      if (!controller.signal.aborted) setState({ key, query });
    };
    const cancel = () => {
      settle({ status: 'canceled', retry });
      controller.abort();
    };
    setState({ key, query: { status: 'loading', since: Date.now(), cancel } });
    latest.current(controller.signal).then(
      (data) => settle({ status: 'done', data }),
      (error: unknown) => settle({ status: 'failed', error, retry }),
    );
    return () => controller.abort();
  }, [key, round, retry]);

  // Until the effect has run for a new key, the old answer must not show under it.
  return state.key === key ? state.query : { status: 'loading', since: Date.now(), cancel: () => {} };
}

/**
 * The last answer, for as long as the next one is on its way: what is read again while one looks at it does not blink. Where the
 * question can be about one thing or another, `subject` says which: the answer about another is not kept.
 */
export function useKept<T>(query: Query<T>, subject = ''): Query<T> {
  const last = useRef({ query, subject });
  if (query.status !== 'loading' || last.current.query.status !== 'done' || last.current.subject !== subject) last.current = { query, subject };
  return last.current.query;
}
