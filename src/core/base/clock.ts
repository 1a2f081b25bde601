import type { Timestamp } from './ids.js';

/** Milliseconds since 1970 in UTC. The engine has one clock, so that tests can control it. */
export type Clock = () => number;
/** The machine's clock. */
export const systemClock: Clock = () => Date.now();

/** Converts milliseconds since 1970 to ISO 8601. */
export function toTimestamp(ms: number): Timestamp {
  // A commit writes its time several times in a row.
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() as Timestamp };
  return last.text;
}
let last = { ms: 0, text: new Date(0).toISOString() as Timestamp };

/** The range of instants with a four-digit year, in milliseconds. Instants outside it would sort wrongly as text. */
const earliest = Date.parse('0000-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');
const spelling = /^\d{4}-(\d\d)-(\d\d)([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Days that every month has, as `toTimestamp` writes them. Most outputs are such texts, and need no second look. */
const written = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether a text surely is as `toTimestamp` writes it; false for some that are. */
export const isTimestamp = (text: string): text is Timestamp => written.test(text);

/** Parses an ISO 8601 instant with any offset to milliseconds; undefined for other text and for days that do not exist. */
export function parseInstant(text: string): number | undefined {
  const parts = spelling.exec(text);
  const ms = parts ? Date.parse(text) : Number.NaN;
  // Date.parse accepts February 30 as March 2.
  if (!(ms >= earliest && ms <= latest) || Number(parts?.[2]) > daysIn(text.slice(0, 4), Number(parts?.[1]))) return undefined;
  return ms;
}

const daysIn = (year: string, month: number): number =>
  month === 2 && !isLeap(Number(year)) ? 28 : [4, 6, 9, 11].includes(month) ? 30 : month === 2 ? 29 : 31;
const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
