interface Pace {
  /** Milliseconds between the end of a load and the next one, for a load that took so many milliseconds; undefined if it failed. */
  readonly restMs: (ms: number | undefined) => number;
  readonly signal?: AbortSignal;
  /** Waits until a load makes sense: until the window is seen. */
  readonly ready?: (signal: AbortSignal | undefined) => Promise<void>;
}

/** Loads at once, and once more after the current load and a rest if called meanwhile. */
export function coalesced(load: () => Promise<unknown>, { restMs, signal, ready }: Pace): () => void {
  let isDue = false;
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isDue && !signal?.aborted) {
      if (ready) await ready(signal);
      if (signal?.aborted) break;
      isDue = false;
      const began = performance.now();
      const took = await load().then(
        () => performance.now() - began,
        () => undefined,
      );
      await new Promise((resolve) => setTimeout(resolve, restMs(took)));
    }
    isRunning = false;
  };
  return () => {
    isDue = true;
    if (!isRunning) void run();
  };
}
