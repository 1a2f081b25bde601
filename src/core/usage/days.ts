import { badRequest, firstWhere, toTimestamp } from '../base/index.js';
import { dayMs, quarterMs } from './facts.js';

/** The days of a time zone, numbered from 1970. */
export type Days = ReturnType<typeof daysIn>;

const quartersPerDay = dayMs / quarterMs;
/** The shortest time between two changes of an offset. */
const week = 7 * quartersPerDay;

/** The days of a time zone between two quarters of an hour. @throws BAD_REQUEST for an unknown time zone. */
export function daysIn(timeZone: string, first: number, last: number) {
  const offsetOf = offsetsOf(timeZone);
  const steps: { readonly from: number; readonly offset: number }[] = [{ from: first, offset: offsetOf(first) }];
  for (let at = first; at < last; at += week) {
    const end = Math.min(at + week, last);
    const before = offsetOf(at);
    if (offsetOf(end) === before) continue;
    const from = firstWhere(at + 1, end, (quarter) => offsetOf(quarter) !== before);
    steps.push({ from, offset: offsetOf(from) });
  }
  const offset = (column: string): string => {
    const cases = steps.slice(1).map(({ from, offset }) => `WHEN ${column} >= ${from} THEN ${offset}`);
    return cases.length === 0 ? String(offsetOf(first)) : `CASE ${cases.reverse().join(' ')} ELSE ${offsetOf(first)} END`;
  };
  return {
    /** The number of a day as SQL, from a column with a quarter of an hour. */
    numberOf: (column: string): string => `(${column} + ${offset(column)}) / ${quartersPerDay}`,
    /** The number of the day of a time in milliseconds. */
    numberAt: (at: number): number => Math.floor((at / quarterMs + offsetOf(Math.floor(at / quarterMs))) / quartersPerDay),
    /** The day with a number, such as 2026-01-31. */
    dayOf: (number: number): string => toTimestamp(number * dayMs).slice(0, 10),
  };
}

/** The offset of a time zone from UTC at a time, in quarters of an hour. */
function offsetsOf(timeZone: string): (quarter: number) => number {
  if (timeZone === 'UTC') return () => 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    throw badRequest('timeZone', `${JSON.stringify(timeZone)} is not a time zone. Name one of the IANA database, such as Europe/Berlin.`);
  }
  return (quarter) => {
    const found = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(quarter * quarterMs));
    return found ? Math.round(((Number(found[2]) * 60 + Number(found[3])) * 60_000) / quarterMs) * (found[1] === '-' ? -1 : 1) : 0;
  };
}
