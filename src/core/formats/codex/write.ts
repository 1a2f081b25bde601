import { badRequest, type EntryKey, isObject, type JsonObject } from '../../base/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { base64Of, dataUrlOf, namer } from '../shared/groups.js';
import { cutAt, encodeLines } from '../shared/jsonl.js';
import { isKept } from '../shared/kept.js';
import { inPlace, splitKey } from '../shared/keys.js';
import { resultContent } from '../shared/result-parts.js';
import { readItems } from './parse.js';
import { placedLines, readLine, scanLines, sentItem } from './schema.js';

/** Writes rollout lines. Entries of one item, by key, stay together. A summary and its kept messages become the replacing history. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const items = makeItems(entries, options);
  const lines: object[] = [];
  for (let at = 0; at < items.length; ) {
    const end = endOfCompaction(items, at);
    const group = items.slice(at, Math.max(end, at + 1)) as [Item, ...Item[]];
    const line = end > at ? compactionOf(group) : lineFor(group[0]);
    lines.push({ timestamp: group[0].entries[0].at ?? options.now, ...line });
    at += group.length;
  }
  return encodeLines(lines);
}

/** The entries as items of the Responses API, without ids, which the provider assigns, and without calls that a provider answered itself. */
export function writeItems(entries: readonly WritableEntry[], options: WriteOptions): JsonObject[] {
  const isOthers = ({ kind, toolName, marks }: WritableEntry): boolean =>
    kind === 'tool_call' && toolName !== 'web_search' && (marks?.includes('server') ?? false);
  const asked = entries.filter((entry) => entry.kind !== 'event' && !entry.marks?.includes('hidden') && !isOthers(entry));
  // A search for tools is sent as any other call: its own output holds descriptions of tools that no entry has.
  const sent = asked.map((entry) => (entry.marks?.includes('tool_search') ? { ...entry, marks: [] } : entry));
  return makeItems(sent, options).flatMap((item): JsonObject[] => {
    // The provider accepts thinking only with its own seal.
    if (item.entries[0].kind === 'thinking' && sealedIn(item.entries[0]) === undefined) return [];
    const { id: _, content, is_error: __, ...rest } = sentItem(itemFor(item) as JsonObject);
    return [{ ...rest, ...(content !== undefined && content !== null && { content }) }];
  });
}

interface Item {
  readonly name: string;
  readonly entries: [WritableEntry, ...WritableEntry[]];
}

function makeItems(entries: readonly WritableEntry[], options: WriteOptions): Item[] {
  const nameFor = namer(options.newId);
  const items: Item[] = [];
  for (const entry of entries) {
    const last = items.at(-1);
    if (last && isSameItem(last, entry)) last.entries.push(entry);
    else items.push({ name: nameFor(splitKey(entry.key)?.name), entries: [entry] });
  }
  return items;
}

/** The end of the compaction that begins here: a summary with its kept messages, before or after it. Else the given position. */
function endOfCompaction(items: readonly Item[], from: number): number {
  let at = from;
  let hasSummary = false;
  for (; at < items.length; at++) {
    const [entry] = (items[at] as Item).entries;
    if (entry.kind === 'summary' && !hasSummary) hasSummary = true;
    else if (!isKept(entry)) break;
  }
  return hasSummary ? at : from;
}

function isSameItem({ name, entries }: Item, next: WritableEntry): boolean {
  const [first] = entries;
  if (first.kind === 'tool_result')
    return next.role === 'tool' && next.kind !== 'tool_result' && (next.toolCallId === undefined || next.toolCallId === first.toolCallId);
  if (!isMessagePart(first) || !isMessagePart(next) || next.role !== first.role || first.kind === 'summary' || next.kind === 'summary') return false;
  const [before, after] = [splitKey(entries.at(-1)?.key), splitKey(next.key)];
  return after !== undefined && before !== undefined && name === after.name && before.name === name && after.number > before.number;
}

