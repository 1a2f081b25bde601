import { type ByteRange, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { Elision, ParsedEntry } from '../format.js';
import { answered, called, failed, type Numbered, pictured, placeDraft, said, summarized, thought, type UnplacedEntry } from '../shared/drafts.js';
import { queuedPrefix } from '../shared/keys.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { countTokens } from '../shared/tokens.js';
import { foreignSeals, messageIdOf, readContent, readTime, sealsField, syntheticModel, uuidOf } from './schema.js';
import { renderedOf, saysSomething } from './schema-attachments.js';

/** The entries of one record, in order. Progress of tools has none. A record of unknown type is an event. */
export function readEntries(record: JsonObject, raw: ByteRange): readonly ParsedEntry[] {
  const uuid = uuidOf(record);
  const [name, drafts] = uuid === undefined ? looseDrafts(record) : [uuid, draftsOf(record, uuid)];
  const at = readTime(record);
  return drafts.map(([number, draft]) => placeDraft(draft, `${name}.${number}`, { raw, at }));
}

function draftsOf(record: JsonObject, uuid: string): readonly Numbered[] {
  const type = typeof record.type === 'string' ? record.type : 'unknown';
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  return read?.(record, uuid) ?? [[0, unread(record, type)]];
}

/** The drafts of each type of record. */
const readers: Readonly<Record<string, (record: JsonObject, uuid: string) => readonly Numbered[]>> = {
  user: (record, uuid) => userDrafts(record, messageIdOf(record) ?? uuid),
  assistant: (record, uuid) => answerDrafts(record, messageIdOf(record) ?? uuid),
  system: (record, uuid) => [[0, systemDraft(record, uuid)]],
  attachment: attachmentDrafts,
  progress: () => [],
};

/** A prompt that was typed while the agent worked, and that the running turn took up, if the record says so. */
export function absorbedIn(record: JsonObject): string | undefined {
  const isAbsorbed = record.type === 'queue-operation' && record.operation === 'remove' && record.reason === 'absorbed_mid_turn';
  return (isAbsorbed && stringAt(record, 'content')) || undefined;
}

/** The name and the entry of a record without an id: a prompt that the running turn took up, or a link to another session. */
function looseDrafts(record: JsonObject): readonly [name: string, drafts: readonly Numbered[]] {
  const prompt = absorbedIn(record);
  if (prompt !== undefined) {
    const name = `${queuedPrefix}${stringAt(record, 'timestamp') ?? ''}`;
    return [name, [[0, said('user', prompt, { marks: ['queued'], messageId: name })]]];
  }
  const next = record.type === 'continued-in' ? stringAt(record, 'continuedInSessionId') : undefined;
  const parent = record.type === 'fork-context-ref' ? stringAt(record, 'parentSessionId') : undefined;
  const text = next !== undefined ? `continued in the session ${next}` : parent !== undefined ? `forked from the session ${parent}` : undefined;
  if (text === undefined) return ['', []];
  const type = record.type as string;
  return [`${type}-${next ?? stringAt(record, 'agentId') ?? parent ?? ''}`, [[0, unread(record, type, text)]]];
}

/** A record or a block that says nothing to the model or that this version of the format does not know, as an event that keeps the whole value. */
const unread = (value: unknown, type: string, text = type.replaceAll(/[_-]/g, ' ')): UnplacedEntry => ({
  role: 'system',
  kind: 'event',
  toolName: type,
  text,
  result: value,
  tokens: 0,
  marks: ['hidden', type],
});

/** Parts of a block (such as an image in a tool result) are numbered after all blocks, because a key consists of a record and a single number. */
const partsFrom = 100_000;
/** The block to which the number of a block or a part belongs. */
export const blockOfNumber = (number: number): number => number % partsFrom;

/** An empty text among other blocks. The agent drops it; write.ts writes it in place of a removed block. */
const isGap = (block: JsonObject, among: readonly unknown[]): boolean => block.type === 'text' && block.text === '' && among.length > 1;

/** The drafts of a content, which is a text or a list of blocks. */
function contentDrafts(content: unknown, read: (block: JsonObject, index: number) => readonly Numbered[]): readonly Numbered[] {
  if (typeof content === 'string') return read({ type: 'text', text: content }, 0);
  if (!Array.isArray(content)) return content === undefined || content === null ? [] : [[0, unread(content, 'content')]];
  return content.flatMap((block: unknown, index): readonly Numbered[] => {
    if (!isObject(block)) return [[index, unread(block, 'block')]];
    return isGap(block, content) ? [] : read(block, index);
  });
}

function userDrafts(record: JsonObject, messageId: string): readonly Numbered[] {
  const marks = record.isMeta === true ? ['meta'] : [];
  const shared = { messageId, ...(marks.length > 0 && { marks }) };
  return contentDrafts(readContent(record), (block, index) => {
    switch (block.type) {
      case 'text':
        return [[index, textDraft(record, stringAt(block, 'text') ?? '', marks, messageId)]];
      case 'tool_result':
        return resultDrafts(record, block, index, shared);
      default:
        return [[index, mediaDraft(block, 'user', shared)]];
    }
  });
}

function textDraft(record: JsonObject, text: string, given: readonly string[], messageId: string): UnplacedEntry {
  const command = /^\s*<(command-|local-command|bash-)/.test(text);
  const marks = command && !given.includes('command') ? [...given, 'command'] : given;
  const more = { messageId, ...(marks.length > 0 && { marks }) };
  return record.isCompactSummary === true ? summarized(text, more) : said('user', text, more);
}

type Shared = Pick<UnplacedEntry, 'messageId' | 'marks' | 'toolCallId'>;

function resultDrafts(record: JsonObject, block: JsonObject, index: number, shared: Shared): readonly Numbered[] {
  const toolCallId = stringAt(block, 'tool_use_id');
  const { content } = block;
  const list: readonly Json[] = Array.isArray(content) ? content : [];
  const parts = list.map((part) => (isObject(part) && part.type !== 'text' ? null : (stringAt(part, 'text') ?? '')));
  const marks = [...(shared.marks ?? []), ...partsMark(parts)];
  const whole = answered(toolCallId, typeof content === 'string' ? content : joinParts(parts), {
    ...shared,
    ...(marks.length > 0 && { marks }),
    ...(typeof record.toolUseResult === 'object' && record.toolUseResult !== null && { result: record.toolUseResult }),
    ...(block.is_error === true && { isError: true }),
  });
  const ofCall = { ...shared, ...(toolCallId !== undefined && { toolCallId }) };
  const others = list.flatMap((part, place): readonly Numbered[] =>
    parts[place] === null && isObject(part) ? [[(place + 1) * partsFrom + index, mediaDraft(part, 'tool', ofCall)]] : [],
  );
  return [[index, whole], ...others];
}

/** An image or another block that is not text. */
function mediaDraft(block: JsonObject, role: UnplacedEntry['role'], shared: Shared): UnplacedEntry {
  const { type, source } = block;
  if (type === 'image' || type === 'document') {
    const [base64, mediaType] = [stringAt(source, 'data'), stringAt(source, 'media_type')];
    const isHeld = isObject(source) && source.type === 'base64' && base64 !== undefined && mediaType !== undefined;
    return pictured(role, isHeld ? { mediaType, base64 } : { link: block }, shared);
  }
  const toolName = typeof type === 'string' ? type : 'unknown';
  return { role, kind: 'event', toolName, result: block, tokens: countTokens(JSON.stringify(block)), ...shared };
}

function answerDrafts(record: JsonObject, messageId: string): readonly Numbered[] {
  const content = readContent(record);
  const model = stringAt(record.message, 'model');
  const shared = { messageId, ...(model !== undefined && { author: model }) };
  const isFailed = record.isApiErrorMessage === true && (model === undefined || model === syntheticModel);
  const seals = typeof content === 'string' ? none : foreignSealsIn(record);
  return contentDrafts(content, (block, index) => {
    const sealed = seals.get(index);
    return [[index, answerDraft(block, { ...shared, ...(sealed && { result: sealed }) }, isFailed)]];
  });
}

/** The draft of a block. `more.result` is what other providers signed it with. */
function answerDraft(block: JsonObject, more: { messageId: string; author?: string; result?: Seal }, isFailed: boolean): UnplacedEntry {
  const { messageId, result: sealed } = more;
  switch (block.type) {
    case 'text': {
      const text = stringAt(block, 'text') ?? '';
      return isFailed ? failed(text, more) : said('assistant', text, more);
    }
    case 'thinking': {
      const signature = stringAt(block, 'signature') ?? '';
      const draft = thought(stringAt(block, 'thinking') ?? '', more);
      return signature === '' ? draft : { ...draft, marks: ['signed'], result: { signature, ...sealed } };
    }
    case 'redacted_thinking':
      return thought('', { ...more, data: stringAt(block, 'data') ?? '' });
    case 'tool_use':
    case 'server_tool_use': {
      const isServer = block.type === 'server_tool_use';
      return called(stringAt(block, 'name') ?? '', stringAt(block, 'id'), block.input, { ...more, ...(isServer && { marks: ['server'] }) });
    }
    default:
      if (typeof block.type === 'string' && block.type.endsWith('_tool_result')) return serverResult(block, messageId);
      return { ...mediaDraft(block, 'assistant', { messageId, marks: ['hidden'] }), tokens: 0 };
  }
}

/** The signatures of other providers, by the position of the block. Stemma writes it beside the message. */
function foreignSealsIn(record: JsonObject): ReadonlyMap<number, Seal> {
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
type Seal = Readonly<Record<string, string>>;
const none: ReadonlyMap<number, Seal> = new Map();

/** The result of a tool that the provider ran. It stands in the reply itself, such as an advisor's advice or the pages that a search found. */
function serverResult(block: JsonObject, messageId: string): UnplacedEntry {
  const text = readableIn(block.content).join('\n');
  const toolCallId = stringAt(block, 'tool_use_id');
  return {
    role: 'assistant',
    kind: 'event',
    toolName: stringAt(block, 'type') ?? '',
    text,
    result: block,
    tokens: countTokens(text),
    marks: ['server'],
    messageId,
    ...(toolCallId !== undefined && { toolCallId }),
  };
}

/** The texts, titles and addresses in a result, in order. */
function readableIn(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return content.flatMap(readableIn);
  if (!isObject(content)) return [];
  const own = ['title', 'url', 'text', 'stdout', 'stderr', 'error_code'].flatMap((name) => stringAt(content, name) || []);
  return [...own, ...(isObject(content.content) || Array.isArray(content.content) ? readableIn(content.content) : [])];
}

function systemDraft(record: JsonObject, uuid: string): UnplacedEntry {
  const subtype = stringAt(record, 'subtype') ?? 'system';
  // A command that the agent ran itself is sent to the model with the next prompt, in both recorded forms.
  if (subtype === 'local_command') return textDraft(record, stringAt(record, 'content') ?? '', ['command'], uuid);
  const isError = subtype.includes('error') || subtype.includes('refusal');
  const text = stringAt(record, 'content') ?? stringAt(record.error, 'formatted') ?? stringAt(record.error, 'message') ?? subtype;
  return { role: 'system', kind: 'event', toolName: subtype, text, tokens: 0, marks: ['hidden', subtype], ...(isError && { isError }) };
}

function attachmentDrafts(record: JsonObject, uuid: string): readonly Numbered[] {
  const { attachment } = record;
  const toolName = stringAt(attachment, 'type') ?? 'attachment';
  const rendered = renderedOf(record);
  if (rendered === undefined) {
    const marks = [isObject(attachment) && saysSomething.has(toolName) ? 'meta' : 'hidden', 'attachment', toolName];
    return [[0, { role: 'system', kind: 'event', toolName, text: toolName.replaceAll('_', ' '), arguments: attachment, tokens: 0, marks }]];
  }
  const isQueued = toolName === 'queued_command';
  const more = { toolName, marks: ['meta', 'attachment', toolName, ...(isQueued ? ['queued'] : [])], messageId: uuid };
  const role = isQueued || record.renderedRole === 'user' ? 'user' : 'system';
  return rendered.flatMap((text, index): readonly Numbered[] => (text === '' ? [] : [[index, said(role, text, more)]]));
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
