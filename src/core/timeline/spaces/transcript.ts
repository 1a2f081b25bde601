import { badRequest, type ContextId, toTimestamp } from '../../base/index.js';
import {
  type EntrySums,
  entries,
  findCommit,
  kept,
  lineage,
  outlineRows,
  type ReadChain,
  stepsEntries,
  stretchOf,
  summedContext,
} from '../../chain/index.js';
import {
  type Entry,
  type InputOf,
  most,
  type OutlineRow,
  type TimelineInput,
  type TimelineMessage,
  type TimelineRows,
} from '../../contract/index.js';
import { toolClassOf } from '../../formats/index.js';
import { newestMessages } from '../render/history.js';
import { renderTimeline } from '../render/timeline.js';
import { type TranscriptFrame, transcriptTimeline } from '../render/transcript.js';
import type { RunTimeline } from './input.js';

/** The default number of shown messages of a transcript. */
const defaultTranscriptBudget = 200;
/** The most messages in a page. */
const pageSize = 200;

type Query = InputOf<'timeline.transcript'>;

/** Any commit's context as a timeline. Writes nothing. @throws BAD_REQUEST for a context with more messages than an answer holds, unless it asks for a window. */
export function contextTimeline(chain: ReadChain, query: Query): RunTimeline & { readonly total: number } {
  const budget = query.budget ?? defaultTranscriptBudget;
  const part = query.window ? readPart(chain, query.id, (total) => ({ from: total - budget, to: total })) : undefined;
  if (!query.window) requireFewMessages(chain, query.id);
  const input = { ...(part ?? readWhole(chain, query.id)), budget };
  const shown = query.window ? inWindow(input) : input;
  return { input: shown, rendered: renderTimeline(shown), total: input.history?.messages.length ?? 0 };
}

function requireFewMessages(chain: ReadChain, id: ContextId): void {
  const messages = outlineRows(chain, { id }).rows.filter(isMessage).length;
  if (messages > most.list)
    throw badRequest(
      'window',
      `This context has ${messages} messages, and one answer holds at most ${most.list}. Ask with window, and read the messages with timeline.rows.`,
    );
}

const isMessage = ({ kind }: OutlineRow): boolean => kind !== 'thinking' && kind !== 'event';

type Pages = InputOf<'timeline.rows'>;

/** The messages of a context as a timeline, in pages. */
export function contextMessages(chain: ReadChain, { id, offset = 0, limit = pageSize, longest = Number.MAX_SAFE_INTEGER }: Pages): TimelineRows {
  const { total, before, messages } = messagesAround(chain, id, offset, limit) ?? wholeMessages(chain, id, offset, limit);
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
  readonly messages: readonly TimelineMessage[];
}

function wholeMessages(chain: ReadChain, id: ContextId, offset: number, limit: number): Messages {
  const input = readPart(chain, id, () => ({ from: offset - 1, to: offset + limit })) ?? readWhole(chain, id);
  const messages = input.history?.messages ?? [];
  return { total: messages.length, before: 0, messages };
}

const messagesIn = ({ entries, counts }: EntrySums): number => entries - (counts.thinking ?? 0) - (counts.event ?? 0);

/** The messages of the commits around a range. Undefined for a context without sums, and if a time or a call lies further back. */
function messagesAround(chain: ReadChain, given: ContextId, offset: number, limit: number): Messages | undefined {
  const commit = findCommit(chain, given);
  const sums = summedContext(chain, commit);
  if (!sums) return undefined;
  const { steps, before, isFirst } = stretchOf(chain, sums, { from: Math.max(0, offset - 1), to: offset + limit }, { count: messagesIn });
  const read = stepsEntries(chain, steps);
  const calls = new Set(read.flatMap(({ kind, toolCallId }) => (kind === 'tool_call' && toolCallId ? [toolCallId] : [])));
  const isAnswer = ({ kind, toolCallId }: Entry): boolean => kind === 'tool_result' && toolCallId !== undefined && !calls.has(toolCallId);
  if (!isFirst && (read[0]?.at === undefined || read.some(isAnswer))) return undefined;
  const { history } = transcriptTimeline(read, frameOf(chain, commit));
  const earlier = messagesIn(before);
  const messages = (history?.messages ?? []).map((message, place) => ({ ...message, seq: earlier + place + 1 }));
  return { total: messagesIn(sums), before: earlier, messages };
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
  const { title } = chain.db.one<{ title: string | null }>(
    'SELECT title FROM source WHERE project = ? AND sessionId = ? LIMIT 1',
    chain.project,
    commit.sessionId,
  ) ?? { title: null };
  return {
    space: { id: commit.sessionId ?? commit.id, name: title },
    agent: { id: commit.template, name: commit.template },
    at: toTimestamp(commit.createdAt),
  };
}

