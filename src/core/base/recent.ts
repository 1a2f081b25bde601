/** A least-recently-used cache with a weight limit. */
export interface Recent<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value, weight: number): void;
  delete(key: Key): void;
  /** Removes everything. */
  clear(): void;
  /** The sum of the weights of what it holds. */
  weight(): number;
}

/** Creates a cache. `budget` limits the sum of weights; a heavier value is not stored. */
export function recent<Key, Value>(budget: number): Recent<Key, Value> {
  const held = new Map<Key, { readonly value: Value; readonly weight: number }>();
  let total = 0;
  const drop = (key: Key): void => {
    total -= held.get(key)?.weight ?? 0;
    held.delete(key);
  };
  return {
    get(key) {
      const found = held.get(key);
      if (!found) return undefined;
      held.delete(key);
      held.set(key, found);
      return found.value;
    },
    set(key, value, weight) {
      drop(key);
      if (weight > budget) return;
      held.set(key, { value, weight });
      total += weight;
      for (const oldest of held.keys()) {
        if (total <= budget) break;
        drop(oldest);
      }
    },
    delete: drop,
    clear() {
      held.clear();
      total = 0;
    },
    weight: () => total,
  };
}
