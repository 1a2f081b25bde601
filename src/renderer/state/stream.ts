/** Reads a stream of the engine to its end. An abort also stops the engine. Returns the final value, or undefined after an abort. */
export async function readStream<Part, Result>(
  open: (signal: AbortSignal) => Promise<AsyncIterator<Part, Result>>,
  signal: AbortSignal,
  onPart: (part: Part) => void,
): Promise<Result | undefined> {
  try {
    const stream = await open(signal);
    signal.addEventListener('abort', () => void stream.return?.(undefined as never).catch(() => {}), { once: true });
    for (;;) {
      const step = await stream.next();
      if (signal.aborted) return undefined;
      if (step.done) return step.value;
      onPart(step.value);
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
