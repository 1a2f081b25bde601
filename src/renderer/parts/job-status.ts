import type { JobStatus } from '../../core/contract/index.js';

export const jobStatusWords: Readonly<Record<JobStatus, string>> = {
  running: 'running',
  success: 'finished',
  failed: 'failed',
  stopped: 'stopped',
  limit: 'stopped at its limit',
  interrupted: 'interrupted: Stemma was closed',
};
