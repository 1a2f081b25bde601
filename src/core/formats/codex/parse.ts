import { type ByteRange, type EntryKey, isObject, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { Role } from '../../contract/index.js';
import type { Mutable, ParsedEntry } from '../format.js';
import { parseShallow } from '../shared/jsonl.js';
import { keptMark } from '../shared/kept.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { countTokens, imageTokens } from '../shared/tokens.js';
import { endsSummary, isAnswer, isInjected, nameItem, type PlacedLine, type RolloutLine, readTexts, saidIn, turnOf } from './schema.js';

/** The entries of the lines of a delta, in order. The name and message of an item depend on the lines before it. */
export function readItems(lines: readonly PlacedLine[]): ParsedEntry[] {
  const failed = new Set(lines.flatMap(failedCallsOf));
  const becameSummary = answersEndingInSummaries(lines);
  const named = new Map<string, number>();
  let turn = '';
  let answer: { readonly id: string; readonly sampled: unknown } | undefined;

  /** Items with the same name in one delta (publishers remove ids) are numbered. */
  const unique = (name: string): string => {
    const count = named.get(name) ?? 0;
    named.set(name, count + 1);
    return count === 0 ? name : `${name}~${count}`;
  };
  const nameFor = (item: JsonObject, at?: Timestamp): string => unique(nameItem(item, turn, at).name);

  const itemEntries = (item: JsonObject, { raw, at, metadata, summary }: Place): readonly ParsedEntry[] => {
    const record = nameFor(item, summary === undefined ? at : undefined);
    const sampled = metadata?.sampled_through_sequence;
    if (!isAnswer(item)) answer = undefined;
    else if (answer === undefined || answer.sampled !== sampled) answer = { id: record, sampled };
    const made = entriesIn(item, { record, raw, at, messageId: answer?.id ?? record, failed });
    if (summary !== undefined)
      return made.map((entry) =>
        isSummary(entry, summary) ? { ...entry, kind: 'summary' } : { ...entry, marks: [...(entry.marks ?? []), keptMark] },
      );
    const isCompactions = metadata?.compaction_output === true || becameSummary.has(item);
    return isCompactions ? made.map((entry) => ({ ...entry, tokens: 0, marks: [...(entry.marks ?? []), 'hidden', 'compaction'] })) : made;
  };

  const compactionEntries = ({ payload, at, raw }: PlacedLine): readonly ParsedEntry[] => {
    const { replacement_history: history } = payload;
    const summary = stringAt(payload, 'message') ?? '';
    answer = undefined;
    if (Array.isArray(history)) return history.flatMap((item: unknown) => (isObject(item) ? itemEntries(item, { raw, at, summary }) : []));
    if (summary === '') return [];
    const record = nameFor({ type: 'compacted', message: summary });
    return [make({ record, raw, at }, 0, 'user', { kind: 'summary', text: summary, tokens: countTokens(summary), messageId: record })];
  };

  const eventEntries = ({ payload, at, raw }: PlacedLine): readonly ParsedEntry[] => {
    const type = stringAt(payload, 'type') ?? '';
    const id = stringAt(payload, 'id');
    if (type === 'agent_reasoning' && id !== undefined) {
      answer ??= { id, sampled: undefined };
      return [unsealedThought(payload, { record: unique(id), raw, at }, answer.id)];
    }
    if (type === 'token_count' && isObject(payload.info)) answer = undefined;
    if (!shownEvents.has(type)) return [];
    const text = stringAt(payload, 'message') ?? stringAt(payload, 'reason') ?? type.replaceAll('_', ' ');
    const marks = ['hidden', type];
    const isError = type.includes('error');
    const record = nameFor({ type, at: at ?? null, text });
    return [make({ record, raw, at }, 0, 'system', { kind: 'event', toolName: type, text, tokens: 0, marks, ...(isError && { isError }) })];
  };

  const lineEntries = (line: PlacedLine): readonly ParsedEntry[] => {
    turn = turnOf(line) ?? turn;
    switch (line.sort) {
      case 'meta':
        return instructionsOf(line, unique);
      case 'item':
        return itemEntries(line.payload, line);
      case 'compacted':
        return compactionEntries(line);
      case 'event':
        return eventEntries(line);
      case 'context':
      case 'other':
        return [];
    }
  };
  return lines.flatMap(lineEntries);
}

const isSummary = ({ kind, role, text }: ParsedEntry, summary: string): boolean =>
  kind === 'text' && role === 'user' && text === summary && summary !== '';

/** The answers of the calls that made compactions. Each is directly before its compaction and equals the end of its summary. */
function answersEndingInSummaries(lines: readonly RolloutLine[]): ReadonlySet<JsonObject> {
  const found = new Set<JsonObject>();
  let last: JsonObject | undefined;
  for (const { sort, payload } of lines) {
    if (sort === 'item') last = payload;
    else if (sort === 'compacted') {
      if (last && endsSummary(saidIn(last), stringAt(payload, 'message') ?? '')) found.add(last);
      last = undefined;
    }
  }
  return found;
}

/** Thinking that only the screen shows. Stemma writes it if it has no sealed thinking that the provider would accept. */
function unsealedThought(event: JsonObject, place: Common, messageId: string): ParsedEntry {
  const text = stringAt(event, 'text') ?? '';
  const marks = Array.isArray(event.marks) ? event.marks.filter((mark) => typeof mark === 'string') : [];
  return make(place, 0, 'assistant', {
    kind: 'thinking',
    ...(text !== '' && { text }),
    tokens: countTokens(text),
    messageId,
    ...(isObject(event.result) && { result: event.result }),
    ...(marks.length > 0 && { marks }),
  });
}

interface Place {
  readonly raw: ByteRange;
  readonly at: Timestamp | undefined;
  readonly metadata?: JsonObject | undefined;
  /** The summary of the compaction that contains the item. */
  readonly summary?: string;
}

/** Events whose content no item holds. */
const shownEvents: ReadonlySet<string> = new Set([
  'error',
  'stream_error',
  'warning',
  'turn_aborted',
  'entered_review_mode',
  'exited_review_mode',
  'undo_completed',
]);

interface Common {
  readonly record: string;
  readonly raw: ByteRange;
  readonly at: Timestamp | undefined;
}

function make({ record, raw, at }: Common, index: number, role: Role, rest: Omit<ParsedEntry, 'key' | 'role' | 'raw' | 'at'>): ParsedEntry {
  const entry: Mutable<ParsedEntry> = { ...rest, key: `${record}.${index}` as EntryKey, role, raw };
  if (at !== undefined) entry.at = at;
  return entry;
}

/** The agent's own instructions, with which every call begins and which no item repeats. */
function instructionsOf({ payload, at, raw }: PlacedLine, unique: (name: string) => string): readonly ParsedEntry[] {
  const id = stringAt(payload, 'id');
  const text = stringAt(payload.base_instructions, 'text') ?? stringAt(payload, 'base_instructions') ?? stringAt(payload, 'instructions');
  if (id === undefined || text === undefined || text === '') return [];
  const marks = ['hidden', 'system_prompt'];
  return [make({ record: unique(`${id}#instructions`), raw, at }, 0, 'system', { kind: 'text', text, tokens: 0, marks })];
}

type ItemPlace = Common & { readonly messageId: string; readonly failed: ReadonlySet<string> };

function entriesIn(item: JsonObject, place: ItemPlace): readonly ParsedEntry[] {
  const type = stringAt(item, 'type') ?? '';
  const { messageId } = place;
  switch (type) {
    case 'message':
      return messageEntries(item, place);
    case 'reasoning':
      return [thought(item, place)];
    case 'function_call':
      return [call(item, place, stringAt(item, 'name') ?? '', argumentsOf(stringAt(item, 'arguments')))];
    case 'custom_tool_call':
      return [call(item, place, stringAt(item, 'name') ?? '', { arguments: { input: stringAt(item, 'input') ?? '' }, marks: ['custom'] })];
    case 'local_shell_call':
      return [call(item, place, 'local_shell', { arguments: item.action ?? {}, marks: ['local_shell'] })];
    case 'web_search_call':
      return [call(item, place, 'web_search', { arguments: item.action ?? {}, marks: ['server'] })];
    case 'tool_search_call':
      return [call(item, place, 'tool_search', { arguments: item.arguments ?? {}, marks: ['tool_search'] })];
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'mcp_tool_call_output':
    case 'tool_search_output':
      return outputEntries(item, place);
    case 'image_generation_call':
      return [generated(item, place)];
    case 'agent_message':
      return messageEntries({ ...item, role: 'user' }, place, stringAt(item, 'author'));
    case 'compaction':
    case 'compaction_summary':
    case 'context_compaction':
      return [make(place, 0, 'user', { kind: 'summary', text: '', result: item, tokens: countItem(item), marks: ['redacted'], messageId })];
    case 'ghost_snapshot':
      return [make(place, 0, 'system', { kind: 'event', toolName: type, text: 'ghost snapshot', result: item, tokens: 0, marks: ['hidden', type] })];
    default:
      return [make(place, 0, 'system', { kind: 'event', toolName: type || 'unknown', result: item, tokens: countItem(item), messageId })];
  }
}

const countItem = (item: JsonObject): number => countTokens(JSON.stringify(item));
const roles: Readonly<Record<string, Role>> = { assistant: 'assistant', developer: 'system', system: 'system' };

function messageEntries(item: JsonObject, place: ItemPlace, author?: string): readonly ParsedEntry[] {
  const given = stringAt(item, 'role') ?? 'user';
  const role = Object.hasOwn(roles, given) ? (roles[given] as Role) : 'user';
  const { content } = item;
  const shared = { messageId: place.messageId, ...(author !== undefined && { author }) };
  return (Array.isArray(content) ? content : [content]).flatMap((part: unknown, index): readonly ParsedEntry[] => {
    const [text] = readTexts([part]);
    if (typeof text !== 'string') return isObject(part) ? [{ ...mediaEntry(part, place, index, role), ...shared }] : [];
    if (part !== null && text === '' && Array.isArray(content) && content.length > 1) return [];
    const meta = role === 'system' || (role === 'user' && isInjected(item, index, text));
    const marks = meta && { marks: ['meta', ...(given === 'developer' ? ['developer'] : [])] };
    return [make(place, index, role, { ...shared, kind: item.summary === true ? 'summary' : 'text', text, tokens: countTokens(text), ...marks })];
  });
}

/** An image, or another part that is not text. */
function mediaEntry(part: JsonObject, place: Common, index: number, role: Role): ParsedEntry {
  const type = stringAt(part, 'type') ?? 'unknown';
  const url = stringAt(part, 'image_url') ?? stringAt(part.image_url, 'url');
  if (type !== 'input_image' && type !== 'output_image')
    return make(place, index, role, { kind: 'event', toolName: type, result: part, tokens: countTokens(JSON.stringify(part)) });
  const [, mediaType, data] = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]*)$/.exec(url ?? '') ?? [];
  const media = mediaType !== undefined && data !== undefined ? { mediaType, bytes: Buffer.from(data, 'base64') } : undefined;
  return make(place, index, role, { kind: 'image', tokens: imageTokens, ...(media ? { media } : { result: part }) });
}

