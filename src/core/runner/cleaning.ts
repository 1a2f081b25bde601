import { interruptDeadJobs } from './jobs.js';
import { removeSessionsLeftSince } from './left-sessions.js';
import type { RunnerParts } from './parts.js';
import { removeLeftTries } from './repeat.js';

/** Milliseconds between two searches for leftovers of dead processes. */
const cleanMs = 30_000;

const cleanedAt = new WeakMap<RunnerParts['live'], Map<string, number>>();

/** Removes what jobs of dead processes left: sessions, and try folders without a branch. Runs at most twice a minute. */
export async function cleanUp(parts: RunnerParts): Promise<void> {
  const { chain, live, dir } = parts;
  const times = cleanedAt.get(live) ?? new Map<string, number>();
  cleanedAt.set(live, times);
  const [last, now] = [times.get(dir), chain.clock()];
  if (last !== undefined && now - last < cleanMs) return;
  times.set(dir, now);
  interruptDeadJobs(chain);
  removeSessionsLeftSince(parts, last ?? 0);
  await removeLeftTries(parts);
}
