import { defined, type Json, type JsonObject } from '../../base/index.js';
import type { CardContent, Kind } from '../../contract/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { splitKey } from '../shared/keys.js';
import type { CardLine } from './schema.js';

/** Writes entries as cards. A text and its calls from one card become one card again. Keys are in the card's id if they fit. */
export function cardsOfEntries(entries: readonly WritableEntry[], options: WriteOptions): CardLine[] {
  const used = new Set<string>();
  return groupEntries(entries).map((group) => {
    const [first] = group as [WritableEntry, ...WritableEntry[]];
    const key = splitKey(first.key);
    const fits = key !== undefined && key.number === 0 && !used.has(key.name) && key.name.length <= 200;
    const cardId = fits ? key.name : options.newId().replaceAll('-', '');
    used.add(cardId);
    const keys = group.map((entry, index) => entry.key ?? `${cardId}.${index}`);
    return {
      cardId,
      ...cardFields(first, group),
      createdAt: first.at ?? options.now,
      ...(keys.some((each, index) => each !== `${cardId}.${index}`) && { entryKeys: keys }),
    };
  });
}

/** Groups the entries of one record: a text and the calls made with it. */
function groupEntries(entries: readonly WritableEntry[]): WritableEntry[][] {
  const groups: WritableEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const record = splitKey(entry.key)?.name;
    const joins = entry.kind === 'tool_call' && first?.role === 'assistant' && record !== undefined && record === splitKey(first.key)?.name;
    if (group && joins && ['text', 'thinking', 'tool_call'].includes(first?.kind ?? '')) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function cardFields(first: WritableEntry, group: readonly WritableEntry[]): Omit<CardLine, 'cardId'> {
  const calls = group.filter((entry) => entry.kind === 'tool_call');
  const author = first.author ?? first.role;
  const marks: JsonObject = {
    ...(first.marks?.length && { marks: [...first.marks] }),
    // A card is a separate message unless another record says otherwise.
    ...(splitKey(first.key)?.name !== first.messageId && defined({ message_id: first.messageId })),
  };
  if (calls.length > 0 && (group.length > 1 || calls.length > 1 || first.kind !== 'tool_call'))
    return {
      content: { kind: 'text', text: first.kind === 'tool_call' ? '' : (first.text ?? '') },
      toolCalls: calls.map(wireCall),
      metadata: { type: 'agent.thought', role: 'assistant', ...keptKind(first.kind), ...keptResult(first), ...marks },
      authorId: author,
    };
  const type = cardType(first);
  return {
    content: writeContent(first),
    ...defined({ toolCallId: first.toolCallId }),
    metadata: {
      type,
      role: first.role,
      ...keptKind(first.kind),
      ...keptResult(first),
      ...(first.kind === 'tool_result' && first.toolName !== undefined && { function_name: first.toolName }),
      ...marks,
    },
    authorId: author,
  };
}

/** The kind is stored if the card's type does not imply it. */
const keptKind = (kind: Kind): JsonObject => (['thinking', 'summary', 'image', 'event'].includes(kind) ? { entry_kind: kind } : {});

/** What an agent stores beside a text: a signature, the data of a result. A result without text becomes the card's content. */
const keptResult = ({ kind, text, result }: WritableEntry): JsonObject =>
  result === undefined || (kind === 'tool_result' && text === undefined) ? {} : { entry_result: result as Json };

const wireCall = (entry: WritableEntry): JsonObject => ({
  ...(entry.toolCallId !== undefined && { id: entry.toolCallId }),
  type: 'function',
  function: { name: entry.toolName ?? 'unknown', ...(entry.arguments !== undefined && { arguments: JSON.stringify(entry.arguments) }) },
});

function cardType(entry: WritableEntry): string {
  if (entry.kind === 'tool_call') return 'tool.call';
  if (entry.kind === 'tool_result') return 'tool.result';
  // Not `sys.rendered_prompt`: that type records a call and is never sent.
  if (entry.kind === 'summary' || entry.kind === 'image' || entry.role === 'system') return 'task.context';
  return entry.role === 'assistant' ? 'agent.thought' : 'task.instruction';
}

function writeContent(entry: WritableEntry): CardContent {
  if (entry.kind === 'tool_call') return { kind: 'json', data: { tool_name: entry.toolName ?? 'unknown', arguments: entry.arguments ?? {} } };
  if (entry.kind === 'tool_result')
    return {
      kind: 'json',
      data: entry.isError
        ? { status: 'failed', result: entry.text ?? '', error: { code: 'tool_error', message: entry.text || 'the tool failed and said nothing' } }
        : { status: 'success', result: entry.text ?? entry.result ?? null },
    };
  if (entry.kind === 'image' && entry.media)
    return { kind: 'json', data: { media_type: entry.media.mediaType, data: Buffer.from(entry.media.bytes).toString('base64') } };
  return { kind: 'text', text: entry.text ?? '' };
}
