import type { JsonObject } from '../../base/index.js';
import type { ParsedDelta } from '../parsed.js';

/** The sum of the durations that an agent wrote, as a member of a parsed delta; none if it wrote none. A duration of zero says nothing. */
export function durationOf<T>(records: readonly T[], read: (record: T) => unknown): Pick<ParsedDelta, 'durationMs'> {
  const ms = records.map(read).reduce<number>((sum, one) => sum + (typeof one === 'number' && Number.isFinite(one) && one > 0 ? one : 0), 0);
  return ms > 0 ? { durationMs: Math.round(ms) } : {};
}

/** The duration in a record of a headless log that states the result of a run. */
export const runDuration = (record: JsonObject): unknown => {
  const { type, duration_ms: own, durationMs, stats } = record;
  if (type !== 'result' && type !== 'completion') return undefined;
  return own ?? durationMs ?? (stats as JsonObject | undefined)?.duration_ms;
};
