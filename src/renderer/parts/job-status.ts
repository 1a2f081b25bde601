import type { JobStatus } from '../../core/contract/index.js';

/** The status of a job in words. */
export const jobStatusWords: Readonly<Record<JobStatus, string>> = {
  running: 'running',
  success: 'finished',
  failed: 'failed',
  stopped: 'stopped',
  limit: 'stopped at its limit',
  interrupted: 'interrupted: Stemma was closed',
};
