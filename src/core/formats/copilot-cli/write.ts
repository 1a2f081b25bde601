import { defined, encodeText, type JsonObject, stringAt } from '../../base/index.js';
import type { SessionOptions, WritableEntry, WriteOptions } from '../format.js';
import { inRecords } from '../shared/entry-lines.js';
import { type EntryGroup, groupMessages, namer, textsOf } from '../shared/groups.js';
import { readRecords } from '../shared/records.js';
import { dialect, laneOf, readData, readType } from './schema.js';

/** Writes entries as events, each the child of the previous one. Facts that Copilot has no field for are omitted. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const nameOf = namer(options.newId);
  let parentId: string | null = options.parentRecord ?? null;
  const lines = groupMessages(entries.filter(isHeld), fits).map((group) => {
    // The agent (1.0.102) refuses an id of another form.
    const id = nameOf(group.name !== undefined && uuid.test(group.name) ? group.name : undefined);
    const line = { ...eventOf(group, id), id, timestamp: group.entries[0].at ?? options.now, parentId };
    parentId = id;
    return `${JSON.stringify(line)}\n`;
  });
  return encodeText(lines.join(''));
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const isHeld = ({ kind, marks }: WritableEntry): boolean => kind !== 'event' && kind !== 'image' && !marks?.includes('hidden');

/** An answer holds its thinking, then one text, then its calls. Every other entry is a separate event. */
const ranks: Partial<Record<WritableEntry['kind'], number>> = { thinking: 0, text: 1, tool_call: 2 };
function fits(entry: WritableEntry, group: readonly WritableEntry[]): boolean {
  if (entry.role !== 'assistant') return false;
  const last = group.at(-1) as WritableEntry;
  const [before, after] = [ranks[last.kind] ?? 0, ranks[entry.kind] ?? 0];
  return before < after || (before === after && entry.kind !== 'text');
}

function eventOf({ entries }: EntryGroup, id: string): object {
  const [first] = entries;
  const { text = '' } = first;
  if (first.kind === 'summary') return { type: 'session.compaction_complete', data: { success: true, summaryContent: text } };
  switch (first.role) {
    case 'system':
      return { type: 'system.message', data: { role: 'system', content: text } };
    case 'assistant':
      return { type: 'assistant.message', data: answerData(entries, id) };
    case 'tool':
      return { type: 'tool.execution_complete', data: resultData(first) };
    default: {
      const source = first.marks?.includes('meta') ? { source: first.marks.find((mark) => mark !== 'meta') ?? 'system' } : {};
      return { type: 'user.message', data: { content: text, transformedContent: text, attachments: [], ...source } };
    }
  }
}

function answerData(entries: EntryGroup['entries'], messageId: string): object {
  const thinking = entries.filter(({ kind }) => kind === 'thinking');
  const isSealed = thinking.some(({ result }) => stringAt(result, 'signature') !== undefined || stringAt(result, 'data') !== undefined);
  const plain = thinking.map(({ text }) => text ?? '').join('\n');
  const blocks = thinking.map(({ text = '', result }) => {
    const data = stringAt(result, 'data');
    if (data !== undefined) return { type: 'redacted_thinking', data };
    return { type: 'thinking', thinking: text, ...defined({ signature: stringAt(result, 'signature') }) };
  });
  const calls = entries.filter(({ kind }) => kind === 'tool_call');
  return {
    messageId,
    model: entries[0].author ?? 'unknown',
    content: textsOf(entries, 'text'),
    toolRequests: calls.map(({ toolCallId, toolName, arguments: input }) => ({
      toolCallId: toolCallId ?? '',
      name: toolName ?? '',
      arguments: (input ?? {}) as JsonObject,
      type: 'function',
    })),
    ...(thinking.length > 0 && (isSealed ? { reasoningBlocks: { provider: 'anthropic-messages', blocks } } : { reasoningText: plain })),
  };
}

const resultData = ({ toolCallId = '', text = '', isError }: WritableEntry): object =>
  isError ? { toolCallId, success: false, error: { message: text, code: 'failure' } } : { toolCallId, success: true, result: { content: text } };

/** A session for `copilot --resume`, in its own folder: a new start event and the events of one context, without those of subagents. */
export function writeSession(delta: Uint8Array, { sessionId, newId, now, cwd, isUnchanged }: SessionOptions): Uint8Array {
  if (isUnchanged) return delta;
  const records = readRecords({ dialect }, delta);
  const start = records.find((record) => readType(record) === 'session.start');
  const before = start && (readData(start).context as JsonObject | undefined);
  // The agent refuses a session without a working directory.
  const context = { ...before, cwd: cwd ?? stringAt(before, 'cwd') ?? '/' };
  const head = {
    type: 'session.start',
    data: { version: 1, producer: 'copilot-agent', copilotVersion: '1.0.102', startTime: now, ...(start && readData(start)), sessionId, context },
    id: stringAt(start, 'id') ?? newId(),
    timestamp: stringAt(start, 'timestamp') ?? now,
    parentId: null,
  };
  let parentId: string = head.id;
  const own = inRecords(records, (entries) => readRecords({ dialect }, writeEntries(entries, { newId, now }))).filter((record) => record !== start);
  // A conversation of a subagent becomes a session of its own.
  const isSubagent = own.every((record) => laneOf(record) !== undefined);
  const lines = isSubagent ? own.map(freed) : own.filter((record) => laneOf(record) === undefined);
  const chained = lines.map((record) => {
    const line = { ...record, parentId };
    parentId = stringAt(record, 'id') ?? parentId;
    return line;
  });
  return encodeText([head, ...chained].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** A record of a subagent as one of a session. */
function freed({ agentId: _, ...record }: JsonObject): JsonObject {
  const { agentId: __, parentToolCallId: ___, ...data } = readData(record);
  return { ...record, data };
}
