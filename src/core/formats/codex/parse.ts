import { isObject, type Json, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { Role } from '../../contract/index.js';
import type { ParsedEntry } from '../format.js';
import { answered, called, type Numbered, pictured, placeDraft, said, summarized, type UnplacedEntry } from '../shared/drafts.js';
import { parseShallow } from '../shared/jsonl.js';
import { keptMark } from '../shared/kept.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { countTokens } from '../shared/tokens.js';
import { endsSummary, isAnswer, isInjected, nameItem, type PlacedLine, type RolloutLine, readTexts, type Sort, saidIn, turnOf } from './schema.js';

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

  const itemEntries = (item: JsonObject, { raw, at, metadata }: PlacedLine, summary?: string): readonly ParsedEntry[] => {
    const record = nameFor(item, summary === undefined ? at : undefined);
    const sampled = metadata?.sampled_through_sequence;
    if (!isAnswer(item)) answer = undefined;
    else if (answer === undefined || answer.sampled !== sampled) answer = { id: record, sampled };
    // A snapshot of the files is no message.
    const messageId = item.type === 'ghost_snapshot' ? undefined : (answer?.id ?? record);
    const made = draftsOf(item, failed).map(([number, draft]) => placeDraft(draft, `${record}.${number}`, { messageId, raw, at }));
    if (summary !== undefined)
      return made.map((entry) =>
        isSummary(entry, summary) ? { ...entry, kind: 'summary' } : { ...entry, marks: [...(entry.marks ?? []), keptMark] },
      );
    const isCompactions = metadata?.compaction_output === true || becameSummary.has(item);
    return isCompactions ? made.map((entry) => ({ ...entry, tokens: 0, marks: [...(entry.marks ?? []), 'hidden', 'compaction'] })) : made;
  };

  const compactionEntries = (line: PlacedLine): readonly ParsedEntry[] => {
    const { payload, at, raw } = line;
    const { replacement_history: history } = payload;
    const summary = stringAt(payload, 'message') ?? '';
    answer = undefined;
    if (Array.isArray(history))
      return history.flatMap((item: unknown) => (isObject(item) ? itemEntries(item, { ...line, metadata: undefined }, summary) : []));
    if (summary === '') return [];
    const messageId = nameFor({ type: 'compacted', message: summary });
    return [placeDraft(summarized(summary), `${messageId}.0`, { messageId, raw, at })];
  };

  const eventEntries = ({ payload, at, raw }: PlacedLine): readonly ParsedEntry[] => {
    const type = stringAt(payload, 'type') ?? '';
    const id = stringAt(payload, 'id');
    if (type === 'agent_reasoning' && id !== undefined) {
      answer ??= { id, sampled: undefined };
      return [placeDraft(unsealedThought(payload), `${unique(id)}.0`, { messageId: answer.id, raw, at })];
    }
    if (type === 'token_count' && isObject(payload.info)) answer = undefined;
    if (!shownEvents.has(type)) return [];
    const text = stringAt(payload, 'message') ?? stringAt(payload, 'reason') ?? type.replaceAll('_', ' ');
    const isError = type.includes('error') && { isError: true };
    const record = nameFor({ type, at: at ?? null, text });
    const draft: UnplacedEntry = { role: 'system', kind: 'event', toolName: type, text, tokens: 0, marks: ['hidden', type], ...isError };
    return [placeDraft(draft, `${record}.0`, { raw, at })];
  };

  const lineEntries: Partial<Record<Sort, (line: PlacedLine) => readonly ParsedEntry[]>> = {
    meta: (line) => instructionsOf(line, unique),
    item: (line) => itemEntries(line.payload, line),
    compacted: compactionEntries,
    event: eventEntries,
  };
  return lines.flatMap((line) => {
    turn = turnOf(line) ?? turn;
    return lineEntries[line.sort]?.(line) ?? [];
  });
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
function unsealedThought(event: JsonObject): UnplacedEntry {
  const text = stringAt(event, 'text') ?? '';
  const marks = Array.isArray(event.marks) ? event.marks.filter((mark) => typeof mark === 'string') : [];
  return {
    role: 'assistant',
    kind: 'thinking',
    ...(text !== '' && { text }),
    tokens: countTokens(text),
    ...(isObject(event.result) && { result: event.result }),
    ...(marks.length > 0 && { marks }),
  };
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

/** The agent's own instructions, with which every call begins and which no item repeats. */
function instructionsOf({ payload, at, raw }: PlacedLine, unique: (name: string) => string): readonly ParsedEntry[] {
  const id = stringAt(payload, 'id');
  const text = stringAt(payload.base_instructions, 'text') ?? stringAt(payload, 'base_instructions') ?? stringAt(payload, 'instructions');
  if (id === undefined || text === undefined || text === '') return [];
  const draft: UnplacedEntry = { role: 'system', kind: 'text', text, tokens: 0, marks: ['hidden', 'system_prompt'] };
  return [placeDraft(draft, `${unique(`${id}#instructions`)}.0`, { raw, at })];
}

type Reader = (item: JsonObject, failed: ReadonlySet<string>) => readonly Numbered[];

/** The drafts of each type of item. `failed` are the calls that failed. */
const readers: Readonly<Record<string, Reader>> = {
  message: (item) => messageDrafts(item),
  agent_message: (item) => messageDrafts({ ...item, role: 'user' }, stringAt(item, 'author')),
  function_call: functionCall,
  custom_tool_call: (item) => call(item, stringAt(item, 'name') ?? '', { input: stringAt(item, 'input') ?? '' }, 'custom'),
  local_shell_call: (item) => call(item, 'local_shell', item.action ?? {}, 'local_shell'),
  web_search_call: (item) => call(item, 'web_search', item.action ?? {}, 'server'),
  tool_search_call: (item) => call(item, 'tool_search', item.arguments ?? {}, 'tool_search'),
  function_call_output: (item, failed) => outputDrafts(item, failed, []),
  mcp_tool_call_output: (item, failed) => outputDrafts(item, failed, []),
  custom_tool_call_output: (item, failed) => outputDrafts(item, failed, ['custom']),
  tool_search_output: (item, failed) => outputDrafts(item, failed, ['tool_search']),
  reasoning: (item) => [[0, thought(item)]],
  image_generation_call: (item) => [[0, generated(item)]],
  compaction: sealedSummary,
  compaction_summary: sealedSummary,
  context_compaction: sealedSummary,
  ghost_snapshot: (item) => [[0, event(item, { text: 'ghost snapshot', tokens: 0, marks: ['hidden', 'ghost_snapshot'] })]],
};

function draftsOf(item: JsonObject, failed: ReadonlySet<string>): readonly Numbered[] {
  const type = stringAt(item, 'type') ?? '';
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  return read?.(item, failed) ?? [[0, event(item)]];
}

/** An item, or a part of one, that is none of a conversation. */
const event = (value: JsonObject, more: Partial<UnplacedEntry> = {}): UnplacedEntry => ({
  role: 'system',
  kind: 'event',
  toolName: stringAt(value, 'type') || 'unknown',
  result: value,
  tokens: countItem(value),
  ...more,
});

function sealedSummary(item: JsonObject): readonly Numbered[] {
  return [[0, { role: 'user', kind: 'summary', text: '', result: item, tokens: countItem(item), marks: ['redacted'] }]];
}

function functionCall(item: JsonObject): readonly Numbered[] {
  const [name, text] = [stringAt(item, 'name') ?? '', stringAt(item, 'arguments') ?? ''];
  const value = parseShallow(text);
  return isObject(value) ? call(item, name, value) : call(item, name, { input: text }, 'unparsed');
}

const countItem = (item: JsonObject): number => countTokens(JSON.stringify(item));
const roles: Readonly<Record<string, Role>> = { assistant: 'assistant', developer: 'system', system: 'system' };

function messageDrafts(item: JsonObject, author?: string): readonly Numbered[] {
  const given = stringAt(item, 'role') ?? 'user';
  const role = Object.hasOwn(roles, given) ? (roles[given] as Role) : 'user';
  const { content } = item;
  const from = author !== undefined && { author };
  return (Array.isArray(content) ? content : [content]).flatMap((part: unknown, index): readonly Numbered[] => {
    const [text] = readTexts([part]);
    if (typeof text !== 'string') return isObject(part) ? [[index, { ...mediaDraft(part, role), ...from }]] : [];
    if (part !== null && text === '' && Array.isArray(content) && content.length > 1) return [];
    const isMeta = role === 'system' || (role === 'user' && isInjected(item, index, text));
    const draft = said(role, text, { ...from, ...(isMeta && { marks: ['meta', ...(given === 'developer' ? ['developer'] : [])] }) });
    return [[index, item.summary === true ? { ...draft, kind: 'summary' } : draft]];
  });
}

/** An image, or another part that is not text. */
function mediaDraft(part: JsonObject, role: Role): UnplacedEntry {
  const type = stringAt(part, 'type') ?? 'unknown';
  if (type !== 'input_image' && type !== 'output_image') return { ...event(part), role, toolName: type };
  const url = stringAt(part, 'image_url') ?? stringAt(part.image_url, 'url') ?? '';
  const [, mediaType, base64] = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]*)$/.exec(url) ?? [];
  return pictured(role, mediaType !== undefined && base64 !== undefined ? { mediaType, base64 } : { link: part });
}

function thought(item: JsonObject): UnplacedEntry {
  const list = (key: string): readonly string[] => readTexts(item[key]).flatMap((text) => text ?? []);
  const text = [...list('summary'), ...list('content')].join('\n\n');
  const sealed = stringAt(item, 'encrypted_content');
  const others = [item.summary, item.content].flatMap((list) => (Array.isArray(list) ? list.filter((part) => readTexts([part])[0] === null) : []));
  const kept = { ...(sealed !== undefined && { encrypted_content: sealed }), ...(others.length > 0 && { parts: others }) };
  return {
    role: 'assistant',
    kind: 'thinking',
    ...(text !== '' && { text }),
    tokens: countTokens(text),
    ...(Object.keys(kept).length > 0 && { result: kept }),
    ...(sealed !== undefined && { marks: [text === '' ? 'redacted' : 'signed'] }),
  };
}

function call(item: JsonObject, toolName: string, input: Json, mark?: string): readonly Numbered[] {
  const id = stringAt(item, 'call_id') ?? (mark === 'server' ? stringAt(item, 'id') : undefined);
  return [[0, called(toolName, id, input, mark === undefined ? {} : { marks: [mark] })]];
}

function outputDrafts(item: JsonObject, failed: ReadonlySet<string>, own: readonly string[]): readonly Numbered[] {
  const toolCallId = stringAt(item, 'call_id');
  const output = item.output ?? item.tools ?? '';
  const list = Array.isArray(output) && item.output !== undefined ? output : undefined;
  const parts = list ? readTexts(list) : [];
  const text = list ? joinParts(parts) : plainText(output);
  const marks = [...partsMark(parts), ...own];
  const isError = (toolCallId !== undefined && failed.has(toolCallId)) || item.is_error === true || hasFailed(text);
  const others = (list ?? []).flatMap((part: unknown, index): readonly Numbered[] => {
    if (parts[index] !== null || !isObject(part)) return [];
    return [[index + 1, { ...mediaDraft(part, 'tool'), ...(toolCallId !== undefined && { toolCallId }) }]];
  });
  return [[0, answered(toolCallId, text, { ...(marks.length > 0 && { marks }), ...(isError && { isError }) })], ...others];
}

const plainText = (output: Json): string =>
  typeof output === 'string' ? output : (stringAt(output, 'content') ?? stringAt(output, 'text') ?? JSON.stringify(output));

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

function generated(item: JsonObject): UnplacedEntry {
  const base64 = stringAt(item, 'result');
  const isImage = base64 !== undefined && base64.length > 64 && /^[A-Za-z0-9+/=\s]+$/.test(base64);
  const more = { toolName: 'image_generation', text: stringAt(item, 'revised_prompt') ?? '' };
  return pictured('assistant', isImage ? { mediaType: 'image/png', base64 } : { link: item }, more);
}
