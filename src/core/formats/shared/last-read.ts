/** Caches the last value: callers read a commit's entries several times in a row, and those of all commits would fill the memory. */
export function lastRead<Value>(): (of: object | string, read: () => Value) => Value {
  let last: { readonly of: object | string; readonly value: Value } | undefined;
  return (of, read) => {
    if (last?.of !== of) last = { of, value: read() };
    return last.value;
  };
}