/** A range of messages, or of entries; it may reach over the ends. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A transcript with fewer entries is read as a whole. */
const fewEntries = 2_000;
/** Entries around a message among which one has a time. */
const nearTime = 40;

/**
 * A transcript in which only a range of messages, the trigger and the message before it have their texts. Undefined for a short transcript, and for one
 * whose times are too rare to be found near these messages.
 */
function readPart(chain: ReadChain, given: ContextId, wanted: (messages: number) => Range): TimelineInput | undefined {
  const commit = findCommit(chain, given);
  const { rows } = outlineRows(chain, { id: commit.id });
  if (rows.length < fewEntries) return undefined;
  const messages = rows.flatMap((row, at) => (isMessage(row) ? [at] : []));
  const isPrompt = ({ role, kind }: OutlineRow): boolean => (kind === 'text' && role === 'user') || (kind === 'image' && role !== 'assistant');
  const prompt = messages.findLastIndex((at) => isPrompt(rows[at] as OutlineRow));
  const trigger = prompt < 0 ? messages.length - 1 : prompt;
  const { from, to } = wanted(messages.length);
  const shown = { from: messages[Math.max(0, from)] ?? 0, to: (messages[Math.min(to, messages.length) - 1] ?? 0) + 1 };
  const near = [
    { from: 0, to: nearTime },
    { from: (messages[trigger] ?? 0) - nearTime, to: (messages[trigger] ?? 0) + 1 },
    { from: shown.from - nearTime, to: shown.from + 1 },
    { from: rows.length - nearTime, to: rows.length },
  ];
  const read = new Map<number, Entry>();
  const load = ({ from, to }: Range): void => {
    const offset = Math.max(0, from);
    const found = to > offset ? entries(chain, { id: commit.id, offset, limit: to - offset }).entries : [];
    for (const [at, entry] of found.entries()) read.set(offset + at, entry);
  };
  for (const range of [...near, shown]) load(range);
  if (messages[trigger - 1] !== undefined) load({ from: messages[trigger - 1] as number, to: (messages[trigger - 1] as number) + 1 });
  const hasTime = ({ from, to }: Range): boolean => {
    for (let at = Math.max(0, from); at < Math.min(to, rows.length); at++) if (read.get(at)?.at !== undefined) return true;
    return false;
  };
  if (!near.every(hasTime)) return undefined;
  const calls = callsIn(chain, commit, rows);
  // The names of subagents are in the calls that start them.
  for (const [at, { isTask, isUnnamed }] of calls.at) if (isTask || isUnnamed) load({ from: at, to: at + 1 });
  return transcriptTimeline(
    rows.map((row, at) => read.get(at) ?? withoutText(row, calls.nameOf(row))),
    frameOf(chain, commit),
  );
}

/** An entry of which only the sender is shown. */
function withoutText({ key, role, kind, tokens, toolCallId, commit }: OutlineRow, toolName: string | undefined): Entry {
  const entry: Entry = { key, role, kind, tokens, source: { commit, index: 0 } };
  if (toolCallId !== undefined) entry.toolCallId = toolCallId;
  if (toolName !== undefined) entry.toolName = toolName;
  return entry;
}

/** The tool calls of a context: which start agents, which results name no call, and the tool of each. */
function callsIn(chain: ReadChain, commit: ReturnType<typeof findCommit>, rows: readonly OutlineRow[]) {
  const formats = new Map(lineage(chain, commit).map(({ id, format }) => [id, format] as const));
  const names = new Map(rows.flatMap(({ kind, toolCallId, head }) => (kind === 'tool_call' && toolCallId ? [[toolCallId, head] as const] : [])));
  const nameOf = ({ kind, toolCallId, head }: OutlineRow): string | undefined =>
    kind === 'tool_call' ? head : kind === 'tool_result' ? names.get(toolCallId ?? '') : undefined;
  const at = rows.flatMap((row, place) => {
    const name = nameOf(row);
    const isTask = row.kind === 'tool_call' && name !== undefined && toolClassOf(formats.get(row.commit) ?? '', name) === 'task';
    const isUnnamed = row.kind === 'tool_result' && name === undefined;
    return isTask || isUnnamed ? [[place, { isTask, isUnnamed }] as const] : [];
  });
  return { at, nameOf };
}

/** Keeps only the messages of the window. The message of the read mark may be outside, so the input also gets the mark's position. */
function inWindow(input: TimelineInput): TimelineInput {
  const { history } = input;
  if (!history) return input;
  const seen = history.messages.find(({ id }) => id === history.lastProcessedMessageId)?.seq;
  const messages = [...newestMessages(history.messages, input.budget ?? defaultTranscriptBudget, history.triggerMessageId)];
  return { ...input, history: { ...history, messages, ...(seen !== undefined && { lastProcessedSeq: seen }) } };
}
