import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { type System, thisSystem } from '../../core/system/index.js';

/** How much less than others a thread in the background gets: a tenth of their time while all are busy. */
const niceness = 10;
/** What the threads that this one starts know, and those that they start. */
const answersWindows = 'answersWindows';

/** Says that this thread answers windows: those that it starts for other work go second. A command alone in its process waits for that work. */
export const goFirst = (): void => setEnvironmentData(answersWindows, true);

/** Lets the threads that answer windows go first while this one works. Only Linux gives each thread a priority of its own. */
export function goSecond(system: System = thisSystem, set = setPriority): void {
  if (system !== 'linux' || getEnvironmentData(answersWindows) !== true) return;
  try {
    set(Number(basename(readlinkSync('/proc/thread-self'))), niceness);
  } catch {
    // Without /proc, all threads go at once.
  }
}