const isMessagePart = ({ role, kind, toolName }: WritableEntry): boolean =>
  role !== 'tool' &&
  (kind === 'text' || kind === 'summary' || (kind === 'image' && toolName !== 'image_generation') || (kind === 'event' && role !== 'system'));

function lineFor(item: Item): object {
  const { name, entries } = item;
  const [entry] = entries;
  if (entry.kind === 'thinking' && sealedIn(entry) === undefined)
    // The provider accepts thinking only with its own seal, so this goes to the screen only.
    return {
      type: 'event_msg',
      payload: {
        type: 'agent_reasoning',
        id: name,
        text: entry.text ?? '',
        ...(isObject(entry.result) && { result: entry.result }),
        ...(entry.marks?.length && { marks: entry.marks }),
      },
    };
  if (entry.kind === 'event' && entry.role === 'system' && !isObject(entry.result))
    return { type: 'event_msg', payload: { type: entry.toolName ?? 'warning', message: entry.text ?? '' } };
  return { type: 'response_item', payload: itemFor(item) };
}

const compactionOf = (items: readonly Item[]): object => ({
  type: 'compacted',
  payload: {
    message: items.find(({ entries: [{ kind }] }) => kind === 'summary')?.entries[0].text ?? '',
    replacement_history: items.map(itemFor),
  },
});

const sealedIn = ({ result }: WritableEntry): string | undefined =>
  isObject(result) && typeof result.encrypted_content === 'string' ? result.encrypted_content : undefined;

function itemFor({ name: id, entries: group }: Item): object {
  const [entry] = group;
  const callId = entry.toolCallId ?? id;
  switch (entry.kind) {
    case 'thinking':
      return {
        type: 'reasoning',
        id,
        summary: entry.text ? [{ type: 'summary_text', text: entry.text }] : [],
        content: null,
        encrypted_content: sealedIn(entry),
      };
    case 'tool_call':
      return callItem(entry, id, callId);
    case 'tool_result':
      return {
        type: entry.marks?.includes('custom') ? 'custom_tool_call_output' : 'function_call_output',
        id,
        call_id: callId,
        output: resultContent(
          entry,
          group.slice(1).map((part) => mediaPart(part, 'user')),
          (text) => textPart('user', text),
        ),
        ...(entry.isError && { is_error: true }),
      };
    case 'image':
      return entry.toolName === 'image_generation' ? imageItem(entry, id) : messageItem(group, id);
    case 'event':
      if (entry.role === 'system' && isObject(entry.result)) return { ...entry.result, ...(entry.result.id !== undefined && { id }) };
      return messageItem(group, id);
    case 'summary':
      return isObject(entry.result) && sealedIn(entry) !== undefined ? { ...entry.result, id } : messageItem(group, id);
    case 'text':
      return messageItem(group, id);
  }
}

function callItem(entry: WritableEntry, id: string, callId: string): object {
  const said = entry.arguments ?? {};
  const text = isObject(said) && typeof said.input === 'string' ? said.input : JSON.stringify(said);
  if (entry.marks?.includes('custom'))
    return { type: 'custom_tool_call', id, status: 'completed', call_id: callId, name: entry.toolName ?? '', input: text };
  if (entry.marks?.includes('local_shell')) return { type: 'local_shell_call', id, call_id: callId, status: 'completed', action: said };
  if (entry.marks?.includes('tool_search')) return { type: 'tool_search_call', id, call_id: callId, status: 'completed', arguments: said };
  if (entry.marks?.includes('server') && entry.toolName === 'web_search') return { type: 'web_search_call', id, status: 'completed', action: said };
  const asSaid = entry.marks?.includes('unparsed') ? text : JSON.stringify(said);
  return { type: 'function_call', id, name: entry.toolName ?? '', arguments: asSaid, call_id: callId };
}

