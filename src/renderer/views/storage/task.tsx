import { useCallback, useEffect, useRef, useState } from 'react';
import { ProblemLine, problemOf } from '../../parts';

export type Task<T> =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly stop: () => void }
  | { readonly state: 'done'; readonly result: T }
  | { readonly state: 'failed'; readonly error: unknown };

/** Work that a button starts and that may take long: one at a time, stopped by the person or when the view goes. */
export function useTask<T>(): readonly [Task<T>, (work: (signal: AbortSignal) => Promise<T>) => Promise<void>] {
  const [task, setTask] = useState<Task<T>>({ state: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = useCallback(async (work: (signal: AbortSignal) => Promise<T>) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const settle = (next: Task<T>): void => {
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
  return [task, start];
}

export const TaskProblem = ({ task }: { task: Task<unknown> }) =>
  task.state === 'failed' && <ProblemLine>{problemOf(task.error).message}</ProblemLine>;
