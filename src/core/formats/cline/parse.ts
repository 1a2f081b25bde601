import { createHash } from 'node:crypto';
import { isObject, type JsonObject, parseJson, stringAt, textOf } from '../../base/index.js';
import type { DocumentReader, TokenUsage } from '../format.js';
import { blockDraft, blocksOf } from '../shared/anthropic-blocks.js';
import type { Part } from '../shared/branches.js';
import { type Draft, failed, type Numbered, objectsIn, said, summarized, usageIn, withUsage } from '../shared/drafts.js';
import { isDeep } from '../shared/jsonl.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';

export const formatId = 'cline-v1';

const session = /^\s*\{\s*"version"\s*:\s*\d+\s*,\s*"updated_at"\s*:\s*"[^"]*"\s*,\s*"(?:agent|conversation_id|sessionId|source_\w+)"\s*:/;
/** Task folders name the file; its list of messages alone could be of anybody. */
const taskFile = /(?:^|[/\\])api_conversation_history\.json$/;

/** The documents of Cline. Each is written whole at every change. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head, path = '') => {
    const text = textOf(head);
    return session.test(text) || (taskFile.test(path) && /^\s*\[/.test(text));
  },
  members(bytes, path = '') {
    const value = parseJson(textOf(bytes));
    if (isDeep(value)) return undefined;
    if (Array.isArray(value)) return [taskOf(objectsIn(value), path)];
    return isObject(value) && Array.isArray(value.messages) ? [sessionOf(value)] : undefined;
  },
};

function sessionOf(value: JsonObject) {
  const id = stringAt(value, 'sessionId') ?? stringAt(value, 'conversation_id') ?? 'session';
  const isCompaction = value.source_message_count !== undefined || objectsIn(value.messages)[0]?.id === undefined;
  const system = stringAt(value, 'system_prompt');
  const { origin } = value;
  const agent = value.agent === 'subagent' || stringAt(origin, 'mode') === 'subagent' ? 'agent' : undefined;
  const records: Wrapped[] = [
    ...(system ? [{ id: `system-${digest(system)}`, record: { role: 'system', content: system } }] : []),
    ...objectsIn(value.messages).map(
      (message, at): Wrapped => ({ id: stringAt(message, 'id') ?? `${at}-${digest(JSON.stringify(message))}`, record: message, at: message.ts }),
    ),
  ];
  const own = isCompaction ? `${id}-compaction` : id;
  const about = { sessionId: own, ...(agent !== undefined && { agent }) };
  return { id: own, lines: () => wrapLines(formatId, own, about, records) };
}

/** A task is named by its folder, and its messages, which have no ids, by their content. */
function taskOf(messages: readonly JsonObject[], path: string) {
  const id = /([^/\\]+)[/\\][^/\\]+$/.exec(path)?.[1] ?? 'task';
  const records = messages.map((message, at): Wrapped => ({ id: `${at}-${digest(JSON.stringify(message))}`, record: message, at: message.ts }));
  return { id, lines: () => wrapLines(formatId, id, { sessionId: id }, records) };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

const kindOf = (message: JsonObject): string | undefined => stringAt(message.metadata, 'kind');
const isSummary = (message: JsonObject): boolean => kindOf(message) === 'compaction_summary' || message.isSummary === true;
const isShownOnly = (message: JsonObject): boolean => isObject(message.metadata) && message.metadata.displayOnly === true;

/** What a message means for its turn. */
export function partOf(message: JsonObject): Part {
  if (isSummary(message)) return 'compaction';
  if (isShownOnly(message)) return 'quiet';
  if (message.role === 'system') return 'lead';
  if (message.role === 'assistant') return 'answer';
  const blocks = blocksOf(message.content);
  return blocks.length > 0 && blocks.every((block) => stringAt(block, 'type') === 'tool_result') ? 'result' : 'prompt';
}

const wrapper = /^<user_input(?: [^>]*)?>([\s\S]*)<\/user_input>\s*$/;
/** A prompt as the model gets it: without the tag in which it is stored. */
const unframed = (draft: Draft): Draft => {
  const text = draft.kind === 'text' ? wrapper.exec(draft.text ?? '')?.[1] : undefined;
  return text === undefined ? draft : said('user', text);
};

/** The entries of a message. */
export function entriesOf(message: JsonObject): readonly Numbered[] {
  const blocks = blocksOf(message.content);
  if (isShownOnly(message)) return [[0, failed(blocks.map((block) => stringAt(block, 'text') ?? '').join('\n'))]];
  if (isSummary(message)) return [[0, summarized(blocks.map((block) => stringAt(block, 'text') ?? '').join('\n'))]];
  if (message.role === 'system') return [[0, said('system', stringAt(message, 'content') ?? '')]];
  if (message.role !== 'assistant') return blocks.map((block, at): Numbered => [at, fileOr(block, unframed(blockDraft(block, 'user')))]);
  const model = stringAt(message.modelInfo, 'id') ?? stringAt(message.modelInfo, 'modelId');
  const author = model === undefined ? {} : { author: model };
  return withUsage(
    blocks.map((block, at): Numbered => [at, blockDraft(block, 'assistant', author)]),
    // Its input count includes what the cache held (3.0.65).
    countsIn(message.metrics),
  );
}

function countsIn(metrics: JsonObject[string] | undefined): TokenUsage | undefined {
  if (!isObject(metrics)) return undefined;
  const { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = metrics;
  return usageIn({ input, output, cacheRead, cacheWrite }, 'within');
}

/** The content of an attached file goes to the model as text. */
function fileOr(block: unknown, draft: Draft): Draft {
  if (!isObject(block) || block.type !== 'file') return draft;
  return said('user', `${stringAt(block, 'path') ?? ''}\n${stringAt(block, 'content') ?? ''}`, { marks: ['meta', 'file'] });
}
