import type { WritableEntry } from './format.js';

/** What a compaction keeps beside its summary. Codex and others put it before the summary, Claude Code behind. */
export const keptMark = 'kept';
export const isKept = ({ marks }: WritableEntry): boolean => marks?.includes(keptMark) === true;

/** A compaction's summary before what it keeps, for runtimes whose window begins with the summary. */
export function summariesFirst(entries: readonly WritableEntry[]): readonly WritableEntry[] {
  if (!entries.some(isKept)) return entries;
  const ordered: WritableEntry[] = [];
  for (const entry of entries) {
    let place = ordered.length;
    if (entry.kind === 'summary') while (place > 0 && isKept(ordered[place - 1] as WritableEntry)) place--;
    ordered.splice(place, 0, entry);
  }
  return ordered;
}
