import { useState } from 'react';

export type Making<T> =
  | { readonly phase: 'asking' | 'writing' }
  | { readonly phase: 'done'; readonly made: T }
  | { readonly phase: 'failed'; readonly error: unknown };

/** The state of something that a person asks for and the engine writes, and `run`, which begins it. */
export function useMaking<T>() {
  const [state, setState] = useState<Making<T>>({ phase: 'asking' });
  const run = async (work: () => Promise<T>): Promise<void> => {
    setState({ phase: 'writing' });
    try {
      setState({ phase: 'done', made: await work() });
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  return { state, run, reset: () => setState({ phase: 'asking' }) };
}
