import type { BriefHistory, History, Resume, TimelineMessage } from '../../contract/index.js';
import { originWords } from './blocks.js';
import { idOf, nameOf, quoted, tagOf } from './quote.js';
import { durationWords, secondsOf } from './times.js';

/** How many messages a history shows where nobody says otherwise. */
export const usualBudget = 50;

/** The newest `limit` messages, oldest first; the trigger is among them even where it is older. */
export function windowOf(
  messages: readonly TimelineMessage[],
  limit: number,
  triggerMessageId: string | null | undefined,
): readonly TimelineMessage[] {
  const ordered = inOrder(messages);
  const start = Math.max(0, ordered.length - limit);
  const trigger = triggerMessageId ? ordered.findIndex((message) => message.id === triggerMessageId) : -1;
  const oldTrigger = ordered[trigger];
  return oldTrigger && trigger < start ? [oldTrigger, ...ordered.slice(ordered.length - limit + 1)] : ordered.slice(start);
}

/** By their place in the space where all have one, else as given. */
const inOrder = (messages: readonly TimelineMessage[]): readonly TimelineMessage[] =>
  messages.every((message) => message.seq !== undefined) ? [...messages].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)) : messages;

/**
 * Which messages the agent has had before it in a completed run: by position, up to and including its mark. Its own
 * messages are always seen; only a resumed run shows them against the mark too, as what happened since (vector T51).
 */
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

export interface HistoryLine {
  readonly messageId: string;
  /** Letters of the block's text, `end` not included. */
  readonly start: number;
  readonly end: number;
  readonly seen: boolean;
}

export interface RenderedHistory {
  readonly text: string;
  readonly lines: readonly HistoryLine[];
}

const heading = (space: History['space']): string => `SPACE HISTORY (${quoted(space.name ?? space.id)}):`;

export function renderHistory(history: History): RenderedHistory {
  const { messages, triggerMessageId, summary, resume } = history;
  const seen = seenIn(history);
  const shown = windowOf(messages, history.limit ?? usualBudget, triggerMessageId);

  const parts: string[] = [heading(history.space), ...(summary ? [summaryLine(summary)] : []), ...(shown.length === 0 ? ['  (no messages)'] : [])];
  const lines: HistoryLine[] = [];
  let length = parts.join('\n').length;
  for (const message of shown) {
    const text = messageLine(message, history.selfEntityId, seen(message), message.id === triggerMessageId);
    lines.push({ messageId: message.id, start: length + 1, end: length + 1 + text.length, seen: seen(message) });
    length += 1 + text.length;
    parts.push(text);
  }
  if (resume) parts.push(`  ${resumeWords(resume)}`);
  return { text: parts.join('\n'), lines };
}

export const summaryWords = ({ text, messages }: NonNullable<History['summary']>): string =>
  `[summary of ${messages} earlier messages] ${quoted(text)}`;
const summaryLine = (summary: NonNullable<History['summary']>): string => `  ${summaryWords(summary)}`;

function messageLine(message: TimelineMessage, selfEntityId: string, seen: boolean, isTrigger: boolean): string {
  const marks = `${seen ? '[SEEN]' : '[NEW]'}${isTrigger ? ' ← TRIGGER' : ''}`;
  const start = `  [msg:${tagOf(message.id)}] [${secondsOf(message.at)}]`;
  if (message.origin && message.sender?.id === selfEntityId)
    return `${start} You: ${originWords(message.origin)}\n    ${quoted(message.text)}  ${marks}`;
  return `${start} ${senderWords(message.sender)}: ${quoted(message.text)}  ${marks}`;
}

const senderWords = (sender: TimelineMessage['sender']): string =>
  sender ? `${nameOf(sender.name)} (${sender.type}, id:${idOf(sender.id)})` : 'Unknown (unknown, id:unknown)';

export const resumeWords = (resume: Resume): string =>
  `← RESUME: ${'replier' in resume ? `${nameOf(resume.replier)} replied` : `no reply within ${durationWords(resume.timeoutMs)}`}. Continue from here.`;

export function renderBriefHistory({ space, entries, resume }: BriefHistory): string {
  const lines = entries.map((entry) => {
    const clock = /^[\d:]+$/.test(entry.clock) ? entry.clock : quoted(entry.clock);
    if (!('toolCall' in entry)) return `[${clock}] ${nameOf(entry.label)}: ${quoted(entry.text)}`;
    const { name, text, wait } = entry.toolCall;
    return `[${clock}] You: called ${nameOf(name)}(${quoted(text)}${wait ? ', wait: true' : ''})`;
  });
  return [heading(space), ...lines.map((line) => `  ${line}`), ...(resume ? [`  ${resumeWords(resume)}`] : [])].join('\n');
}
