import { create } from 'zustand';
import { api } from '../client';
import { refreshProject } from './project';
import { readStream } from './stream';

export interface ExperimentJob {
  readonly project: string;
  readonly experimentId: string;
  readonly caseId: string | undefined;
  readonly stop: () => void;
  readonly error?: unknown;
  readonly isRunning: boolean;
}

/** The experiments that this window runs. `revision` goes up when any experiment changes; views then load it again. */
export const useExperiments = create<{ readonly jobs: readonly ExperimentJob[]; readonly revision: number }>(() => ({ jobs: [], revision: 0 }));

export const experimentsChanged = (): void => useExperiments.setState(({ revision }) => ({ revision: revision + 1 }));

/** Runs all cases of an experiment, or the given cases. Does nothing if the experiment is already running. */
export async function startExperiment(project: string, experimentId: string, caseIds?: readonly string[]): Promise<void> {
  const controller = new AbortController();
  const others = (jobs: readonly ExperimentJob[]) => jobs.filter((job) => job.project !== project || job.experimentId !== experimentId);
  if (useExperiments.getState().jobs.some((job) => job.isRunning && !others([job]).length)) return;
  const put = (part: Partial<ExperimentJob>) =>
    useExperiments.setState(({ jobs }) => ({
      jobs: [...others(jobs), { project, experimentId, caseId: undefined, stop: () => controller.abort(), isRunning: true, ...part }],
    }));
  put({});
  try {
    await readStream(
      (signal) => api.experiment.run({ experimentId, ...(caseIds && { caseIds: [...caseIds] }) }, { signal }),
      controller.signal,
      ({ caseId, part }) => {
        put({ caseId });
        if (part.kind === 'commit' || part.kind === 'failed') experimentsChanged();
      },
    );
    put({ isRunning: false });
  } catch (error) {
    put({ isRunning: false, error });
  }
  experimentsChanged();
  await refreshProject();
}
