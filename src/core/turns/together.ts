/** Runs streams in parallel, at most `atOnce`, and yields items as they arrive. Returns the result of each stream. */
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
    // The reader has stopped, so the other streams are asked to end.
    for (const stream of pending.keys()) void streams[stream]?.return(undefined as R).catch(() => {});
  }
}
