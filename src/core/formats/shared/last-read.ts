/**
 * Remembers the last value only. The entries of a commit are asked for several times in a row, and those of all commits of a large file would
 * fill memory.
 */
export function lastRead<Value>(): (of: object, read: () => Value) => Value {
  let last: { readonly of: object; readonly value: Value } | undefined;
  return (of, read) => {
    if (last?.of !== of) last = { of, value: read() };
    return last.value;
  };
}
