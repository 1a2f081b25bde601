import { useCallback, useEffect, useRef, useState } from 'react';

export type TaskState<T> =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly stop: () => void }
  | { readonly state: 'done'; readonly result: T }
  | { readonly state: 'failed'; readonly error: unknown };

/**
 * Something that a person asks for, one at a time: its state, what starts it, and what forgets how it ended. It is aborted when the person stops it,
 * when another one starts and when the component unmounts. How aborted work ends is not in the state: work that goes on tells of its failure itself.
 */
export function useTask<T>(): readonly [TaskState<T>, (work: (signal: AbortSignal) => Promise<T>) => Promise<void>, () => void] {
  const [task, setTask] = useState<TaskState<T>>({ state: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = useCallback(async (work: (signal: AbortSignal) => Promise<T>) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const settle = (next: TaskState<T>): void => {
      if (!controller.signal.aborted) setTask(next);
    };
    const stop = (): void => {
      settle({ state: 'idle' });
      controller.abort();
    };
    setTask({ state: 'running', stop });
    await work(controller.signal).then(
      (result) => settle({ state: 'done', result }),
      (error: unknown) => settle({ state: 'failed', error }),
    );
  }, []);
  const forget = useCallback(() => setTask((now) => (now.state === 'running' ? now : { state: 'idle' })), []);
  return [task, start, forget];
}
