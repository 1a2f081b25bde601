import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { PlanContext } from '../format.js';
import type { RecordRole } from '../shared/branches.js';
import type { RecordMark } from '../shared/progress.js';
import type { About, RecordPlace, RecordRules } from '../shared/records.js';
import { callNamed } from '../shared/subagents.js';
import { readEntries } from './parse.js';
import { bookkeeping, dialect, formatId, isAdded, isCompression, payloadOf, readParts, readType, subtypeOf } from './schema.js';

/** Plans commits from records: a tree by `uuid` and `parentUuid`. */
export const rules: RecordRules = {
  formatId,
  template: 'qwen-code',
  dialect,
  about,
  place,
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
