import type { MessageWait, Run, Space, SpaceMessage, TimelineMessage } from '../../../core/contract/index.js';
import { api } from '../../client';

/** The chat shows at most this many messages. The timeline of an agent has its own limit. */
const chatLimit = 2_000;
/** The number of newest messages that expected a reply for which ended waits are loaded. */
const endedWaits = 20;

export interface MessageNote {
  readonly replyTo: { readonly name: string; readonly text: string } | undefined;
  readonly wait: MessageWait | undefined;
  /** The agents whose runs continued because of this message. */
  readonly resumed: string | undefined;
  /** Whether the stored record of the message, or of its sender, is damaged. */
  readonly damaged: boolean;
}

export interface SpaceData {
  readonly messages: readonly TimelineMessage[];
  readonly notes: ReadonlyMap<string, MessageNote>;
  readonly waits: readonly MessageWait[];
  readonly memberships: readonly { readonly entityId: string; readonly lastSeenMessageId: string | null }[];
  readonly runs: readonly Run[];
}

/** Loads the messages of a space with their replies, waits and runs. */
export async function loadSpace({ spaceId, members }: Space): Promise<SpaceData> {
  const [{ messages }, { memberships }, runs, waits] = await Promise.all([
    api.space.messages({ spaceId, limit: chatLimit }),
    api.space.get({ spaceId }),
    api.run.list({}),
    api.space.waits({ spaceId }),
  ]);
  const ids = new Set(members.map((member) => member.entityId));
  const ended = await waitsThatEnded(messages, waits);
  return {
    messages: messages.map(
      ({ messageId, at, sender, text, origin }): TimelineMessage => ({ id: messageId, at, sender, text, ...(origin && { origin }) }),
    ),
    notes: notesOf(messages, [...waits, ...ended]),
    waits,
    memberships,
    runs: runs.filter((run) => ids.has(run.entityId)),
  };
}

async function waitsThatEnded(messages: readonly SpaceMessage[], open: readonly MessageWait[]): Promise<readonly MessageWait[]> {
  const isOpen = new Set(open.map(({ messageId }) => messageId));
  const asked = messages.filter(({ expectsReply, messageId }) => expectsReply && !isOpen.has(messageId)).slice(-endedWaits);
  // A message can expect a reply without a wait.
  const found = await Promise.all(asked.map(({ messageId }) => api.space.wait({ messageId }).catch(() => undefined)));
  return found.filter((wait) => wait !== undefined);
}

/** Replies, waits and resumed runs by message. */
export function notesOf(messages: readonly SpaceMessage[], waits: readonly MessageWait[]): ReadonlyMap<string, MessageNote> {
  const known = new Map(messages.map((message) => [message.messageId, message]));
  const waitOf = new Map(waits.map((wait) => [wait.messageId, wait]));
  const senderName = (message: SpaceMessage | undefined): string => message?.sender.name ?? 'Unknown';
  const resumedBy = new Map(waits.flatMap((wait) => (wait.answer === null ? [] : [[wait.answer, senderName(known.get(wait.messageId))] as const])));
  return new Map(
    messages.map((message) => {
      const replied = message.replyTo === null ? undefined : known.get(message.replyTo);
      return [
        message.messageId,
        {
          replyTo: replied && { name: senderName(replied), text: replied.text },
          wait: waitOf.get(message.messageId),
          resumed: resumedBy.get(message.messageId),
          damaged: message.damaged === true || message.sender.damaged === true,
        },
      ];
    }),
  );
}

/** The first person of a space, as whom this window reads it. */
export const readerOf = ({ members }: Pick<Space, 'members'>): string | undefined => members.find(({ type }) => type === 'human')?.entityId;

/** The first message of others after a mark. Without a mark, none was read. */
export const firstUnread = (messages: readonly TimelineMessage[], mark: string | null, reader: string): string | undefined =>
  messages.slice(messages.findIndex(({ id }) => id === mark) + 1).find(({ sender }) => sender?.id !== reader)?.id;

/** A wait in words. */
export function waitText(wait: MessageWait, nameOf: (id: string) => string, clock: (at: string) => string): string {
  const who = wait.for === null ? 'a reply' : nameOf(wait.for);
  if (wait.endedAt === null) return `Waiting for ${who} until ${clock(wait.until)}`;
  return wait.answer === null ? `Nobody answered by ${clock(wait.until)}` : `Answered at ${clock(wait.endedAt)}`;
}

/** The first sender: the one last chosen here, else the person with this name on the hub, else the first person, who made a cloned space. */
export function defaultSender({ members }: Pick<Space, 'members'>, remembered: string | null, me: string | null): string | undefined {
  const people = members.filter(({ type }) => type === 'human');
  const isMe = ({ name }: { readonly name: string }): boolean => me !== null && name.toLocaleLowerCase() === me.toLocaleLowerCase();
  const sender = people.find(({ entityId }) => entityId === remembered) ?? people.find(isMe) ?? people[0] ?? members[0];
  return sender?.entityId;
}

/** The state of an open run in words. An agent runs only while somebody works for it. */
export function runWords({ status, waiting }: Pick<Run, 'status' | 'waiting'>, isWorkedOn: boolean): string {
  if (status === 'running') return isWorkedOn ? 'is running' : 'has a run that nobody works on yet';
  return `is waiting${waiting?.for ? ` for ${waiting.for}` : ''}`;
}
