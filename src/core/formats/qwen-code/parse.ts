import { defined, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { PlanContext, TokenUsage } from '../format.js';
import type { RecordRole } from '../shared/branches.js';
import {
  answered,
  called,
  failed,
  type Numbered,
  noCall,
  noted,
  pictured,
  said,
  summarized,
  thought,
  type UnplacedEntry,
  usageIn,
  withUsage,
} from '../shared/drafts.js';
import { callNamed } from '../shared/keys.js';
import type { RecordMark } from '../shared/progress.js';
import type { About, RecordPlace, RecordRules } from '../shared/records.js';
import {
  besideOf,
  bookkeeping,
  compressedIn,
  dialect,
  formatId,
  isAdded,
  isCompression,
  payloadOf,
  readParts,
  readType,
  subtypeOf,
} from './schema.js';

/** Plans commits from records: a tree by `uuid` and `parentUuid`. */
export const rules: RecordRules = {
  formatId,
  template: 'qwen-code',
  dialect,
  about,
  place,
  origin: ({ forkedFrom }) => stringAt(forkedFrom, 'sessionId') || undefined,
  entries: readEntries,
  gather: () => undefined,
  mark,
  continues: true,
  prompt: (record) => (roleInTurn(record) === 'prompt' ? promptOf(record) : undefined),
};

const promptOf = (record: JsonObject): string | undefined =>
  stringAt(payloadOf(record), 'displayText') ??
  readParts(record)
    .flatMap((part) => stringAt(part, 'text') ?? [])
    .find((text) => !isAdded(text));

function about(records: readonly JsonObject[], { path, meta }: Pick<PlanContext, 'path' | 'meta'>): About {
  const first = (key: string): string | undefined => records.map((record) => stringAt(record, key)).find((value) => value !== undefined);
  const title = records.findLast((record) => subtypeOf(record) === 'custom_title');
  const isSubagent = records[0]?.isSidechain === true || /[/\\]subagents[/\\]/.test(path);
  const call = stringAt(meta, 'toolUseId');
  return {
    sessionId: isSubagent ? (stringAt(meta, 'parentSessionId') ?? first('sessionId')) : first('sessionId'),
    cwd: first('cwd'),
    title: title && stringAt(payloadOf(title), 'customTitle'),
    ...(isSubagent && { agent: stringAt(meta, 'agentType') ?? first('agentName') ?? 'agent' }),
    ...(isSubagent && call !== undefined && { startedBy: { toolCallId: call } }),
  };
}

function place(record: JsonObject): RecordPlace | undefined {
  const name = stringAt(record, 'uuid');
  if (name === undefined || name === '' || typeof record.type !== 'string') return undefined;
  const { parentUuid } = record;
  const starts = startingCalls(record);
  return {
    name,
    part: roleInTurn(record),
    ...(starts.length > 0 && { others: starts.map(callNamed) }),
    ...(typeof parentUuid === 'string' ? { parent: parentUuid } : parentUuid === null && { parent: null }),
  };
}

const startingCalls = (record: JsonObject): readonly string[] =>
  readType(record) === 'assistant'
    ? readParts(record).flatMap(({ functionCall: call }) => (isObject(call) && starters.has(call.name) ? (stringAt(call, 'id') ?? []) : []))
    : [];
const starters: ReadonlySet<unknown> = new Set(['agent', 'task']);

function roleInTurn(record: JsonObject): RecordRole {
  switch (readType(record)) {
    case 'user':
      return subtypeOf(record) === 'notification' ? 'lead' : 'prompt';
    case 'assistant':
      return 'answer';
    case 'tool_result':
      return 'result';
    default:
      return isCompression(record) ? 'compaction' : 'quiet';
  }
}

/** A failed call, which only a line of telemetry records, ends its turn. */
function mark(record: JsonObject): Omit<RecordMark, 'range'> | undefined {
  const event = payloadOf(record).uiEvent;
  if (isObject(event) && stringAt(event, 'event.name') === 'qwen-code.api_error') return { is: 'ends' };
  if (subtypeOf(record) === 'rewind') return { is: 'starts' };
  return bookkeeping.has(subtypeOf(record) ?? '') ? { is: 'quiet' } : undefined;
}

/** The entries of a record. */
function readEntries(record: JsonObject): readonly Numbered[] {
  const parts = readParts(record);
  switch (readType(record)) {
    case 'user':
      return parts.map((part, at): Numbered => [at, userPart(part, subtypeOf(record) === 'notification')]);
    case 'assistant': {
      const author = defined({ author: stringAt(record, 'model') });
      return withUsage(
        parts.map((part, at): Numbered => [at, { ...answerPart(part), ...author }]),
        readUsage(record) ?? (isRest(record, parts) ? noCall : undefined),
      );
    }
    case 'tool_result':
      return parts.map((part, at): Numbered => [at, resultPart(part, record)]);
    default:
      return systemDrafts(record);
  }
}

/** Output includes the thoughts. The recorded input includes the tokens read from the cache. */
function readUsage({ usageMetadata: usage }: JsonObject): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { promptTokenCount: input, candidatesTokenCount: output, cachedContentTokenCount: cacheRead, thoughtsTokenCount: reasoning } = usage;
  return usageIn({ input, output, cacheRead, reasoning }, 'within');
}

