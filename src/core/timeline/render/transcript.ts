import type { Timestamp } from '../../base/index.js';
import type { Entry, Person, TimelineInput, TimelineMessage } from '../../contract/index.js';

export interface TranscriptFrame {
  /** The session, as a space. */
  readonly space: { readonly id: string; readonly name: string | null };
  readonly agent: { readonly id: string; readonly name: string };
  /** The time of entries whose own time is not recorded. */
  readonly at: Timestamp;
}

/** The person whose prompts a transcript contains. */
export const user: Person = { name: 'User', type: 'human', id: 'user' };

/** A conversation as a timeline of one space. The last prompt is the trigger, and messages before it count as seen. Thinking is left out. */
export function transcriptTimeline(entries: readonly Entry[], frame: TranscriptFrame): TimelineInput {
  const self: Person = { name: frame.agent.name, type: 'agent', id: frame.agent.id };
  const calls = new Map<string, Entry>();
  const messages: TimelineMessage[] = [];
  let at = entries.find((entry) => entry.at !== undefined)?.at ?? frame.at;
  for (const entry of entries) {
    at = entry.at ?? at;
    // An agent may use an id again, so a result belongs to the call before it.
    if (entry.kind === 'tool_call' && entry.toolCallId) calls.set(entry.toolCallId, entry);
    const message = entry.marks?.includes('hidden') ? undefined : messageOf[entry.kind](entry, self, calls);
    if (message) messages.push({ id: `msg-${entry.key}`, seq: messages.length + 1, at, ...message });
  }
  const trigger = messages.findLast(({ sender }) => sender?.id === user.id) ?? messages.at(-1);
  const before = trigger ? messages[messages.indexOf(trigger) - 1] : undefined;
  const people = new Map(messages.flatMap(({ sender }) => (sender ? [[sender.id, sender] as const] : [])));
  return {
    identity: { name: self.name, entityId: self.id },
    trigger: {
      type: 'space_message',
      space: frame.space,
      sender: trigger?.sender ?? user,
      message: trigger?.text ?? null,
      messageId: trigger?.id ?? 'msg-none',
      timestamp: trigger?.at ?? frame.at,
      senderExpectsReply: true,
      chainDepth: 0,
    },
    spaces: [{ ...frame.space, members: [...people.values()] }],
    history: { messages, lastProcessedMessageId: before?.id ?? null, triggerMessageId: trigger?.id ?? null },
    activeRuns: [{ id: frame.space.id, isCurrent: true, triggeredBy: trigger?.sender?.name ?? null, space: frame.space.name ?? frame.space.id }],
    now: at,
  };
}

type Said = Pick<TimelineMessage, 'sender' | 'text'>;

/** The message of each kind of entry. */
const messageOf: Readonly<Record<Entry['kind'], (entry: Entry, self: Person, calls: ReadonlyMap<string, Entry>) => Said | undefined>> = {
  text: ({ role, text = '' }, self) => ({ sender: role === 'assistant' ? self : role === 'user' ? user : service('system', 'System'), text }),
  summary: ({ text = '' }) => ({ sender: service('compaction', 'Compaction'), text }),
  image: ({ role, media }, self) => ({ sender: role === 'assistant' ? self : user, text: `[image ${media?.mediaType ?? ''}]` }),
  tool_call: ({ toolName, arguments: given }, self) => ({ sender: self, text: `${toolName || 'tool'}(${JSON.stringify(given ?? {})})` }),
  tool_result: (entry, _, calls) => {
    const { text, result } = entry;
    return { sender: answererOf(entry, calls), text: text ?? (result === undefined ? '' : JSON.stringify(result)) };
  },
  thinking: () => undefined,
  event: () => undefined,
};

/** The sender of a result: the tool of its call, or the agent that the call started. */
export function answererOf(entry: Pick<Entry, 'toolCallId' | 'toolName'>, calls: ReadonlyMap<string, Entry>): Person {
  const call = entry.toolCallId === undefined ? undefined : calls.get(entry.toolCallId);
  const tool = entry.toolName || call?.toolName || 'tool';
  // The result of a tool that starts another agent is a message of that agent.
  if (call?.toolClass !== 'task') return service(`tool-${tool}`, tool);
  const given = call?.arguments as { subagent_type?: unknown; description?: unknown } | undefined;
  const name = [given?.subagent_type, given?.description].find((word) => typeof word === 'string' && word !== '');
  return { name: typeof name === 'string' ? name : 'Subagent', type: 'agent', id: `agent-${entry.toolCallId ?? tool}` };
}

/** A member that is neither a person nor an agent. */
export const service = (id: string, name: string): Person => ({ name, type: 'service', id });
