import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cachePool, recent } from '../../../src/core/base/index.js';
import { runs } from '../../support/properties.js';

test('a cache drops what was used longest ago, and keeps nothing heavier than its budget', () => {
  const cache = recent<string, number>(3);
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ] as const)
    cache.set(key, value, 1);
  expect(cache.get('a')).toBe(1);
  cache.set('d', 4, 1);
  expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual([1, undefined, 3, 4]);
  cache.set('e', 5, 4);
  expect([cache.get('e'), cache.weight()]).toEqual([undefined, 3]);
});

test('caches of a pool share its limit: the oldest value of all of them goes first', () => {
  const pool = cachePool(100);
  const [bytes, entries] = [pool.open<string, string>({ unit: 1, part: 0.5 }), pool.open<string, string>({ unit: 10, part: 1 })];
  bytes.set('old', 'x', 40);
  entries.set('a', 'x', 5);
  bytes.get('old');
  entries.set('b', 'x', 2);
  expect([bytes.get('old'), entries.get('a'), entries.get('b')]).toEqual(['x', undefined, 'x']);
  // One kind fills its part and no more.
  bytes.set('large', 'x', 51);
  bytes.set('fits', 'x', 20);
  expect([bytes.get('large'), bytes.get('old'), bytes.weight()]).toEqual([undefined, undefined, 20]);
  pool.setLimit(30);
  expect(bytes.weight() + 10 * entries.weight()).toBeLessThanOrEqual(30);
  bytes.close();
  entries.set('c', 'x', 3);
  expect([bytes.weight(), entries.get('c')]).toEqual([0, 'x']);
});

test('a pool never holds more than its limit, and returns the last value that was set', () => {
  const step = fc.record({ cache: fc.nat(2), key: fc.nat(9), weight: fc.nat(40), does: fc.constantFrom('set', 'get', 'delete', 'limit', 'clear') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pool = cachePool(100);
      const units = [1, 2, 5];
      const caches = units.map((unit) => pool.open<number, number>({ unit, part: unit === 2 ? 0.5 : 1 }));
      const set = new Map<string, number>();
      for (const [at, { cache, key, weight, does }] of steps.entries()) {
        const one = caches[cache];
        if (does === 'set') {
          one?.set(key, at, weight);
          set.set(`${cache} ${key}`, at);
        } else if (does === 'delete') {
          one?.delete(key);
          set.delete(`${cache} ${key}`);
        } else if (does === 'clear') one?.clear();
        else if (does === 'limit') pool.setLimit(weight * 5);
        expect([undefined, set.get(`${cache} ${key}`)]).toContain(one?.get(key));
        const held = caches.reduce((sum, each, kind) => sum + each.weight() * (units[kind] ?? 0), 0);
        expect(held).toBeLessThanOrEqual(pool.limit());
      }
    }),
    { numRuns: runs(200) },
  );
});
