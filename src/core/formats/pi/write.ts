import { badRequest, type EntryKey, isObject, type JsonObject, toTimestamp } from '../../base/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { base64Of, namer } from '../shared/groups.js';
import { cutAt, encodeLines } from '../shared/jsonl.js';
import { inPlace, splitKey } from '../shared/keys.js';
import { textParts, withOthers } from '../shared/result-parts.js';
import { idIn, isChained, nameRecord, readId, readMessage, scanLines, systemText, unframed } from './schema.js';

interface Block {
  readonly entry: WritableEntry;
  readonly name: string | undefined;
  readonly number: number;
}

type Sort = 'answer' | 'result' | 'prompt' | 'injected' | 'branch' | 'summary' | 'system' | 'note';

/** Writes a chain of records. Entries of one message, by key or by the runtime's id, stay together. Unused ids from keys are kept. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const lines: object[] = [];
  const nameFor = namer(options.newId);
  let parentId: string | null = options.parentRecord === undefined ? null : idIn(options.parentRecord);
  for (const group of groupEntries(entries)) {
    const [first] = group as [Block];
    const name = nameFor(first.name);
    const id = idIn(name);
    const timestamp = timeIn(name) ?? first.entry.at ?? options.now;
    lines.push(writeRecord(group, { id, parentId, timestamp }));
    parentId = id;
  }
  return encodeLines(lines);
}

function timeIn(name: string): string | undefined {
  const ms = name === idIn(name) ? undefined : Number.parseInt(name.slice(name.indexOf('-') + 1), 36);
  return ms !== undefined && ms <= latestTime ? toTimestamp(ms) : undefined;
}
const latestTime = 8.64e15;

function groupEntries(entries: readonly WritableEntry[]): Block[][] {
  const groups: Block[][] = [];
  for (const entry of entries) {
    const key = splitKey(entry.key);
    const block: Block = { entry, name: key?.name, number: key?.number ?? 0 };
    const group = groups.at(-1);
    if (group && belongs(group, block)) group.push(block);
    else groups.push([block]);
  }
  return groups;
}

function belongs(group: readonly Block[], { entry, name, number }: Block): boolean {
  const first = group[0] as Block;
  const last = group.at(-1) as Block;
  const sort = sortOf(first.entry);
  if (entry.role === 'tool' && entry.kind !== 'tool_result') return sort === 'result' && first.entry.toolCallId === entry.toolCallId;
  const together = name !== undefined && name === first.name ? number > last.number : sameMessage(first.entry, entry);
  // A compaction holds the system prompt that is valid from then on, and a system message its tools.
  if (sort === 'system') return name !== undefined && name === first.name && (isTools(entry) || (entry.kind === 'summary' && number === 0));
  return together && sort === sortOf(entry) && (sort === 'answer' || sort === 'prompt' || sort === 'injected');
}

const sameMessage = (a: WritableEntry, b: WritableEntry): boolean =>
  a.messageId !== undefined && a.messageId === b.messageId && a.role === 'assistant';
const isTools = (entry: WritableEntry): boolean => entry.kind === 'event' && entry.toolName === 'tools';

function sortOf(entry: WritableEntry): Sort {
  if (entry.role === 'assistant') return 'answer';
  if (entry.role === 'tool') return 'result';
  if (isTools(entry)) return 'system';
  if (entry.kind === 'event' && entry.marks?.includes('hidden')) return 'note';
  if (entry.role === 'system') return 'system';
  if (entry.kind === 'summary') return 'summary';
  if (entry.marks?.includes('branch-summary')) return 'branch';
  return entry.marks?.includes('meta') ? 'injected' : 'prompt';
}

function writeRecord(
  group: readonly Block[],
  envelope: { readonly id: string; readonly parentId: string | null; readonly timestamp: string },
): object {
  const { entry } = group[0] as Block;
  const ms = Date.parse(envelope.timestamp);
  const message = (body: object): object => ({ type: 'message', ...envelope, message: { ...body, timestamp: ms } });
  const summary = group.find((block) => block.entry.kind === 'summary')?.entry;
  if (summary)
    return {
      type: 'compaction',
      ...envelope,
      summary: unframed('compaction', summary.text ?? ''),
      firstKeptEntryId: envelope.id,
      tokensBefore: 0,
      ...(group.length > 1 ? { systemMessage: { ...systemMessage(group), timestamp: ms } } : {}),
    };
  switch (sortOf(entry)) {
    case 'answer':
      return message(answerMessage(group));
    case 'result':
      return message(resultMessage(group));
    case 'system':
      return message(systemMessage(group));
    case 'branch':
      return { type: 'branch_summary', ...envelope, fromId: 'root', summary: unframed('branch', entry.text ?? '') };
    case 'injected':
      return { type: 'custom_message', ...envelope, customType: entry.toolName ?? 'note', content: writeBlocks(group), display: false };
    case 'note':
      return noteRecord(entry, envelope);
    default:
      return message(isShellLine(entry) ? (entry.result as object) : { role: 'user', content: writeBlocks(group) });
  }
}

/** Records that pi writes for itself and reads again. */
const notes = new Set(['model_change', 'thinking_level_change', 'label', 'session_info', 'usage', 'custom', 'context_edit']);

