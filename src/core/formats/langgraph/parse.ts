import { type ByteRange, defined, type EntryKey, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { ParsedEntry } from '../format.js';
import { answered, called, dataUrl, pictured, placeDraft, said, thought, type UnplacedEntry } from '../shared/drafts.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { type CheckpointLine, readMessage, readTime } from './schema.js';

/** LangChain's summarizing middleware marks the message that replaces older ones with this. */
export const summarized = 'summarization';

/** The entries of the messages that a checkpoint added, in order. A line that Stemma wrote names their keys. */
export function readEntries(line: CheckpointLine, raw: ByteRange): readonly ParsedEntry[] {
  const at = readTime(line);
  const keys = Array.isArray(line.keys) ? line.keys : [];
  const drafts = line.messages.flatMap((message, place) => draftEntries(message).map((draft) => [place, draft] as const));
  return drafts.map(([place, draft], number) => {
    const key = keys[number];
    const id = stringAt(readMessage(line.messages[place])?.fields, 'id');
    const messageId = id ?? `${line.checkpoint}-${place}`;
    return placeDraft(draft, typeof key === 'string' && key !== '' ? key : `${line.checkpoint}.${number}`, { messageId, raw, at });
  });
}

function draftEntries(message: Json): readonly UnplacedEntry[] {
  const read = readMessage(message);
  if (!read) return [{ role: 'system', kind: 'event', toolName: 'message', result: message, tokens: 0, marks: ['hidden', 'unread'] }];
  const { kind, fields } = read;
  const name = stringAt(fields, 'name');
  switch (kind) {
    case 'human': {
      const isSummary = stringAt(fields.additional_kwargs, 'lc_source') === summarized;
      const author = name !== undefined && { author: name };
      return readBlocks(fields).map((block): UnplacedEntry => {
        const draft = blockDraft(block, 'user');
        return isSummary && draft.kind === 'text' ? { ...draft, kind: 'summary' } : { ...draft, ...author };
      });
    }
    case 'system':
      return readBlocks(fields).map((block) => blockDraft(block, 'system'));
    case 'tool':
      return resultDrafts(fields);
    case 'ai':
      return answerDrafts(fields);
  }
}

const readBlocks = ({ content }: JsonObject): readonly Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content.map(asBlock) : [];
const asBlock = (block: Json): Json => (typeof block === 'string' ? { type: 'text', text: block } : block);

function blockDraft(block: Json, role: 'user' | 'system' | 'tool'): UnplacedEntry {
  const text = stringAt(block, 'text');
  if (text !== undefined && isObject(block) && (block.type === 'text' || block.type === undefined)) return said(role, text);
  const media = mediaIn(block);
  if (media || (isObject(block) && /image|file|audio|video|media/.test(stringAt(block, 'type') ?? '')))
    return pictured(role, media ?? { link: block });
  return { role, kind: 'event', toolName: stringAt(block, 'type') ?? 'block', result: block, tokens: 0 };
}

/** The base64 content of a block, in LangChain's spellings and those of the providers. */
function mediaIn(block: Json): ReturnType<typeof dataUrl> {
  if (!isObject(block)) return undefined;
  const link = stringAt(block.image_url, 'url') ?? (typeof block.image_url === 'string' ? block.image_url : (stringAt(block, 'url') ?? ''));
  const inline = dataUrl(link);
  if (inline) return inline;
  const held: Json = isObject(block.source) ? block.source : block;
  const base64 = stringAt(held, 'data') ?? stringAt(held, 'base64');
  const mediaType = stringAt(held, 'media_type') ?? stringAt(held, 'mime_type') ?? stringAt(held, 'mimeType');
  return base64 !== undefined && mediaType !== undefined ? { mediaType, base64 } : undefined;
}

function answerDrafts(fields: JsonObject): readonly UnplacedEntry[] {
  const model = readModel(fields);
  const calls = new Map<string, UnplacedEntry>();
  const unnamed: UnplacedEntry[] = [];
  const [valid, invalid] = [fields.tool_calls, fields.invalid_tool_calls].map((list) => (Array.isArray(list) ? list : [])) as [Json[], Json[]];
  for (const [at, call] of [...valid, ...invalid].entries()) {
    const id = stringAt(call, 'id');
    const made = called(stringAt(call, 'name') ?? '', id, isObject(call) ? call.args : undefined);
    // The arguments of an invalid call are the text that the model wrote, because it is no JSON.
    const draft: UnplacedEntry = at < valid.length ? made : { ...made, marks: ['unparsed'] };
    if (id === undefined || calls.has(id)) unnamed.push(draft);
    else calls.set(id, draft);
  }
  const listed = new Set(calls.keys());
  const blocks = readBlocks(fields).flatMap((block): UnplacedEntry[] => {
    const type = stringAt(block, 'type');
    if (type === 'tool_use' || type === 'tool_call') {
      // The list of calls repeats it. It is read once, at its position in the content.
      const id = stringAt(block, 'id');
      const named = id === undefined ? undefined : calls.get(id);
      if (id !== undefined) calls.delete(id);
      if (named) return [named];
      // Calls that the list does not repeat are only here.
      const isRepeated = id === undefined ? unnamed.length > 0 : listed.has(id);
      return isRepeated ? [] : [called(stringAt(block, 'name') ?? '', id, isObject(block) ? (block.input ?? block.args) : undefined)];
    }
    const only = stringAt(block, 'text') === '' && (calls.size > 0 || unnamed.length > 0);
    return only ? [] : [answerBlock(block, type)];
  });
  const whole = [...blocks, ...calls.values(), ...unnamed];
  return whole.map((draft) => (model === undefined ? draft : { ...draft, author: model }));
}

/** The name of the model that answered, where the message holds it. */
export const readModel = ({ response_metadata: about }: JsonObject): string | undefined =>
  stringAt(about, 'model_name') ?? stringAt(about, 'model') ?? stringAt(about, 'model_id');

function answerBlock(block: Json, type: string | undefined): UnplacedEntry {
  switch (type) {
    case 'text':
      return said('assistant', stringAt(block, 'text') ?? '');
    case 'thinking':
    case 'reasoning':
      return thought(stringAt(block, 'thinking') ?? stringAt(block, 'reasoning') ?? '', { signature: stringAt(block, 'signature') });
    case 'redacted_thinking':
      return thought('', { data: stringAt(block, 'data') ?? '' });
    default: {
      const media = mediaIn(block);
      return media ? pictured('assistant', media) : { role: 'assistant', kind: 'event', toolName: type ?? 'block', result: block, tokens: 0 };
    }
  }
}

function resultDrafts(fields: JsonObject): readonly UnplacedEntry[] {
  const toolCallId = stringAt(fields, 'tool_call_id');
  const call = toolCallId !== undefined && { toolCallId };
  const blocks = readBlocks(fields);
  const parts = blocks.map((block) => (isObject(block) && block.type === 'text' ? (stringAt(block, 'text') ?? '') : null));
  const text = joinParts(parts);
  const marks = Array.isArray(fields.content) ? partsMark(parts) : [];
  const whole = answered(toolCallId, text, {
    ...defined({ toolName: stringAt(fields, 'name'), result: fields.artifact ?? undefined }),
    ...(fields.status === 'error' && { isError: true }),
    ...(marks.length > 0 && { marks }),
  });
  const others = blocks.flatMap((block, place): UnplacedEntry[] => (parts[place] === null ? [{ ...blockDraft(block, 'tool'), ...call }] : []));
  return [whole, ...others];
}

const stopNames: Readonly<Record<string, string>> = { __interrupt__: 'interrupt', __resume__: 'resume', __error__: 'error' };

/** A question or error that a run left where it stopped. People see it, the model does not. */
export function stopEntry(record: JsonObject, number: number, raw: ByteRange): ParsedEntry {
  const name = stopNames[String(record.write)] ?? 'write';
  const value = Array.isArray(record.value) && isObject(record.value[0]) && 'value' in record.value[0] ? record.value[0].value : record.value;
  return {
    key: `${String(record.of)}-${String(record.task)}-${name}.${number}` as EntryKey,
    role: 'system',
    kind: 'event',
    toolName: name,
    text: typeof value === 'string' ? value : JSON.stringify(value ?? null),
    result: record.value ?? null,
    tokens: 0,
    marks: ['hidden', name],
    raw,
    ...(name === 'error' ? { isError: true } : {}),
  };
}
