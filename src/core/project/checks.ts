import { catchUpFindings, findingsAreDue, uncheckedSessions } from '../analysis/index.js';
import type { Finding } from '../contract/index.js';
import type { Analyst } from './ask.js';
import { type AskedProject, analystMs, askFolder, waitForUpkeep } from './asking.js';
import type { IdleWork } from './upkeep.js';

/**
 * Applies the built-in rules to sessions that have changed, and keeps what they find. The rules are applied in the process that answers questions,
 * because `node:sqlite` must not open the project in this one: a second SQLite would take away the locks and the shared memory of the first
 * (sqlite.org/howtocorrupt.html, 2.2.1).
 */
export async function checkSessions(
  analyst: Analyst | undefined,
  folder: AskedProject,
  { isOver, ...how }: { readonly isOver: () => boolean; readonly signal?: AbortSignal; readonly isBackground?: boolean },
): Promise<void> {
  const { chain, place } = folder;
  if (!place || !findingsAreDue(chain) || !(await waitForUpkeep(folder))) return;
  const find = async (runs: string) =>
    (await askFolder(analyst, folder, { kind: 'findingsWithin', runs }, { ms: analystMs.findings, ...how })) as readonly Finding[];
  for await (const _ of catchUpFindings(chain, find)) {
    if (isOver()) return;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** The fewest sessions for which idle time starts a process. A question checks fewer ones at once. */
const worthChecking = 20;

/** Checks sessions on an idle project, so that a question about findings need not. */
export function idleCheck(analyst: Analyst | undefined, folder: AskedProject): IdleWork | undefined {
  if (!analyst || !folder.place) return undefined;
  const { chain } = folder;
  return {
    isDue: () => uncheckedSessions(chain) >= worthChecking,
    run: async (signal) => await checkSessions(analyst, folder, { isOver: () => signal.aborted || !chain.db.isFree(), signal, isBackground: true }),
  };
}
