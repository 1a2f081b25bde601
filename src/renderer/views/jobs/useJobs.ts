import { useEffect, useState } from 'react';
import type { Job, JobEvent } from '../../../core/contract/index.js';
import { api } from '../../client';
import { type Query, useEvery, useProjectQuery, useRounds } from '../../state';

/** Milliseconds between two loads of the list: while a job runs, and otherwise. */
const every = { running: 1_000, idle: 5_000 };

/** The newest jobs, read again while the view is open. */
export function useJobs(project: string): { readonly query: Query<readonly Job[]>; readonly now: number; readonly reload: () => void } {
  const [round, reload] = useRounds();
  const query = useProjectQuery<readonly Job[]>(project, `${project} jobs ${round}`, () => api.runner.list({}));
  const isRunning = query.data?.some(({ status }) => status === 'running') ?? false;
  useEvery(isRunning ? every.running : every.idle, true, reload);
  return { query, now: Date.now(), reload };
}

const page = 1_000;
/** The number of further reads of a log without its last event after the job has ended. */
const maxAsked = 3;

interface JobLog {
  readonly events: readonly JobEvent[];
  readonly loaded: boolean;
  readonly error: unknown;
}

const unread: JobLog = { events: [], loaded: false, error: undefined };

/** The events of a job so far. The list grows while the job runs. */
export function useJobLog(jobId: string): JobLog {
  const [state, setState] = useState(unread);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let from = 0;
    let asked = 0;
    const read = async (): Promise<void> => {
      try {
        const { job, events } = await api.runner.log({ jobId, from, limit: page });
        if (isOver) return;
        const last = events.at(-1);
        // A text at the end may still grow, so it is read again.
        const grows = last?.kind === 'text' || last?.kind === 'thinking';
        from = last === undefined ? from : grows ? last.number : last.number + 1;
        const first = events[0]?.number;
        setState((old) => ({
          events: first === undefined ? old.events : [...old.events.filter(({ number }) => number < first), ...events],
          loaded: true,
          error: undefined,
        }));
        if (events.length === page) return void read();
        // The last event is stored a moment after the job has ended.
        const isLast = last?.kind === 'ended' || (job.status !== 'running' && ++asked > maxAsked);
        if (!isLast) timer = setTimeout(() => void read(), every.running);
      } catch (error) {
        if (!isOver) setState((old) => ({ ...old, loaded: true, error }));
      }
    };
    setState(unread);
    void read();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [jobId]);
  return state;
}
