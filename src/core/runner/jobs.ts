import { type ContextId, conflict, notFound, parseJson, picked, StemmaError, toTimestamp } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { InputOf, Job, JobEvent, JobStatus, Performer, RunLimits, Used, Work } from '../contract/index.js';
import { questionsOf } from './asking.js';

interface JobRow
  extends Readonly<Pick<Job, 'jobId' | 'title' | 'who' | 'whoName' | 'space' | 'ticketId' | 'status' | 'error'>>,
    Readonly<Record<'what' | 'performer' | 'limits' | 'commits', string>>,
    Readonly<Record<'no' | 'calls' | 'startedAt', number>>,
    Readonly<Record<'tokens' | 'cost' | 'endedAt' | 'leaseUntil', number | null>> {
  readonly rule: string | null;
}

/** Joins that find the names of agents and entities. */
const named = `COALESCE((SELECT a.displayName FROM agent a WHERE a.project = job.project AND a.agentId = job.who),
  (SELECT e.name FROM entity e WHERE e.project = job.project AND e.entityId = job.who), who)`;
const columns = `no, jobId, what, performer, limits, status, calls, tokens, cost, error, commits, title, who, ${named} AS whoName, space, ticketId, rule,
  startedAt, endedAt, leaseUntil`;
const interruption = 'The process that ran it ended before the job did.';
/** Milliseconds after which the lease of a silent process expires. */
const leaseMs = 30_000;
/** Milliseconds between two renewals of a lease. */
export const renewMs = leaseMs / 3;
/** Milliseconds between two checks for answers and stops of other processes. */
export const lookMs = 500;
const maxJobs = 1_000;

const isDead = (chain: ReadChain, { status, leaseUntil }: JobRow): boolean =>
  status === 'running' && leaseUntil !== null && leaseUntil <= chain.clock();

/** A running job whose process is dead is shown as interrupted, also before the engine has stored that. */
function toJob(chain: ReadChain, stored: JobRow): Job {
  const row: JobRow = isDead(chain, stored) ? { ...stored, status: 'interrupted', endedAt: stored.leaseUntil, error: interruption } : stored;
  return {
    jobId: row.jobId,
    what: parseJson(row.what) as unknown as Work,
    performer: parseJson(row.performer) as unknown as Performer,
    limits: parseJson(row.limits) as unknown as RunLimits,
    ...picked(row, 'title', 'who', 'whoName', 'space', 'ticketId'),
    byPolicy: row.rule !== null,
    questions: row.status === 'running' ? questionsOf(chain, row.no) : [],
    status: row.status,
    used: picked(row, 'calls', 'tokens', 'cost'),
    error: row.error,
    commits: parseJson(row.commits) as unknown as ContextId[],
    startedAt: toTimestamp(row.startedAt),
    endedAt: row.endedAt === null ? null : toTimestamp(row.endedAt),
  };
}

/** The target of a job: who it works for, and the space and ticket that it belongs to. */
export interface JobTarget {
  /** The key that only one running job may hold, such as an agent. */
  readonly holds: string;
  /** The key by which a later job finds the result of this job. */
  readonly work: string;
  readonly title: string;
  readonly who?: string | null;
  readonly space?: string | null;
  readonly ticketId?: string | null;
}

export interface NewJob extends JobTarget {
  readonly what: Work;
  readonly performer: Performer;
  readonly limits: RunLimits;
  /** The policy rule that starts the job; null if a person starts it. */
  readonly rule: string | null;
  /** The tools of Stemma that it is offered, and what happens at a call of another tool. */
  readonly tools?: readonly string[] | undefined;
  readonly otherTools?: 'ask' | 'stop' | undefined;
  /** Whether its calls get the shared context, in place of the profile's and the project's setting. */
  readonly sharing?: boolean | undefined;
  /** The most jobs of all rules, and of this rule, that may run at once. */
  readonly most?: { readonly all: number; readonly rule: number } | undefined;
}

/** Takes the work for this process. @throws CONFLICT if a running job works for the same agent or context, or if its rule may not start it now */
export function takeJob(chain: WriteChain, input: NewJob): Job {
  return chain.db.transaction(() => {
    interruptDeadJobs(chain);
    const [id] = chain.db.column<string>("SELECT jobId FROM job WHERE project = ? AND holds = ? AND status = 'running'", chain.project, input.holds);
    if (id) throw conflict(`The job ${id} already works here. Stop it first, or wait until it has ended.`, { id });
    const now = chain.clock();
    const { what, performer, limits, tools, sharing, holds, work, title, who, space, ticketId, rule, otherTools, most } = input;
    if (rule !== null) {
      const last = lastOfWork(chain, work);
      if (last && last !== 'interrupted') throw conflict('Another job has carried out this work.', { work });
      if (most && (runningBy(chain, null) >= most.all || runningBy(chain, rule) >= most.rule))
        throw conflict('As many jobs as the policy allows at once are running.', { work });
    }
    const jobId = `job-${chain.newId()}`;
    chain.db.insert('job', {
      ...{ project: chain.project, jobId, status: 'running', calls: 0, commits: '[]', leaseUntil: now + leaseMs, startedAt: now },
      ...{ holds, work, title, who, space, ticketId, rule, otherTools },
      ...{ what: JSON.stringify(what), performer: JSON.stringify(performer), limits: JSON.stringify(limits) },
      tools: tools && JSON.stringify(tools),
      sharing: sharing === undefined ? null : Number(sharing),
    });
    return jobNamed(chain, jobId);
  });
}

