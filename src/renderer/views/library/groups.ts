import type { FoundSession, Skip } from '../../../core/contract/index.js';
import { say } from '../../parts';

/** A line of the list of found sessions: a working directory, a day in it, or a session. */
export type LibraryRow =
  | { readonly kind: 'folder'; readonly key: string; readonly cwd: string; readonly sessions: number; readonly bytes: number; readonly open: boolean }
  | { readonly kind: 'day'; readonly key: string; readonly day: string }
  | { readonly kind: 'session'; readonly key: string; readonly session: FoundSession };

const nowhere = 'No working directory recorded';

/** Sessions by working directory, the one used last first, and by day in it; those that hold the typed words. */
export function groupSessions(sessions: readonly FoundSession[], words: string, closed: ReadonlySet<string>): readonly LibraryRow[] {
  const needle = words.trim().toLowerCase();
  const wanted = needle
    ? sessions.filter((session) => `${session.title ?? ''}\n${session.cwd ?? ''}\n${session.path}`.toLowerCase().includes(needle))
    : sessions;
  const newestFirst = [...wanted].sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : a.modifiedAt > b.modifiedAt ? -1 : 0));
  const folders = new Map<string, FoundSession[]>();
  for (const session of newestFirst) {
    const cwd = session.cwd ?? nowhere;
    folders.set(cwd, [...(folders.get(cwd) ?? []), session]);
  }
  return [...folders].flatMap(([cwd, inside]): LibraryRow[] => {
    const open = !closed.has(cwd) || needle !== '';
    const folder: LibraryRow = {
      kind: 'folder',
      key: cwd,
      cwd,
      sessions: inside.length,
      bytes: inside.reduce((sum, session) => sum + session.bytes, 0),
      open,
    };
    if (!open) return [folder];
    let last: string | undefined;
    const rows = inside.flatMap((session): LibraryRow[] => {
      const day = say.day(session.modifiedAt);
      const row: LibraryRow = { kind: 'session', key: session.path, session };
      if (day === last) return [row];
      last = day;
      return [{ kind: 'day', key: `${cwd} ${day}`, day }, row];
    });
    return [folder, ...rows];
  });
}

export interface SkipGroup {
  readonly path: string;
  readonly reason: string;
  readonly lines: readonly number[];
}

/** Lines that were left out of a file for one reason, said once. */
export function groupSkips(skips: readonly Skip[]): readonly SkipGroup[] {
  const groups = new Map<string, { path: string; reason: string; lines: number[] }>();
  for (const { path, line, reason } of skips) {
    const key = `${path}\n${reason}`;
    const group = groups.get(key) ?? { path, reason, lines: [] };
    group.lines.push(line);
    groups.set(key, group);
  }
  return [...groups.values()];
}
