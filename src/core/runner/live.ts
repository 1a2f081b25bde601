import { badRequest, type ContextId, notFound, StemmaError } from '../base/index.js';
import { type Chain, commitOf } from '../chain/index.js';
import type { Job, JobEvent, JobResult, JobStatus, Performer, RunLimits, Work } from '../contract/index.js';
import { turnNamed } from '../handover/index.js';
import { unknownUsage } from '../requests/index.js';
import { answerContext, type ModelProvider, providerOf } from '../turns/index.js';
import type { CalledTool } from './call.js';
import { endJob, type Happening, jobNamed, type NewJob, noteEvent, noteProgress, renewLease, renewMs, takeJob } from './jobs.js';
import { LimitReached, openMeter } from './limits.js';
import { performTurn } from './turn.js';

interface Answer {
  readonly allow: boolean;
  readonly note: string | undefined;
}

/** A job of this process. */
interface LiveJob {
  readonly abort: AbortController;
  readonly questions: Map<string, (answer: Answer) => void>;
  readonly listeners: Set<(event: JobEvent) => void>;
  /** Ends when the job has ended. Never rejects. */
  readonly done: Promise<void>;
}

/** The jobs that this process carries out. */
export interface LiveJobs {
  readonly jobs: Map<string, LiveJob>;
  /** Stops all jobs, because the process ends. */
  close(): void;
}

/** Opens the set of live jobs of an engine. */
export function openLiveJobs(): LiveJobs {
  const jobs = new Map<string, LiveJob>();
  return {
    jobs,
    close: () => {
      for (const { abort } of jobs.values()) abort.abort(stopped());
    },
  };
}

const stopped = (): StemmaError => new StemmaError('CONFLICT', 'The job was stopped.');

/** What starts a job. */
export interface RunnerParts {
  readonly chain: Chain;
  readonly live: LiveJobs;
  readonly providers: readonly ModelProvider[];
}

export interface StartInput {
  readonly what: Work;
  readonly performer: Performer;
  readonly limits?: RunLimits | undefined;
}

/**
 * Takes the work and begins to carry it out. The job goes on by itself; `followJob` reads it.
 * @throws NOT_FOUND for an unknown turn or commit; BAD_REQUEST for an unknown provider; CONFLICT if another job works for the same agent
 */
export function startJob(parts: RunnerParts, { what, performer, limits = {} }: StartInput): Job {
  const { chain, live } = parts;
  const provider = providerOf(parts.providers, performer.provider);
  if ('turnId' in what && !provider) throw badRequest('performer.provider', 'A turn has no recording to replay: choose a model.');
  const input: NewJob = { what, performer, limits, holds: heldBy(chain, what) };
  const job = takeJob(chain, input);
  const abort = new AbortController();
  const questions: LiveJob['questions'] = new Map();
  const listeners: LiveJob['listeners'] = new Set();
  const done = carryOut(parts, { ...input, jobId: job.jobId, provider, signal: abort.signal, questions, listeners, abort }).finally(() =>
    live.jobs.delete(job.jobId),
  );
  live.jobs.set(job.jobId, { abort, questions, listeners, done });
  return job;
}

/** What only one job may work for: the agent of a turn, or the context that is answered. */
function heldBy(chain: Chain, what: Work): string {
  if ('commit' in what) return `commit:${commitOf(chain, what.commit, 'what.commit').id}`;
  const { agentId, agentTurnId, status } = turnNamed(chain, what.turnId);
  if (!['dispatched', 'running', 'suspended'].includes(status))
    throw new StemmaError('CONFLICT', `The turn ${agentTurnId} is ${status}: only a dispatched or open turn can be carried out.`, {
      id: agentTurnId,
      status,
    });
  return `agent:${agentId}`;
}

interface Running extends NewJob {
  readonly jobId: string;
  readonly provider: ModelProvider | undefined;
  readonly signal: AbortSignal;
  readonly abort: AbortController;
  readonly questions: LiveJob['questions'];
  readonly listeners: LiveJob['listeners'];
}

/** Carries out a job to its end, and stores how it ended. Never rejects. */
async function carryOut(parts: RunnerParts, running: Running): Promise<void> {
  const { chain } = parts;
  const { jobId, abort, signal } = running;
  const diary = openDiary(chain, running);
  const renewal = setInterval(() => {
    if (!renewLease(chain, jobId)) abort.abort(new StemmaError('CONFLICT', 'The job was given back, because its process did not answer.'));
  }, renewMs);
  renewal.unref();
  // The caller gets the job before its first event.
  await Promise.resolve();
  diary.tell({ kind: 'began', text: '' });
  try {
    const status = await perform(parts, running, diary);
    end(status, null);
  } catch (error) {
    const why = signal.aborted ? signal.reason : error;
    end(signal.aborted ? 'stopped' : error instanceof LimitReached ? 'limit' : 'failed', why instanceof Error ? why.message : String(why));
  } finally {
    clearInterval(renewal);
  }
  function end(status: Exclude<JobStatus, 'running'>, error: string | null): void {
    try {
      diary.save();
      endJob(chain, jobId, status, error);
      diary.tell({ kind: 'ended', text: error ?? '', status });
    } catch {
      // The project was closed. Its lease ends by itself.
      for (const listener of running.listeners) listener(diary.last({ kind: 'ended', text: error ?? '', status }));
    }
  }
}

