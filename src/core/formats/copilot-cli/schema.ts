import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { type Dialect, parseShallow } from '../shared/jsonl.js';

export const formatId = 'copilot-cli-v1';

export const dialect: Dialect = {
  beginning: /\{"(?:type|data|id|timestamp|parentId)":/g,
  isWhole: (record) => typeof record.type === 'string' && isObject(record.data),
};

/** The data of an event. */
export const readData = ({ data }: JsonObject): JsonObject => (isObject(data) ? data : {});
/** The type of a record. */
export const readType = (record: JsonObject): string => (typeof record.type === 'string' ? record.type : '');

/** The subagent that the event belongs to. Older versions name the call that started it instead. */
export function laneOf(record: JsonObject): string | undefined {
  const data = readData(record);
  const call = readType(record).startsWith('subagent.') ? undefined : stringAt(data, 'parentToolCallId');
  return stringAt(record, 'agentId') ?? stringAt(data, 'agentId') ?? call;
}

/** Older versions stored arguments as JSON text. */
export function argumentsOf(value: Json | undefined): Json {
  if (typeof value !== 'string') return value ?? {};
  return parseShallow(value) ?? value;
}

/** The text that the model got for a prompt. */
export const sentText = (data: JsonObject): string => stringAt(data, 'transformedContent') ?? stringAt(data, 'content') ?? '';

/** Events that only describe how the agent works. Their lines are stored but become no entries. */
export const bookkeeping: ReadonlySet<string> = new Set([
  'session.start',
  'session.resume',
  'session.permissions_changed',
  'session.usage_record',
  'session.usage_checkpoint',
  'session.compaction_start',
  'session.context_changed',
  'assistant.turn_start',
  'assistant.turn_end',
  'tool.execution_start',
  'hook.start',
  'hook.end',
  'subagent.started',
  'subagent.configured',
  'subagent.completed',
]);
