import type { ReadChain, WriteChain } from '../chain/index.js';
import { sessionsAreDue } from '../sessions/index.js';
import { catchUpLedger, catchUpUsage, pendingCommits } from '../usage/index.js';
import { catchUpSessions } from './sessions.js';
import { catchUpTools, pendingTools, toolsAreDue } from './tools.js';

/** Whether facts for questions over many sessions are out of date. */
export const analysisIsDue = (chain: ReadChain): boolean => toolsAreDue(chain) || sessionsAreDue(chain);

/** The commits of the project, and those that questions over many sessions know. A commit is read for its calls, and again for its tool calls. */
export function analysisProgress(chain: ReadChain): { readonly done: number; readonly total: number } {
  const { db, project } = chain;
  const total = db.value<number>("SELECT total FROM areaCount WHERE project = ? AND area = 'commits'", project) ?? 0;
  return { done: Math.max(0, total - Math.ceil((pendingCommits(chain) + pendingTools(chain)) / 2)), total };
}

/** Derives the facts for questions over many sessions, in short transactions. Yields after each. Load the prices first. */
export function* catchUpAnalysis(chain: WriteChain): Generator<void> {
  yield* catchUpUsage(chain);
  yield* catchUpTools(chain);
  // The sessions are stored last, so the ledger is current whenever they are.
  if (!sessionsAreDue(chain)) return;
  yield* catchUpLedger(chain);
  yield* catchUpSessions(chain);
}
