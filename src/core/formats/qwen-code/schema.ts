import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import { objectsIn } from '../shared/drafts.js';
import type { Dialect } from '../shared/jsonl.js';

export const formatId = 'qwen-code-v1';

export const dialect: Dialect = {
  beginning: /\{"(?:uuid|parentUuid|sessionId|timestamp|type)":/g,
  isWhole: (record) => typeof record.uuid === 'string' && typeof record.type === 'string',
};

/** The type of a record. */
export const readType = (record: JsonObject): string => (typeof record.type === 'string' ? record.type : '');
/** The subtype of a system or user record. */
export const subtypeOf = (record: JsonObject): string | undefined => stringAt(record, 'subtype');

/** The parts of a record's message, as Gemini's API has them. */
export const readParts = ({ message }: JsonObject): readonly JsonObject[] => (isObject(message) ? objectsIn(message.parts) : []);
/** The payload of a system record. */
export const payloadOf = ({ systemPayload }: JsonObject): JsonObject => (isObject(systemPayload) ? systemPayload : {});

/** A record that replaces everything before it with a compressed history. */
export const isCompression = (record: JsonObject): boolean => readType(record) === 'system' && subtypeOf(record) === 'chat_compression';
/** The history after a compression. */
export const compressedIn = (record: JsonObject): readonly JsonObject[] => objectsIn(payloadOf(record).compressedHistory);

/** A call outside the conversation, by its line of telemetry: a compaction or a helper. Other lines only repeat counts found elsewhere. */
export function besideOf(record: JsonObject): { readonly purpose: string; readonly event: JsonObject } | undefined {
  const event = payloadOf(record).uiEvent;
  if (!isObject(event) || event['event.name'] !== 'qwen-code.api_response') return undefined;
  if (stringAt(event, 'prompt_id')?.startsWith('compress-')) return { purpose: 'compaction', event };
  const helper = stringAt(event, 'subagent_name');
  return helper?.startsWith('managed-') ? { purpose: helper, event } : undefined;
}

/** Context that the agent adds to a prompt, in a separate part (0.21, 0.24). */
export const isAdded = (text: string): boolean => /^\s*<(?:qwen:[\w-]+|system-reminder|task-notification)>/.test(text);

/** System records that only describe how the agent works. */
export const bookkeeping: ReadonlySet<string> = new Set([
  'ui_telemetry',
  'attribution_snapshot',
  'file_history_snapshot',
  'session_artifact_snapshot',
]);
