/** Signals by which a person, a terminal or the system asks a process to end. */
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type EndSignal = (typeof endSignals)[number];

/** How long an orderly end may take, in milliseconds. */
const graceMs = 3_000;

export interface SignalWatch {
  /** The signal that came, if one did. */
  came(): EndSignal | undefined;
  /** Signals end the process at once again. */
  close(): void;
}

/**
 * Calls `end` at the first of the signals that ask this process to end. A second signal ends the process at once, and so does the end of the
 * grace period: a thread may be in the middle of a read that never returns. Needs a main thread that is not blocked itself.
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
