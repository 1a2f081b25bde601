// requests/runtimes/pi: model calls in pi's sessions: system prompt, tools and messages, in the words of the provider that answered.
// Records become messages by the rules of pi 1.5.2. Parameters, cache marks and the requests for summaries are not recorded.
// An answer of a provider other than Anthropic's kind is rebuilt from entries.
import { isObject, type Json, type JsonObject, stringAt } from '../../../base/index.js';
import { piSummary, piUsage, textParts } from '../../../formats/index.js';
import { callBlock, mediaBlocks, type SentBlock, type SentEntry, type SentMessage, signedBlocks, textBlocks, viaOf } from '../blocks.js';
import { bodyInWords, fromEntries } from '../from-entries.js';
import { type CallPlace, type CallReader, type Delta, lineOf, recordId, type Stated, unknownUsage } from '../runtime.js';

const anthropic = 'anthropic-messages';

export const pi: CallReader = {
  ...fromEntries,
  format: 'pi-v1',
  source: 'pi',
  proof: 'recorded',
  startsAnswer: (entry, last) => last === undefined || recordId(entry.key) !== recordId(last.key),
  // White space alone is not sent.
  isListed: ({ role, kind, head }) => role !== 'system' && !(kind === 'text' && head === undefined),
  startsMessage: (entry, begun) =>
    begun === undefined || (entry.role === 'tool' ? begun.role !== 'tool' : recordId(entry.key) !== recordId(begun.key)),
  // The runtime adds results for interrupted calls to the message of results, or in a message of their own.
  unanswered: (calls, answered) => (calls > 0 && answered === 0 ? 1 : 0),
  answer({ bytes, entries }, at) {
    const record = lineOf(bytes, entries[at]?.raw);
    const message = isObject(record) && isObject(record.message) ? record.message : {};
    return {
      model: stringAt(message, 'model') ?? null,
      usage: piUsage(message) ?? unknownUsage,
      ...(stringAt(message, 'api') !== anthropic && { isRebuilt: true }),
    };
  },
  body(call) {
    const own = call.deltas().at(-1);
    const first = own?.entries.find(({ key }) => key === call.replyKey);
    const via = first && viaOf(first);
    if (!via?.startsWith(`${anthropic}/`)) return bodyInWords(call, via?.startsWith('openai-completions/') ? 'openai' : 'anthropic');
    const { model } = call.answer;
    const { text, tools } = systemIn(inContext(call));
    return {
      provider: 'anthropic',
      body: {
        ...(model !== null && { model }),
        ...(text !== undefined && { system: [{ type: 'text', text }] }),
        ...(tools.length > 0 && { tools: tools.map(toolInWords) }),
        messages: sentMessages(call.entries(), (entry) => viaOf(entry) === via && entry.author === model) as unknown as readonly Json[],
      },
      missing: [
        ...(model === null ? ['model'] : []),
        ...(text === undefined ? ['system'] : []),
        ...(tools.length === 0 ? ['tools'] : []),
        'cache_control',
        'parameters',
      ],
    };
  },
  stated(delta): Stated | undefined {
    const { text, tools } = systemIn([delta]);
    if (text === undefined && tools.length === 0) return undefined;
    return { ...(text !== undefined && { system: text }), ...(tools.length > 0 && { tools: tools.map(toolInWords) }) };
  },
  besides(delta, before): Stated | undefined {
    const { tools, removed } = systemIn([delta]);
    const all = new Map(toolList(before?.tools).map((tool) => [tool.name, tool as JsonObject] as const));
    for (const name of removed) all.delete(name);
    for (const tool of tools) all.set(tool.name, toolInWords(tool));
    return { tools: [...all.values()] };
  },
};

/** The deltas that state the system prompt and tools: those of the context, or all earlier ones if these state nothing. */
function inContext({ deltas, earlier }: CallPlace): readonly Delta[] {
  const context = deltas();
  return context.some(hasSystem) ? context : [...[...earlier()].toReversed(), ...context];
}

const isSystem = ({ role, marks }: SentEntry): boolean => role === 'system' && (marks === undefined || marks.includes('tools'));
const hasSystem = ({ entries, end }: Delta): boolean => entries.some((entry) => isSystem(entry) && (entry.raw?.start ?? 0) < end);

interface Tool extends JsonObject {
  readonly name: string;
}

/** The records of a delta that set the system prompt and the tools, each once. */
function* systemMessagesOf({ entries, bytes, end }: Delta): Generator<JsonObject> {
  const ranges = new Map(entries.flatMap((entry) => (isSystem(entry) && entry.raw && entry.raw.start < end ? [[entry.raw.start, entry.raw]] : [])));
  for (const raw of ranges.values()) {
    const record = lineOf(bytes, raw);
    if (!isObject(record)) continue;
    const message = isObject(record.systemMessage) ? record.systemMessage : record.message;
    if (isObject(message)) yield message;
  }
}

