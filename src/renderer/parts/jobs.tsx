import { Check, UserCheck } from 'lucide-react';
import type { Job, Received as Sent } from '../../core/contract/index.js';
import { api } from '../client';
import { go, useProjectQuery } from '../state';
import { Button, LinkButton } from './buttons';
import { when } from './numbers';
import { attempt, reloadAndSay } from './problem';
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

/** Who sent work from another machine, and buttons to allow it. Shows nothing for work of this machine. */
export function Received({ received, what }: { received: Sent | undefined; what: Job['what'] }) {
  if (!received) return null;
  const sender = `${received.name ?? 'An unknown sender'}${received.isLink ? ' (share link)' : ''}`;
  const allow = async (work: () => Promise<unknown>, said: string): Promise<void> => {
    await work();
    await reloadAndSay(said);
  };
  return (
    <p className="received row wrap">
      <span className="grow">
        Sent by <b>{sender}</b> through {received.hub}, {when(received.at)}.{' '}
        <span className="muted">
          {received.allowedAt === null ? 'It waits until you allow it. Judge its text first.' : `You allowed it ${when(received.allowedAt)}.`}
        </span>
      </span>
      {received.allowedAt === null && (
        <>
          <Button small icon={Check} onClick={attempt(() => allow(() => api.runner.allow({ what }), 'Allowed. Rules may start it now.'))}>
            Allow this one
          </Button>
          {received.name !== null && (
            <Button small icon={UserCheck} onClick={attempt(() => allow(() => allowSender(received), `Rules now also start what ${sender} sends.`))}>
              Allow this sender
            </Button>
          )}
        </>
      )}
    </p>
  );
}

/** Lets every rule of this project also start what a sender records on other machines. @throws Error if there is no rule */
async function allowSender({ name, isLink, hub }: Sent): Promise<void> {
  const policy = await api.runner.getPolicy({});
  if (policy.rules.length === 0) throw new Error('No rule starts work by itself yet. Add a rule in Jobs, Automation, first.');
  const sender = { name: name ?? '', isLink, hub };
  const isSame = (other: { name: string; isLink?: boolean | undefined; hub?: string | undefined }): boolean =>
    other.name === sender.name && (other.isLink ?? false) === isLink && other.hub === hub;
  const rules = policy.rules.map((rule) => ({ ...rule, from: [...(rule.from ?? []).filter((other) => !isSame(other)), sender] }));
  await api.runner.setPolicy({ ...policy, rules });
}
