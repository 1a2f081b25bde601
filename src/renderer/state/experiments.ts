import { create } from 'zustand';
import { api } from '../client';
import { refreshProject } from './project';

export interface ExperimentJob {
  readonly project: string;
  readonly experimentId: string;
  /** The case that is run now. */
  readonly caseId: string | undefined;
  readonly stop: () => void;
  readonly error?: unknown;
  readonly isRunning: boolean;
}

/** Experiments that this window runs, and how often any was changed: what shows one reads it anew then. */
export const useExperiments = create<{ readonly jobs: readonly ExperimentJob[]; readonly revision: number }>(() => ({ jobs: [], revision: 0 }));

export const experimentsChanged = (): void => useExperiments.setState(({ revision }) => ({ revision: revision + 1 }));

/** Runs an experiment's cases, or some; one of an experiment at a time. */
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
    const stream = await api.experiment.run({ experimentId, ...(caseIds && { caseIds: [...caseIds] }) }, { signal: controller.signal });
    controller.signal.addEventListener('abort', () => void stream.return?.(undefined as never).catch(() => {}), { once: true });
    for (;;) {
      const step = await stream.next();
      if (step.done || controller.signal.aborted) break;
      const { caseId, part } = step.value;
      put({ caseId });
      if (part.kind === 'commit' || part.kind === 'failed') experimentsChanged();
    }
    put({ isRunning: false });
  } catch (error) {
    put({ isRunning: false, ...(!controller.signal.aborted && { error }) });
  }
  experimentsChanged();
  await refreshProject();
}
