import type { Timestamp } from '../base/index.js';
import { isHidden, outlineOfParsed, type ParsedDelta, promptAt } from '../formats/index.js';

/** When a turn began and ended, and how long it took. */
export interface Lasted {
  readonly startedAt: Timestamp | null;
  readonly endedAt: Timestamp | null;
  readonly ms: number | null;
}

/**
 * The duration of the turn in a delta (rule N5 of Counting): what the agent wrote, else the time from the prompt to the last record. What a person
 * did before the prompt, such as commands of the agent's screen, is no part of the turn.
 */
export function lastedIn(parsed: ParsedDelta): Lasted {
  const { entries, durationMs } = parsed;
  const prompt = promptAt(outlineOfParsed(parsed).entries) ?? 0;
  const own = entries.slice(prompt).filter((entry, at) => !isHidden(entry) && (at === 0 || !entry.marks?.includes('command')));
  const times = own.flatMap(({ at }) => at ?? []);
  const startedAt = times[0] ?? null;
  // Clocks run backwards, and results arrive in any order.
  const endedAt = times.reduce<Timestamp | null>((last, at) => (last === null || at > last ? at : last), null);
  const ms = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : 0;
  return { startedAt, endedAt, ms: durationMs ?? (ms > 0 ? ms : null) };
}
