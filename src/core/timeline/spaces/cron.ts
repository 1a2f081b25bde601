import { Cron } from 'croner';
import { badRequest, inWords } from '../../base/index.js';

/**
 * The first time after `after` (milliseconds) at which a cron line of five fields falls due, in UTC. If both day fields are given,
 * either is enough. A field is given unless it is a bare `*`: a step over all days counts as given, unlike in some versions of cron.
 * @throws BAD_REQUEST for a line that is not cron, or that never falls due.
 */
export function nextCron(line: string, after: number): number {
  const next = cronOf(line).nextRun(new Date(after));
  if (next === null) throw badRequest('cron', `${inWords(line)} never falls due`);
  return next.getTime();
}

function cronOf(line: string): Cron {
  // The library also accepts `?` for the current time, and other numbers of fields for seconds, years, nicknames or single dates.
  if (!line.includes('?') && line.trim().split(/\s+/).length === 5)
    try {
      return new Cron(line, { mode: '5-part', timezone: 'UTC', sloppyRanges: true, paused: true });
    } catch {
      // The library's message is not used, because it names its internals.
    }
  throw badRequest('cron', `cron is ${inWords(line)}; it must have five fields (minute hour day month weekday), such as "0 9 * * *"`);
}
