import { defined, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { TokenUsage } from '../format.js';
import { blockDraft, readBlocks, textIn } from '../shared/anthropic-blocks.js';
import type { RecordRole } from '../shared/branches.js';
import { withSummary } from '../shared/continued.js';
import {
  answered,
  called,
  dataUrl,
  failed,
  type Numbered,
  noted,
  objectsIn,
  pictured,
  said,
  thought,
  type UnplacedEntry,
  usageIn,
  withUsage,
} from '../shared/drafts.js';
import { entriesBeside } from '../shared/entry-lines.js';

const rolesInTurn: ReadonlyMap<unknown, RecordRole> = new Map([
  ['user', 'prompt'],
  ['assistant', 'answer'],
  ['tool', 'result'],
  ['system', 'lead'],
]);

/** The role of a record in its turn: a message, or a fact of the log about the sample. */
export const roleInTurn = (record: JsonObject): RecordRole =>
  record.compacted === undefined ? (rolesInTurn.get(stringAt(record, 'role')) ?? 'quiet') : 'compaction';

/** The entries of a record. */
export function readEntries(record: JsonObject): readonly Numbered[] {
  const own = isObject(record.metadata) && isObject(record.metadata.stemma) ? objectsIn(record.metadata.stemma.entries) : [];
  const { usage: recorded } = record;
  const usage = isObject(recorded) ? readUsage(recorded) : undefined;
  if (own.length > 0) return entriesBeside(own, usage);
  const drafts = compactedDrafts(record).map((draft, at): Numbered => [at, draft]);
  // A call beside the conversation has no message.
  if (stringAt(record, 'role') !== undefined) return withUsage(drafts, usage);
  return usage
    ? drafts.map(([at, draft]): Numbered => [at, { ...draft, ...authorOf(record), usage, marks: [...(draft.marks ?? []), 'beside'] }])
    : drafts;
}

function readUsage(usage: JsonObject): TokenUsage | undefined {
  // Input excludes cached tokens, unlike in other exchange formats.
  const { input_tokens: input, output_tokens: output, input_tokens_cache_read: cacheRead, input_tokens_cache_write: cacheWrite } = usage;
  return usageIn({ input, output, cacheRead, cacheWrite, reasoning: usage.reasoning_tokens }, 'beside');
}

function compactedDrafts(record: JsonObject): readonly UnplacedEntry[] {
  if (record.compacted === undefined) return draftEntries(record);
  return withSummary(objectsIn(record.compacted).flatMap(draftEntries));
}

const authorOf = (record: JsonObject) => defined({ author: stringAt(record, 'model') });

function draftEntries(record: JsonObject): readonly UnplacedEntry[] {
  const author = authorOf(record);
  switch (stringAt(record, 'role')) {
    case 'user':
      return contentDrafts(record, 'user');
    case 'system':
      return contentDrafts(record, 'system');
    case 'assistant':
      return [
        ...contentDrafts(record, 'assistant'),
        ...objectsIn(record.tool_calls).map((call) => called(stringAt(call, 'function') ?? '', stringAt(call, 'id'), call.arguments)),
      ].map((draft): UnplacedEntry => (draft.kind === 'event' ? draft : { ...draft, ...author }));
    case 'tool':
      return resultDrafts(record);
    default:
      return record.error === undefined
        ? [noted(stringAt(record, 'note') ?? 'note', record.value ?? record)]
        : [failed(stringAt(record.error, 'message') ?? textIn(record.error))];
  }
}

function contentDrafts({ content }: JsonObject, role: 'user' | 'system' | 'assistant'): readonly UnplacedEntry[] {
  return readBlocks(content).flatMap((block): UnplacedEntry[] => {
    if (!isObject(block)) return [blockDraft(block, role)];
    if (block.type === 'reasoning') {
      const text = stringAt(block, 'reasoning') ?? '';
      const signature = stringAt(block, 'signature');
      return [block.redacted === true ? thought('', { data: text }) : thought(text, { signature })];
    }
    if (block.type === 'image') {
      const image = stringAt(block, 'image') ?? '';
      return [pictured(role === 'system' ? 'user' : role, dataUrl(image) ?? { link: block })];
    }
    const text = stringAt(block, 'text');
    if (block.type === 'text') return text === '' || text === undefined ? [] : [said(role, text)];
    return [noted(stringAt(block, 'type') ?? 'content', block)];
  });
}

function resultDrafts(record: JsonObject): readonly UnplacedEntry[] {
  const { content, error } = record;
  const id = stringAt(record, 'tool_call_id');
  const blocks = readBlocks(content);
  const images = blocks.filter((block) => stringAt(block, 'type') === 'image');
  const text = blocks.flatMap((block) => stringAt(block, 'text') ?? []).join('\n');
  const name = stringAt(record, 'function');
  const fault = isObject(error) ? error : undefined;
  return [
    answered(id, text === '' && fault ? (stringAt(fault, 'message') ?? '') : text, {
      ...(name !== undefined && { toolName: name }),
      ...(fault && { isError: true, result: { error: fault } }),
    }),
    ...images.map((block) =>
      pictured('tool', dataUrl(stringAt(block, 'image') ?? '') ?? { link: block }, id === undefined ? {} : { toolCallId: id }),
    ),
  ];
}
