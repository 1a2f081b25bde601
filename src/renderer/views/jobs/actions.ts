import type { Job } from '../../../core/contract/index.js';
import { api } from '../../client';
import { findAgent, notifyProblem } from '../../parts';
import { go, notify, openContext, refreshProject, show } from '../../state';

/** Stops a job at once. */
export const stopJob = ({ jobId }: Job, onDone: () => void): Promise<void> =>
  api.runner
    .stop({ jobId })
    .then(refreshProject)
    .then(onDone)
    .then(() => notify('Stopped. What was finished stays.'), notifyProblem);

/** Stops a job and opens the place where the person can continue it: a terminal, the turn, or the space. */
export async function takeOver(job: Job, onDone: () => void): Promise<void> {
  if (job.status === 'running') await stopJob(job, onDone);
  const tip = job.commits.at(-1);
  if ('agent' in job.performer && tip) {
    const { format } = await api.context.show({ id: tip });
    return show({ kind: 'resume', commit: tip, agent: findAgent(format) });
  }
  goToWork(job);
}

/** Opens the turn, run, ticket or context that a job works on. */
export function goToWork({ what, space, ticketId, commits }: Job): void {
  if ('turnId' in what) go({ view: 'handover', handovers: undefined, turn: what.turnId });
  else if ('caseId' in what) go({ view: 'experiments', experiment: what.experimentId });
  else if (space !== null) go({ view: 'timeline', space });
  else if (ticketId !== null) go({ view: 'reviews', ticket: ticketId });
  else openContext(commits.at(-1) ?? ('commit' in what ? what.commit : undefined));
}
