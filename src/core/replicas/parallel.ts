/** Does the work for all items, `width` at a time. After the first failure it starts nothing new, and throws that failure once the rest has ended. */
export async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = [...items];
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined && !failure; item = rest.shift())
      try {
        await work(item);
      } catch (error) {
        failure = { error };
      }
  };
  await Promise.all(Array.from({ length: width }, worker));
  if (failure) throw failure.error;
}
