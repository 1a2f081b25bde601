import type { ReadChain } from './chain.js';

/** A value in the memory of a chain, and the state of the project that it belongs to. */
interface Held {
  readonly state: string;
  readonly value: unknown;
}

/**
 * Keeps a value that is derived from the project, in the cache of the process or thread, which has a limit in bytes.
 * `state` says what the value was derived from: with another state it is made again, from the earlier value if there is one. Undefined is not kept.
 */
export function kept<Value>(
  { derived }: Pick<ReadChain, 'derived'>,
  kind: string,
  name: string,
  state: string,
  make: (before: Value | undefined) => Value,
  bytesOf: number | ((value: Value) => number),
): Value {
  const key = `${kind} ${name}`;
  const known = derived.get(key) as Held | undefined;
  if (known?.state === state) return known.value as Value;
  // The earlier value may be changed into the new one, so it is not kept meanwhile.
  derived.delete(key);
  const value = make(known?.value as Value | undefined);
  if (value !== undefined) derived.set(key, { state, value }, (typeof bytesOf === 'number' ? bytesOf : bytesOf(value)) + key.length);
  return value;
}

/** A kept value; undefined if no value of this state is kept. */
export function recalled<Value>({ derived }: Pick<ReadChain, 'derived'>, kind: string, name: string, state = ''): Value | undefined {
  const known = derived.get(`${kind} ${name}`) as Held | undefined;
  return known?.state === state ? (known.value as Value) : undefined;
}

/** Keeps a value that was made elsewhere. */
export function keep({ derived }: Pick<ReadChain, 'derived'>, kind: string, name: string, value: unknown, bytes: number, state = ''): void {
  const key = `${kind} ${name}`;
  derived.set(key, { state, value }, bytes + key.length);
}
