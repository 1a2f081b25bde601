import { type ByteRange, type EntryKey, isObject, type Json, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { Role } from '../../contract/index.js';
import type { Elision, Mutable, ParsedEntry } from '../format.js';
import { called } from '../shared/drafts.js';
import { queuedPrefix } from '../shared/keys.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { countTokens, imageTokens } from '../shared/tokens.js';
import { foreignSeals, messageIdOf, readContent, readTime, sealsField, uuidOf } from './schema.js';
import { renderedOf, saysSomething } from './schema-attachments.js';

/** The entries of one record, in order. Progress of tools has none. A record of unknown type is an event. */
export function readEntries(record: JsonObject, raw: ByteRange): readonly ParsedEntry[] {
  const uuid = uuidOf(record);
  if (uuid === undefined) return record.type === 'queue-operation' ? absorbedEntries(record, raw) : linkEntries(record, raw);
  const at = readTime(record);
  const common: Common = { uuid, at, raw };
  switch (record.type) {
    case 'user':
      return userEntries(record, common);
    case 'assistant':
      return assistantEntries(record, common);
    case 'system':
      return systemEntries(record, common);
    case 'attachment':
      return attachmentEntries(record, common);
    case 'progress':
      return [];
    default:
      return [unread(record, typeof record.type === 'string' ? record.type : 'unknown', common, 0)];
  }
}

/** A prompt that was typed while the agent worked, and that the running turn took up, if the record says so. */
export function absorbedIn(record: JsonObject): string | undefined {
  const isAbsorbed = record.type === 'queue-operation' && record.operation === 'remove' && record.reason === 'absorbed_mid_turn';
  return (isAbsorbed && stringAt(record, 'content')) || undefined;
}

/** The entry of a prompt that the running turn took up. */
function absorbedEntries(record: JsonObject, raw: ByteRange): readonly ParsedEntry[] {
  const text = absorbedIn(record);
  if (text === undefined) return [];
  const at = readTime(record);
  const uuid = `${queuedPrefix}${stringAt(record, 'timestamp') ?? ''}`;
  return [make({ uuid, at, raw }, 0, 'user', { kind: 'text', text, tokens: countTokens(text), marks: ['queued'], messageId: uuid })];
}

/** The links of a session to other sessions, whose records have no ids: where it goes on, and the context from which a subagent was forked. */
function linkEntries(record: JsonObject, raw: ByteRange): readonly ParsedEntry[] {
  const next = record.type === 'continued-in' ? stringAt(record, 'continuedInSessionId') : undefined;
  const parent = record.type === 'fork-context-ref' ? stringAt(record, 'parentSessionId') : undefined;
  const text = next !== undefined ? `continued in the session ${next}` : parent !== undefined ? `forked from the session ${parent}` : undefined;
  if (text === undefined) return [];
  const type = record.type as string;
  const common = { uuid: `${type}-${next ?? stringAt(record, 'agentId') ?? parent ?? ''}`, at: readTime(record), raw };
  return [make(common, 0, 'system', { kind: 'event', toolName: type, text, result: record, tokens: 0, marks: ['hidden', type] })];
}

/** A record that this version of the format does not know, as an event that keeps the whole record. */
const unread = (value: unknown, type: string, common: Common, index: number): ParsedEntry =>
  make(common, index, 'system', {
    kind: 'event',
    toolName: type,
    text: type.replaceAll(/[_-]/g, ' '),
    result: value,
    tokens: 0,
    marks: ['hidden', type],
  });

interface Common {
  readonly uuid: string;
  readonly at: Timestamp | undefined;
  readonly raw: ByteRange;
}

/** Parts of a block (such as an image in a tool result) are numbered after all blocks, because a key consists of a record and a single number. */
const partsFrom = 100_000;
/** The number of a part of a block, as used in entry keys. */
export const partNumber = (block: number, part: number): number => (part + 1) * partsFrom + block;
/** The block to which the number of a block or a part belongs. */
export const blockOfNumber = (number: number): number => number % partsFrom;

const make = ({ uuid, at, raw }: Common, index: number, role: Role, rest: Omit<ParsedEntry, 'key' | 'role' | 'raw' | 'at'>): ParsedEntry => {
  const entry: Mutable<ParsedEntry> = { key: `${uuid}.${index}` as EntryKey, role, ...rest, raw };
  if (at !== undefined) entry.at = at;
  return entry;
};

/** An empty text among other blocks. The agent drops it; write.ts writes it in place of a removed block. */
const isGap = (block: JsonObject, among: readonly unknown[]): boolean => block.type === 'text' && block.text === '' && among.length > 1;

function userEntries(record: JsonObject, common: Common): readonly ParsedEntry[] {
  const content = readContent(record);
  const marks = record.isMeta === true ? ['meta'] : [];
  const message = messageIdOf(record) ?? common.uuid;
  if (typeof content === 'string') return [textEntry(record, common, 0, content, marks, message)];
  if (!Array.isArray(content)) return content === undefined || content === null ? [] : [unread(content, 'content', common, 0)];
  return content.flatMap((block: unknown, index): readonly ParsedEntry[] => {
    if (!isObject(block)) return [unread(block, 'block', common, index)];
    if (isGap(block, content)) return [];
    switch (block.type) {
      case 'text':
        return [textEntry(record, common, index, stringAt(block, 'text') ?? '', marks, message)];
      case 'tool_result':
        return resultEntries(record, block, common, index, marks, message);
      default:
        return [mediaEntry(block, common, index, 'user', marks, message)];
    }
  });
}

function textEntry(record: JsonObject, common: Common, index: number, text: string, given: readonly string[], messageId: string): ParsedEntry {
  const command = /^\s*<(command-|local-command|bash-)/.test(text);
  const marks = command && !given.includes('command') ? [...given, 'command'] : given;
  return make(common, index, 'user', {
    kind: record.isCompactSummary === true ? 'summary' : 'text',
    text,
    tokens: countTokens(text),
    messageId,
    ...(marks.length > 0 && { marks }),
  });
}

function resultEntries(
  record: JsonObject,
  block: JsonObject,
  common: Common,
  index: number,
  marks: readonly string[],
  messageId: string,
): readonly ParsedEntry[] {
  const toolCallId = stringAt(block, 'tool_use_id');
  const { content } = block;
  const list: readonly Json[] = Array.isArray(content) ? content : [];
  const parts = list.map((part) => (isObject(part) && part.type !== 'text' ? null : (stringAt(part, 'text') ?? '')));
  const text = typeof content === 'string' ? content : joinParts(parts);
  const call = toolCallId !== undefined && { toolCallId };
  const all = [...marks, ...partsMark(parts)];
  return [
    make(common, index, 'tool', {
      messageId,
      ...call,
      kind: 'tool_result',
      text,
      ...(all.length > 0 && { marks: all }),
      tokens: countTokens(text),
      ...(typeof record.toolUseResult === 'object' && record.toolUseResult !== null && { result: record.toolUseResult }),
      ...(block.is_error === true && { isError: true }),
    }),
    ...list.flatMap((part, place) =>
      parts[place] === null && isObject(part) ? { ...mediaEntry(part, common, partNumber(index, place), 'tool', marks, messageId), ...call } : [],
    ),
  ];
}

/** An image or another block that is not text. */
function mediaEntry(block: JsonObject, common: Common, index: number, role: Role, marks: readonly string[], messageId: string): ParsedEntry {
  const { source } = block;
  const data = stringAt(source, 'data');
  const mediaType = stringAt(source, 'media_type');
  const shared = { messageId, ...(marks.length > 0 && { marks }) };
  if (block.type === 'image' || block.type === 'document') {
    const isHeld = isObject(source) && source.type === 'base64' && data !== undefined && mediaType !== undefined;
    const image = isHeld ? { media: { mediaType, bytes: Buffer.from(data, 'base64') } } : { result: block };
    return make(common, index, role, { ...shared, kind: 'image', tokens: imageTokens, ...image });
  }
  return make(common, index, role, {
    ...shared,
    kind: 'event',
    toolName: typeof block.type === 'string' ? block.type : 'unknown',
    result: block,
    tokens: countTokens(JSON.stringify(block)),
  });
}

function assistantEntries(record: JsonObject, common: Common): readonly ParsedEntry[] {
  const content = readContent(record);
  const messageId = messageIdOf(record) ?? common.uuid;
  const model = stringAt(record.message, 'model');
  const shared = { messageId, ...(model !== undefined && { author: model }) };
  const hidden = record.isApiErrorMessage === true && (model === undefined || model === '<synthetic>');
  const error = hidden ? { isError: true, marks: ['hidden', 'api-error'] } : {};
  if (typeof content === 'string')
    return [make(common, 0, 'assistant', { ...shared, kind: 'text', text: content, tokens: hidden ? 0 : countTokens(content), ...error })];
  if (!Array.isArray(content)) return content === undefined || content === null ? [] : [unread(content, 'content', common, 0)];
  const seals = foreignSealsIn(record);
  return content.flatMap((block: unknown, index): readonly ParsedEntry[] => {
    if (!isObject(block)) return [unread(block, 'block', common, index)];
    if (isGap(block, content)) return [];
    const sealed = seals.get(index);
    const result = sealed && { result: sealed };
    switch (block.type) {
      case 'text': {
        const text = stringAt(block, 'text') ?? '';
        return [make(common, index, 'assistant', { ...shared, ...result, kind: 'text', text, tokens: hidden ? 0 : countTokens(text), ...error })];
      }
      case 'thinking': {
        const text = stringAt(block, 'thinking') ?? '';
        const signature = stringAt(block, 'signature') ?? '';
        const signed = signature !== '' && { marks: ['signed'], result: { signature, ...sealed } };
        return [make(common, index, 'assistant', { ...shared, kind: 'thinking', text, tokens: countTokens(text), ...result, ...signed })];
      }
      case 'redacted_thinking': {
        const data = stringAt(block, 'data') ?? '';
        return [make(common, index, 'assistant', { ...shared, kind: 'thinking', tokens: countTokens(data), marks: ['redacted'], result: { data } })];
      }
      case 'tool_use':
      case 'server_tool_use': {
        const call = called(stringAt(block, 'name') ?? '', stringAt(block, 'id'), block.input);
        const marks = block.type === 'server_tool_use' && { marks: ['server'] };
        return [make(common, index, 'assistant', { ...shared, ...call, ...result, ...marks })];
      }
      default:
        if (typeof block.type === 'string' && block.type.endsWith('_tool_result')) return [serverResult(block, common, index, messageId)];
        return [{ ...mediaEntry(block, common, index, 'assistant', ['hidden'], messageId), tokens: 0 }];
    }
  });
}

/** The signatures of other providers, by the position of the block. Stemma writes it beside the message. */
function foreignSealsIn(record: JsonObject): ReadonlyMap<number, Readonly<Record<string, string>>> {
  const seals = record[sealsField];
  if (!Array.isArray(seals)) return none;
  return new Map(
    seals.flatMap((seal: unknown) => {
      if (!isObject(seal) || typeof seal.block !== 'number') return [];
      const named = foreignSeals.flatMap((name): [string, string][] => (typeof seal[name] === 'string' ? [[name, seal[name] as string]] : []));
      return named.length > 0 ? [[seal.block, Object.fromEntries(named)] as const] : [];
    }),
  );
}
const none: ReadonlyMap<number, Readonly<Record<string, string>>> = new Map();

/** The result of a tool that the provider ran. It stands in the reply itself, such as an advisor's advice or the pages that a search found. */
function serverResult(block: JsonObject, common: Common, index: number, messageId: string): ParsedEntry {
  const text = readableIn(block.content).join('\n');
  const toolCallId = stringAt(block, 'tool_use_id');
  return make(common, index, 'assistant', {
    kind: 'event',
    toolName: stringAt(block, 'type') ?? '',
    text,
    result: block,
    tokens: countTokens(text),
    marks: ['server'],
    messageId,
    ...(toolCallId !== undefined && { toolCallId }),
  });
}

/** The texts, titles and addresses in a result, in order. */
function readableIn(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return content.flatMap(readableIn);
  if (!isObject(content)) return [];
  const own = ['title', 'url', 'text', 'stdout', 'stderr', 'error_code'].flatMap((name) => stringAt(content, name) || []);
  return [...own, ...(isObject(content.content) || Array.isArray(content.content) ? readableIn(content.content) : [])];
}

function systemEntries(record: JsonObject, common: Common): readonly ParsedEntry[] {
  const subtype = stringAt(record, 'subtype') ?? 'system';
  // A command that the agent ran itself is sent to the model with the next prompt, in both recorded forms.
  if (subtype === 'local_command') return [textEntry(record, common, 0, stringAt(record, 'content') ?? '', ['command'], common.uuid)];
  const error = subtype.includes('error') || subtype.includes('refusal');
  const text = stringAt(record, 'content') ?? stringAt(record.error, 'formatted') ?? stringAt(record.error, 'message') ?? subtype;
  return [
    make(common, 0, 'system', { kind: 'event', toolName: subtype, text, tokens: 0, marks: ['hidden', subtype], ...(error && { isError: true }) }),
  ];
}

function attachmentEntries(record: JsonObject, common: Common): readonly ParsedEntry[] {
  const type = stringAt(record.attachment, 'type') ?? 'attachment';
  const rendered = renderedOf(record);
  if (rendered === undefined) {
    const visible = isObject(record.attachment) && saysSomething.has(type);
    const marks = visible ? ['meta', 'attachment', type] : ['hidden', 'attachment', type];
    return [
      make(common, 0, 'system', { kind: 'event', toolName: type, text: type.replaceAll('_', ' '), arguments: record.attachment, tokens: 0, marks }),
    ];
  }
  const role: Role = type === 'queued_command' || record.renderedRole === 'user' ? 'user' : 'system';
  const marks = ['meta', 'attachment', type, ...(type === 'queued_command' ? ['queued'] : [])];
  return rendered.flatMap((text, index) =>
    text === '' ? [] : [make(common, index, role, { kind: 'text', toolName: type, text, tokens: countTokens(text), marks, messageId: common.uuid })],
  );
}

/** The earlier entries that the record blanks: old tool results, by a microcompaction or a replacement. */
export function elisionsOf(record: JsonObject): readonly Elision[] {
  if (record.type === 'system' && record.subtype === 'microcompact_boundary') {
    const metadata = isObject(record.microcompactMetadata) ? record.microcompactMetadata : record;
    const ids = Array.isArray(metadata.compactedToolIds) ? metadata.compactedToolIds.filter((id) => typeof id === 'string') : [];
    return ids.length > 0 ? [{ toolCallIds: ids, text: '[Old tool result content cleared]' }] : [];
  }
  if (record.type === 'content-replacement' && Array.isArray(record.replacements)) {
    return record.replacements.flatMap((one: unknown) => {
      const id = stringAt(one, 'toolUseId');
      const text = stringAt(one, 'replacement');
      return id !== undefined && text !== undefined ? [{ toolCallIds: [id], text }] : [];
    });
  }
  return [];
}
