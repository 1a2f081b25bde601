import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openUpkeep } from '../../../src/core/project/upkeep.js';
import { emptyProject, heldClock } from '../../support/project.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const times = { quiet: 20_000, between: 50 };

function filled(count: number) {
  const clock = heldClock();
  const { chain } = emptyProject(clock);
  chain.artifacts.transaction(() => {
    for (let at = 0; at < count; at++) chain.artifacts.put(Buffer.from(`${'the same words '.repeat(40)}${at}`), { contentType: 'text/plain' });
  });
  clock.at += 120_000;
  return { chain, packed: () => chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM artifact WHERE block IS NOT NULL')?.n };
}

test('what was committed is packed when it has been quiet for a while, and not before', () => {
  const { chain, packed } = filled(600);
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  vi.advanceTimersByTime(15_000);
  upkeep.wake();
  vi.advanceTimersByTime(15_000);
  expect(packed()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(packed()).toBe(600);
  expect(vi.getTimerCount()).toBe(0);
  upkeep.close();
});

test('a few new objects are not worth it, and nothing runs while nothing is called', () => {
  const { chain, packed } = filled(100);
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  vi.advanceTimersByTime(100_000);
  expect([packed(), vi.getTimerCount()]).toEqual([0, 0]);
  upkeep.close();
});

test('a project that is closed is left alone', () => {
  const { chain, packed } = filled(600);
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  upkeep.close();
  vi.advanceTimersByTime(100_000);
  expect(packed()).toBe(0);
});
