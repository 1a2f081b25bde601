import type { WritableEntry } from '../format.js';

/** Marks entries that a compaction keeps in addition to its summary. Codex and others put them before the summary, Claude Code after it. */
export const keptMark = 'kept';
/** Whether a compaction keeps the entry. */
export const isKept = ({ marks }: WritableEntry): boolean => marks?.includes(keptMark) === true;

/** Whether an entry before a summary stays in the window: what the compaction keeps, and what the runtime puts before every call. */
export const outlastsSummary = (entry: WritableEntry): boolean => entry.role === 'system' || isKept(entry) || entry.marks?.includes('meta') === true;

/** Puts summaries before the messages that their compactions keep, for agents whose window begins with the summary. */
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
