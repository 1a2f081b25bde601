import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { AnswerMemory } from './memory';
import { useProject } from './project';

export type Query<T> =
  | { readonly status: 'idle'; readonly data?: undefined }
  | { readonly status: 'loading'; readonly cancel: () => void; readonly data?: undefined }
  | { readonly status: 'done'; readonly data: T }
  | { readonly status: 'failed'; readonly error: unknown; readonly retry: () => void; readonly data?: undefined }
  | { readonly status: 'canceled'; readonly retry: () => void; readonly data?: undefined };

/**
 * Asks the engine once per `key`, and not at all if `key` is null. `ask` receives a signal that aborts when the key changes, the component unmounts
 * or the person cancels; a late answer is dropped. A cached answer in `memory` is shown at once, and reloaded in the background only if it is not
 * valid any more.
 */
export function useQuery<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>, memory?: AnswerMemory<T>): Query<T> {
  const [state, setState] = useState<{ key: string | null; query: Query<T> }>({ key: null, query: { status: 'idle' } });
  const [round, retry] = useRounds();
  const changes = useProject(({ revision }) => (memory ? revision : 0));
  const latest = useRef(ask);
  latest.current = ask;
  const askAgain = useRef(() => {});

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round repeats the question
  useEffect(() => {
    if (key === null) return setState((old) => (old.key === null ? old : { key, query: { status: 'idle' } }));
    const controller = new AbortController();
    const settle = (query: Query<T>) => {
      if (!controller.signal.aborted) setState((old) => (isSame(old, key, query) ? old : { key, query }));
    };
    const cancel = () => {
      settle({ status: 'canceled', retry });
      controller.abort();
    };
    const known = memory?.get(key);
    settle(known === undefined ? { status: 'loading', cancel } : { status: 'done', data: known });
    const tell = (data: T) => settle({ status: 'done', data });
    const question = (signal: AbortSignal) => latest.current(signal);
    let isAsking = false;
    const load = async (): Promise<void> => {
      if (isAsking || controller.signal.aborted) return;
      isAsking = true;
      try {
        if (memory) await memory.follow(key, () => useProject.getState().revision, question, controller.signal, tell);
        else tell(await question(controller.signal));
      } catch (error) {
        settle({ status: 'failed', error, retry });
      } finally {
        isAsking = false;
      }
    };
    void load();
    askAgain.current = () => void load();
    return () => controller.abort();
  }, [key, round, retry, memory]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change repeats the question
  useEffect(() => askAgain.current(), [changes]);

  // The answer to the previous key must not be shown before the effect has run for the new key.
  const known = state.key === key || key === null ? undefined : memory?.get(key);
  const early = useMemo((): Query<T> => (known === undefined ? { status: 'loading', cancel: () => {} } : { status: 'done', data: known }), [known]);
  return state.key === key ? state.query : early;
}

const isSame = <T>(state: { readonly key: string | null; readonly query: Query<T> }, key: string, query: Query<T>): boolean =>
  state.key === key && state.query.status === 'done' && query.status === 'done' && state.query.data === query.data;

/** Keeps the last answer while the next one loads, so that a reload does not flicker, as long as `subject` is the same. */
export function useKept<T>(query: Query<T>, subject = ''): Query<T> {
  const last = useRef({ query, subject });
  if (query.status !== 'loading' || last.current.query.status !== 'done' || last.current.subject !== subject) last.current = { query, subject };
  return last.current.query;
}

/** `useQuery` that keeps the last answer about the same `subject` while the next one is loading. */
export const useKeptQuery = <T>(
  subject: string | undefined,
  key: string | null,
  ask: (signal: AbortSignal) => Promise<T>,
  memory?: AnswerMemory<T>,
): Query<T> => useKept(useQuery(key, ask, memory), subject);

/** A number for the key of a query, and what raises it so that the query is asked again. */
export function useRounds(): readonly [round: number, askAgain: () => void] {
  const [round, setRound] = useState(0);
  return [round, useCallback(() => setRound((n) => n + 1), [])];
}

/** As `useKeptQuery`, and asked again when the project changes. */
export const useProjectQuery: typeof useKeptQuery = (subject, key, ask, memory) => {
  const revision = useProject((state) => state.revision);
  return useKeptQuery(subject, key === null ? null : `${key} ${revision}`, ask, memory);
};

/** Calls `act` every `ms` milliseconds while `isOn`. */
export function useEvery(ms: number, isOn: boolean, act: () => unknown): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}

/** The value, once it has not changed for `ms` milliseconds. */
export function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
