export { atOnce } from '../base/index.js';

/** Does work in steps, letting other calls of the engine through between them. */
export async function inSteps<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await new Promise<void>((resume) => void setImmediate(resume));
  }
}