function thought(item: JsonObject, place: ItemPlace): ParsedEntry {
  const list = (key: string): readonly string[] => readTexts(item[key]).flatMap((text) => text ?? []);
  const text = [...list('summary'), ...list('content')].join('\n\n');
  const sealed = stringAt(item, 'encrypted_content');
  const others = [item.summary, item.content].flatMap((list) => (Array.isArray(list) ? list.filter((part) => readTexts([part])[0] === null) : []));
  const kept = { ...(sealed !== undefined && { encrypted_content: sealed }), ...(others.length > 0 && { parts: others }) };
  return make(place, 0, 'assistant', {
    kind: 'thinking',
    ...(text !== '' && { text }),
    tokens: countTokens(text),
    messageId: place.messageId,
    ...(Object.keys(kept).length > 0 && { result: kept }),
    ...(sealed !== undefined && { marks: [text === '' ? 'redacted' : 'signed'] }),
  });
}

const argumentsOf = (text: string | undefined): Said => {
  const value = parseShallow(text ?? '');
  return isObject(value) ? { arguments: value } : { arguments: { input: text ?? '' }, marks: ['unparsed'] };
};

interface Said {
  readonly arguments: unknown;
  readonly marks?: readonly string[];
}

function call(item: JsonObject, place: ItemPlace, toolName: string, said: Said): ParsedEntry {
  const toolCallId = stringAt(item, 'call_id') ?? (said.marks?.includes('server') ? stringAt(item, 'id') : undefined);
  return make(place, 0, 'assistant', {
    kind: 'tool_call',
    toolName,
    ...(toolCallId !== undefined && { toolCallId }),
    ...said,
    tokens: countTokens(toolName) + countTokens(JSON.stringify(said.arguments)),
    messageId: place.messageId,
  });
}

