import './page.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coalesced } from '../../src/renderer/state/coalesced.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const restMs = (): number => 250;

test('many changes load the lists at once and then at most every 250 ms', async () => {
  let loads = 0;
  const reload = coalesced(async () => (loads += 1), { restMs });
  for (let change = 0; change < 100; change++) {
    reload();
    await vi.advanceTimersByTimeAsync(10);
    if (change === 0) expect(loads).toBe(1);
  }
  expect(loads).toBeGreaterThanOrEqual(4);
  expect(loads).toBeLessThanOrEqual(5);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(loads).toBeLessThanOrEqual(6);
});

test('a hidden window loads once when it is seen, and a failed load does not stop the next', async () => {
  let show = (): void => {};
  let loads = 0;
  const load = async (): Promise<void> => {
    loads += 1;
    if (loads === 1) throw new Error('the connection broke');
  };
  const reload = coalesced(load, { restMs, ready: () => new Promise((resolve) => (show = resolve)) });
  for (let change = 0; change < 50; change++) reload();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(loads).toBe(0);
  show();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(loads).toBe(1);
  reload();
  show();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(loads).toBe(2);
});

test('nothing loads after the window left the project', async () => {
  const own = new AbortController();
  let loads = 0;
  const reload = coalesced(async () => (loads += 1), { restMs, signal: own.signal });
  reload();
  await vi.advanceTimersByTimeAsync(0);
  reload();
  own.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(loads).toBe(1);
});
