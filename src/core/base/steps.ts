/** Runs all steps of a generator without a pause and returns its result. Use it where nothing else has to run between the steps. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs all steps of an asynchronous generator or stream and returns its result. `take` gets what it yields; if it throws, the stream is closed. */
export async function finished<Part, Result>(
  steps: { next(): Promise<IteratorResult<Part, Result>>; return?(value: never): unknown },
  take: (part: Part) => void = () => {},
): Promise<Result> {
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value;
    try {
      take(step.value);
    } catch (error) {
      // What `take` threw tells more than a stream that cannot be closed.
      await (async () => steps.return?.(undefined as never))().catch(() => {});
      throw error;
    }
  }
}
