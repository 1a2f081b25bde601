import type { Timestamp } from './ids.js';

/** Milliseconds since 1970 in UTC. The engine has one source of time, so that tests can hold it still. */
export type Clock = () => number;
export const systemClock: Clock = () => Date.now();

export const timestampOf = (ms: number): Timestamp => new Date(ms).toISOString() as Timestamp;

/** The first and the last instant whose year has four digits, in milliseconds: others sort wrongly as text, and no clock ever showed one. */
const earliest = Date.parse('0000-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');
const spelling = /^\d{4}-(\d\d)-(\d\d)([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Milliseconds of an ISO 8601 instant with any offset, or undefined where the text is none, or of a day that no calendar has. */
export function parseInstant(text: string): number | undefined {
  const parts = spelling.exec(text);
  const ms = parts ? Date.parse(text) : Number.NaN;
  // The thirtieth of February parses as the second of March.
  if (!(ms >= earliest && ms <= latest) || Number(parts?.[2]) > daysIn(text.slice(0, 4), Number(parts?.[1]))) return undefined;
  return ms;
}

const daysIn = (year: string, month: number): number =>
  month === 2 && !isLeap(Number(year)) ? 28 : [4, 6, 9, 11].includes(month) ? 30 : month === 2 ? 29 : 31;
const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
