import { badRequest, inWords } from '../../base/index.js';

const bounds = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12],
  ['weekday', 0, 7],
] as const;

const dayMs = 86_400_000;
const minuteMs = 60_000;
/** The 29th of February is at most eight years away. */
const furthestDays = 8 * 366;

/**
 * The first minute after `after` (milliseconds) that a five-field cron line names, in UTC. Where both day fields are
 * given, either is enough, as cron has it.
 * @throws BAD_REQUEST for a line that is none, or that no day ever fits.
 */
export function nextCron(line: string, after: number): number {
  const [minutes, hours, days, months, weekdays] = fieldsOf(line);
  const eitherDay = days.given && weekdays.given;
  const fitsDay = (day: Date): boolean => {
    const [byDay, byWeekday] = [days.values.has(day.getUTCDate()), weekdays.values.has(day.getUTCDay())];
    return months.values.has(day.getUTCMonth() + 1) && (eitherDay ? byDay || byWeekday : byDay && byWeekday);
  };
  const first = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  const midnight = Math.floor(first / dayMs) * dayMs;
  for (let day = 0; day <= furthestDays; day += 1) {
    const start = midnight + day * dayMs;
    if (!fitsDay(new Date(start))) continue;
    for (let at = Math.max(first, start); at < start + dayMs; at += minuteMs) {
      const time = new Date(at);
      if (hours.values.has(time.getUTCHours()) && minutes.values.has(time.getUTCMinutes())) return at;
    }
  }
  throw badRequest('cron', `no day ever fits ${inWords(line)}`);
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** False for `*`. */
  readonly given: boolean;
}

function fieldsOf(line: string): readonly [Field, Field, Field, Field, Field] {
  const parts = line.trim().split(/\s+/);
  if (parts.length !== bounds.length) throw notCron(line);
  const fields = bounds.map(([, low, high], place) => fieldOf(parts[place] ?? '', low, high, line));
  return fields as unknown as readonly [Field, Field, Field, Field, Field];
}

function fieldOf(text: string, low: number, high: number, line: string): Field {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, all, from, to, step] = /^(?:(\*)|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part) ?? [];
    if (all === undefined && from === undefined) throw notCron(line);
    const start = all ? low : Number(from);
    const end = all || (step !== undefined && to === undefined) ? high : Number(to ?? from);
    if (start < low || end > high || start > end || step === '0') throw notCron(line);
    for (let value = start; value <= end; value += Number(step ?? 1)) values.add(high === 7 ? value % 7 : value);
  }
  return { values, given: !text.startsWith('*') };
}

const notCron = (line: string): Error =>
  badRequest('cron', `cron is ${inWords(line)}; it has five fields (minute hour day month weekday), such as "0 9 * * *"`);
