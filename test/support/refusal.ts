/** What a call is refused with; a call that is not refused fails the test. */
export function refusal(work: () => unknown): { code: string; message: string; data: Record<string, unknown> } {
  try {
    work();
  } catch (error) {
    return error as { code: string; message: string; data: Record<string, unknown> };
  }
  throw new Error('nothing was refused');
}