/** System prompt and tools at the end of the deltas. Later records change sections and tools by name. */
function systemIn(deltas: readonly Delta[]): {
  readonly text: string | undefined;
  readonly tools: readonly Tool[];
  readonly removed: readonly string[];
} {
  const contents: string[] = [];
  const sections = new Map<string, string>();
  const tools = new Map<string, Tool>();
  const removed = new Set<string>();
  for (const delta of deltas)
    for (const message of systemMessagesOf(delta)) {
      if (typeof message.content === 'string' && message.content !== '') contents.push(message.content);
      for (const [name, section] of Object.entries(isObject(message.sections) ? message.sections : {}))
        if (typeof section === 'string') sections.set(name, section);
        else sections.delete(name);
      for (const { name } of toolList(message.toolsRemoved)) {
        tools.delete(name);
        removed.add(name);
      }
      for (const tool of toolList(message.toolsAdded)) tools.set(tool.name, tool);
    }
  const text = [...contents, ...sections.values()].filter((part) => part !== '').join('\n\n');
  return { text: text === '' ? undefined : text, tools: [...tools.values()], removed: [...removed] };
}

const toolList = (tools: Json | undefined): readonly Tool[] =>
  Array.isArray(tools) ? tools.filter((tool): tool is Tool => isObject(tool) && typeof tool.name === 'string') : [];

/** A tool in the form of the Messages API, with the part of its schema that the API supports. */
function toolInWords({ name, description, parameters }: Tool): JsonObject {
  const schema = isObject(parameters) ? parameters : {};
  const definitions = Object.fromEntries(['$defs', 'definitions'].flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])));
  return {
    name,
    ...(description !== undefined && { description }),
    eager_input_streaming: true,
    input_schema: { type: 'object', properties: schema.properties ?? {}, required: schema.required ?? [], ...definitions } as JsonObject,
  };
}

/** The messages in the order sent. `isOwn` tells whether the called model gave an answer. Thinking of other models is not sent. */
function sentMessages(entries: readonly SentEntry[], isOwn: (entry: SentEntry) => boolean): SentMessage[] {
  const messages: SentMessage[] = [];
  const open = new Map<string, SentBlock>();
  let results: SentBlock[] = [];
  const flush = (): void => {
    const lost = [...open.keys()].map((id): SentBlock => ({ type: 'tool_result', tool_use_id: id, content: 'No result provided', is_error: true }));
    const isResult = ({ type }: SentBlock): boolean => type === 'tool_result';
    const content = [...results.filter(isResult), ...lost, ...results.filter((block) => !isResult(block))];
    if (content.length > 0) messages.push({ role: 'user', content });
    results = [];
    open.clear();
  };
  for (const group of byRecord(entries.filter(({ role }) => role !== 'system'))) {
    const [{ role, toolCallId }] = group;
    if (role === 'tool') {
      results.push(...resultBlocks(group));
      if (toolCallId !== undefined) open.delete(toolCallId);
      continue;
    }
    flush();
    const content = group.flatMap((entry) => (role === 'assistant' ? answerBlocks(entry, isOwn(entry)) : userBlocks(entry)));
    if (content.length === 0) continue;
    messages.push({ role: role === 'assistant' ? 'assistant' : 'user', content });
    for (const block of content) if (block.type === 'tool_use') open.set(String(block.id), block);
  }
  flush();
  return messages;
}

function byRecord(entries: readonly SentEntry[]): [SentEntry, ...SentEntry[]][] {
  const groups: [SentEntry, ...SentEntry[]][] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    if (last && recordId(last[0].key) === recordId(entry.key)) last.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

const userBlocks = (entry: SentEntry): SentBlock[] =>
  entry.kind === 'image' ? imageBlocks(entry) : textBlocks(entry.kind === 'summary' ? piSummary('compaction', entry.text ?? '') : entry.text);

/** The agent sends every kind of media as an image. */
const imageBlocks = (entry: SentEntry): SentBlock[] => mediaBlocks(entry).map((block) => ({ ...block, type: 'image' }));

function answerBlocks(entry: SentEntry, isOwn: boolean): SentBlock[] {
  const { kind, text } = entry;
  if (kind === 'tool_call') return [callBlock(entry)];
  if (kind === 'text') return textBlocks(text);
  if (kind !== 'thinking' || !isOwn) return [];
  const signed = signedBlocks(entry);
  return signed.length > 0 ? signed : textBlocks(text);
}

/** A result with its images. Those of a failed call go after all results, with a line that names their call. */
function resultBlocks([entry, ...images]: [SentEntry, ...SentEntry[]]): SentBlock[] {
  const { toolCallId = '', toolName = '', isError = false } = entry;
  const block = (content: Json): SentBlock => ({ type: 'tool_result', tool_use_id: toolCallId, content, is_error: isError });
  if (images.length === 0) return [block(entry.text ?? '')];
  const pending = images.flatMap(imageBlocks);
  const parts = textParts(entry) ?? [entry.text ?? '', ...pending.map(() => null)];
  if (isError) {
    const texts = parts.map((part) => part ?? '(image attached after the tool results)');
    const distinct = texts.filter((_, at) => parts[at] !== null || at === 0 || parts[at - 1] !== null);
    return [block(distinct.join('\n')), { type: 'text', text: `Images from the error result of tool call ${toolCallId} (${toolName}):` }, ...pending];
  }
  const blocks = parts.flatMap((part): SentBlock[] => (part === null ? pending.splice(0, 1) : [{ type: 'text', text: part }]));
  return [
    block((blocks.some(({ type }) => type === 'text') ? blocks : [{ type: 'text', text: '(see attached image)' }, ...blocks]) as readonly Json[]),
  ];
}
