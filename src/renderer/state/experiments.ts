import { create } from 'zustand';
import { api } from '../client';
import { refreshProject } from './project';
import { type BackgroundJob, backgroundJobs, readStream } from './stream';

export interface ExperimentJob extends BackgroundJob {
  readonly experimentId: string;
  readonly caseId?: string;
  readonly state: 'running' | 'done' | 'failed';
}

/** `revision` goes up when any experiment changes; views then load it again. */
export const useExperiments = create(() => ({ revision: 0 }));

/** Makes views load experiments again. */
export const experimentsChanged = (): void => useExperiments.setState(({ revision }) => ({ revision: revision + 1 }));

const { useJobs, begin } = backgroundJobs<ExperimentJob>();
const isOf = (project: string, experimentId: string) => (job: ExperimentJob) => job.project === project && job.experimentId === experimentId;

/** The last run of an experiment in this window. */
export const useExperimentJob = (project: string, experimentId: string): ExperimentJob | undefined =>
  useJobs(({ jobs }) => jobs.find(isOf(project, experimentId)));

/** Runs all cases of an experiment, or the given cases. Does nothing if the experiment is already running. */
export async function startExperiment(project: string, experimentId: string, caseIds?: readonly string[]): Promise<void> {
  if (useJobs.getState().jobs.find(isOf(project, experimentId))?.state === 'running') return;
  const { change, signal: stop } = begin((own) => ({ ...own, project, experimentId, state: 'running' }));
  try {
    await readStream(
      (signal) => api.experiment.run({ experimentId, ...(caseIds && { caseIds: [...caseIds] }) }, { signal }),
      stop,
      ({ caseId, part }) => {
        change(() => ({ caseId }));
        if (part.kind === 'commit' || part.kind === 'failed') experimentsChanged();
      },
    );
    change(() => ({ state: 'done' }));
  } catch (error) {
    change(() => ({ state: 'failed', error }));
  }
  experimentsChanged();
  await refreshProject();
}
