import { decodeText, defined, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import { digest } from '../digest.js';
import type { DocumentReader, TokenUsage } from '../format.js';
import { blockDraft, readBlocks } from '../shared/anthropic-blocks.js';
import type { RecordRole, TreeRecord } from '../shared/branches.js';
import { failed, type Numbered, objectsIn, said, summarized, type UnplacedEntry, usageIn, withUsage } from '../shared/drafts.js';
import { isDeep } from '../shared/jsonl.js';
import { startedWith } from '../shared/keys.js';
import { hasMembers } from '../shared/top-members.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';

export const formatId = 'cline-v1';

/** Whether a text begins as a document of Cline: it has a version, a time, and names its session or what it compacts. */
const isSession = (text: string): boolean =>
  hasMembers(text, { version: /^\d+$/, updated_at: /^\d{4}-/ }) &&
  ['agent', 'conversation_id', 'sessionId', 'source_message_count'].some((name) => hasMembers(text, { [name]: /./ }));
/** A task folder is recognized by its file name, because other programs could have written the same list of messages. */
const inTask = /^(.*[/\\]|)(api_conversation_history|ui_messages|task_metadata)\.json$/;

/** The documents of Cline. Cline writes the whole document at every change. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head, path = '') => {
    const text = decodeText(head);
    return isSession(text) || (inTask.exec(path)?.[2] === 'api_conversation_history' && /^\s*\[/.test(text));
  },
  together(path) {
    const task = inTask.exec(path)?.[1];
    if (task !== undefined) return { main: `${task}api_conversation_history.json`, others: [`${task}ui_messages.json`, `${task}task_metadata.json`] };
    const name = /^(.*?)(?:\.messages|\.compaction)?\.json$/.exec(path)?.[1];
    return name === undefined ? undefined : { main: `${name}.messages.json`, others: [`${name}.compaction.json`, `${name}.json`] };
  },
  members(bytes, path = '', beside = new Map<string, Uint8Array>()) {
    const value = parseJson(decodeText(bytes));
    if (isDeep(value)) return undefined;
    const documents = [...beside.values()].map((other) => parseJson(decodeText(other)) ?? null).filter((other) => !isDeep(other));
    if (Array.isArray(value)) return [taskOf(objectsIn(value), documents, path)];
    if (!isObject(value) || !Array.isArray(value.messages)) return undefined;
    const compaction = documents.find((other): other is JsonObject => isObject(other) && Array.isArray(other.messages));
    const about = documents.find((other): other is JsonObject => isObject(other) && typeof other.session_id === 'string');
    const placed = compaction && compactionIn(value, compaction);
    return [readSession(value, about, placed), ...(compaction && !placed ? [readSession(compaction)] : [])];
  },
};

/** The last compaction of a session, which still has all messages, and its place among them. Undefined if the documents differ. */
function compactionIn(session: JsonObject, compaction: JsonObject) {
  const [summary, ...others] = objectsIn(compaction.messages);
  const { source_message_count: at } = compaction;
  const before = typeof at === 'number' ? objectsIn(session.messages).slice(0, at) : [];
  if (!summary || !isSummary(summary) || typeof at !== 'number' || before.length !== at) return undefined;
  const ids = new Set(before.map(({ id }) => id));
  if (!others.every(({ id }) => typeof id === 'string' && ids.has(id))) return undefined;
  const kept = others.map(({ id }) => id as string);
  const id = `compaction-${digest(JSON.stringify(summary))}`;
  const wrapped: Wrapped = { id, record: { ...summary, kept }, at: isObject(summary.metadata) ? summary.metadata.generatedAt : undefined };
  return { at, wrapped };
}

/** The messages before a compaction that it keeps, and the system prompt, which every request has. */
export function keptBy(message: JsonObject, before: readonly TreeRecord[]): readonly TreeRecord[] {
  const kept = new Set(Array.isArray(message.kept) ? message.kept : []);
  const recordOf = ({ piece }: TreeRecord): Json | undefined => piece.record?.record;
  // A later compaction can have left out more.
  const replacing = new Set([message, ...before.map(recordOf)].flatMap((one) => (isObject(one) ? [one.condenseId, one.truncationId] : [])));
  const isSent = (record: Json | undefined): boolean =>
    isObject(record) && ![record.condenseParent, record.truncationParent].some((id) => id !== undefined && replacing.has(id));
  return before.filter((one) =>
    kindOf(message) === undefined ? isSent(recordOf(one)) : one.part === 'lead' || kept.has(one.name.slice(one.name.indexOf(':') + 1)),
  );
}

/** A session, with the facts that Cline's list of sessions has about it. */
function readSession(value: JsonObject, listed?: JsonObject, placed?: ReturnType<typeof compactionIn>) {
  const id = stringAt(value, 'sessionId') ?? stringAt(value, 'conversation_id') ?? 'session';
  const isCompaction = value.source_message_count !== undefined || objectsIn(value.messages)[0]?.id === undefined;
  const system = stringAt(value, 'system_prompt');
  const { origin } = value;
  const agent = value.agent === 'subagent' || stringAt(origin, 'mode') === 'subagent' ? 'agent' : undefined;
  const messages = objectsIn(value.messages).map(
    (message, at): Wrapped => ({ id: stringAt(message, 'id') ?? nameByContent(message, at), record: message, at: message.ts }),
  );
  const records: Wrapped[] = [
    ...(system ? [{ id: `system-${digest(system)}`, record: { role: 'system', content: system } }] : []),
    ...(placed ? messages.toSpliced(placed.at, 0, placed.wrapped) : messages),
  ];
  const own = isCompaction ? `${id}-compaction` : id;
  const title = stringAt(listed?.metadata, 'title');
  const cwd = stringAt(listed, 'cwd');
  const startedIn = agent === undefined ? undefined : stringAt(origin, 'parentThreadId');
  const about = { sessionId: own, ...defined({ agent, title, cwd, startedIn }) };
  return { id: own, lines: () => wrapLines(formatId, own, about, records), ...defined({ title, cwd }) };
}

/** Adds the counts, models and times of calls from the other documents of the folder. Requests whose answers were removed are not counted. */
function withCalls(messages: readonly JsonObject[], documents: readonly Json[]): readonly JsonObject[] {
  const shown = objectsIn(documents.find(Array.isArray));
  const models = objectsIn(documents.find(isObject)?.model_usage);
  const requests = shown.filter(({ say }) => say === 'api_req_started');
  // An answer with a time belongs to the last request before it. One without a time belongs to the next request.
  let number = 0;
  return messages.map((message): JsonObject => {
    const time = Number(message.ts);
    while (message.role === 'assistant' && Number(requests[number + 1]?.ts) <= time) number += 1;
    const request = requests[number];
    if (!request || Number(request.ts) > time || isSummary(message)) return message;
    const { ts } = request;
    const timed: JsonObject = { ...(ts !== undefined && { ts }), ...message };
    if (message.role !== 'assistant') return timed;
    number += 1;
    const model = models.findLast((one) => typeof one.ts === 'number' && typeof ts === 'number' && one.ts <= ts)?.model_id;
    const modelInfo = request.modelInfo ?? (model === undefined ? {} : { id: model });
    return { modelInfo, metrics: requestCounts(parseJson(stringAt(request, 'text') ?? '')), ...timed };
  });
}

/** The counts of a request. Roo Code, which names the protocol, includes cached tokens in the input; Cline does not. */
function requestCounts(request: Json | undefined): JsonObject {
  if (!isObject(request) || request.tokensIn === undefined) return {};
  const { tokensIn: input, tokensOut: outputTokens, cacheReads: cacheReadTokens = 0, cacheWrites: cacheWriteTokens = 0, apiProtocol } = request;
  const parts = apiProtocol === undefined ? [input, cacheReadTokens, cacheWriteTokens] : [input];
  const inputTokens = parts.every((part) => typeof part === 'number') ? parts.reduce((sum, part) => sum + part, 0) : input;
  return { inputTokens, outputTokens: outputTokens ?? null, cacheReadTokens, cacheWriteTokens };
}

/** A task is named by its folder. Its messages have no ids. */
function taskOf(messages: readonly JsonObject[], documents: readonly Json[], path: string) {
  const id = /([^/\\]+)[/\\][^/\\]+$/.exec(path)?.[1] ?? 'task';
  const records = withCalls(messages, documents).map(
    (record, at): Wrapped => ({ id: nameByContent(messages[at] as JsonObject, at), record, at: record.ts }),
  );
  return { id, lines: () => wrapLines(formatId, id, { sessionId: id }, records) };
}

/** Roo Code writes into old messages which summary replaced them. They keep their names. */
const nameByContent = ({ condenseParent: _, truncationParent: __, ...message }: JsonObject, at: number): string =>
  `${at}-${digest(JSON.stringify(message))}`;

const kindOf = (message: JsonObject): string | undefined => stringAt(message.metadata, 'kind');
/** A summary, or the mark of Roo Code in the place of messages that it leaves out. */
const isSummary = (message: JsonObject): boolean =>
  kindOf(message) === 'compaction_summary' || message.isSummary === true || message.isTruncationMarker === true;
const isShownOnly = (message: JsonObject): boolean => isObject(message.metadata) && message.metadata.displayOnly === true;

/** The role of a message in its turn. */
export function roleInTurn(message: JsonObject): RecordRole {
  if (isSummary(message)) return 'compaction';
  if (isShownOnly(message)) return 'quiet';
  if (message.role === 'system') return 'lead';
  if (message.role === 'assistant') return 'answer';
  const blocks = readBlocks(message.content);
  return blocks.length > 0 && !typedIn(blocks).includes(true) ? 'result' : 'prompt';
}

const added = /^\s*(?:<environment_details>|\[TASK RESUMPTION\]|\[ERROR\] You did not use a tool)/;
/** A result that an old model, which calls tools in its text, gets as text. What follows in the message belongs to it. */
const resultHead = /^\[[\w-]+(?: for [\s\S]{0,100000}?)?\] Result:/;
/** What a person typed stands in results too, after a sentence of the agent. A file with such a tag lacks that sentence. */
const feedback = /(?:^|\] Result:)\s*<user_message>|\b(?:the user|new message)\b[^\n]{0,200}\n{1,2}<(?:feedback|user_message)>/i;