function outputEntries(item: JsonObject, place: ItemPlace): readonly ParsedEntry[] {
  const toolCallId = stringAt(item, 'call_id');
  const output = item.output ?? item.tools ?? '';
  const shared = { messageId: place.messageId, ...(toolCallId !== undefined && { toolCallId }) };
  const list = Array.isArray(output) && item.output !== undefined ? output : undefined;
  const parts = list ? readTexts(list) : [];
  const text = list
    ? joinParts(parts)
    : typeof output === 'string'
      ? output
      : (stringAt(output, 'content') ?? stringAt(output, 'text') ?? JSON.stringify(output));
  const marks = [
    ...partsMark(parts),
    ...(item.type === 'custom_tool_call_output' ? ['custom'] : item.type === 'tool_search_output' ? ['tool_search'] : []),
  ];
  const isError = (toolCallId !== undefined && place.failed.has(toolCallId)) || item.is_error === true || hasFailed(text);
  const others = (list ?? []).flatMap((part: unknown, index) =>
    parts[index] === null && isObject(part) ? [{ ...mediaEntry(part, place, index + 1, 'tool'), ...shared }] : [],
  );
  return [
    make(place, 0, 'tool', {
      ...shared,
      kind: 'tool_result',
      text,
      ...(marks.length > 0 && { marks }),
      tokens: countTokens(text),
      ...(isError && { isError }),
    }),
    ...others,
  ];
}

