import type { Job } from '../../core/contract/index.js';
import { api } from '../client';
import { go, useProjectQuery } from '../state';
import { LinkButton } from './buttons';
import { when } from './numbers';
import { jobStatusWords } from './words';

const maxShown = 5;

function useAllJobs(project: string): readonly Job[] {
  const query = useProjectQuery(project, `${project} jobs`, () => api.runner.list({}));
  return query.status === 'done' ? query.data : [];
}

/** Whether a running job carries out the same work, which cannot be started twice. */
export function useWorkedOn(project: string): (isOf: (what: Job['what']) => boolean) => boolean {
  const jobs = useAllJobs(project);
  return (isOf) => jobs.some(({ status, what }) => status === 'running' && isOf(what));
}

/** Links to the jobs of some work, newest first. Shows nothing if there are no jobs. */
export function JobLinks({ project, isOf }: { project: string; isOf: (job: Job) => boolean }) {
  const jobs = useAllJobs(project).filter(isOf).slice(0, maxShown);
  if (jobs.length === 0) return null;
  return (
    <p className="jobs-of">
      <span className="muted">{jobs.length === 1 ? 'Job:' : 'Jobs:'}</span>{' '}
      {jobs.map((job) => (
        <LinkButton key={job.jobId} onClick={() => go({ view: 'jobs', kinds: undefined, job: job.jobId })}>
          {when(job.startedAt)}, {jobStatusWords[job.status]}
        </LinkButton>
      ))}
    </p>
  );
}
