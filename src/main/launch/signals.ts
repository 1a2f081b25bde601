/** Signals by which a person, a terminal or the system asks a process to end. */
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type EndSignal = (typeof endSignals)[number];

/** The time limit of an orderly end, in milliseconds. */
const graceMs = 3_000;

export interface SignalWatch {
  /** The received signal, if any. */
  came(): EndSignal | undefined;
  /** Removes the handlers, so that a signal ends the process at once again. */
  close(): void;
}

/**
 * Calls `end` at the first signal that asks this process to end. A second signal or the end of the grace period ends the process at once, because a
 * thread may be in a read that never returns. Works only while the main thread is not blocked.
 */
export function onEndSignal(end: () => void, signals: readonly EndSignal[] = endSignals): SignalWatch {
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
    close: () => {
      clearTimeout(deadline);
      for (const signal of signals) process.off(signal, handle);
    },
  };
}

/** Ends this process by a signal, without waiting for any thread. */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