/** Of each block of a user's message, whether a person typed it. Images after a native result belong to it. */
function typedIn(blocks: readonly Json[]): readonly boolean[] {
  let [isResult, hasResult] = [false, false];
  return blocks.map((block) => {
    const type = stringAt(block, 'type');
    const parts = isObject(block) && type === 'tool_result' ? readBlocks(block.content) : [block];
    const texts = parts.flatMap((part) => stringAt(part, 'text') ?? []);
    hasResult ||= type === 'tool_result';
    isResult ||= type === 'text' && resultHead.test(texts[0] ?? '');
    const isAdded = isResult || type === 'tool_result' || (hasResult && type === 'image') || added.test(texts[0] ?? '');
    return !isAdded || texts.some((text) => feedback.test(text));
  });
}

/** The names by which subagents find the calls that started them. */
export const callsOfSubagents = (message: JsonObject, session: string): string[] =>
  readBlocks(message.content).flatMap((block) => {
    const call = stringAt(block, 'name') === 'spawn_agent' ? stringAt(block, 'id') : undefined;
    return call === undefined ? [] : [startedWith(session, call)];
  });

const wrapper = /^<user_input(?: [^>]*)?>([\s\S]*)<\/user_input>\s*$/;
/** A prompt as the model gets it, without the tag around the stored text. */
const unframed = (draft: UnplacedEntry): UnplacedEntry => {
  const text = draft.kind === 'text' ? wrapper.exec(draft.text ?? '')?.[1] : undefined;
  return text === undefined ? draft : said('user', text);
};

