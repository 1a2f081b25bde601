/** Milliseconds between the end of one load and the next one while changes keep coming. */
const restMs = 250;

/** Loads at once, and once more after the current load if called meanwhile. `ready` says when a load makes sense: when the window is seen. */
export function coalesced(load: () => Promise<unknown>, signal: AbortSignal, ready: (signal: AbortSignal) => Promise<void>): () => void {
  let isDue = false;
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isDue && !signal.aborted) {
      await ready(signal);
      if (signal.aborted) break;
      isDue = false;
      await load().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    isRunning = false;
  };
  return () => {
    isDue = true;
    if (!isRunning) void run();
  };
}
