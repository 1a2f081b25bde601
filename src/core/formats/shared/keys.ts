import { badRequest, type EntryKey } from '../../base/index.js';

/** The record of an entry: its key without the number. */
export const recordOfKey = (key: EntryKey): string => key.replace(/\.\d+$/, '');

/** The entries up to and including the one with this key. @throws BAD_REQUEST if the delta has no such entry. */
export function entriesUpTo<One extends { readonly key: EntryKey }>(entries: readonly One[], lastKept: EntryKey): readonly One[] {
  const at = entries.findIndex(({ key }) => key === lastKept);
  if (at < 0) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
  return entries.slice(0, at + 1);
}

/** The beginning of the name of a prompt that a running turn took up: its line has no id, and no record follows it. */
export const queuedPrefix = 'queue-';

/** The name of the record and the number of the entry in it, as an entry's key holds them. Undefined for any other key, such as one with a line break. */
export function splitKey(key: string | undefined): { readonly name: string; readonly number: number } | undefined {
  const match = /^(.+)\.(\d+)$/.exec(key ?? '');
  return match ? { name: match[1] as string, number: Number(match[2]) } : undefined;
}

/** At most this many gaps are written before an entry. */
const maxGaps = 1_000;

/** Writes the parts of a record at the positions of their keys. A gap takes the place of a removed part, so that the other parts keep their keys. */
export function inPlace<Part, Written>(
  parts: readonly Part[],
  positionOf: (part: Part) => number,
  write: (part: Part) => Written,
  gap: Written,
): Written[] {
  const list: Written[] = [];
  for (const part of parts) {
    for (let place = list.length; place < Math.min(positionOf(part), maxGaps); place++) list.push(gap);
    list.push(write(part));
  }
  return list;
}

/** A subagent's session knows at most its parent, which knows the call. These names join them, whichever is imported first. */
export const startOf = (sessionId: string): string => `session:${sessionId}`;

/** The record name that finds the commit with the call. */
export const startedWith = (sessionId: string, toolCallId: string): string => `${startOf(sessionId)}:${toolCallId}`;

/** The record name that finds the commit with a call, for agents whose subagents know the call that started them. */
export const callNamed = (toolCallId: string): string => `call:${toolCallId}`;
