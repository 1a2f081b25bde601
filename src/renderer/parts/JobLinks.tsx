import type { Job } from '../../core/contract/index.js';
import { api } from '../client';
import { go, useKept, useProject, useQuery } from '../state';
import { jobStatusWords } from './job-status';
import { when } from './numbers';

const maxShown = 5;

/** Links to the jobs that worked on something, the newest first. Without one, nothing is shown. */
export function JobLinks({ project, isOf }: { project: string; isOf: (job: Job) => boolean }) {
  const revision = useProject((state) => state.revision);
  const query = useKept(
    useQuery(`${project} jobs ${revision}`, () => api.runner.list({})),
    project,
  );
  const jobs = query.status === 'done' ? query.data.filter(isOf).slice(0, maxShown) : [];
  if (jobs.length === 0) return null;
  return (
    <p className="jobs-of">
      <span className="muted">{jobs.length === 1 ? 'Job:' : 'Jobs:'}</span>{' '}
      {jobs.map((job) => (
        <button key={job.jobId} type="button" className="link-button" onClick={() => go({ view: 'jobs', kinds: undefined, job: job.jobId })}>
          {when(job.startedAt)}, {jobStatusWords[job.status]}
        </button>
      ))}
    </p>
  );
}
