import { join } from 'node:path';
import type { ReadChain } from '../chain/index.js';
import { listInside, removeInside } from '../files/index.js';
import type { RunnerParts } from './parts.js';

const select = "SELECT s.sessionId FROM jobSession s JOIN job j ON j.no = s.job WHERE j.project = ? AND j.status = 'interrupted'";

/** Removes the sessions that interrupted jobs for the work left with the agent, which would list them. The chain has their content. */
export function removeLeftSessions(chain: ReadChain, work: string, root: string | undefined): void {
  if (root !== undefined) removeSessions(root, chain.db.column(`${select} AND j.work = ?`, chain.project, work));
}

/** Removes the sessions of all jobs that were interrupted at this time or later. */
export function removeSessionsLeftSince({ chain, agentRoots }: Pick<RunnerParts, 'chain' | 'agentRoots'>, since: number): void {
  const ended = `${select} AND j.endedAt >= ? AND j.performer ->> 'agent' = ?`;
  for (const { agent, root } of agentRoots) removeSessions(root, chain.db.column(ended, chain.project, since, agent));
}

function removeSessions(root: string, sessions: readonly string[]): void {
  const left = sessions.map((sessionId) => `${sessionId}.jsonl`);
  if (left.length === 0) return;
  for (const path of filesIn(root, root)) if (left.some((name) => path.endsWith(name))) removeInside(root, path);
}

function* filesIn(root: string, folder: string): Generator<string> {
  for (const each of listInside(root, folder)) {
    const path = join(folder, each.name);
    if (each.isDirectory()) yield* filesIn(root, path);
    else if (each.isFile()) yield path;
  }
}
