/** Runs all steps of a generator without a pause and returns its result. Use it where nothing else has to run between the steps. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
