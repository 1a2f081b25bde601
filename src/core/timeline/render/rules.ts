import { badRequest, inWords } from '../../base/index.js';
import { longestSeconds, type Person } from '../../contract/index.js';

/** A message of this depth is stored and starts no runs, so runs have smaller depths. */
export const maxChainDepth = 5;

/** Whether a message of this depth starts runs. */
export const startsRuns = (messageDepth: number, max = maxChainDepth): boolean => messageDepth < max;

/** The depth of a message: 0 from people and services, one more than its run from an agent. */
export const messageDepth = (senderType: Person['type'], runDepth: number | null): number => (senderType === 'agent' ? (runDepth ?? 0) + 1 : 0);

/** The members that a message starts a run for: every agent of the space except its sender. */
export const agentsTriggered = <Member extends Pick<Person, 'id' | 'type'>>(members: readonly Member[], senderId: string): readonly Member[] =>
  members.filter((member) => member.type === 'agent' && member.id !== senderId);

export interface SpaceMark {
  readonly messageId: string;
  readonly seq: number;
}

/** The later of two marks: a mark never moves backward. */
export const movedMark = (current: SpaceMark | null, to: SpaceMark | null): SpaceMark | null =>
  to && (!current || to.seq > current.seq) ? to : current;

/** An agent's mark after a run. A completed run moves it to the newest message that the run has seen. */
export function markAfterRun(current: SpaceMark | null, status: string, seen: readonly SpaceMark[]): SpaceMark | null {
  if (status !== 'completed') return current;
  return seen.reduce<SpaceMark | null>((mark, message) => movedMark(mark, message), current);
}

/** The unread messages of a human: the number of messages after the mark, and the first one, which the divider precedes. */
export function unreadAfter(
  messages: readonly (SpaceMark & { readonly senderId?: string })[],
  mark: SpaceMark | null,
  readerId?: string,
): { readonly unread: number; readonly dividerBefore: string | null } {
  const unread = messages.filter((message) => message.seq > (mark?.seq ?? -1) && (readerId === undefined || message.senderId !== readerId));
  return { unread: unread.length, dividerBefore: unread[0]?.messageId ?? null };
}

/** A message's id, given with or without prefix, or its unique beginning. @throws BAD_REQUEST if no message or several messages match. */
export function findMessageId(reference: string, ids: readonly string[]): string {
  const bare = reference.replace(/^msg[:-]/, '');
  const exact = ids.find((id) => id === reference || id === `msg-${bare}` || id === bare);
  if (exact) return exact;
  const begun = bare === '' ? [] : ids.filter((id) => id.startsWith(`msg-${bare}`) || id.startsWith(bare));
  const [only] = begun;
  if (only && begun.length === 1) return only;
  throw badRequest(
    'messageId',
    begun.length > 1
      ? `${inWords(reference)} is the beginning of ${begun.length} message ids: give more characters`
      : `no message of this space has the id ${inWords(reference)}`,
  );
}

const units: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** The milliseconds of a delay such as `2 hours`. @throws BAD_REQUEST for another text. */
export function delayOf(text: string): number {
  const [, amount, unit] = /^\s*(\d{1,9}) +(second|minute|hour|day|week)s?\s*$/.exec(text) ?? [];
  const delay = Number(amount) * (units[unit ?? ''] ?? Number.NaN);
  if (delay <= longestSeconds * 1_000) return delay;
  throw badRequest('runAfter', `runAfter is ${inWords(text)}; it must be a number and a unit, such as "2 hours", and at most 100 years`);
}
