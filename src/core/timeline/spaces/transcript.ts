import { badRequest, type ContextId, toTimestamp } from '../../base/index.js';
import {
  type ContextRow,
  commitAt,
  type EntrySums,
  entries,
  entrySumsOf,
  findCommit,
  kept,
  type MessageSender,
  outlineRows,
  type ReadChain,
  senderIn,
  stepsEntries,
  stretchOf,
  summedContext,
} from '../../chain/index.js';
import {
  type Entry,
  type History,
  type InputOf,
  most,
  type OutputOf,
  type Person,
  type TimelineInput,
  type TimelineMessage,
} from '../../contract/index.js';
import { newestMessages } from '../render/history.js';
import { renderTimeline } from '../render/timeline.js';
import { answererOf, service, type TranscriptFrame, transcriptTimeline, user } from '../render/transcript.js';
import type { RunTimeline } from './input.js';

const defaultTranscriptBudget = 200;
const pageSize = 200;

type Query = InputOf<'timeline.transcript'>;

/** Any commit's context as a timeline. Writes nothing. @throws BAD_REQUEST for a context with more messages than an answer holds, unless it asks for a window. */
export function contextTimeline(chain: ReadChain, query: Query): RunTimeline & { readonly total: number } {
  const budget = query.budget ?? defaultTranscriptBudget;
  const part = query.window ? readLast(chain, query.id, budget) : undefined;
  if (!query.window) requireFewMessages(chain, query.id);
  const whole = part?.input ?? readWhole(chain, query.id);
  const input = { ...whole, budget };
  const shown = query.window ? inWindow(input) : input;
  return { input: shown, rendered: renderTimeline(shown), total: part?.total ?? whole.history?.messages.length ?? 0 };
}

function requireFewMessages(chain: ReadChain, id: ContextId): void {
  const sums = entrySumsOf(chain, id);
  const messages = sums ? messagesIn(sums) : outlineRows(chain, { id }).rows.filter(isMessage).length;
  if (messages > most.list)
    throw badRequest(
      'window',
      `This context has ${messages} messages, and one answer holds at most ${most.list}. Ask with window, and read the messages with timeline.rows.`,
    );
}

const isMessage = ({ kind }: Pick<Entry, 'kind'>): boolean => kind !== 'thinking' && kind !== 'event';

type Pages = InputOf<'timeline.rows'>;

/** The messages of a context as a timeline, in pages. */
export function contextMessages(
  chain: ReadChain,
  { id, offset = 0, limit = pageSize, longest = Number.MAX_SAFE_INTEGER }: Pages,
): OutputOf<'timeline.rows'> {
  const commit = findCommit(chain, id);
  const around = readAround(chain, commit, offset - 1, offset + limit);
  const messages = (around?.input ?? readWhole(chain, id)).history?.messages ?? [];
  const { total, before } = around ?? { total: messages.length, before: 0 };
  const first = offset - before;
  return {
    total,
    rows: messages.slice(first, first + limit).map((message, place) => ({
      ...message,
      text: message.text?.slice(0, longest) ?? null,
      length: message.text?.length ?? 0,
      silence: silenceBefore(message, messages[first + place - 1]),
    })),
  };
}

/** Some messages of a context, and the number of messages before them. */
interface Messages {
  readonly total: number;
  readonly before: number;
  readonly input: TimelineInput;
}

const messagesIn = ({ entries, counts }: EntrySums): number => entries - (counts.thinking ?? 0) - (counts.event ?? 0);

/** At least the messages of a range, which may reach over the ends. Undefined if a time or a call that they need is too far before them. */
function readAround(chain: ReadChain, commit: ContextRow, from: number, to: number): Messages | undefined {
  const { total, before, read, isFirst } = entriesAround(chain, commit, Math.max(0, from), to);
  const start = isFirst ? 0 : firstKnown(read);
  const earlier = before + read.slice(0, start).filter(isMessage).length;
  if (earlier > Math.max(0, from)) return undefined;
  const input = transcriptTimeline(read.slice(start), frameOf(chain, commit));
  const messages = (input.history?.messages ?? []).map((message, place) => ({ ...message, seq: earlier + place + 1 }));
  return { total, before: earlier, input: { ...input, history: { ...(input.history as History), messages } } };
}

/** Entries before a range among which one has a time and the calls of its results. */
const nearBefore = 64;

/** The entries of a range of messages, some before them, and the number of messages before all of these. */
function entriesAround(chain: ReadChain, commit: ContextRow, from: number, to: number) {
  const sums = summedContext(chain, commit);
  if (sums) {
    const { steps, before, isFirst } = stretchOf(chain, sums, { from, to }, { count: messagesIn });
    return { total: messagesIn(sums), before: messagesIn(before), read: stepsEntries(chain, steps), isFirst };
  }
  const { rows } = outlineRows(chain, { id: commit.id });
  const places = rows.flatMap((row, at) => (isMessage(row) ? [at] : []));
  const offset = Math.max(0, (places[from] ?? rows.length) - nearBefore);
  const end = to < places.length ? (places[to] as number) : rows.length;
  const read = end > offset ? entries(chain, { id: commit.id, offset, limit: end - offset }).entries : [];
  return { total: places.length, before: places.filter((place) => place < offset).length, read, isFirst: offset === 0 };
}

