import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { type System, thisSystem } from '../../core/system/index.js';

/** How much less than others a thread in the background gets: a third of their time while all are busy. */
const niceness = 5;

/** Lets the other threads of this process go first, so that they answer while this one works. Only Linux gives each thread a priority of its own. */
export function goSecond(system: System = thisSystem, set = setPriority): void {
  if (system !== 'linux') return;
  try {
    set(Number(basename(readlinkSync('/proc/thread-self'))), niceness);
  } catch {
    // Without /proc, all threads go at once.
  }
}
