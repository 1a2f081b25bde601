import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../src/core/contract/index.js';
import { axisOf, longestPause, nextSpeed, placeAt } from '../../src/renderer/views/replay/axis.js';

const at = (...seconds: (number | undefined)[]) =>
  seconds.map((second) => (second === undefined ? {} : { at: new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString() as Timestamp }));

describe('the axis of a replay', () => {
  test('short waits are real, long ones are shortened, and very long ones marked with what they were', () => {
    expect(axisOf(at(0, 3, 3 + 3_600, 3_604))).toEqual({
      times: [0, 3_000, 3_000 + longestPause, 4_000 + longestPause],
      length: 4_000 + longestPause,
      gaps: [{ step: 2, ms: 3_600_000 }],
    });
  });

  test('steps without a time, at the same time, or before their time still come one after the other', () => {
    const { times, gaps } = axisOf(at(10, 10, undefined, 5, 11));
    expect(gaps).toEqual([]);
    expect(times.every((time, n) => n === 0 || time > (times[n - 1] ?? 0))).toBe(true);
  });

  test('the place at a time is the step that came last', () => {
    const axis = axisOf(at(0, 1, 2, 3));
    expect([-5, 0, 999, 1_000, 2_500, 99_999].map((time) => placeAt(axis, time))).toEqual([0, 0, 0, 1, 2, 3]);
    for (const [place, time] of axis.times.entries()) expect(placeAt(axis, time)).toBe(place);
  });

  test('speeds go up and down in steps and stay within bounds', () => {
    expect([nextSpeed(5, 1), nextSpeed(5, -1), nextSpeed(100, 1), nextSpeed(0.5, -1)]).toEqual([10, 2, 100, 0.5]);
  });
});