async function perform(parts: RunnerParts, running: Running, diary: Diary): Promise<'success' | 'failed' | 'stopped'> {
  const { chain, providers } = parts;
  const { what, performer, provider, signal, questions } = running;
  if ('turnId' in what && provider) {
    const turn = await performTurn(
      {
        chain,
        provider,
        meter: diary.meter,
        signal,
        model: performer.model,
        tell: diary.tell,
        ask: (call) => asked(call, questions, signal, diary.tell),
        made: ({ endCommit }) => diary.made(endCommit),
      },
      what.turnId,
    );
    return turn.status === 'success' ? 'success' : turn.status === 'canceled' ? 'stopped' : 'failed';
  }
  if (!('commit' in what)) throw new Error('A turn needs a model.');
  const reply = answerContext(
    chain,
    { id: commitOf(chain, what.commit).id, provider: performer.provider, model: performer.model },
    providers,
    signal,
  );
  if (provider) diary.meter.beginCall();
  for (;;) {
    const { value, done } = await reply.next();
    if (done) {
      for (const commit of value.commits) diary.made(commit);
      signal.throwIfAborted();
      return value.commits.length > 0 ? 'success' : 'failed';
    }
    if (value.kind === 'usage') diary.meter.endCall(value.tokens ?? unknownUsage, value.cost ?? null, 0);
    if (value.kind === 'failed') throw new StemmaError('UNAVAILABLE', value.delta);
    const kind = kindOf[value.kind];
    if (kind) diary.tell({ kind, text: value.delta, ...(value.toolName !== undefined && { toolName: value.toolName }) });
  }
}

const kindOf: Readonly<Record<string, Happening['kind'] | undefined>> = {
  text: 'text',
  thinking: 'thinking',
  tool_call: 'call',
  tool_result: 'result',
  notice: 'notice',
  waiting: 'waiting',
  usage: 'usage',
};

/** Waits for a person to answer a call. Stopping the job ends the wait. */
function asked(call: CalledTool, questions: LiveJob['questions'], signal: AbortSignal, tell: Diary['tell']): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      questions.delete(call.id);
      reject(signal.reason);
    };
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    questions.set(call.id, (answer) => {
      questions.delete(call.id);
      signal.removeEventListener('abort', stop);
      resolve(answer);
    });
    tell({ kind: 'question', text: JSON.stringify(call.arguments), toolName: call.name, requestId: call.id });
  });
}

/** Writes down what happens in a job, and tells those who follow it. */
interface Diary {
  readonly meter: ReturnType<typeof openMeter>;
  tell(happening: Happening): void;
  made(commit: ContextId | undefined): void;
  /** Stores what was told but is not complete. */
  save(): void;
  /** An event that is not stored. */
  last(happening: Happening): JobEvent;
}

/** Pieces of a text are told at once and stored as one event. */
function openDiary(chain: Chain, { jobId, limits, listeners }: Running): Diary {
  const meter = openMeter(limits, chain.clock);
  const commits: ContextId[] = [];
  let number = 0;
  let open: Happening | undefined;
  const progress = (): void => noteProgress(chain, jobId, meter.used, commits);
  const shown = (happening: Happening): JobEvent => ({ jobId, number, at: new Date(chain.clock()).toISOString() as JobEvent['at'], ...happening });
  const show = (event: JobEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const save = (): void => {
    if (!open) return;
    noteEvent(chain, jobId, number++, open);
    open = undefined;
  };
  return {
    meter,
    save,
    last: shown,
    tell(happening) {
      const isPiece = happening.kind === 'text' || happening.kind === 'thinking';
      if (!isPiece || open?.kind !== happening.kind) save();
      if (isPiece) {
        show(shown(happening));
        open = { ...happening, text: (open?.text ?? '') + happening.text };
        return;
      }
      const event = chain.db.transaction(() => {
        progress();
        return noteEvent(chain, jobId, number++, happening);
      });
      show(event);
    },
    made(commit) {
      if (commit === undefined || commits.includes(commit)) return;
      commits.push(commit);
      progress();
    },
  };
}

/**
 * The events of a job of this process, from now on. Call it right after `startJob` to get all. The iteration returns how the job ended;
 * ending it earlier leaves the job alone.
 */
export function followJob({ chain, live }: RunnerParts, jobId: string, signal?: AbortSignal): AsyncGenerator<JobEvent, JobResult> {
  const job = live.jobs.get(jobId);
  const queue: JobEvent[] = [];
  let wake: () => void = () => {};
  const listen = (event: JobEvent): void => {
    queue.push(event);
    wake();
  };
  // Before the first step of the iteration, so that no event is missed.
  job?.listeners.add(listen);
  signal?.addEventListener('abort', () => wake());
  return (async function* events(): AsyncGenerator<JobEvent, JobResult> {
    try {
      for (let hasEnded = !job; !(hasEnded || signal?.aborted); ) {
        for (const event of queue.splice(0)) {
          hasEnded ||= event.kind === 'ended';
          yield event;
        }
        if (!hasEnded && queue.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
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
    // Its process notices when it renews its lease.
    endJob(chain, jobId, 'stopped', 'The job was stopped.');
  }
  return jobNamed(chain, jobId);
}

/** Answers a question of a job of this process. @throws NOT_FOUND if nothing waits for this answer */
export function answerQuestion(
  { chain, live }: Pick<RunnerParts, 'chain' | 'live'>,
  input: { readonly jobId: string; readonly requestId: string; readonly allow: boolean; readonly note?: string | undefined },
): Job {
  const job = jobNamed(chain, input.jobId);
  const answer = live.jobs.get(input.jobId)?.questions.get(input.requestId);
  if (!answer) throw notFound(input.requestId, 'No job waits for this answer: it was answered already, or the job has ended.');
  answer({ allow: input.allow, note: input.note });
  return job;
}