/** The entries of a message. */
export function readEntries(message: JsonObject): readonly Numbered[] {
  const blocks = readBlocks(message.content);
  const text = (): string => blocks.map((block) => stringAt(block, 'text') ?? '').join('\n');
  if (isShownOnly(message)) return [[0, failed(text())]];
  if (isSummary(message)) return [[0, summarized(text())]];
  if (message.role === 'system') return [[0, said('system', stringAt(message, 'content') ?? '')]];
  if (message.role !== 'assistant') {
    const typed = typedIn(blocks);
    return blocks.map((block, at): Numbered => [at, fileOr(block, unframed(blockDraft(block, 'user', typed[at] ? {} : { marks: ['meta'] })))]);
  }
  const author = defined({ author: stringAt(message.modelInfo, 'id') ?? stringAt(message.modelInfo, 'modelId') });
  // A fork repeats messages with their ids and times, and names no origin: its calls are found by both.
  const call = typeof message.id === 'string' && typeof message.ts === 'number' ? { messageId: `${message.id} ${message.ts}` } : {};
  return withUsage(
    blocks.map((block, at): Numbered => [at, blockDraft(block, 'assistant', { ...author, ...call })]),
    // The input count includes the tokens read from the cache (3.0.65).
    countsIn(message.metrics),
  );
}

function countsIn(metrics: JsonObject[string] | undefined): TokenUsage | undefined {
  if (!isObject(metrics)) return undefined;
  const { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = metrics;
  return usageIn({ input, output, cacheRead, cacheWrite }, 'within');
}

/** The content of an attached file is sent to the model as text. */
function fileOr(block: unknown, draft: UnplacedEntry): UnplacedEntry {
  if (!isObject(block) || block.type !== 'file') return draft;
  return said('user', `${stringAt(block, 'path') ?? ''}\n${stringAt(block, 'content') ?? ''}`, { marks: ['meta', 'file'] });
}
