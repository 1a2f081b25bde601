import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { getEnvironmentData, setEnvironmentData, Worker } from 'node:worker_threads';
import { attempt } from '../../core/base/index.js';
import { type Environment, type System, thisSystem } from '../../core/system/index.js';
import { systemProgram } from './programs.js';

/** Whether this process may do everything on this machine. Some servers refuse to run so. */
export const isRoot = (): boolean => process.getuid?.() === 0;

/** Whether a process of this machine is running, whoever owns it. */
export function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The command lines of this user's processes that work in a folder. Undefined where the system does not say, or takes seconds (macOS). */
export function processesIn(folder: string, system: System = thisSystem): string[] | undefined {
  if (system !== 'linux') return undefined;
  const ids = attempt(() => readdirSync('/proc').filter((name) => /^\d+$/.test(name)));
  return ids?.filter((id) => folderOf(id) === folder).flatMap((id) => wordsOf(id) ?? []);
}

/** The working directory of a process; undefined if the process has ended or belongs to another user. */
const folderOf = (id: string): string | undefined => attempt(() => readlinkSync(`/proc/${id}/cwd`));
const wordsOf = (id: string): string | undefined => attempt(() => readFileSync(`/proc/${id}/cmdline`, 'utf8'));

/**
 * Asks a process to end: a signal on POSIX. Windows has no such request, so the process ends at once, with those that it started.
 * @param how `now` gives it no time to finish its work.
 */
export function endProcess(id: number, how: 'soon' | 'now'): void {
  if (thisSystem === 'windows') return void endTree(id);
  // It may have ended already.
  attempt(() => process.kill(id, how === 'now' ? 'SIGQUIT' : 'SIGINT'));
}

/** The program that ends a process of Windows and all that it started. */
export const treeEnder = (id: number, env: Environment): readonly [program: string, ...args: string[]] => [
  systemProgram(env, 'taskkill.exe'),
  '/pid',
  String(id),
  '/t',
  '/f',
];

/** The time that the program may take, in milliseconds. */
const endMs = 10_000;

/** Kills a process and all that it started. On POSIX it must lead a group, as `startPiped` and `runShell` make it. Nothing if it has ended. */
export function endTree(id: number, system: System = thisSystem, env: Environment = process.env): void {
  if (system === 'windows') {
    const [program, ...args] = treeEnder(id, env);
    spawnSync(program, args, { stdio: 'ignore', timeout: endMs, windowsHide: true });
    return;
  }
  // It may have ended already.
  attempt(() => process.kill(-id, 'SIGKILL'));
}

/** Kills this process above this much memory. A thread watches, because the work blocks the main one. Returns what ends the watch. */
export function limitMemory(bytes: number): () => Promise<unknown> {
  const watcher = new Worker(`setInterval(() => process.memoryUsage.rss() > ${bytes} && process.kill(process.pid, 'SIGKILL'), 25)`, { eval: true });
  return () => watcher.terminate();
}

/** How much less than others a thread in the background gets: a tenth of their time while all are busy. */
const niceness = 10;
/** What the threads that this one starts know, and those that they start. */
const answersWindows = 'answersWindows';

/** Says that this thread answers windows: those that it starts for other work go second. A command alone in its process waits for that work. */
export const goFirst = (): void => setEnvironmentData(answersWindows, true);

/** Lets the threads that answer windows go first while this one works. Only Linux gives each thread a priority of its own. */
export function goSecond(system: System = thisSystem, set = setPriority): void {
  if (system !== 'linux' || getEnvironmentData(answersWindows) !== true) return;
  // Without /proc, all threads go at once.
  attempt(() => set(Number(basename(readlinkSync('/proc/thread-self'))), niceness));
}
