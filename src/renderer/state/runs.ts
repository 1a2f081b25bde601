import { create } from 'zustand';
import type { ContextId, Edit, ReplyPart, RequestEdits } from '../../core/contract/index.js';
import { api } from '../client';
import { refreshProject } from './project';
import { type Sample, samplesAfter, stopped, unbegun } from './samples';

/** What a turn is run again with. */
export interface RunInput {
  readonly turnId: ContextId;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  readonly request?: RequestEdits | undefined;
  readonly samples: number;
  readonly unanswered: 'stop' | 'ask';
}

export interface RunJob {
  readonly id: number;
  readonly project: string;
  readonly input: RunInput;
  readonly startedAt: number;
  readonly samples: readonly Sample[];
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly error?: unknown;
  readonly base?: ContextId;
  readonly stop: () => void;
}

/** Runs of this window, the newest first. They go on whatever view is shown. */
export const useRuns = create<{ readonly jobs: readonly RunJob[] }>(() => ({ jobs: [] }));

const mostKept = 20;
let nextId = 1;

/** Runs a turn again in the open project; what arrives is in the job. */
export async function startRun(project: string, input: RunInput): Promise<void> {
  const controller = new AbortController();
  const id = nextId++;
  const change = (part: (job: RunJob) => Partial<RunJob>) =>
    useRuns.setState(({ jobs }) => ({ jobs: jobs.map((job) => (job.id === id ? { ...job, ...part(job) } : job)) }));
  const job: RunJob = {
    id,
    project,
    input,
    startedAt: Date.now(),
    samples: Array.from({ length: input.samples }, () => unbegun),
    state: 'running',
    stop: () => controller.abort(),
  };
  useRuns.setState(({ jobs }) => ({ jobs: [job, ...jobs].slice(0, mostKept) }));
  try {
    const stream = await api.turn.rerun(asked(input), { signal: controller.signal });
    controller.signal.addEventListener('abort', () => void stream.return?.(undefined as never).catch(() => {}), { once: true });
    for (;;) {
      const step = await stream.next();
      if (controller.signal.aborted) break;
      if (step.done) {
        const { base } = step.value;
        change(() => ({ state: 'done', base }));
        break;
      }
      const part: ReplyPart = step.value;
      change(({ samples }) => ({ samples: samplesAfter(samples, part, Date.now()) }));
    }
    if (controller.signal.aborted) change(({ samples }) => ({ state: 'stopped', samples: samples.map(stopped) }));
  } catch (error) {
    if (controller.signal.aborted) change(({ samples }) => ({ state: 'stopped', samples: samples.map(stopped) }));
    else change(() => ({ state: 'failed', error }));
  }
  await refreshProject();
}

/** What is run as the engine takes it: without what is as it was. */
export const asked = ({ edits, request, model, ...rest }: RunInput) => ({
  ...rest,
  ...(model && { model }),
  ...(edits?.length && { edits: [...edits] }),
  ...(request && { request }),
});

/** Says what a tool would have answered; without words the run ends at the call. */
export const answerQuestion = async (questionId: string, text: string | undefined, isError: boolean): Promise<void> => {
  await api.turn.answer({ questionId, ...(text !== undefined && { text, isError }) });
};
