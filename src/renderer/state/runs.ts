import type { ContextId, Edit, RequestEdits } from '../../core/contract/index.js';
import { api } from '../client';
import { refreshProject } from './project';
import { type Sample, samplesAfter, shownWhole, stopped, unbegun } from './samples';
import { type BackgroundJob, backgroundJobs, readStream } from './stream';

export interface RunInput {
  readonly turnId: ContextId;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  readonly request?: RequestEdits | undefined;
  readonly samples: number;
  readonly unanswered: 'stop' | 'ask';
  /** Whether to store the reply of the recording as a branch too. Replies of models are always stored. */
  readonly keep?: true | undefined;
}

export interface RunJob extends BackgroundJob {
  readonly input: RunInput;
  readonly startedAt: number;
  readonly samples: readonly Sample[];
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly base?: ContextId;
}

const { useJobs, begin } = backgroundJobs<RunJob>();
export const useRuns = useJobs;

/** Runs a turn again in the open project. Replies appear in the job as they arrive. */
export async function startRun(project: string, input: RunInput): Promise<void> {
  const { change, signal: stop } = begin((own) => ({
    ...own,
    project,
    input,
    startedAt: Date.now(),
    samples: Array.from({ length: input.samples }, () => unbegun),
    state: 'running',
  }));
  try {
    const isKept = input.provider !== 'recorded' || input.keep === true;
    const result = await readStream(
      (signal) => api.turn.rerun({ ...asked(input), ...(!isKept && { keep: false }) }, { signal }),
      stop,
      (part) => change(({ samples }) => ({ samples: samplesAfter(samples, part, Date.now()) })),
    );
    if (result) change(({ samples }) => ({ state: 'done', samples: samples.map(shownWhole), base: result.base }));
    else change(({ samples }) => ({ state: 'stopped', samples: samples.map(stopped) }));
  } catch (error) {
    change(() => ({ state: 'failed', error }));
  }
  await refreshProject();
}

/** The input of `turn.rerun`, without options that change nothing. */
export const asked = ({ edits, request, model, keep: _, ...rest }: RunInput) => ({
  ...rest,
  ...(model && { model }),
  ...(edits?.length && { edits: [...edits] }),
  ...(request && { request }),
});
