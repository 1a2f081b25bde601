import type { ImportProgress, ImportResult, Mapping } from '../../core/contract/index.js';
import { api } from '../client';
import { refreshProject, useProject } from './project';
import { type BackgroundJob, backgroundJobs, readStream } from './stream';

export interface ImportJob extends BackgroundJob {
  readonly paths: readonly string[];
  readonly startedAt: number;
  readonly progress?: ImportProgress;
  readonly state: 'running' | 'done' | 'canceled' | 'failed';
  readonly result?: ImportResult;
}

const { useJobs, begin } = backgroundJobs<ImportJob>();
export const useImports = useJobs;

/** Imports files or folders into the open project in the background, optionally with a mapping. Resolves with the job when the import ends. */
export async function runImport(paths: readonly string[], mapping?: Mapping): Promise<ImportJob> {
  const { state } = useProject.getState();
  if (state.phase !== 'open') throw new Error('No project is open to import into.');
  const { job, change, signal: stop } = begin((own) => ({ ...own, project: state.dir, paths, startedAt: Date.now(), state: 'running' }));
  try {
    const result = await readStream(
      (signal) => api.import.run({ paths: [...paths], ...(mapping && { mapping }) }, { signal }),
      stop,
      (progress) => change(() => ({ progress })),
    );
    change(() => (result ? { state: 'done', result } : { state: 'canceled' }));
  } catch (error) {
    change(() => ({ state: 'failed', error }));
  }
  // Commits stored before a cancel or a failure are complete, so they are shown.
  await refreshProject();
  return useImports.getState().jobs.find((one) => one.id === job.id) ?? job;
}