/** What a job decides about the calls of its work; a field is undefined if the profile and the project decide. */
export interface Decided {
  readonly tools?: readonly string[] | undefined;
  readonly sharing?: boolean | undefined;
}

/** What the job that does some work now decides about its calls; undefined if no job does. */
export function decidedBy(chain: ReadChain, work: string): Decided | undefined {
  const job = chain.db.one<{ tools: string | null; sharing: 0 | 1 | null }>(
    "SELECT tools, sharing FROM job WHERE project = ? AND work = ? AND status = 'running' AND leaseUntil > ? ORDER BY no DESC LIMIT 1",
    [chain.project, work, chain.clock()],
  );
  return job && { tools: toolsIn(job.tools), sharing: job.sharing === null ? undefined : job.sharing === 1 };
}

/** The tools of a stored job; undefined if it offers all. A damaged list offers none. */
export const toolsIn = (stored: string | null): string[] | undefined =>
  stored === null ? undefined : ((parseJson(stored) ?? []) as unknown as string[]);

/** What is given, else what a job decides. */
export const givenOr = (given: Decided, job?: Decided): Decided => ({ tools: given.tools ?? job?.tools, sharing: given.sharing ?? job?.sharing });

/** Marks the jobs of dead processes as interrupted. */
export function interruptDeadJobs(chain: WriteChain): void {
  if (!hasExpired(chain)) return;
  chain.db.run(
    "UPDATE job SET status = 'interrupted', endedAt = :now, error = :error WHERE project = :project AND status = 'running' AND leaseUntil <= :now",
    { now: chain.clock(), error: interruption, project: chain.project },
  );
}

/** The error of a job that lost its lease. Another job carries out the work, so this one must not end it. */
export class GivenBack extends StemmaError {
  constructor() {
    super('CONFLICT', 'The job was given back, because its process did not answer.');
  }
}

/** Call it in each transaction that stores something for a job: another process may have taken the work over. @throws GivenBack */
export function refuseIfTakenOver(chain: WriteChain, jobId: string): void {
  const later = chain.db.one(
    `SELECT 1 FROM job j WHERE j.project = ? AND j.jobId = ? AND j.status <> 'running'
        AND EXISTS (SELECT 1 FROM job n WHERE n.project = j.project AND n.work = j.work AND n.no > j.no)`,
    [chain.project, jobId],
  );
  if (later) throw new GivenBack();
}

/** Renews the lease of a job. Returns false if the job was given back meanwhile. */
export const renewLease = (chain: WriteChain, jobId: string): boolean =>
  chain.db.run("UPDATE job SET leaseUntil = ? WHERE project = ? AND jobId = ? AND status = 'running'", chain.clock() + leaseMs, chain.project, jobId)
    .changes > 0;

/** Stores what a job has used so far, and the commits that it made. */
export function noteProgress(chain: WriteChain, jobId: string, used: Used, commits: readonly ContextId[]): void {
  chain.db.run('UPDATE job SET calls = :calls, tokens = :tokens, cost = :cost, commits = :commits WHERE project = :project AND jobId = :jobId', {
    ...used,
    commits: JSON.stringify(commits),
    project: chain.project,
    jobId,
  });
}

/** Ends a job. Has no effect if the job has already ended. */
export function endJob(chain: WriteChain, jobId: string, status: Exclude<JobStatus, 'running'>, error: string | null): void {
  chain.db.run("UPDATE job SET status = :status, error = :error, endedAt = :now WHERE project = :project AND jobId = :jobId AND status = 'running'", {
    status,
    error,
    now: chain.clock(),
    project: chain.project,
    jobId,
  });
}

/** @throws NOT_FOUND */
function readJob(chain: ReadChain, jobId: string): JobRow {
  const row = chain.db.one<JobRow>(`SELECT ${columns} FROM job WHERE project = ? AND jobId = ?`, chain.project, jobId);
  if (!row) throw notFound(jobId, `This project has no job ${jobId}.`);
  return row;
}

/** Renews the leases of these jobs that have expired, such as after a sleep of the machine. Jobs of other projects stay as they are. */
export function renewExpired(chain: WriteChain, jobIds: Iterable<string>): void {
  if (!hasExpired(chain)) return;
  const now = chain.clock();
  chain.db.run(
    "UPDATE job SET leaseUntil = ? WHERE project = ? AND status = 'running' AND leaseUntil <= ? AND jobId IN (SELECT value FROM json_each(?))",
    [now + leaseMs, chain.project, now, JSON.stringify([...jobIds])],
  );
}

