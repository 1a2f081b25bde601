import { useCallback, useEffect, useRef, useState } from 'react';

/** The state of one question to the engine. */
export type Query<T> =
  | { readonly status: 'idle' }
  | { readonly status: 'loading'; readonly since: number; readonly cancel: () => void }
  | { readonly status: 'done'; readonly data: T }
  | { readonly status: 'failed'; readonly error: unknown; readonly retry: () => void }
  | { readonly status: 'canceled'; readonly retry: () => void };

/**
 * Asks the engine once per `key`; a `null` key asks nothing. `ask` receives a signal that aborts when the key changes,
 * the component unmounts or the person cancels; a late answer is dropped.
 */
export function useQuery<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Query<T> {
  const [state, setState] = useState<{ key: string | null; query: Query<T> }>({ key: null, query: { status: 'idle' } });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const retry = useCallback(() => setRound((n) => n + 1), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round repeats the question
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

  // The answer to the previous key must not show before the effect has run for the new one.
  return state.key === key ? state.query : { status: 'loading', since: Date.now(), cancel: () => {} };
}

/**
 * Keeps the last answer while the next one is loading, so that a reload does not blink. An answer is kept only while
 * `subject` stays the same.
 */
export function useKept<T>(query: Query<T>, subject = ''): Query<T> {
  const last = useRef({ query, subject });
  if (query.status !== 'loading' || last.current.query.status !== 'done' || last.current.subject !== subject) last.current = { query, subject };
  return last.current.query;
}
