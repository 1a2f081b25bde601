import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { type System, thisSystem } from '../../core/system/index.js';

/** Signals by which a person, a terminal or the system asks a process to end. */
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type EndSignal = (typeof endSignals)[number];

/** The time limit of an orderly end, in milliseconds. */
const graceMs = 3_000;

/**
 * Calls `end` at the first signal that asks this process to end. A second signal or the end of the grace period ends the process at once, because a
 * thread may be in a read that never returns. Works only while the main thread is not blocked. A server that `reloads` does not end when it is asked
 * to read its files again.
 */
export function onEndSignal(end: () => void, { reloads = false } = {}) {
  const signals = endSignals.filter((signal) => !(reloads && signal === 'SIGHUP'));
  let came: EndSignal | undefined;
  let deadline: NodeJS.Timeout | undefined;
  const handle = (signal: EndSignal): void => {
    if (came !== undefined) endBySignal(signal);
    else {
      came = signal;
      deadline = setTimeout(() => endBySignal(signal), graceMs).unref();
      end();
    }
  };
  for (const signal of signals) process.on(signal, handle);
  return {
    came: () => came,
    /** Removes the handlers, so that a signal ends the process at once again. */
    close: (): void => {
      clearTimeout(deadline);
      for (const signal of signals) process.off(signal, handle);
    },
  };
}

/** Ends this process by a signal, without waiting for any thread. Where the system cannot send the signal, by the exit code that stands for it. */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
  try {
    process.kill(process.pid, signal);
  } catch {
    process.exit();
  }
}

/** How a command ended: its exit code, or the signal that ended it. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Ends this process in the same way as a command: with the same code, or by the same signal. */
export function endLike({ code, signal }: Ended): void {
  if (signal === null) process.exitCode = code ?? 1;
  else endBySignal(signal);
}

/** Calls `reload` when an administrator asks a server to read its files again (SIGHUP). On Windows nothing asks. Returns the end of the watch. */
export function onReload(reload: () => void, system: System = thisSystem): () => void {
  // On Windows, this signal says that the console closes.
  if (system === 'windows') return () => {};
  process.on('SIGHUP', reload);
  return () => void process.off('SIGHUP', reload);
}

/** Signals that are passed on to a command. A terminal also sends its interrupt directly to the command. */
const forwarded = {
  posix: ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'],
  // A closed console reaches the command by itself. Its other signals do not exist there.
  windows: ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGBREAK'],
} as const;

/** The signals that a terminal sends to every program in it. */
const fromTerminal: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGBREAK'];

/** Passes the signals of this process on to a command in the same terminal, until the returned function is called. */
export function forwardSignals(child: Pick<ChildProcess, 'kill'>, system: System = thisSystem): () => void {
  const forward = (signal: NodeJS.Signals): void => {
    if (fromTerminal.includes(signal) && process.stdin.isTTY) return;
    // Windows knows no other way to end a program than to kill it; the console's own signals have reached it already.
    if (system !== 'windows') child.kill(signal);
    else if (signal === 'SIGTERM') child.kill();
  };
  const signals = system === 'windows' ? forwarded.windows : forwarded.posix;
  for (const signal of signals) process.on(signal, forward);
  return () => {
    for (const signal of signals) process.off(signal, forward);
  };
}
