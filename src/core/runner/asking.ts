import { notFound, toTimestamp } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Job } from '../contract/index.js';

export interface PersonAnswer {
  readonly allow: boolean;
  readonly note: string | undefined;
}

export type JobQuestion = Omit<Job['questions'][number], 'askedAt'>;

const jobNo = (chain: ReadChain, jobId: string): number =>
  chain.db.value<number>('SELECT no FROM job WHERE project = ? AND jobId = ?', chain.project, jobId) ?? -1;

/** Stores a question. If an earlier attempt asked the same question, it is open again. */
export const storeQuestion = (chain: WriteChain, jobId: string, { requestId, toolName, arguments: given }: JobQuestion): void =>
  void chain.db.run('INSERT OR REPLACE INTO jobQuestion (job, requestId, toolName, arguments, askedAt) VALUES (?, ?, ?, ?, ?)', [
    jobNo(chain, jobId),
    requestId,
    toolName,
    given,
    chain.clock(),
  ]);

/** Answers a question of a running job of any process. @throws NOT_FOUND if no job waits for this answer */
export function storeAnswer(chain: WriteChain, jobId: string, requestId: string, { allow, note }: PersonAnswer): void {
  const { changes } = chain.db.run(
    `UPDATE jobQuestion SET allow = :allow, note = :note WHERE requestId = :requestId AND allow IS NULL
      AND job = (SELECT no FROM job WHERE project = :project AND jobId = :jobId AND status = 'running' AND leaseUntil > :now)`,
    { allow: allow ? 1 : 0, note: note ?? null, requestId, project: chain.project, jobId, now: chain.clock() },
  );
  if (changes === 0) throw notFound(requestId, 'No job waits for this answer: it was answered already, or the job has ended.');
}

/** The answer to a question; undefined while it is open. */
export function answerTo(chain: ReadChain, jobId: string, requestId: string): PersonAnswer | undefined {
  const select = 'SELECT allow, note FROM jobQuestion WHERE job = ? AND requestId = ?';
  const row = chain.db.one<{ allow: number | null; note: string | null }>(select, jobNo(chain, jobId), requestId);
  return row?.allow == null ? undefined : { allow: row.allow === 1, note: row.note ?? undefined };
}

/** The questions of a job that wait for an answer, oldest first. */
export const questionsOf = (chain: ReadChain, job: number): Job['questions'] =>
  chain.db
    .all<JobQuestion & { askedAt: number }>(
      'SELECT requestId, toolName, arguments, askedAt FROM jobQuestion WHERE job = ? AND allow IS NULL ORDER BY askedAt, requestId',
      job,
    )
    .map(({ askedAt, ...question }) => ({ ...question, askedAt: toTimestamp(askedAt) }));
