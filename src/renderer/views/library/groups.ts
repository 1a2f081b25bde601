import type { FoundSession, Skip, Source } from '../../../core/contract/index.js';
import { say } from '../../parts';

/** A session in a list: found on this machine, or held by the project, which then knows more of it. */
export interface ListedSession extends FoundSession {
  readonly branches?: number;
  readonly holds?: Source['holds'];
}

/** A subagent's file lies in a folder named as its session's file, and its chain shows beside that session's. */
export function sessionOfSubagent(path: string): string | undefined {
  const folder = path.search(/[\\/]subagents[\\/]/);
  return folder > 0 ? `${path.slice(0, folder)}.jsonl` : undefined;
}

/** The sessions of a project out of its sources: those of subagents count with the session that started them. */
export function sessionsOf(sources: readonly Source[]): readonly ListedSession[] {
  const paths = new Set(sources.map(({ path }) => path));
  const subagents = new Map<string, number>();
  const own = sources.filter(({ path }) => {
    const session = sessionOfSubagent(path);
    if (session === undefined || !paths.has(session)) return true;
    subagents.set(session, (subagents.get(session) ?? 0) + 1);
    return false;
  });
  return own.map((source) => ({
    path: source.path,
    sessionId: source.sessionId ?? source.path.split(/[\\/]/).at(-1) ?? source.path,
    bytes: source.bytes,
    modifiedAt: source.holds?.endedAt ?? source.importedAt,
    subagents: subagents.get(source.path) ?? 0,
    imported: true,
    branches: source.tips.length,
    ...(source.title !== undefined && { title: source.title }),
    ...(source.cwd !== undefined && { cwd: source.cwd }),
    ...(source.holds && { holds: source.holds }),
  }));
}

/** A line of a list of sessions: a working directory, a day in it, or a session. */
export type LibraryRow =
  | { readonly kind: 'folder'; readonly key: string; readonly cwd: string; readonly sessions: number; readonly bytes: number; readonly open: boolean }
  | { readonly kind: 'day'; readonly key: string; readonly day: string }
  | { readonly kind: 'session'; readonly key: string; readonly session: ListedSession };

const nowhere = 'No working directory recorded';

/** Sessions by working directory, the one used last first, and by day in it; those that hold the typed words. */
export function groupSessions(sessions: readonly ListedSession[], words: string, closed: ReadonlySet<string>): readonly LibraryRow[] {
  const needle = words.trim().toLowerCase();
  const wanted = needle
    ? sessions.filter((session) => `${session.title ?? ''}\n${session.cwd ?? ''}\n${session.path}`.toLowerCase().includes(needle))
    : sessions;
  const newestFirst = [...wanted].sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : a.modifiedAt > b.modifiedAt ? -1 : 0));
  const folders = new Map<string, ListedSession[]>();
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
