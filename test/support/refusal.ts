/** The error of a refused call. A call that succeeds fails the test. */
export function refusal(work: () => unknown): { code: string; message: string; data: Record<string, unknown> } {
  try {
    work();
  } catch (error) {
    return error as { code: string; message: string; data: Record<string, unknown> };
  }
  throw new Error('the call succeeded');
}

/** The error of a refused call that answers later. A call that succeeds fails the test. */
export const laterRefusal = (call: Promise<unknown>): Promise<{ code: string; message: string; data: Record<string, unknown> }> =>
  call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error) => error as { code: string; message: string; data: Record<string, unknown> },
  );
