/** Runs streams side by side, at most so many at once, and gives what comes in the order in which it comes. Ends with what each returned. */
export async function* together<T, R>(streams: readonly AsyncGenerator<T, R>[], atOnce: number): AsyncGenerator<T, R[]> {
  interface Step {
    readonly stream: number;
    readonly result: IteratorResult<T, R>;
  }
  const results: R[] = [];
  const pending = new Map<number, Promise<Step>>();
  let next = 0;
  const advance = (stream: number): void => {
    const step = (streams[stream] as AsyncGenerator<T, R>).next().then((result): Step => ({ stream, result }));
    pending.set(stream, step);
  };
  try {
    while (next < Math.min(atOnce, streams.length)) advance(next++);
    while (pending.size) {
      const { stream, result } = await Promise.race(pending.values());
      pending.delete(stream);
      if (!result.done) {
        advance(stream);
        yield result.value;
        continue;
      }
      results[stream] = result.value;
      if (next < streams.length) advance(next++);
    }
    return results;
  } finally {
    // Nobody waits for these any more; each ends when it next looks up.
    for (const stream of pending.keys()) void streams[stream]?.return(undefined as R).catch(() => {});
  }
}
