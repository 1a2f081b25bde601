// Ranges of days, and their division into the bars of the chart. Days are texts such as 2026-01-31, in UTC, as the sums are kept.

/** Whole days, both included. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

const dayMs = 86_400_000;
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** The ranges that have a button: numbers of days that end today, and all days. */
export const rangeNames = { 7: '7 days', 30: '30 days', 90: '90 days', all: 'All' } as const;
export type RangeName = `${keyof typeof rangeNames}`;

/** The range if the address names none. */
export const usualRange = '90' satisfies RangeName;
/** The name of the range that an address has; undefined for the days `FROM..TO`. */
export const rangeNameOf = (text = ''): RangeName | undefined =>
  Object.hasOwn(rangeNames, text) ? (text as RangeName) : text.includes('..') ? undefined : usualRange;

const dayNumber = (day: string): number => Math.floor(Date.parse(`${day}T00:00:00Z`) / dayMs);
const dayOf = (number: number): string => new Date(number * dayMs).toISOString().slice(0, 10);

/** Whether a text is a day of the calendar. */
export const isDay = (text: string): boolean =>
  dayPattern.test(text) && Number.isFinite(Date.parse(`${text}T00:00:00Z`)) && dayOf(dayNumber(text)) === text;

/** The day with a distance to another day. */
export const dayAfter = (day: string, by: number): string => dayOf(dayNumber(day) + by);

/** The number of days of a range. */
export const lengthOf = ({ from, to }: Range): number => dayNumber(to) - dayNumber(from) + 1;

/** The range that the address names: `7`, `30`, `90`, `all`, or `FROM..TO`. Anything else is the last 90 days. */
export function rangeOf(text: string | undefined, today: string, first: string | undefined): Range {
  const [from = '', to = ''] = text?.split('..') ?? [];
  if (isDay(from) && isDay(to) && from <= to) return { from, to };
  const name = rangeNameOf(text) ?? usualRange;
  if (name === 'all') return { from: first !== undefined && first < today ? first : today, to: today };
  return { from: dayAfter(today, 1 - Number(name)), to: today };
}

/** The range of the same length before a range. */
export const rangeBefore = (range: Range): Range => ({ from: dayAfter(range.from, -lengthOf(range)), to: dayAfter(range.from, -1) });

export type Unit = 'day' | 'week' | 'month';

/** The time that a bar stands for, so that a chart has at most about 45 bars. */
export function unitOf(range: Range): Unit {
  const days = lengthOf(range);
  return days <= 45 ? 'day' : days <= 45 * 7 ? 'week' : 'month';
}

/** The parts of a range that the bars stand for. The first and the last may be shorter, so that weeks begin on Monday and months on the first. */
export function barsOf(range: Range, unit = unitOf(range)): readonly Range[] {
  const bars: Range[] = [];
  for (let from = range.from; from <= range.to; ) {
    const end = lastDay(from, unit);
    const to = end < range.to ? end : range.to;
    bars.push({ from, to });
    from = dayAfter(to, 1);
  }
  return bars;
}

function lastDay(day: string, unit: Unit): string {
  if (unit === 'day') return day;
  // Day 0 was a Thursday.
  if (unit === 'week') return dayAfter(day, 6 - ((dayNumber(day) + 3) % 7));
  const next =
    Number(day.slice(5, 7)) === 12
      ? `${Number(day.slice(0, 4)) + 1}-01-01`
      : `${day.slice(0, 5)}${String(Number(day.slice(5, 7)) + 1).padStart(2, '0')}-01`;
  return dayAfter(next, -1);
}

const format = (options: Intl.DateTimeFormatOptions) => {
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
  return (day: string): string => made.format(new Date(`${day}T00:00:00Z`));
};
const dayAndMonth = format({ day: 'numeric', month: 'short' });
const dayMonthYear = format({ day: 'numeric', month: 'short', year: 'numeric' });
const month = format({ month: 'short' });
const monthAndYear = format({ month: 'short', year: '2-digit' });

/** A range in words: `9 – 15 Nov 2026`, `25 Aug – 22 Nov 2026`, `9 Nov 2026`. */
export function rangeWords({ from, to }: Range): string {
  const end = dayMonthYear(to);
  if (from === to) return end;
  if (from.slice(0, 7) === to.slice(0, 7)) return `${Number(from.slice(8))} – ${end}`;
  const begin = from.slice(0, 4) === to.slice(0, 4) ? dayAndMonth(from) : dayMonthYear(from);
  return `${begin} – ${end}`;
}

/** The words below a bar: the day, with the month where it changes; or the month. */
export function tickWords({ from }: Range, before: Range | undefined, unit: Unit): string {
  if (unit === 'month') return before?.from.slice(0, 4) === from.slice(0, 4) ? month(from) : monthAndYear(from);
  return before?.from.slice(0, 7) === from.slice(0, 7) ? String(Number(from.slice(8))) : dayAndMonth(from);
}
