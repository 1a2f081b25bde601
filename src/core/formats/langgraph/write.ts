import { badRequest, type EntryKey, isObject, type Json, type JsonObject } from '../../base/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { base64Of, dataUrlOf, objectInput } from '../shared/groups.js';
import { cutAt, encodeLines } from '../shared/jsonl.js';
import { textParts, withOthers } from '../shared/result-parts.js';
import { readEntries, summarized } from './parse.js';
import { type CheckpointLine, construct, isCheckpoint, type MessageKind, scanLines } from './schema.js';

/** Writes one line for each message, as if each message were a separate step. `keys` names the entries. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  let after: string | null = null;
  const lines = groupEntries(entries).map((group) => {
    const checkpoint = options.newId();
    const message = messageFor(group, options.newId());
    const line: CheckpointLine = { checkpoint, at: group[0].at ?? options.now, after, messages: [message] };
    after = checkpoint;
    // Keys are assigned in LangChain's order, in which the parts of a message are read.
    const read = readEntries(line, { start: 0, end: 0 });
    const keys = group.map(({ key }) => key);
    return { ...line, ...(read.length === keys.length && keys.every((key) => key !== undefined) ? { keys: keys as Json[] } : {}) };
  });
  return encodeLines(lines);
}

type Group = [WritableEntry, ...WritableEntry[]];

function groupEntries(entries: readonly WritableEntry[]): Group[] {
  const groups: Group[] = [];
  for (const entry of entries) {
    if (entry.kind === 'event' && !isObject(entry.result)) continue;
    const last = groups.at(-1);
    if (last && belongs(last, entry)) last.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function belongs([first]: Group, entry: WritableEntry): boolean {
  if (first.role !== entry.role || (first.kind === 'summary') !== (entry.kind === 'summary')) return false;
  if (entry.role === 'tool') return entry.kind !== 'tool_result' && entry.toolCallId === first.toolCallId;
  return entry.messageId !== undefined && entry.messageId === first.messageId && entry.author === first.author;
}

const made = (kind: MessageKind, kwargs: JsonObject): Json =>
  construct(kind, { ...kwargs, additional_kwargs: kwargs.additional_kwargs ?? {}, response_metadata: kwargs.response_metadata ?? {} });

function messageFor(group: Group, id: string): Json {
  const [first] = group;
  switch (first.role) {
    case 'system':
      return made('system', { id, content: writeContent(group) });
    case 'tool':
      return toolMessage(group, id);
    case 'assistant':
      return answerMessage(group, id);
    default:
      return made('human', {
        id,
        content: writeContent(group),
        ...(first.author === undefined ? {} : { name: first.author }),
        ...(first.kind === 'summary' ? { additional_kwargs: { lc_source: summarized } } : {}),
      });
  }
}

/** A single text is a string; everything else is a list of blocks. */
function writeContent(group: readonly WritableEntry[]): Json {
  const [only, ...others] = group;
  const isText = others.length === 0 && (only?.kind === 'text' || only?.kind === 'summary');
  return isText ? (only.text ?? '') : group.map(writeBlock);
}

function writeBlock(entry: WritableEntry): Json {
  const sealed = isObject(entry.result) ? entry.result : {};
  switch (entry.kind) {
    case 'thinking':
      return entry.marks?.includes('redacted')
        ? { type: 'redacted_thinking', data: sealed.data ?? '' }
        : { type: 'thinking', thinking: entry.text ?? '', ...('signature' in sealed ? { signature: sealed.signature as Json } : {}) };
    case 'image':
      return mediaBlock(entry);
    case 'event':
      return sealed;
    case 'tool_call':
      return { type: 'tool_use', id: entry.toolCallId ?? '', name: entry.toolName ?? '', input: objectInput(entry) };
    default:
      return { type: 'text', text: entry.text ?? '' };
  }
}

function mediaBlock({ media, result }: WritableEntry): Json {
  if (!media) return isObject(result) ? result : { type: 'text', text: '[image]' };
  return media.mediaType.startsWith('image/')
    ? { type: 'image_url', image_url: { url: dataUrlOf(media) } }
    : { type: 'file', source_type: 'base64', mime_type: media.mediaType, data: base64Of(media) };
}

function answerMessage(group: Group, id: string): Json {
  const calls = group.filter(({ kind }) => kind === 'tool_call');
  const firstCall = group.findIndex(({ kind }) => kind === 'tool_call');
  const saysAfter = firstCall >= 0 && group.slice(firstCall).some(({ kind }) => kind !== 'tool_call');
  const said = saysAfter ? group : group.filter(({ kind }) => kind !== 'tool_call');
  const { author } = group[0];
  return made('ai', {
    id,
    content: said.length === 0 ? '' : writeContent(said),
    tool_calls: calls.map((call): Json => ({ name: call.toolName ?? '', args: objectInput(call), id: call.toolCallId ?? '', type: 'tool_call' })),
    invalid_tool_calls: [],
    ...(author === undefined ? {} : { response_metadata: { model_name: author } }),
  });
}

function toolMessage(group: Group, id: string): Json {
  const [first] = group;
  const waiting = group.filter(({ kind }) => kind !== 'tool_result').map(writeBlock);
  const result = group.find(({ kind }) => kind === 'tool_result') ?? first;
  const parts = textParts(result);
  const text = result.kind === 'tool_result' ? (result.text ?? '') : '';
  const blocks = withOthers(parts ?? [text], waiting, (part): Json => ({ type: 'text', text: part }));
  return made('tool', {
    id,
    content: parts || blocks.length > 1 ? blocks : text,
    tool_call_id: first.toolCallId ?? '',
    ...(first.toolName === undefined ? {} : { name: first.toolName }),
    status: result.isError ? 'error' : 'success',
    ...(result.kind === 'tool_result' && result.result !== undefined ? { artifact: result.result as Json } : {}),
  });
}

/** The delta up to the entry. A line or message with more is written again with the kept part. @throws BAD_REQUEST if no such entry exists. */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  for (const { record, sort, range } of scanLines(delta).pieces) {
    if (!record || sort !== 'record' || !isCheckpoint(record)) continue;
    const entries = readEntries(record, { start: 0, end: 0 });
    const at = entries.findIndex(({ key }) => key === lastKept);
    if (at < 0) continue;
    if (at === entries.length - 1) return delta.slice(0, range.end);
    const counts = record.messages.map((message) => readEntries({ ...record, messages: [message] }, { start: 0, end: 0 }).length);
    let whole = 0;
    let kept = 0;
    while (kept + (counts[whole] as number) <= at + 1) kept += counts[whole++] as number;
    const rest = entries.slice(kept, at + 1) as WritableEntry[];
    const messages = [...record.messages.slice(0, whole), ...(rest.length > 0 ? [messageFor(rest as Group, `${record.checkpoint}-cut`)] : [])];
    const line = { ...record, messages, keys: entries.slice(0, at + 1).map(({ key }) => key) };
    return cutAt(delta, range, line);
  }
  throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
}
