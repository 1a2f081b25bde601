import type { BriefHistory, History, Resume, TimelineBlock, TimelineMessage } from '../../contract/index.js';
import { originText } from './blocks.js';
import { quoted, quoteId, quoteName, tagOf } from './quote.js';
import { durationText, secondsOf } from './times.js';

/** The default number of messages in a history. */
export const defaultBudget = 50;

/** The newest `limit` messages, oldest first. The trigger is always among them, even if it is older (B-20). */
export function newestMessages(messages: readonly TimelineMessage[], limit: number, wanted: string | null | undefined): readonly TimelineMessage[] {
  const ordered = inOrder(messages);
  const start = Math.max(0, ordered.length - limit);
  const trigger = wanted ? ordered.findIndex((message) => message.id === wanted) : -1;
  const oldTrigger = ordered[trigger];
  return oldTrigger && trigger < start ? [oldTrigger, ...ordered.slice(ordered.length - limit + 1)] : ordered.slice(start);
}

/** Sorted by position in the space if all messages have one, otherwise as given. */
const inOrder = (messages: readonly TimelineMessage[]): readonly TimelineMessage[] =>
  messages.every((message) => message.seq !== undefined) ? [...messages].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)) : messages;

/** Tests whether the agent has seen a message: up to its mark, and its own, except those after the mark in a resumed run (T51). */
export function seenIn({ messages, selfEntityId, lastProcessedMessageId, lastProcessedSeq, resume }: History): (message: TimelineMessage) => boolean {
  const ordered = inOrder(messages);
  const places = new Map(ordered.map((message, place) => [message.id, place]));
  const mark = lastProcessedMessageId ? (places.get(lastProcessedMessageId) ?? -1) : -1;
  const own = (message: TimelineMessage): boolean => resume === undefined && message.sender?.id === selfEntityId;
  const marked = (message: TimelineMessage): boolean => {
    if (mark === -1 && lastProcessedSeq !== null && lastProcessedSeq !== undefined)
      return message.seq !== undefined && message.seq <= lastProcessedSeq;
    return (places.get(message.id) ?? ordered.length) <= mark;
  };
  return (message) => own(message) || marked(message);
}

const heading = (space: History['space']): string => `SPACE HISTORY (${quoted(space.name ?? space.id)}):`;

/** The history block: one line for each message of the window, with its marks. `start` and `end` are UTF-16 offsets in its text, `end` exclusive. */
export function renderHistory(history: History): Required<Pick<TimelineBlock, 'text' | 'lines'>> {
  const { messages, triggerMessageId, summary, resume } = history;
  const seen = seenIn(history);
  const shown = newestMessages(messages, history.limit ?? defaultBudget, triggerMessageId);

  const parts: string[] = [heading(history.space), ...(summary ? [summaryLine(summary)] : []), ...(shown.length === 0 ? ['  (no messages)'] : [])];
  const lines: NonNullable<TimelineBlock['lines']> = [];
  let length = parts.join('\n').length;
  for (const message of shown) {
    const text = messageLine(message, history.selfEntityId, seen(message), message.id === triggerMessageId);
    lines.push({ messageId: message.id, start: length + 1, end: length + 1 + text.length, seen: seen(message) });
    length += 1 + text.length;
    parts.push(text);
  }
  if (resume) parts.push(`  ${resumeText(resume)}`);
  return { text: parts.join('\n'), lines };
}

/** The line that summarizes the messages before the window. */
export const summaryText = ({ text, messages }: NonNullable<History['summary']>): string =>
  `[summary of ${messages} earlier messages] ${quoted(text)}`;
const summaryLine = (summary: NonNullable<History['summary']>): string => `  ${summaryText(summary)}`;

/** The line of one message, as the history shows it. */
export function messageLine(message: TimelineMessage, selfEntityId: string, seen: boolean, isTrigger: boolean): string {
  const marks = `${seen ? '[SEEN]' : '[NEW]'}${isTrigger ? ' ← TRIGGER' : ''}`;
  const start = `  [msg:${tagOf(message.id)}] [${secondsOf(message.at)}]`;
  const isOwn = message.sender?.id === selfEntityId;
  const said = message.wait && isOwn ? waitingCall('send_message', message.text, true) : quoted(message.text);
  if (message.origin && isOwn) return `${start} You: ${originText(message.origin)}\n    ${said}  ${marks}`;
  if (message.wait && isOwn) return `${start} You: ${said}  ${marks}`;
  return `${start} ${senderText(message.sender)}: ${quoted(message.text)}  ${marks}`;
}

const senderText = (sender: TimelineMessage['sender']): string =>
  sender ? `${quoteName(sender.name)} (${sender.type}, id:${quoteId(sender.id)})` : 'Unknown (unknown, id:unknown)';

/** The line that says how the wait of a resumed run ended. */
export const resumeText = (resume: Resume): string =>
  `← RESUME: ${'replier' in resume ? `${quoteName(resume.replier)} replied` : `no reply within ${durationText(resume.timeoutMs)}`}. Continue from here.`;

/** A call by which the agent sent a message, and paused if it waits. */
const waitingCall = (name: string, text: string | null, wait: boolean | undefined): string =>
  `called ${quoteName(name)}(${quoted(text)}${wait ? ', wait: true' : ''})`;

/** The short form of a history: a clock time and a label for each line, and the agent's own calls. */
export function renderBriefHistory({ space, entries, resume }: BriefHistory): string {
  const lines = entries.map((entry) => {
    const clock = /^[\d:]+$/.test(entry.clock) ? entry.clock : quoted(entry.clock);
    if (!('toolCall' in entry)) return `[${clock}] ${quoteName(entry.label)}: ${quoted(entry.text)}`;
    const { name, text, wait } = entry.toolCall;
    return `[${clock}] You: ${waitingCall(name, text, wait)}`;
  });
  return [heading(space), ...lines.map((line) => `  ${line}`), ...(resume ? [`  ${resumeText(resume)}`] : [])].join('\n');
}

/** The beginning of a message before the window. */
export interface EarlierMessage {
  readonly name: string;
  readonly text: string;
}

/** The number of messages that a summary quotes from each end. */
export const quotedAtEachEnd = 3;

/** A summary of the messages before the window, made of the first and the last of them. Undefined without such messages. */
export function summarizeEarlier(count: number, first: readonly EarlierMessage[], last: readonly EarlierMessage[]): History['summary'] {
  if (count === 0) return undefined;
  const gap = count > first.length + last.length ? ['…'] : [];
  const rest = last.slice(Math.max(0, first.length + last.length - count));
  return { messages: count, text: [...first.map(quoteOf), ...gap, ...rest.map(quoteOf)].join(' | ') };
}

const quoteOf = ({ name, text }: EarlierMessage): string => {
  const line = text.slice(0, 1_000).replace(/\s+/g, ' ').trim();
  return `${name}: ${Array.from(line).length > 80 ? `${Array.from(line).slice(0, 80).join('')}…` : line}`;
};
