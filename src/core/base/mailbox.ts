/** Holds what was put into it until it is read. `read` ends once the mailbox is closed and empty. */
export function openMailbox<T>() {
  const waiting: T[] = [];
  let isClosed = false;
  let changed = Promise.withResolvers<void>();
  return {
    put: (one: T): void => {
      waiting.push(one);
      changed.resolve();
    },
    close: (): void => {
      isClosed = true;
      changed.resolve();
    },
    async *read(): AsyncGenerator<T, void> {
      for (;;) {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) yield one;
        if (isClosed) return;
        await changed.promise;
        changed = Promise.withResolvers();
      }
    },
  };
}
