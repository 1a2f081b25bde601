import { badRequest, type EntryKey, isObject, type JsonObject } from '../../base/index.js';
import { systemPromptType } from '../anthropic-messages/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { callBlock } from '../shared/anthropic-blocks.js';
import { base64Of } from '../shared/groups.js';
import { cutAt, encodeLines } from '../shared/jsonl.js';
import { summariesFirst } from '../shared/kept.js';
import { inPlace, splitKey } from '../shared/keys.js';
import { resultContent } from '../shared/result-parts.js';
import { blockOfNumber } from './parse-entries.js';
import { type RecordPiece, scanLines } from './parse-lines.js';
import { foreignSeals, isChained, sealsField, uuidOf } from './schema.js';

/** The uuid of the record and the position of the block in it, as an entry's key names them. */
function blockKey(key: string | undefined): { readonly uuid: string; readonly block: number } | undefined {
  const split = splitKey(key);
  return split && { uuid: split.name, block: blockOfNumber(split.number) };
}

/** Writes a delta. Entries of one record, by key, stay together and keep their keys. Keys other than `<uuid>.<block>` get a new id. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const blocks = groupBlocks(summariesFirst(entries));
  const lines: object[] = [];
  const used = new Set<string>();
  let parentUuid = options.parentRecord ?? null;
  for (let at = 0; at < blocks.length; ) {
    const first = blocks[at] as WrittenBlock;
    const named = first.key?.uuid;
    const isFree = named !== undefined && !used.has(named);
    const uuid = isFree ? named : options.newId();
    const group = [first];
    for (at++; isFree && at < blocks.length && isSameRecord(group, blocks[at] as WrittenBlock); at++) group.push(blocks[at] as WrittenBlock);
    used.add(uuid);
    lines.push(writeRecord(group, uuid, parentUuid, options));
    parentUuid = uuid;
  }
  return encodeLines(lines);
}

/** An entry that becomes a block, with the parts inside of it (images in a tool's result). */
interface WrittenBlock {
  readonly entry: WritableEntry;
  readonly key: ReturnType<typeof blockKey>;
  readonly parts: WritableEntry[];
}

function groupBlocks(entries: readonly WritableEntry[]): readonly WrittenBlock[] {
  const blocks: WrittenBlock[] = [];
  for (const entry of entries) {
    const owner = blocks.at(-1);
    const isPart =
      entry.role === 'tool' && entry.kind !== 'tool_result' && owner?.entry.kind === 'tool_result' && owner.entry.toolCallId === entry.toolCallId;
    if (isPart) owner.parts.push(entry);
    else blocks.push({ entry, key: blockKey(entry.key), parts: [] });
  }
  return blocks;
}

const isAssistant = ({ entry }: WrittenBlock): boolean => entry.role === 'assistant';
const isAttachment = ({ entry }: WrittenBlock): boolean => entry.marks?.includes('attachment') === true;
/** An event that is a line of its own, not a block of a message. */
const isLine = ({ entry }: WrittenBlock): boolean => entry.kind === 'event' && entry.role === 'system';
/** Writes a system prompt from another format as an attachment, where the agent puts its own text: this format has no field for it. */
const isSystemPrompt = ({ entry }: WrittenBlock): boolean =>
  entry.role === 'system' && entry.kind !== 'event' && !entry.marks?.includes('attachment');

function isSameRecord(group: readonly WrittenBlock[], next: WrittenBlock): boolean {
  const first = group[0] as WrittenBlock;
  const last = group.at(-1) as WrittenBlock;
  if (next.key === undefined || next.key.uuid !== first.key?.uuid || next.key.block <= (last.key?.block ?? 0)) return false;
  if (isLine(first) || isLine(next) || isSystemPrompt(first) || isSystemPrompt(next)) return false;
  return isAssistant(first) === isAssistant(next) && isAttachment(first) === isAttachment(next) && first.entry.kind !== 'summary';
}

function writeRecord(group: readonly WrittenBlock[], uuid: string, parentUuid: string | null, options: WriteOptions): object {
  const first = group[0] as WrittenBlock;
  const { entry } = first;
  const envelope = {
    parentUuid,
    isSidechain: false,
    userType: 'external',
    cwd: options.cwd ?? '/',
    ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId }),
    version: writtenAs,
    gitBranch: '',
  };
  const tail = { uuid, timestamp: entry.at ?? options.now };
  if (isAttachment(first) || isSystemPrompt(first)) return { ...envelope, type: 'attachment', ...attachmentOf(group), ...tail };
  if (isLine(first))
    return {
      ...envelope,
      type: 'system',
      subtype: entry.toolName ?? 'informational',
      content: entry.text ?? '',
      level: 'info',
      isMeta: false,
      ...tail,
    };
  if (isAssistant(first)) return { ...envelope, type: 'assistant', ...answerOf(group, uuid), ...tail };
  return { ...envelope, type: 'user', ...turnOf(group), ...tail };
}
/** The version that these records imitate. */
const writtenAs = '2.1.329';

