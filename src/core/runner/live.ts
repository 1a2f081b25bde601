import { conflict, openMailbox, type StemmaError } from '../base/index.js';
import type { InputOf, Job, JobEvent, JobResult, JobStatus } from '../contract/index.js';
import { loadPrices } from '../usage/index.js';
import { storeAnswer } from './asking.js';
import { openDiary } from './diary.js';
import { endJob, GivenBack, type JobTarget, jobNamed, leaseOf, lookMs, renewLease, renewMs, takeJob } from './jobs.js';
import { kindOf } from './kinds.js';
import { LimitReached } from './limits.js';
import type { LiveJob, LiveJobs, Performing, RunnerParts, StartInput } from './parts.js';
import { perform, performerOf } from './perform.js';
import { jobTitle } from './work-kind.js';

/** Opens the set of live jobs of an engine. */
export function openLiveJobs(): LiveJobs {
  const jobs = new Map<string, LiveJob>();
  let last = Promise.resolve();
  return {
    jobs,
    takeTurn: () => {
      last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
      return last;
    },
    close: () => {
      for (const job of jobs.values()) job.interrupt();
    },
  };
}

const stopped = (): StemmaError => conflict('The job was stopped.');

/** Takes work and carries it out in the background. @throws NOT_FOUND for the work; BAD_REQUEST for the performer; CONFLICT if it is taken */
export function startJob(parts: RunnerParts, input: StartInput): Job {
  const { chain, live } = parts;
  const { what, performer, limits = {}, rule = null, tools, otherTools, enableShareContext: sharing, most } = input;
  const kind = kindOf(what);
  const target = tried(kind.target(chain, what, input.who), input.try);
  const chosen = performerOf(parts, what, performer);
  const job = takeJob(chain, { ...target, what, performer, limits, rule, tools, otherTools, sharing, most });
  const abort = new AbortController();
  const listeners: LiveJob['listeners'] = new Set();
  const diary = openDiary(chain, { jobId: job.jobId, limits, listeners, signal: abort.signal });
  const done = carryOut(parts, { ...input, ...chosen, target, jobId: job.jobId, diary, signal: abort.signal }, abort, listeners).finally(() =>
    live.jobs.delete(job.jobId),
  );
  const interrupt = (): void => {
    endJob(chain, job.jobId, 'interrupted', 'The process that ran it ended before the job did.');
    diary.close();
    abort.abort(new GivenBack());
  };
  // The time limit must also end a silent performer.
  const look = (): void => {
    diary.look();
    if (kind.isCanceled(chain, what)) abort.abort(conflict('The work was canceled.'));
    try {
      diary.meter.check(0);
    } catch (error) {
      abort.abort(error);
    }
  };
  live.jobs.set(job.jobId, { abort, listeners, done, look, interrupt });
  return job;
}

/** The target of a try, which counts as separate work. */
const tried = (target: JobTarget, number: number | undefined): JobTarget =>
  number === undefined
    ? target
    : { ...target, holds: `${target.holds}#${number}`, work: `${target.work}#${number}`, title: jobTitle(`Try ${number}: ${target.title}`) };

function endStatus(why: unknown, signal: AbortSignal): Exclude<JobStatus, 'running'> {
  if (why instanceof LimitReached) return 'limit';
  if (why instanceof GivenBack) return 'interrupted';
  return signal.aborted ? 'stopped' : 'failed';
}

/** Carries out a job to its end and stores its status. Never rejects. */
async function carryOut(parts: RunnerParts, work: Performing, abort: AbortController, listeners: LiveJob['listeners']): Promise<void> {
  const { chain } = parts;
  const { jobId, diary, signal } = work;
  let renewAt = chain.clock() + renewMs;
  const look = (): void => {
    // The project is closed, so there is nothing left to check.
    if (diary.isClosed()) {
      clearInterval(looking);
      return;
    }
    parts.live.jobs.get(jobId)?.look();
    const status = leaseOf(chain, jobId);
    if (status === 'interrupted') {
      // Another process takes the work over, so this one writes nothing more.
      diary.close();
      abort.abort(new GivenBack());
    } else if (status !== 'running' && status !== 'expired') abort.abort(stopped());
    // While another process writes, waiting for its lock would block this thread.
    else if ((status === 'expired' || chain.clock() >= renewAt) && chain.db.isFree() && renewLease(chain, jobId)) renewAt = chain.clock() + renewMs;
  };
  // Other processes store their answers and stops in the project.
  const looking = setInterval(look, lookMs);
  looking.unref();
  // The caller must get the job before its first event.
  await parts.live.takeTurn();
  try {
    diary.tell({ kind: 'began', text: '' });
    await loadPrices();
    signal.throwIfAborted();
    end(await perform(parts, work), null);
  } catch (error) {
    const why = signal.aborted ? signal.reason : error;
    end(endStatus(why, signal), why instanceof Error ? why.message : String(why));
  } finally {
    clearInterval(looking);
  }
  function end(status: Exclude<JobStatus, 'running'>, error: string | null): void {
    try {
      chain.db.transaction(() => {
        diary.save();
        endJob(chain, jobId, status, error);
        diary.tell({ kind: 'ended', text: error ?? '', status });
      });
    } catch {
      // The project was closed, so the lease simply expires.
      for (const listener of listeners) listener(diary.last({ kind: 'ended', text: error ?? '', status }));
    }
  }
}

/** The events of a job of this process from now on, then its result. Call it right after `startJob`. Ending it does not stop the job. */
export function followJob(
  { chain, live }: Pick<RunnerParts, 'chain' | 'live'>,
  jobId: string,
  signal?: AbortSignal,
): AsyncGenerator<JobEvent, JobResult> {
  const job = live.jobs.get(jobId);
  const events = openMailbox<JobEvent>();
  const listen = (event: JobEvent): void => {
    events.put(event);
    if (event.kind === 'ended') events.close();
  };
  // Subscribes before the first step of the iteration, so that no event is missed.
  job?.listeners.add(listen);
  signal?.addEventListener('abort', events.close);
  if (!job || signal?.aborted) events.close();
  return (async function* follow(): AsyncGenerator<JobEvent, JobResult> {
    try {
      for await (const event of events.read()) {
        if (signal?.aborted) break;
        yield event;
      }
      const { status, commits } = jobNamed(chain, jobId);
      return { jobId, status, commits };
    } finally {
      job?.listeners.delete(listen);
    }
  })();
}

/** Stops a job. Resolves when it has ended. @throws NOT_FOUND */
export async function stopJob({ chain, live }: Pick<RunnerParts, 'chain' | 'live'>, jobId: string): Promise<Job> {
  const job = jobNamed(chain, jobId);
  const own = live.jobs.get(jobId);
  if (own) {
    own.abort.abort(stopped());
    await own.done;
  } else if (job.status === 'running') {
    // The process of the job notices the stop when it renews its lease.
    endJob(chain, jobId, 'stopped', 'The job was stopped.');
  }
  return jobNamed(chain, jobId);
}

/** Answers a question of a running job of this or another process. @throws NOT_FOUND if no job waits for this answer */
export function answerQuestion({ chain, live }: Pick<RunnerParts, 'chain' | 'live'>, { jobId, requestId, ...answer }: InputOf<'runner.answer'>): Job {
  jobNamed(chain, jobId);
  storeAnswer(chain, jobId, requestId, { allow: answer.allow, note: answer.note });
  live.jobs.get(jobId)?.look();
  return jobNamed(chain, jobId);
}