function noteRecord({ toolName = 'note', result, text }: WritableEntry, envelope: object): object {
  if (notes.has(toolName) && isObject(result)) return { type: toolName, ...envelope, ...result };
  return { type: 'custom', ...envelope, customType: toolName, data: result ?? text ?? null };
}

const isShellLine = (entry: WritableEntry): boolean =>
  isObject(entry.result) && entry.result.role === 'bashExecution' && entry.marks?.includes('command') === true;

/** An empty text replaces a removed block, so that the other blocks keep their keys. pi does not send it. */
const gap = { type: 'text', text: '' };

const written = (group: readonly Block[], write: (entry: WritableEntry) => object): object[] =>
  inPlace(
    group,
    ({ name, number }) => (name === undefined ? 0 : number),
    ({ entry }) => write(entry),
    gap,
  );

const writeBlocks = (group: readonly Block[]): object[] => written(group, contentBlock);

function contentBlock(entry: WritableEntry): object {
  if (!entry.media) return entry.kind === 'event' && isObject(entry.result) ? entry.result : { type: 'text', text: entry.text ?? '' };
  return { type: 'image', data: base64Of(entry.media), mimeType: entry.media.mediaType };
}

function systemMessage(group: readonly Block[]): object {
  const prompt = group.find(({ entry }) => entry.role === 'system' && entry.kind !== 'event')?.entry;
  const tools = group.find(({ entry }) => isTools(entry))?.entry.result;
  const sections = isObject(prompt?.result) && isObject(prompt.result.sections) ? prompt.result.sections : undefined;
  const asSections = sections !== undefined && systemText({ sections }) === prompt?.text;
  return {
    role: 'system',
    content: asSections ? '' : (prompt?.text ?? ''),
    ...(asSections ? { sections } : {}),
    ...(isObject(tools) && Array.isArray(tools.toolsAdded) ? { toolsAdded: tools.toolsAdded } : {}),
    ...(isObject(tools) && Array.isArray(tools.toolsRemoved) ? { toolsRemoved: tools.toolsRemoved } : {}),
  };
}

function answerMessage(group: readonly Block[]): object {
  const { entry } = group[0] as Block;
  const [api = '', provider = ''] = (entry.marks?.find((mark) => mark.startsWith('via:'))?.slice(4) ?? 'anthropic-messages/anthropic').split('/');
  const fault = group.find(({ entry: one }) => one.marks?.includes('api-error'));
  const broken = group.some(({ entry: one }) => one.marks?.includes('aborted')) || fault?.entry.text === 'aborted';
  const hasCalls = group.some(({ entry: one }) => one.kind === 'tool_call');
  return {
    role: 'assistant',
    content: written(
      group.filter((block) => block !== fault),
      answerBlock,
    ),
    api,
    provider,
    model: entry.author ?? 'unknown',
    usage: noUsage,
    stopReason: broken ? 'aborted' : fault ? 'error' : hasCalls ? 'toolUse' : 'stop',
    ...(fault?.entry.text ? { errorMessage: fault.entry.text } : {}),
  };
}

const noCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const noUsage = { ...noCounts, totalTokens: 0, cost: { ...noCounts, total: 0 } };

function answerBlock(entry: WritableEntry): object {
  const sealed = isObject(entry.result) ? entry.result : {};
  switch (entry.kind) {
    case 'thinking':
      return entry.marks?.includes('redacted')
        ? { type: 'thinking', thinking: '', thinkingSignature: sealed.data ?? '', redacted: true }
        : { type: 'thinking', thinking: entry.text ?? '', ...('signature' in sealed ? { thinkingSignature: sealed.signature } : {}) };
    case 'tool_call':
      return { type: 'toolCall', id: entry.toolCallId ?? '', name: entry.toolName ?? '', arguments: entry.arguments ?? {} };
    default:
      return contentBlock(entry);
  }
}

function resultMessage(group: readonly Block[]): object {
  const { entry } = group[0] as Block;
  const others = group.slice(1).map((block) => contentBlock(block.entry));
  const parts = textParts(entry) ?? (entry.text === undefined || (entry.text === '' && others.length > 0) ? [] : [entry.text]);
  return {
    role: 'toolResult',
    toolCallId: entry.toolCallId ?? '',
    toolName: entry.toolName ?? '',
    content: withOthers(parts, others, (text): object => ({ type: 'text', text })),
    ...(entry.result !== undefined && { details: entry.result }),
    isError: entry.isError ?? false,
  };
}

/** The delta up to the entry. A record with more blocks is written again without them. @throws BAD_REQUEST if no such entry exists. */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const key = splitKey(lastKept);
  const found = scanLines(delta).pieces.find(
    (piece) => piece.sort === 'record' && piece.record && isChained(piece.record) && nameRecord(piece.record, delta, piece.range) === key?.name,
  );
  if (!key || !found?.record) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
  return cutAt(delta, found.range, shorten(found.record, key));
}

/** A record with its first blocks only. A record without an id is named by its bytes, which change here, so the name becomes its id. */
function shorten(record: JsonObject, { name, number }: NonNullable<ReturnType<typeof splitKey>>): JsonObject | undefined {
  const { content, role } = readMessage(record);
  if (!Array.isArray(content) || number >= content.length - 1 || (role !== 'user' && role !== 'assistant')) return undefined;
  return { ...record, id: readId(record) ?? name, message: { ...readMessage(record), content: content.slice(0, number + 1) } };
}
