import type { ImportableFormat, Lines, Member, Progress } from '../formats/index.js';
import type { GrowthOptions, TranscriptGrowth } from './growth.js';

/** The progress of a format that does not mark the ends of turns: everything is imported after a moment without changes. */
export const unknownProgress = (length: number): Progress => ({ settled: 0, resting: length, open: length > 0, ended: false });

/** The number of new bytes to import. */
export function lengthToImport({ settled, resting, open }: Progress, length: number, what: GrowthOptions['what']): number {
  if (what === 'all' || what === 'end') return length;
  if (open && (what === 'compaction' || what === 'now')) return length;
  return what === 'settled' ? settled : Math.max(settled, resting);
}

/**
 * The complete turns of a conversation that its agent still writes, or undefined if no turn is complete. All of it if the session is over or the turn
 * in progress is wanted too. `last` changes with every turn that becomes complete.
 */
export function portionOf(
  format: ImportableFormat,
  member: Member,
  { what, granularity }: Pick<GrowthOptions, 'what' | 'granularity'>,
): Pick<TranscriptGrowth, 'open' | 'rests'> & { readonly member: Member | undefined; readonly last: string | undefined } {
  const isOver = what === 'all' || what === 'end';
  if (isOver) return { member, last: undefined, open: false, rests: false };
  const told = member.over?.(granularity);
  if (told) return { ...told, rests: false, member: told.last === undefined ? undefined : { ...member, lines: told.lines } };
  const lines = member.lines();
  const { length } = lines.bytes;
  const progress = format.progress?.(lines.bytes, granularity) ?? unknownProgress(length);
  const end = lengthToImport(progress, length, what);
  const rest = { open: progress.open && end < length, rests: progress.resting > end, last: end > 0 ? String(end) : undefined };
  if (end === length || (!progress.open && end > 0)) return { ...rest, member };
  return { ...rest, member: end > 0 ? { ...member, lines: () => beginning(lines, end) } : undefined };
}

/** The lines of a conversation before the end of one of them. */
function beginning({ bytes, scan }: Lines, end: number): Lines {
  const pieces = scan?.pieces.filter(({ range }) => range.end <= end) ?? [];
  const isBefore = ({ line }: { readonly line: number }): boolean => line <= pieces.length;
  return {
    bytes: { length: end, subarray: (from, to) => bytes.subarray(from, Math.min(to, end)) },
    ...(scan && { scan: { ...scan, pieces, skipped: scan.skipped.filter(isBefore), notes: scan.notes.filter(isBefore), end } }),
  };
}
