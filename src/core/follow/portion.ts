import type { ImportableFormat, Lines, Member, Progress } from '../formats/index.js';
import type { Taking } from './taken.js';

/** What is imported now of a conversation in a container, and what is left. */
export interface Portion {
  /** The conversation up to its last complete turn. Undefined where no turn is complete. */
  readonly member: Member | undefined;
  /** Changes with every turn that becomes complete. */
  readonly last: string | undefined;
  /** The rest contains an unfinished turn. */
  readonly open: boolean;
  /** The rest contains a turn that looks finished. */
  readonly rests: boolean;
}

/** Everything is imported as soon as nothing follows for a moment. */
export const untold = (length: number): Progress => ({ settled: 0, resting: length, open: length > 0, ended: false });

/** The complete turns of a conversation that its agent still writes; all of it where the session is over or a turn is asked for in progress. */
export function portionOf(format: ImportableFormat, member: Member, { what, granularity }: Pick<Taking, 'what' | 'granularity'>): Portion {
  const isOver = what === 'all' || what === 'end';
  const told = isOver ? undefined : member.over?.(granularity);
  if (told) return { ...told, rests: false, member: told.last === undefined ? undefined : { ...member, lines: told.lines } };
  if (isOver) return { member, last: undefined, open: false, rests: false };
  const lines = member.lines();
  const { length } = lines.bytes;
  const { settled, resting, open } = format.progress?.(lines.bytes, granularity) ?? untold(length);
  const isAsked = (what === 'compaction' || what === 'now') && open;
  const upTo = isAsked ? length : what === 'settled' ? settled : Math.max(settled, resting);
  const left = { open: open && upTo < length, rests: resting > upTo, last: upTo > 0 ? String(upTo) : undefined };
  if (upTo === length || (!open && upTo > 0)) return { ...left, member };
  return { ...left, member: upTo > 0 ? { ...member, lines: () => beginning(lines, upTo) } : undefined };
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
