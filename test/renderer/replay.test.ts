import './page.js';
import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../src/core/contract/index.js';
import { axisOf, maxPauseMs, nextSpeed, placeAt } from '../../src/renderer/views/replay/axis.js';
import { blocksUpTo, lastChange, placeOfTurn, turnAt } from '../../src/renderer/views/replay/turns.js';

const at = (...seconds: (number | undefined)[]) =>
  seconds.map((second) => (second === undefined ? {} : { at: new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString() as Timestamp }));

describe('the axis of a replay', () => {
  test('short pauses are real, long ones shortened, very long ones also marked', () => {
    expect(axisOf(at(0, 3, 3 + 3_600, 3_604))).toEqual({
      times: [0, 3_000, 3_000 + maxPauseMs, 4_000 + maxPauseMs],
      length: 4_000 + maxPauseMs,
      gaps: [{ step: 2, ms: 3_600_000 }],
    });
  });

  test('steps without a time, or with equal or decreasing times, stay in order', () => {
    const { times, gaps } = axisOf(at(10, 10, undefined, 5, 11));
    expect(gaps).toEqual([]);
    expect(times.every((time, n) => n === 0 || time > (times[n - 1] ?? 0))).toBe(true);
  });

  test('the place at a time is the last step at or before it', () => {
    const axis = axisOf(at(0, 1, 2, 3));
    expect([-5, 0, 999, 1_000, 2_500, 99_999].map((time) => placeAt(axis, time))).toEqual([0, 0, 0, 1, 2, 3]);
    for (const [place, time] of axis.times.entries()) expect(placeAt(axis, time)).toBe(place);
  });

  test('speeds change in steps and stay within bounds', () => {
    expect([nextSpeed(5, 1), nextSpeed(5, -1), nextSpeed(100, 1), nextSpeed(0.5, -1)]).toEqual([10, 2, 100, 0.5]);
  });
});

test('the last change of a file up to a step is found, else its last read', () => {
  const touches = [
    { key: 'a.0' as never, how: 'read' as const, step: 2 },
    { key: 'b.0' as never, how: 'changed' as const, step: 5 },
    { key: 'c.0' as never, how: 'read' as const, step: 9 },
  ];
  expect([1, 2, 4, 5, 12].map((step) => lastChange(touches, step))).toEqual([1, 2, 2, 5, 5]);
});

describe('the turns of a replay', () => {
  const turns = [
    { first: 0, entries: 4 },
    { first: 4, entries: 0 },
    { first: 4, entries: 2 },
  ];

  test('a step belongs to the last turn with entries that has begun', () => {
    expect([0, 3, 4, 5].map((place) => turnAt(turns, place))).toEqual([0, 0, 2, 2]);
  });

  test('previous turn leads to the start of the current turn first', () => {
    expect(placeOfTurn(turns, 6, 3, -1)).toBe(0);
    expect(placeOfTurn(turns, 6, 0, -1)).toBe(0);
    expect(placeOfTurn(turns, 6, 1, 1)).toBe(4);
    expect(placeOfTurn(turns, 6, 5, 1)).toBe(5);
  });

  test('a block is shown once its first step has come', () => {
    const blocks = [{ first: 0 }, { first: 2 }, { first: 5 }];
    expect([0, 1, 2, 4, 5].map((place) => blocksUpTo(blocks, place))).toEqual([1, 1, 2, 2, 3]);
  });
});
