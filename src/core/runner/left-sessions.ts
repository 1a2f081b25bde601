import { basename, join } from 'node:path';
import type { ReadChain, WriteChain } from '../chain/index.js';
import { listInside, removeInside } from '../files/index.js';
import type { RunnerParts } from './parts.js';

const sealedText = (jobId: string, sessionId: string): string => `session of a job\0${jobId}\0${sessionId}`;

/**
 * Records that a session belongs to a job before its file exists, so that an import leaves it out. The row has the seal of this machine, because
 * the file is removed if the job is interrupted.
 */
export function noteSession(chain: WriteChain, jobId: string, sessionId: string): void {
  const insert =
    'INSERT OR IGNORE INTO jobSession (project, sessionId, job, begun) SELECT project, ?, no, ? FROM job WHERE project = ? AND jobId = ?';
  chain.db.run(insert, sessionId, chain.seal(sealedText(jobId, sessionId)), chain.project, jobId);
}

/** Removes the sessions that interrupted jobs for the work left with the agent, which would list them. The chain has their content. */
export function removeLeftSessions(chain: ReadChain, work: string, root: string | undefined): void {
  if (root !== undefined) removeSessions(root, leftSessions(chain, 'j.work = ?', work));
}

/** Removes the sessions of all jobs that were interrupted at this time or later. */
export function removeSessionsLeftSince({ chain, agentRoots }: Pick<RunnerParts, 'chain' | 'agentRoots'>, since: number): void {
  for (const { agent, root } of agentRoots) removeSessions(root, leftSessions(chain, "j.endedAt >= ? AND j.performer ->> 'agent' = ?", since, agent));
}

/** The sessions that interrupted jobs of this machine began. A project from elsewhere may have rows that name other files: they lack the seal. */
function leftSessions(chain: ReadChain, where: string, ...values: (string | number)[]): string[] {
  const rows = chain.db.all<{ sessionId: string; jobId: string; begun: string | null }>(
    `SELECT s.sessionId, j.jobId, s.begun FROM jobSession s JOIN job j ON j.no = s.job WHERE j.project = ? AND j.status = 'interrupted' AND ${where}`,
    [chain.project, ...values],
  );
  return rows.filter(({ sessionId, jobId, begun }) => begun === chain.seal(sealedText(jobId, sessionId))).map(({ sessionId }) => sessionId);
}

function removeSessions(root: string, sessions: readonly string[]): void {
  if (sessions.length === 0) return;
  for (const path of filesIn(root, root)) if (sessions.some((id) => isFileOf(id, basename(path)))) removeInside(root, path);
}

/** Whether this is the name of a session's file: its id, which some agents write after a time. */
function isFileOf(sessionId: string, name: string): boolean {
  const own = `${sessionId}.jsonl`;
  return name.endsWith(own) && /^(?:(?:rollout-)?[\dTZ.:-]+[-_])?$/.test(name.slice(0, -own.length));
}

function* filesIn(root: string, folder: string): Generator<string> {
  for (const each of listInside(root, folder)) {
    const path = join(folder, each.name);
    if (each.isDirectory()) yield* filesIn(root, path);
    else if (each.isFile()) yield path;
  }
}
