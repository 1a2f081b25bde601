import { setEnvironmentData } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { goFirst, goSecond } from '../../../src/main/system/index.js';

test('[T34] on Linux a thread goes second by its own number, if another answers windows', () => {
  // A front that another test file of this process started has said so, too.
  setEnvironmentData('answersWindows', undefined);
  const asked: number[][] = [];
  const set = (...given: number[]): void => void asked.push(given);
  goSecond('linux', set as never);
  expect(asked).toEqual([]);
  goFirst();
  for (const system of ['macos', 'windows'] as const) goSecond(system, set as never);
  expect(asked).toEqual([]);
  goSecond('linux', set as never);
  if (process.platform !== 'linux') return;
  expect(asked).toHaveLength(1);
  const [thread, niceness] = asked[0] ?? [];
  expect(niceness).toBeGreaterThan(0);
  expect(thread).toBeGreaterThan(1);
});
