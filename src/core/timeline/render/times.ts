import { parseInstant, type Timestamp } from '../../base/index.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** An instant in seconds, as blocks show it: no milliseconds. */
export function secondsOf(at: Timestamp): string {
  const point = at.lastIndexOf('.');
  return point === -1 ? at : `${at.slice(0, point)}Z`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** A length of time in its two largest units, rounded down, the second one padded: `45m`, `17h 53m`, `3d 04h`. */
export function durationWords(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m`;
  if (ms < day) return `${Math.floor(ms / hour)}h ${two(Math.floor((ms % hour) / minute))}m`;
  return `${Math.floor(ms / day)}d ${two(Math.floor((ms % day) / hour))}h`;
}

/** How long until then: `in 2h 00m`, or `overdue` when it is now or past. */
export function remaining(now: Timestamp, target: Timestamp): string {
  const ms = (parseInstant(target) ?? 0) - (parseInstant(now) ?? 0);
  return ms <= 0 ? 'overdue' : `in ${durationWords(ms)}`;
}
