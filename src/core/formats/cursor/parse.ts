import { defined, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import { blockDraft, jsonIn, readBlocks } from '../shared/anthropic-blocks.js';
import type { RecordRole } from '../shared/branches.js';
import {
  answered,
  called,
  failed,
  type Numbered,
  noCall,
  noted,
  objectsIn,
  pictured,
  said,
  thought,
  type UnplacedEntry,
  usageIn,
  withUsage,
} from '../shared/drafts.js';
import { startedWith } from '../shared/keys.js';

const isMessage = (record: JsonObject): boolean => typeof record.role === 'string';
const toolIn = (record: JsonObject): JsonObject | undefined => objectsIn([record.toolFormerData ?? null])[0];

/** The role of a record (a bubble of the editor, or a message) in its turn. */
export function roleInTurn(record: JsonObject): RecordRole {
  if (isMessage(record)) {
    const blocks = readBlocks(messageContent(record));
    if (record.role === 'assistant') return 'answer';
    if (record.role === 'tool' || (blocks.length > 0 && blocks.every((block) => /^tool[-_]result$/.test(stringAt(block, 'type') ?? ''))))
      return 'result';
    return record.role === 'user' && !isAdded(blocks) ? 'prompt' : 'lead';
  }
  if (record.type === 1) return 'prompt';
  if (record.type !== 2) return 'quiet';
  return toolIn(record) ? 'round' : 'answer';
}

const messageContent = (record: JsonObject): JsonObject[string] | undefined => record.content ?? objectsIn([record.message ?? null])[0]?.content;

/** Whether a message only says what the command line adds about the machine. */
const isAdded = (blocks: readonly Json[]): boolean =>
  /^\s*<user_info>(?![\s\S]*<user_query>)/.test(blocks.map((block) => stringAt(block, 'text') ?? '').join(''));

/** The names by which the subagents of a conversation find the record that may have started them: a call, or else a prompt. */
export function startsOf(record: JsonObject, session: string): readonly string[] {
  const id = stringAt(toolIn(record), 'toolCallId') ?? (record.type === 1 ? stringAt(record, 'bubbleId') : undefined);
  return id === undefined ? [] : [startedWith(session, id)];
}

/** The entries of a record. */
export function readEntries(record: JsonObject): readonly Numbered[] {
  const drafts = isMessage(record) ? messageDrafts(record) : bubbleDrafts(record);
  const numbered = drafts.map((draft, at): Numbered => [at, draft]);
  const counts = objectsIn([record.tokenCount ?? null])[0];
  // The editor writes zeros for unknown counts.
  const usage = usageIn({ input: counts?.inputTokens || null, output: counts?.outputTokens || null }, 'within');
  return withUsage(numbered, record.isOpen === true ? noCall : usage);
}

function messageDrafts(record: JsonObject): readonly UnplacedEntry[] {
  const role = record.role === 'assistant' || record.role === 'system' || record.role === 'tool' ? record.role : 'user';
  const blocks = readBlocks(messageContent(record));
  return blocks.map((block) => blockDraft(block, role, role === 'user' && isAdded(blocks) ? { marks: ['meta'] } : {}));
}

function bubbleDrafts(bubble: JsonObject): readonly UnplacedEntry[] {
  const text = stringAt(bubble, 'text') ?? '';
  const fault = stringAt(bubble.errorDetails, 'message');
  if (bubble.type === 1) return [said('user', text), ...objectsIn(bubble.images).map((image) => pictured('user', { link: image }))];
  if (bubble.type !== 2) return [noted(bubble.missing === undefined ? 'bubble' : 'missing bubble', bubble)];
  const author = defined({ author: stringAt(bubble.modelInfo, 'modelName') });
  const thinking = stringAt(bubble.thinking, 'text') ?? stringAt(bubble, 'thinking');
  return [
    ...(thinking ? [thought(thinking, { signature: stringAt(bubble.thinking, 'signature'), ...author })] : []),
    ...(text === '' ? [] : [said('assistant', text, author)]),
    ...toolDrafts(bubble, author),
    ...(fault === undefined ? [] : [failed(fault)]),
  ];
}

function toolDrafts(bubble: JsonObject, author: { readonly author?: string }): readonly UnplacedEntry[] {
  const tool = toolIn(bubble);
  const name = stringAt(tool, 'name');
  if (!tool || name === undefined) return [];
  const id = stringAt(tool, 'toolCallId') ?? stringAt(bubble, 'bubbleId') ?? name;
  const call = called(name, id, jsonIn(tool.rawArgs ?? tool.params), author);
  const result = tool.result;
  const status = stringAt(tool, 'status');
  if (result === undefined && status !== 'error' && status !== 'cancelled') return [call];
  const read = typeof result === 'string' ? parseJson(result) : result;
  const text =
    stringAt(read, 'output') ?? stringAt(read, 'contents') ?? (typeof result === 'string' ? result : JSON.stringify(result ?? status ?? ''));
  const isError = status === 'error' || status === 'cancelled';
  return [call, answered(id, text, { toolName: name, ...(isError && { isError }) })];
}
