import { badRequest, inWords } from './errors.js';
import type { Timestamp } from './ids.js';

/** Milliseconds since 1970 in UTC. The engine has one source of time, so that tests can hold it still. */
export type Clock = () => number;
export const systemClock: Clock = () => Date.now();

/** The largest instant that a `Date` can hold, in milliseconds. */
const furthest = 8.64e15;

export const timestampOf = (ms: number): Timestamp => new Date(ms).toISOString() as Timestamp;

/** Milliseconds of an ISO 8601 instant with any offset, or undefined where the text is none. */
export function parseInstant(text: string): number | undefined {
  if (!/^[+-]?\d{4,6}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isFinite(ms) && Math.abs(ms) <= furthest ? ms : undefined;
}

/** @throws BAD_REQUEST naming `field` when the text is no instant. */
export function instantOf(text: string, field: string): number {
  const ms = parseInstant(text);
  if (ms === undefined) throw badRequest(field, `${field} is ${inWords(text)}, which is no ISO 8601 instant such as 2026-01-31T12:00:00.000Z`);
  return ms;
}
