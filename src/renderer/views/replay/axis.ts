import type { ReplayStep } from '../../../core/contract/index.js';

/** When each step comes, in milliseconds of playing: real time with long pauses shortened. */
export interface Axis {
  readonly times: readonly number[];
  readonly length: number;
  /** Steps before which somebody waited so long that the pause was shortened, and how long it really was. */
  readonly gaps: readonly { readonly step: number; readonly ms: number }[];
}

/** Nobody watches longer than this for the next step. */
export const longestPause = 10_000;
/** Steps without a time, or with the same, are still told apart. */
const shortestPause = 400;
/** Pauses from here on are marked. */
const markedGap = 60_000;

export function axisOf(steps: readonly Pick<ReplayStep, 'at'>[]): Axis {
  const gaps: { step: number; ms: number }[] = [];
  const times: number[] = [];
  let at = 0;
  let before: number | undefined;
  steps.forEach((step, number) => {
    const time = step.at === undefined ? undefined : Date.parse(step.at);
    const passed = time !== undefined && before !== undefined ? Math.max(0, time - before) : 0;
    if (number > 0) at += Math.min(longestPause, Math.max(shortestPause, passed));
    if (passed >= markedGap) gaps.push({ step: number, ms: passed });
    times.push(at);
    // A clock that was set back says nothing about how long somebody waited.
    before = time === undefined ? before : Math.max(before ?? time, time);
  });
  return { times, length: at, gaps };
}

/** The place of the last step that has come at a time of playing; 0 before all. */
export function placeAt({ times }: Axis, time: number): number {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((times[middle] ?? 0) <= time) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** How fast one may watch. */
export const speeds = [0.5, 1, 2, 5, 10, 25, 100] as const;

export const nextSpeed = (speed: number, by: 1 | -1): number => {
  const place = speeds.findIndex((each) => each >= speed);
  return speeds[Math.max(0, Math.min(speeds.length - 1, place + by))] ?? speed;
};