/** Whether the record continues the answer that the record before it began and counts. Subagents write the tool calls of an answer apart. */
const isRest = (record: JsonObject, parts: readonly JsonObject[]): boolean =>
  record.isSidechain === true && parts.length > 0 && parts.every(({ functionCall }) => isObject(functionCall));

function userPart(part: JsonObject, isNotice: boolean): UnplacedEntry {
  const text = stringAt(part, 'text');
  if (text === undefined) return mediaOf(part, 'user');
  return said('user', text, isNotice || isAdded(text) ? { marks: ['meta', isNotice ? 'notification' : 'context'] } : {});
}

function mediaOf(part: JsonObject, role: 'user' | 'assistant' | 'tool'): UnplacedEntry {
  const { inlineData } = part;
  const [mediaType, base64] = [stringAt(inlineData, 'mimeType'), stringAt(inlineData, 'data')];
  if (mediaType !== undefined && base64 !== undefined) return pictured(role, { mediaType, base64 });
  return isObject(part.fileData) ? pictured(role, { link: part }) : noted(Object.keys(part)[0] ?? 'part', part);
}

function answerPart(part: JsonObject): UnplacedEntry {
  const text = stringAt(part, 'text');
  const call = part.functionCall;
  if (isObject(call)) return called(stringAt(call, 'name') ?? '', stringAt(call, 'id'), call.args);
  if (text === undefined) return mediaOf(part, 'assistant');
  return part.thought === true ? thought(text, { signature: stringAt(part, 'thoughtSignature') }) : said('assistant', text);
}

function resultPart(part: JsonObject, record: JsonObject): UnplacedEntry {
  const response = part.functionResponse;
  if (!isObject(response))
    return stringAt(part, 'text') === undefined ? mediaOf(part, 'tool') : said('user', stringAt(part, 'text') ?? '', { marks: ['meta'] });
  const { toolCallResult } = record;
  const content: Json = response.response ?? null;
  const error = stringAt(content, 'error');
  const status = stringAt(toolCallResult, 'status');
  const text = stringAt(content, 'output') ?? error ?? (content === null ? '' : JSON.stringify(content));
  const display = isObject(toolCallResult) ? toolCallResult.resultDisplay : undefined;
  return answered(stringAt(response, 'id') ?? stringAt(toolCallResult, 'callId'), text, {
    ...defined({ toolName: stringAt(response, 'name') }),
    ...((error !== undefined || status === 'error' || status === 'cancelled') && { isError: true }),
    ...(display !== undefined && display !== text && { result: display }),
  });
}

function systemDrafts(record: JsonObject): readonly Numbered[] {
  const subtype = subtypeOf(record) ?? '';
  if (isCompression(record)) return compressedDrafts(record);
  const beside = besideOf(record);
  if (beside) return [[0, counted(beside)]];
  const event = payloadOf(record).uiEvent;
  if (isObject(event) && stringAt(event, 'event.name') === 'qwen-code.api_error')
    return [[0, failed(stringAt(event, 'error_message') ?? 'the call failed')]];
  return bookkeeping.has(subtype) ? [] : [[0, noted(subtype === '' ? readType(record) : subtype, record.systemPayload ?? record.message ?? null)]];
}

/** A call outside the conversation, which only a line of telemetry counts. */
function counted({ purpose, event }: NonNullable<ReturnType<typeof besideOf>>): UnplacedEntry {
  const { input_token_count: input, output_token_count: output, cached_content_token_count: cacheRead, thoughts_token_count: reasoning } = event;
  const usage = usageIn({ input, output, cacheRead, reasoning }, 'within');
  return noted(purpose, event, { ...defined({ author: stringAt(event, 'model') }), ...(usage && { usage, marks: ['beside'] }) });
}

/** Parts of contents are numbered consecutively, with gaps for the parts of each part. */
const perContent = 1_000;

function compressedDrafts(record: JsonObject): readonly Numbered[] {
  let hasSummary = false;
  return compressedIn(record).flatMap((content, at) =>
    readParts({ message: content }).map((part, number): Numbered => {
      const place = at * perContent + number;
      const isModel = content.role === 'model';
      const text = stringAt(part, 'text');
      if (isObject(part.functionResponse)) return [place, resultPart(part, {})];
      if (isModel) return [place, answerPart(part)];
      if (text === undefined || hasSummary) return [place, userPart(part, false)];
      hasSummary = true;
      return [place, summarized(text)];
    }),
  );
}