/** Whether a lease has ended. Only a write waits for other writers, so this is asked first. */
const hasExpired = (chain: ReadChain): boolean =>
  chain.db.one("SELECT 1 FROM job WHERE project = ? AND status = 'running' AND leaseUntil <= ? LIMIT 1", chain.project, chain.clock()) !== undefined;

/** The stored status of a job, or `expired` for a running one whose lease has ended. */
export function leaseOf(chain: ReadChain, jobId: string): JobStatus | 'expired' {
  const row = readJob(chain, jobId);
  return isDead(chain, row) ? 'expired' : row.status;
}

/** Reads a job. @throws NOT_FOUND */
export const jobNamed = (chain: ReadChain, jobId: string): Job => toJob(chain, readJob(chain, jobId));

/** The newest jobs, at most 1,000. */
export const listJobs = (chain: ReadChain, status: JobStatus | undefined): Job[] =>
  chain.db
    .all<JobRow>(`SELECT ${columns} FROM job WHERE project = ? AND (? IS NULL OR status IN (?, 'running')) ORDER BY no DESC LIMIT ${maxJobs}`, [
      chain.project,
      status ?? null,
      status ?? null,
    ])
    .map((row) => toJob(chain, row))
    .filter((job) => status === undefined || job.status === status);

/** All jobs, oldest first. */
export const allJobs = (chain: ReadChain): Job[] =>
  chain.db.all<JobRow>(`SELECT ${columns} FROM job WHERE project = ? ORDER BY no`, chain.project).map((row) => toJob(chain, row));

export type Happening = Omit<JobEvent, 'jobId' | 'number' | 'at'>;

/** Stores an event of a job. Replaces the incomplete event with the same number. */
export function noteEvent(chain: WriteChain, jobId: string, number: number, happening: Happening): JobEvent {
  const at = chain.clock();
  chain.db.run('REPLACE INTO jobEvent (job, number, at, event) VALUES (?, ?, ?, ?)', readJob(chain, jobId).no, number, at, JSON.stringify(happening));
  return { jobId, number, at: toTimestamp(at), ...happening };
}

const defaultEvents = 1_000;

/** The events of a job, oldest first. @throws NOT_FOUND */
export function logOf(chain: ReadChain, input: InputOf<'runner.log'>) {
  const row = readJob(chain, input.jobId);
  const events = chain.db
    .all<{ number: number; at: number; event: string }>(
      'SELECT number, at, event FROM jobEvent WHERE job = ? AND number >= ? ORDER BY number LIMIT ?',
      [row.no, input.from ?? 0, input.limit ?? defaultEvents],
    )
    .map(({ number, at, event }): JobEvent => ({ jobId: input.jobId, number, at: toTimestamp(at), ...(parseJson(event) as unknown as Happening) }));
  return { job: toJob(chain, row), events };
}

/** The newest commit of earlier jobs for the work, or with `isPrefix` for all keys that start with it. */
export const tipOfWork = (chain: ReadChain, work: string, isPrefix = false): ContextId | undefined =>
  chain.db.value<ContextId>('SELECT tip FROM job WHERE project = ? AND work >= ? AND work < ? AND tip IS NOT NULL ORDER BY no DESC LIMIT 1', [
    chain.project,
    work,
    isPrefix ? `${work}\uffff` : `${work}\u0001`,
  ]);

/** Stores the newest commit of a job. Call it in the transaction that makes the commit. @throws GivenBack */
export function noteTip(chain: WriteChain, jobId: string, tip: ContextId): void {
  refuseIfTakenOver(chain, jobId);
  chain.db.run('UPDATE job SET tip = ? WHERE project = ? AND jobId = ?', tip, chain.project, jobId);
}

/** The number of running jobs that one rule or all rules started. */
export const runningBy = (chain: ReadChain, rule: string | null): number =>
  chain.db.value<number>(
    "SELECT COUNT(*) FROM job WHERE project = :project AND status = 'running' AND rule IS NOT NULL AND (:rule IS NULL OR rule = :rule)",
    { project: chain.project, rule },
  ) ?? 0;

/** Whether a running job holds this key. With `byModel`, only jobs of models count. */
export const isHeld = (chain: ReadChain, holds: string, byModel = false): boolean =>
  chain.db.one("SELECT 1 FROM job WHERE project = ? AND holds = ? AND status = 'running' AND (? = 0 OR performer ->> 'provider' IS NOT NULL)", [
    chain.project,
    holds,
    byModel ? 1 : 0,
  ]) !== undefined;

/** The status of the newest job for this work, without one that is named; undefined if there was no such job. */
export const lastOfWork = (chain: ReadChain, work: string, without = ''): JobStatus | undefined =>
  chain.db.value('SELECT status FROM job WHERE project = ? AND work = ? AND jobId <> ? ORDER BY no DESC LIMIT 1', chain.project, work, without);
