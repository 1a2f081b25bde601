export { atOnce } from '../base/index.js';

/** Runs work in steps. Other calls of the engine run between them. */
export async function inSteps<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await new Promise<void>((resume) => void setImmediate(resume));
  }
}