function imageItem(entry: WritableEntry, id: string): object {
  if (!entry.media && isObject(entry.result)) return { ...entry.result, id };
  return {
    type: 'image_generation_call',
    id,
    status: 'completed',
    revised_prompt: entry.text ?? '',
    result: entry.media ? base64Of(entry.media) : '',
  };
}

function messageItem(group: readonly WritableEntry[], id: string): object {
  const entry = group[0] as WritableEntry;
  const role = entry.role === 'system' ? 'developer' : entry.role === 'assistant' ? 'assistant' : 'user';
  const write = (part: WritableEntry): object =>
    part.kind === 'text' || part.kind === 'summary' ? textPart(role, part.text ?? '') : mediaPart(part, role);
  const content = inPlace(group, ({ key }) => splitKey(key)?.number ?? 0, write, textPart(role, ''));
  const own = entry.role === 'user' && entry.marks?.includes('meta') ? { content_item_kinds: content.map(() => 'stemma.injected') } : undefined;
  return { type: 'message', id, role, content, ...(own && { internal_chat_message_metadata_passthrough: own }) };
}

const textPart = (role: string, text: string): object => ({ type: role === 'assistant' ? 'output_text' : 'input_text', text });

/** Parts of other providers' messages would make this provider refuse the whole history. */
const ownParts = /^(input|output)_|^encrypted_content$/;

function mediaPart(entry: WritableEntry, role: string): object {
  if (entry.media) return { type: 'input_image', image_url: dataUrlOf(entry.media) };
  const { result } = entry;
  if (isObject(result) && typeof result.type === 'string' && ownParts.test(result.type)) return result;
  const url = isObject(result) && isObject(result.source) ? result.source.url : undefined;
  return typeof url === 'string' ? { type: 'input_image', image_url: url } : textPart(role, entry.text ?? `[${entry.kind}]`);
}

/** The delta up to the entry. An item or a list with more parts is written again without them. @throws BAD_REQUEST if no such entry exists. */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const { pieces } = scanLines(delta);
  const entries = readItems(placedLines(pieces));
  const at = entries.findIndex(({ key }) => key === lastKept);
  const entry = entries[at];
  if (!entry?.raw) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
  const { raw } = entry;
  const isLast = entries[at + 1]?.raw?.start !== raw.start;
  const whole = delta.slice(0, raw.end);
  const line = pieces.find(({ record, range }) => record && range.start === raw.start)?.record;
  if (isLast || !line) return whole;
  const kept = entries.slice(0, at + 1).filter((one) => one.raw?.start === raw.start).length;
  return cutAt(delta, raw, shorten(line, splitKey(lastKept), kept));
}

function shorten(record: JsonObject, key: ReturnType<typeof splitKey>, kept: number): JsonObject | undefined {
  const payload = isObject(record.payload) ? record.payload : undefined;
  const put = (item: JsonObject): JsonObject => (payload ? { ...record, payload: item } : item);
  const item = payload ?? record;
  if (Array.isArray(item.replacement_history)) return put({ ...item, replacement_history: historyUpTo(item.replacement_history, kept) });
  if (key === undefined) return undefined;
  if (item.type === 'message' && Array.isArray(item.content)) return put({ ...item, content: item.content.slice(0, key.number + 1) });
  return Array.isArray(item.output) ? put({ ...item, output: item.output.slice(0, Math.max(1, key.number)) }) : undefined;
}

/** The first items of a compaction's history that hold this many entries. */
function historyUpTo(history: readonly unknown[], entries: number): JsonObject['list'] {
  const kept: JsonObject[] = [];
  let left = entries;
  for (const item of history) {
    if (left <= 0) break;
    if (!isObject(item)) continue;
    const count = readItems([{ ...readLine({ type: 'response_item', payload: item }), raw: { start: 0, end: 0 } }]).length;
    const isCut = count > left && Array.isArray(item.content);
    kept.push(isCut && Array.isArray(item.content) ? { ...item, content: item.content.slice(0, left) } : item);
    left -= count;
  }
  return kept;
}
