import { defined, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { TokenUsage } from '../format.js';
import { jsonIn, textIn } from '../shared/anthropic-blocks.js';
import type { RecordRole } from '../shared/branches.js';
import { withSummary } from '../shared/continued.js';
import {
  answered,
  called,
  failed,
  type Numbered,
  noCall,
  noted,
  objectsIn,
  pictured,
  readMember,
  said,
  thought,
  type UnplacedEntry,
  usageIn,
  withUsage,
} from '../shared/drafts.js';
import { entriesBeside } from '../shared/entry-lines.js';
import { partsIn } from './parse-conversation.js';

/** The role of a record in its turn. A call with a prompt begins a turn. */
export function roleInTurn(record: JsonObject): RecordRole {
  // A tool that no model called belongs to the turn around it.
  if (record.tool !== undefined) return record.isCalled === false ? 'quiet' : 'result';
  if (record.isCompaction === true) return 'compaction';
  const own = objectsIn(record.entries);
  const asked =
    own.length > 0
      ? own.some(({ role, kind }) => role === 'user' && kind !== 'summary')
      : objectsIn(record.input).some(({ role }) => role === 'user');
  return own.some(({ kind }) => kind === 'summary') ? 'compaction' : asked ? 'prompt' : 'round';
}

type Told = UnplacedEntry & { readonly messageId?: string };

/** The entries of a record. */
export function readEntries(record: JsonObject): readonly Numbered[] {
  const own = objectsIn(record.entries);
  const facts = isObject(record.call) ? record.call : {};
  const usage = facts['stemma.late'] === true ? noCall : readUsage(facts);
  if (own.length > 0) return entriesBeside(own, usage);
  if (isObject(record.tool)) {
    const result: Numbered = [1, toolResult(record.tool, stringAt(record, 'failed'))];
    return record.isCalled === false ? [[0, toolCall(record.tool)], result] : [result];
  }
  const author = defined({ author: stringAt(facts, 'gen_ai.response.model') ?? stringAt(facts, 'gen_ai.request.model') });
  const fault = stringAt(record, 'failed');
  const drafts: Told[] = [
    ...partsIn(record.instructions).map((part) => said('system', stringAt(part, 'content') ?? stringAt(part, 'text') ?? '')),
    ...inputDrafts(record).map((draft) => withFailure(draft, record.failures)),
    ...objectsIn(record.output).flatMap((message) => messageDrafts({ ...message, role: 'assistant' }, author)),
    ...(fault === undefined ? [] : [failed(fault)]),
    ...(Object.keys(facts).length > 0 ? [noted('span', facts)] : []),
  ];
  const numbered = drafts.map((draft, at): Numbered => [at, draft]);
  const first = inputDrafts(record).length + partsIn(record.instructions).length;
  return [...numbered.slice(0, first), ...withUsage(numbered.slice(first), usage)];
}

function inputDrafts(record: JsonObject): readonly Told[] {
  const drafts = objectsIn(record.input).flatMap((message) => messageDrafts(message, {}));
  return record.isCompaction === true ? withSummary(drafts) : drafts;
}

const withFailure = (draft: Told, failures: Json | undefined): Told =>
  draft.kind === 'tool_result' && readMember(failures, draft.toolCallId ?? '') !== undefined ? { ...draft, isError: true } : draft;

/** Input tokens include the tokens read from the cache. */
function readUsage(facts: JsonObject): TokenUsage | undefined {
  const count = (...names: readonly string[]) => names.map((name) => facts[`gen_ai.usage.${name}`]).find((one) => one !== undefined);
  return usageIn(
    {
      input: count('input_tokens', 'prompt_tokens'),
      output: count('output_tokens', 'completion_tokens'),
      cacheRead: count('cache_read.input_tokens'),
      cacheWrite: count('cache_write.input_tokens', 'cache_creation.input_tokens'),
      reasoning: count('reasoning.output_tokens'),
    },
    'within',
  );
}

function messageDrafts(message: JsonObject, author: { readonly author?: string }): readonly Told[] {
  const role = message.role === 'assistant' || message.role === 'system' || message.role === 'tool' ? message.role : 'user';
  return partsIn(message.parts === undefined ? message.content : message.parts).map((part): Told => {
    const draft = partDraft(part, role);
    return draft.role === 'assistant' && draft.kind !== 'event' ? { ...draft, ...author } : draft;
  });
}

function partDraft(part: JsonObject, role: UnplacedEntry['role']): Told {
  const text = stringAt(part, 'content') ?? stringAt(part, 'text') ?? '';
  switch (part.type) {
    case 'text':
      return said(role === 'tool' ? 'user' : role, text);
    case 'reasoning':
    case 'thinking':
      return thought(text, { signature: stringAt(part, 'signature') });
    case 'tool_call':
    case 'server_tool_call':
      return called(stringAt(part, 'name') ?? '', stringAt(part, 'id'), jsonIn(part.arguments));
    case 'tool_call_response':
    case 'server_tool_call_response':
      return answered(stringAt(part, 'id'), textIn(part.response ?? part.result));
    case 'blob':
      return pictured(role === 'system' ? 'user' : role, {
        mediaType: stringAt(part, 'mime_type') ?? 'application/octet-stream',
        base64: stringAt(part, 'content') ?? '',
      });
    case 'uri':
    case 'file':
      return pictured(role === 'system' ? 'user' : role, { link: part });
    default:
      return noted(stringAt(part, 'type') ?? 'part', part);
  }
}

/** The call of a tool that is known only from the tool's span, so the model call is unknown. */
const toolCall = (attributes: JsonObject): UnplacedEntry => ({
  ...called(
    stringAt(attributes, 'gen_ai.tool.name') ?? '',
    stringAt(attributes, 'gen_ai.tool.call.id') || undefined,
    jsonIn(attributes['gen_ai.tool.call.arguments']),
  ),
  usage: noCall,
});

function toolResult(attributes: JsonObject, fault: string | undefined): UnplacedEntry {
  const text = textIn(attributes['gen_ai.tool.call.result']);
  return answered(stringAt(attributes, 'gen_ai.tool.call.id') || undefined, text === '' ? (fault ?? '') : text, {
    ...defined({ toolName: stringAt(attributes, 'gen_ai.tool.name') }),
    ...(fault !== undefined && { isError: true }),
  });
}
