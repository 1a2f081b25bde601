/** Does work in steps, letting other calls of the engine through between them. */
export async function inSteps<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await new Promise<void>((resume) => void setImmediate(resume));
  }
}

/** Does work in steps, all at once: nobody else is waiting. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
