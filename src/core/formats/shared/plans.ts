// What the plans of several formats have in common.
import type { PlannedCommit, Problem } from '../format.js';
import { firstNewLine, type RecordPiece } from './jsonl.js';

/** The longest name of an agent, a session or a folder in a plan. */
export const maxNameLength = 400;

/** Who made the commits of a session: an agent, or its subagent of that role, in a folder. */
export const madeBy = (
  agent: string,
  { role, cwd, sessionId }: { readonly role?: string | undefined; readonly cwd?: string | undefined; readonly sessionId?: string | undefined },
): Pick<PlannedCommit, 'template' | 'principal' | 'sessionId'> => ({
  template: (role === undefined ? agent : `${agent}/${role}`).slice(0, maxNameLength),
  ...(cwd !== undefined && { principal: `${agent}@${cwd}`.slice(0, maxNameLength) }),
  ...(sessionId !== undefined && { sessionId }),
});

/** Keeps the problems of lines that the store does not have yet, in their order. */
export function newProblems(pieces: readonly RecordPiece[], resumeAt: number): (problems: readonly Problem[]) => Problem[] {
  const first = firstNewLine(pieces, resumeAt);
  return (problems) => problems.filter(({ line }) => line >= first).sort((a, b) => a.line - b.line);
}

/** The first fact that a reader finds in a list. */
export function firstIn<One, Fact>(list: Iterable<One>, read: (one: One) => Fact | undefined): Fact | undefined {
  for (const one of list) {
    const found = read(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Of several records with the same id, the last is read, or the one that is stored. */
export function chooseById<One extends { readonly line: number }>(
  all: Iterable<One>,
  idOf: (one: One) => string | undefined,
  isStored: (one: One) => boolean,
): { readonly chosen: Map<string, One>; readonly repeated: Set<One>; readonly skipped: Problem[] } {
  const chosen = new Map<string, One>();
  const repeated = new Set<One>();
  const skipped: Problem[] = [];
  for (const one of all) {
    const id = idOf(one);
    if (id === undefined) continue;
    const other = chosen.get(id);
    const unread = other && (isStored(other) ? one : other);
    if (unread !== one) chosen.set(id, one);
    if (!unread) continue;
    repeated.add(unread);
    const where = unread === one ? 'earlier' : 'later';
    skipped.push({ line: unread.line, reason: `Another record with the id ${id} comes ${where} and is read instead.` });
  }
  return { chosen, repeated, skipped };
}

/** The record and its ancestors that are not placed yet, root first. A cycle is cut. */
export function pathTo<One>(last: One, isPlaced: (one: One) => boolean, parentOf: (one: One) => One | undefined): One[] {
  const path = new Set<One>();
  for (let at: One | undefined = last; at !== undefined && !isPlaced(at) && !path.has(at); at = parentOf(at)) path.add(at);
  return [...path].reverse();
}

/** Sorts lines by the places of their records, each with the lines without a place that follow it. */
export function sortByPlace<Line>(lines: Line[], placeOf: (line: Line) => number | undefined): void {
  const groups: { readonly place: number; readonly lines: Line[] }[] = [{ place: -1, lines: [] }];
  for (const line of lines) {
    const place = placeOf(line);
    if (place === undefined) groups.at(-1)?.lines.push(line);
    else groups.push({ place, lines: [line] });
  }
  lines.splice(0, lines.length, ...groups.sort((a, b) => a.place - b.place).flatMap((group) => group.lines));
}
