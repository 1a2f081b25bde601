import { firstWhere, type ReplayStep } from '../../../core/contract/index.js';

/** The time of each step in milliseconds of playback: real time with long pauses shortened. */
export interface Axis {
  readonly times: readonly number[];
  readonly length: number;
  /** Steps after a long pause, with the real length of the pause in milliseconds. */
  readonly gaps: readonly { readonly step: number; readonly ms: number }[];
}

/** Pauses longer than this, in milliseconds, are shortened to it. */
export const maxPauseMs = 10_000;
/** The pause between steps without a time, or with the same time, in milliseconds. */
const minPauseMs = 400;
/** Pauses of at least this length are marked, in milliseconds. */
const markedGap = 60_000;

/** Computes the playback times of steps. */
export function axisOf(steps: readonly Pick<ReplayStep, 'at'>[]): Axis {
  const gaps: { step: number; ms: number }[] = [];
  const times: number[] = [];
  let at = 0;
  let before: number | undefined;
  steps.forEach((step, number) => {
    const time = step.at === undefined ? undefined : Date.parse(step.at);
    const passed = time !== undefined && before !== undefined ? Math.max(0, time - before) : 0;
    if (number > 0) at += Math.min(maxPauseMs, Math.max(minPauseMs, passed));
    if (passed >= markedGap) gaps.push({ step: number, ms: passed });
    times.push(at);
    // If the clock was set back, the time between the steps is unknown.
    before = time === undefined ? before : Math.max(before ?? time, time);
  });
  return { times, length: at, gaps };
}

/** The place of the last step at or before a playback time; 0 before the first. */
export const placeAt = ({ times }: Axis, time: number): number => Math.max(0, firstWhere(0, times.length, (place) => (times[place] ?? 0) > time) - 1);

export const speeds = [0.5, 1, 2, 5, 10, 25, 100] as const;

/** The next faster (1) or slower (-1) speed, within the bounds. */
export const nextSpeed = (speed: number, by: 1 | -1): number => {
  const place = speeds.findIndex((each) => each >= speed);
  return speeds[Math.max(0, Math.min(speeds.length - 1, place + by))] ?? speed;
};
