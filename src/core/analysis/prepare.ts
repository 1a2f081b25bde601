import type { ReadChain, WriteChain } from '../chain/index.js';
import { sessionsAreDue } from '../sessions/index.js';
import { catchUpLedger, catchUpUsage } from '../usage/index.js';
import { catchUpSessions } from './sessions.js';
import { catchUpTools, pendingTools } from './tools.js';

/** Whether facts for questions over many sessions are out of date. */
export const analysisIsDue = (chain: ReadChain): boolean => pendingTools(chain, 1) > 0 || sessionsAreDue(chain);

/** Derives the facts for questions over many sessions, in short transactions. Yields after each. Load the prices first. */
export function* catchUpAnalysis(chain: WriteChain): Generator<void> {
  yield* catchUpUsage(chain);
  yield* catchUpTools(chain);
  // The sessions are stored last, so the ledger is current whenever they are.
  if (!sessionsAreDue(chain)) return;
  yield* catchUpLedger(chain);
  yield* catchUpSessions(chain);
}
