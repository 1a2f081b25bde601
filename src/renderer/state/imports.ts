import { create } from 'zustand';
import type { ImportProgress, ImportResult, Mapping } from '../../core/contract/index.js';
import { api } from '../client';
import { refreshProject, useProject } from './project';
import { readStream } from './stream';

export interface ImportJob {
  readonly id: number;
  readonly project: string;
  readonly paths: readonly string[];
  readonly startedAt: number;
  readonly progress?: ImportProgress;
  readonly state: 'running' | 'done' | 'canceled' | 'failed';
  readonly result?: ImportResult;
  readonly error?: unknown;
  readonly cancel: () => void;
}

export const useImports = create<{ readonly jobs: readonly ImportJob[] }>(() => ({ jobs: [] }));

let nextId = 1;

/** Imports files or folders into the open project in the background, optionally with a mapping. Resolves with the job when the import ends. */
export async function runImport(paths: readonly string[], mapping?: Mapping): Promise<ImportJob> {
  const { state } = useProject.getState();
  if (state.phase !== 'open') throw new Error('No project is open to import into.');
  const controller = new AbortController();
  const id = nextId++;
  const change = (part: Partial<ImportJob>) =>
    useImports.setState(({ jobs }) => ({ jobs: jobs.map((job) => (job.id === id ? { ...job, ...part } : job)) }));
  const job: ImportJob = { id, project: state.dir, paths, startedAt: Date.now(), state: 'running', cancel: () => controller.abort() };
  useImports.setState(({ jobs }) => ({ jobs: [job, ...jobs].slice(0, 20) }));
  try {
    const result = await readStream(
      (signal) => api.import.run({ paths: [...paths], ...(mapping && { mapping }) }, { signal }),
      controller.signal,
      (progress) => change({ progress }),
    );
    change(result ? { state: 'done', result } : { state: 'canceled' });
  } catch (error) {
    change({ state: 'failed', error });
  }
  // Commits stored before a cancel or a failure are complete, so they are shown.
  await refreshProject();
  return useImports.getState().jobs.find((one) => one.id === id) ?? job;
}
