import { badRequest, inWords } from '../../base/index.js';
import type { Person } from '../../contract/index.js';

/** At this depth a message is stored and starts no run, so that runs exist below it (decisions, rule 41). */
export const maxChainDepth = 5;
export const startsRuns = (messageDepth: number, max = maxChainDepth): boolean => messageDepth < max;

/** How deep a message is: what people and services write begins a chain, what an agent writes goes on from its run. */
export const messageDepth = (senderType: Person['type'], runDepth: number | null): number => (senderType === 'agent' ? (runDepth ?? 0) + 1 : 0);

/** Who gets a run for a message: every agent of the space but its sender. */
export const agentsTriggered = <Member extends Pick<Person, 'id' | 'type'>>(members: readonly Member[], senderId: string): readonly Member[] =>
  members.filter((member) => member.type === 'agent' && member.id !== senderId);

/** A place in a space, and the message that was there. */
export interface Mark {
  readonly messageId: string;
  readonly seq: number;
}

/** A mark after it was asked to move: never backwards. */
export const movedMark = (current: Mark | null, to: Mark | null): Mark | null => (to && (!current || to.seq > current.seq) ? to : current);

/** An agent's mark after a run: a completed one moves it to the newest message that it had before it, and to nothing newer. */
export function markAfterRun(current: Mark | null, status: string, seen: readonly Mark[]): Mark | null {
  if (status !== 'completed') return current;
  return seen.reduce<Mark | null>((mark, message) => movedMark(mark, message), current);
}

/** What is unread behind a human's mark: how many, and the first, before which the divider stands. */
export function unreadAfter(
  messages: readonly (Mark & { readonly senderId?: string })[],
  mark: Mark | null,
  readerId?: string,
): { readonly unread: number; readonly dividerBefore: string | null } {
  const unread = messages.filter((message) => message.seq > (mark?.seq ?? -1) && (readerId === undefined || message.senderId !== readerId));
  return { unread: unread.length, dividerBefore: unread[0]?.messageId ?? null };
}

/**
 * The message that is meant: by its id, with or without its prefix, or by a beginning that only one message has.
 * @throws BAD_REQUEST when none or several are meant.
 */
export function messageMeant(reference: string, ids: readonly string[]): string {
  const bare = reference.replace(/^msg[:-]/, '');
  const exact = ids.find((id) => id === reference || id === `msg-${bare}` || id === bare);
  if (exact) return exact;
  const begun = bare === '' ? [] : ids.filter((id) => id.startsWith(`msg-${bare}`) || id.startsWith(bare));
  const [only] = begun;
  if (only && begun.length === 1) return only;
  throw badRequest(
    'messageId',
    begun.length > 1
      ? `${inWords(reference)} is the beginning of ${begun.length} messages' ids: give more of it`
      : `no message here has the id ${inWords(reference)}`,
  );
}

const units: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/**
 * Milliseconds of a delay such as `2 hours`.
 * @throws BAD_REQUEST when it is none.
 */
export function delayOf(text: string): number {
  const [, amount, unit] = /^\s*(\d{1,9}) +(second|minute|hour|day|week)s?\s*$/.exec(text) ?? [];
  const ms = unit ? units[unit] : undefined;
  if (amount === undefined || ms === undefined)
    throw badRequest('runAfter', `runAfter is ${inWords(text)}; it is a number and a unit, such as "2 hours"`);
  return Number(amount) * ms;
}