function hasFailed(text: string): boolean {
  const code =
    /^(?:Chunk ID:.*\n)?(?:Exit code: |Wall time:.*\nProcess exited with code )(-?\d+)/.exec(text)?.[1] ??
    /"exit_code":\s*(-?\d+)[,}]/.exec(text.startsWith('{"output"') ? text.slice(-400) : '')?.[1];
  if (code !== undefined) return code !== '0';
  return text.startsWith('failed in sandbox') || text.startsWith('exec_command failed') || text.startsWith('apply_patch verification failed');
}

function failedCallsOf({ sort, payload }: RolloutLine): readonly string[] {
  if (sort !== 'event') return [];
  const item = isObject(payload.item) ? payload.item : payload;
  const id = stringAt(item, 'call_id') ?? (item === payload ? undefined : stringAt(item, 'id'));
  const failed = (typeof item.exit_code === 'number' && item.exit_code !== 0) || item.success === false || item.status === 'failed';
  return id !== undefined && failed ? [id] : [];
}

function generated(item: JsonObject, place: ItemPlace): ParsedEntry {
  const data = stringAt(item, 'result');
  const isImage = data !== undefined && data.length > 64 && /^[A-Za-z0-9+/=\s]+$/.test(data);
  return make(place, 0, 'assistant', {
    kind: 'image',
    toolName: 'image_generation',
    text: stringAt(item, 'revised_prompt') ?? '',
    ...(isImage ? { media: { mediaType: 'image/png', bytes: Buffer.from(data, 'base64') } } : { result: item }),
    tokens: imageTokens,
    messageId: place.messageId,
  });
}
