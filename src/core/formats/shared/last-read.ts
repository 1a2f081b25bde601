/**
 * Caches only the last value. Callers read the entries of a commit several times in a row, and the entries of all commits of a large file would fill
 * the memory.
 */
export function lastRead<Value>(): (of: object, read: () => Value) => Value {
  let last: { readonly of: object; readonly value: Value } | undefined;
  return (of, read) => {
    if (last?.of !== of) last = { of, value: read() };
    return last.value;
  };
}