function attachmentOf(group: readonly WrittenBlock[]): object {
  const { entry } = group[0] as WrittenBlock;
  if (entry.kind === 'event') return { attachment: entry.arguments ?? { type: entry.toolName ?? 'note' } };
  const type = isSystemPrompt(group[0] as WrittenBlock) ? systemPromptType : (entry.toolName ?? 'note');
  return {
    // The agent renders a reminder of tasks only if it has a list, which may be empty.
    attachment: { type, ...(type === 'task_reminder' ? { content: [], itemCount: 0 } : {}) },
    rendered: inPlace(group, positionOf, ({ entry: { text = '' } }) => ({ content: text }), { content: '' }),
    renderedRole: entry.role === 'system' ? 'system' : 'user',
  };
}

function answerOf(group: readonly WrittenBlock[], uuid: string): object {
  const { entry } = group[0] as WrittenBlock;
  const failed = entry.marks?.includes('api-error') === true;
  const message = {
    id: entry.messageId ?? `msg_${uuid.replaceAll('-', '').slice(0, 24)}`,
    type: 'message',
    role: 'assistant',
    model: failed ? '<synthetic>' : (entry.author ?? '<synthetic>'),
    content: inPlace(group, positionOf, ({ entry: one }) => answerBlock(one), noText),
    stop_reason: group.some(({ entry: { kind } }) => kind === 'tool_call') ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
  const seals = group.flatMap((one) => foreignSeal(one) ?? []);
  return { message, ...(seals.length > 0 && { [sealsField]: seals }), ...(failed ? { isApiErrorMessage: true } : {}) };
}

/** The signature of another provider for a block. It stands beside the message, because Anthropic refuses blocks with further fields. */
function foreignSeal(one: WrittenBlock): object | undefined {
  const { result } = one.entry;
  const names = isObject(result) ? foreignSeals.filter((name) => typeof result[name] === 'string') : [];
  return names.length === 0
    ? undefined
    : { block: positionOf(one), ...Object.fromEntries(names.map((name) => [name, (result as JsonObject)[name]])) };
}

function turnOf(group: readonly WrittenBlock[]): object {
  const { entry, key } = group[0] as WrittenBlock;
  const isPlain = group.length === 1 && (key?.block ?? 0) === 0 && (entry.kind === 'text' || entry.kind === 'summary');
  const content = isPlain ? (entry.text ?? '') : inPlace(group, positionOf, turnBlock, noText);
  const results = group.filter((one) => one.entry.kind === 'tool_result');
  return {
    message: { role: 'user', content },
    ...(entry.kind === 'summary' ? { isCompactSummary: true, isVisibleInTranscriptOnly: true } : {}),
    ...(group.every((one) => one.entry.marks?.includes('meta')) ? { isMeta: true } : {}),
    ...(results.length === 1 && results[0]?.entry.result !== undefined ? { toolUseResult: results[0].entry.result } : {}),
  };
}

const textBlock = (text: string): object => ({ type: 'text', text });
/** An empty text replaces a removed block, so that the other blocks keep their keys. The agent neither sends nor shows it. */
const noText = textBlock('');
const positionOf = ({ key }: WrittenBlock): number => key?.block ?? 0;

function answerBlock(entry: WritableEntry): object {
  switch (entry.kind) {
    case 'thinking':
      return entry.marks?.includes('redacted') || (isObject(entry.result) && typeof entry.result.data === 'string')
        ? { type: 'redacted_thinking', data: '', ...withoutForeign(entry.result) }
        : { type: 'thinking', thinking: entry.text ?? '', signature: '', ...withoutForeign(entry.result) };
    case 'tool_call':
      return callBlock(entry);
    case 'image':
    case 'event':
      return otherBlock(entry);
    default:
      return textBlock(entry.text ?? '');
  }
}

const withoutForeign = (result: unknown): object =>
  isObject(result) ? Object.fromEntries(Object.entries(result).filter(([name]) => !foreignSeals.includes(name))) : {};

function turnBlock({ entry, parts }: WrittenBlock): object {
  if (entry.kind === 'image' || entry.kind === 'event') return otherBlock(entry);
  if (entry.kind !== 'tool_result') return textBlock(entry.text ?? '');
  return {
    type: 'tool_result',
    tool_use_id: entry.toolCallId ?? '',
    content: resultContent(entry, parts.map(otherBlock), textBlock),
    ...(entry.isError ? { is_error: true } : {}),
  };
}

function otherBlock(entry: WritableEntry): object {
  const { media, result } = entry;
  if (!media) return typeof result === 'object' && result !== null ? result : textBlock(entry.text ?? `[${entry.kind}]`);
  const source = { type: 'base64', media_type: media.mediaType, data: base64Of(media) };
  return { type: media.mediaType.startsWith('image/') ? 'image' : 'document', source };
}

/** The delta up to the entry. A record with more blocks is written again without them. @throws BAD_REQUEST if no such entry exists. */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const key = blockKey(lastKept);
  const { pieces } = scanLines(delta);
  const found =
    key && pieces.find(({ record, sort }) => sort === 'record' && record !== undefined && isChained(record) && uuidOf(record) === key.uuid);
  if (!key || !found?.record) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
  return cutAt(delta, found.range, shorten(found, key.block));
}

function shorten({ record }: RecordPiece, last: number): JsonObject | undefined {
  const message = record?.message;
  if (!isObject(message) || !Array.isArray(message.content) || last >= message.content.length - 1) return undefined;
  return { ...record, message: { ...message, content: message.content.slice(0, last + 1) } };
}
