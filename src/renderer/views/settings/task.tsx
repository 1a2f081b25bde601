import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { describeProblem, ProblemLine } from '../../parts';

export type ButtonTask<T> =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly stop: () => void }
  | { readonly state: 'done'; readonly result: T }
  | { readonly state: 'failed'; readonly error: unknown };

/** Runs one long task at a time, and forgets how it ended. It is aborted when the person stops it or the component unmounts. */
export function useTask<T>(): readonly [ButtonTask<T>, (work: (signal: AbortSignal) => Promise<T>) => Promise<void>, () => void] {
  const [task, setTask] = useState<ButtonTask<T>>({ state: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = useCallback(async (work: (signal: AbortSignal) => Promise<T>) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const settle = (next: ButtonTask<T>): void => {
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

/** The error of a failed task. */
export const TaskProblem = ({ task }: { task: ButtonTask<unknown> }) =>
  task.state === 'failed' && <ProblemLine>{describeProblem(task.error).message}</ProblemLine>;

/** A setting: its name with a hint, and its control. */
export const Setting = ({ name, hint, children }: { name: string; hint?: string; children?: ReactNode }) => (
  <div className="settings-row row line-below">
    <span>
      {name} {hint && <span className="muted">{hint}</span>}
    </span>
    {children}
  </div>
);
