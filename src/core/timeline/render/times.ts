import { parseInstant, type Timestamp } from '../../base/index.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A timestamp without milliseconds, as blocks show it. */
export function secondsOf(at: Timestamp): string {
  const point = at.lastIndexOf('.');
  return point === -1 ? at : `${at.slice(0, point)}Z`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** A duration in its two largest units, rounded down, with the second unit padded: `45m`, `17h 53m`, `3d 04h`. */
export function durationText(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m`;
  if (ms < day) return `${Math.floor(ms / hour)}h ${two(Math.floor((ms % hour) / minute))}m`;
  return `${Math.floor(ms / day)}d ${two(Math.floor((ms % day) / hour))}h`;
}

/** The time until `target`: `in 2h 00m`, or `overdue` if it is not in the future. */
export function remaining(now: Timestamp, target: Timestamp): string {
  const ms = (parseInstant(target) ?? 0) - (parseInstant(now) ?? 0);
  return ms <= 0 ? 'overdue' : `in ${durationText(ms)}`;
}