/** The first entry from which on each one has a time before it, and each result its call. */
function firstKnown(read: readonly Entry[]): number {
  const calls = new Map<string, number>();
  const called = read.map(({ kind, toolCallId }, at) => {
    if (kind === 'tool_call' && toolCallId) calls.set(toolCallId, at);
    return kind === 'tool_result' && toolCallId !== undefined ? (calls.get(toolCallId) ?? -1) : at;
  });
  for (let start = 0; ; ) {
    while (start < read.length && read[start]?.at === undefined) start++;
    const stray = called.findLastIndex((call, at) => at >= start && call < start);
    if (stray < 0) return start;
    start = stray + 1;
  }
}

/** The most messages that are read to find the trigger. */
const maxLast = 20_000;

/** The last messages of a context, with the trigger and the message before it. Undefined if the context must be read as a whole. */
function readLast(chain: ReadChain, id: ContextId, budget: number): Messages | undefined {
  const commit = findCommit(chain, id);
  const sums = entrySumsOf(chain, commit.id);
  if (!sums?.senders) return undefined;
  const total = messagesIn(sums);
  for (let last = budget + 1; last < maxLast; last *= 2) {
    const found = readAround(chain, commit, total - last, total);
    const { messages = [], triggerMessageId } = found?.input.history ?? {};
    const trigger = messages.findIndex(({ id }) => id === triggerMessageId);
    const isFound = found?.before === 0 || (trigger > 0 && messages[trigger]?.sender?.id === user.id);
    if (found && isFound) return { ...found, input: { ...found.input, spaces: membersOf(chain, commit, sums.senders) } };
  }
  return undefined;
}

/** The space of a session with all senders of messages. */
function membersOf(chain: ReadChain, commit: ContextRow, senders: readonly string[]): TimelineInput['spaces'] {
  const frame = frameOf(chain, commit);
  const people = senders.map((text) => personOf(chain, senderIn(text), frame));
  return [{ ...frame.space, members: [...new Map(people.map((person) => [person.id, person] as const)).values()] }];
}

function personOf(chain: ReadChain, sender: MessageSender, { agent }: TranscriptFrame): Person {
  switch (sender.kind) {
    case 'user':
      return user;
    case 'assistant':
      return { name: agent.name, type: 'agent', id: agent.id };
    case 'system':
      return service('system', 'System');
    case 'compaction':
      return service('compaction', 'Compaction');
    case 'tool':
      return service(`tool-${sender.name}`, sender.name);
    case 'call':
    case 'result': {
      const read = stepsEntries(chain, [commitAt(chain, sender.commit)]);
      const calls = new Map(read.flatMap((entry) => (entry.kind === 'tool_call' && entry.toolCallId ? [[entry.toolCallId, entry] as const] : [])));
      return sender.kind === 'result'
        ? answererOf(read.find(({ key }) => key === sender.key) ?? {}, calls)
        : answererOf({ toolCallId: sender.toolCallId, toolName: sender.name }, calls);
    }
  }
}

const silenceBefore = ({ at }: TimelineMessage, before: TimelineMessage | undefined): number =>
  before ? Math.max(0, Date.parse(at) - Date.parse(before.at)) : 0;

/** A transcript with all messages, which is kept because its pages are read one after another. */
function readWhole(chain: ReadChain, given: ContextId): TimelineInput {
  const commit = findCommit(chain, given);
  return kept(
    chain,
    'transcript',
    commit.id,
    '',
    () => transcriptTimeline(entries(chain, { id: commit.id }).entries, frameOf(chain, commit)),
    ({ history }) => (history?.messages ?? []).reduce((sum, { text }) => sum + bytesPerMessage + 2 * (text?.length ?? 0), 0),
  );
}

const bytesPerMessage = 300;

function frameOf(chain: ReadChain, commit: ReturnType<typeof findCommit>): TranscriptFrame {
  const select = 'SELECT title FROM source WHERE project = ? AND sessionId = ? LIMIT 1';
  return {
    space: { id: commit.sessionId ?? commit.id, name: chain.db.value<string | null>(select, chain.project, commit.sessionId) ?? null },
    agent: { id: commit.template, name: commit.template },
    at: toTimestamp(commit.createdAt),
  };
}

/** Keeps only the messages of the window. The message of the read mark may be outside, so the input also gets the mark's position. */
function inWindow(input: TimelineInput): TimelineInput {
  const { history } = input;
  if (!history) return input;
  const seen = history.messages.find(({ id }) => id === history.lastProcessedMessageId)?.seq;
  const messages = [...newestMessages(history.messages, input.budget ?? defaultTranscriptBudget, history.triggerMessageId)];
  return { ...input, history: { ...history, messages, ...(seen !== undefined && { lastProcessedSeq: seen }) } };
}
