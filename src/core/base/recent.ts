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

/** A value in a cache, in a ring by the time of its last use. */
interface Held {
  key: unknown;
  value: unknown;
  weight: number;
  used: number;
  older: Held;
  newer: Held;
}

interface Member {
  readonly unit: number;
  weight: number;
  /** The ring: `newer` is the value that was used longest ago, `older` the one that was used last. */
  readonly ring: Held;
  drop(held: Held): void;
}

/** Creates a cache. `budget` limits the sum of weights; a heavier value is not stored. */
export const recent = <Key, Value>(budget: number): Recent<Key, Value> => cachePool(budget).open({ unit: 1, part: 1 });

/**
 * Creates a pool of caches that share a limit: what was used longest ago goes first, whichever of them holds it. `limit` limits the sum of their
 * weights, each multiplied by its unit; a heavier value is not stored.
 */
export function cachePool(limit: number) {
  const members = new Set<Member>();
  let most = limit;
  let clock = 0;
  const total = (): number => [...members].reduce((sum, { weight, unit }) => sum + weight * unit, 0);
  const shrink = (): void => {
    while (total() > most) {
      const [first, ...others] = [...members].filter(({ ring }) => ring.newer !== ring);
      if (!first) return;
      const oldest = others.reduce((found, member) => (member.ring.newer.used < found.ring.newer.used ? member : found), first);
      oldest.drop(oldest.ring.newer);
    }
  };
  return {
    /** Opens a cache. `unit` is what one unit of its weights counts in the pool, and `part` the part of the pool that it may fill. */
    open: <Key, Value>({ unit, part }: { readonly unit: number; readonly part: number }) => {
      const { cache, member } = cacheIn<Key, Value>({ unit, budget: () => (most * part) / unit, now: () => ++clock, shrink });
      members.add(member);
      /** Removes everything for good. */
      const close = (): void => {
        cache.clear();
        members.delete(member);
      };
      return { ...cache, close };
    },
    limit: () => most,
    /** Changes the limit, and drops what no longer fits. */
    setLimit: (limit: number): void => {
      most = limit;
      shrink();
    },
  };
}

interface OfPool {
  readonly unit: number;
  readonly budget: () => number;
  readonly now: () => number;
  /** Makes the pool fit its limit again. */
  readonly shrink: () => void;
}

function cacheIn<Key, Value>({ unit, budget, now, shrink }: OfPool): { cache: Recent<Key, Value>; member: Member } {
  const held = new Map<Key, Held>();
  const ring = { key: undefined, value: undefined, weight: 0, used: 0 } as Held;
  ring.older = ring;
  ring.newer = ring;
  const leave = ({ older, newer }: Held): void => {
    older.newer = newer;
    newer.older = older;
  };
  const use = (one: Held): void => {
    one.used = now();
    one.older = ring.older;
    one.newer = ring;
    ring.older.newer = one;
    ring.older = one;
  };
  const member: Member = {
    unit,
    weight: 0,
    ring,
    drop: (one) => {
      leave(one);
      held.delete(one.key as Key);
      member.weight -= one.weight;
    },
  };
  const remove = (key: Key): void => {
    const found = held.get(key);
    if (found) member.drop(found);
  };
  const cache: Recent<Key, Value> = {
    get(key) {
      const found = held.get(key);
      if (!found) return undefined;
      leave(found);
      use(found);
      return found.value as Value;
    },
    set(key, value, weight) {
      remove(key);
      if (weight > budget()) return;
      const added = { key, value, weight } as Held & { key: Key };
      held.set(key, added);
      use(added);
      member.weight += weight;
      while (member.weight > budget()) member.drop(ring.newer);
      shrink();
    },
    delete: remove,
    clear() {
      held.clear();
      ring.older = ring;
      ring.newer = ring;
      member.weight = 0;
    },
    weight: () => member.weight,
  };
  return { cache, member };
}
