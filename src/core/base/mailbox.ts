/** Holds what was put into it until it is read. `read` ends once the mailbox is closed and empty. */
export function openMailbox<T>() {
  const waiting: T[] = [];
  let taken = 0;
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
        // Taking the first of a long array moves the others each time.
        while (taken < waiting.length) yield waiting[taken++] as T;
        waiting.length = 0;
        taken = 0;
        if (isClosed) return;
        await changed.promise;
        changed = Promise.withResolvers();
      }
    },
  };
}
