import { isObject, type Json, type JsonObject, parseInstant, stringAt, type Timestamp, timestampOf } from '../../base/index.js';
import { type Dialect, type Scan, type ScanOptions, scanJsonl } from '../jsonl.js';

/**
 * LangGraph writes the whole state at every step. Here a thread is lines: first which thread it is, then one line a checkpoint with the
 * messages that it added and the channels that it changed. `after` names the checkpoint whose messages stand before these; where it is not
 * the one that this one followed, messages were taken back or changed. `replaces` says that what stood before is replaced as a whole.
 */
export interface CheckpointLine extends JsonObject {
  readonly checkpoint: string;
  readonly messages: readonly Json[];
}

const dialect: Dialect = { beginning: /\{"(?:thread|checkpoint|write|row)":/g, isWhole: (record) => isCheckpoint(record) || 'thread' in record };

export const scanLines = (bytes: Uint8Array, options?: ScanOptions): Scan => scanJsonl(bytes, dialect, options);

export const isCheckpoint = (record: JsonObject): record is CheckpointLine => typeof record.checkpoint === 'string' && Array.isArray(record.messages);

export function timeOf({ at }: JsonObject): Timestamp | undefined {
  const ms = typeof at === 'string' ? parseInstant(at) : undefined;
  return ms === undefined ? undefined : timestampOf(ms);
}

const kinds: Readonly<Record<string, Kind>> = {
  HumanMessage: 'human',
  HumanMessageChunk: 'human',
  AIMessage: 'ai',
  AIMessageChunk: 'ai',
  ToolMessage: 'tool',
  ToolMessageChunk: 'tool',
  FunctionMessage: 'tool',
  SystemMessage: 'system',
  SystemMessageChunk: 'system',
  ChatMessage: 'human',
  human: 'human',
  user: 'human',
  ai: 'ai',
  assistant: 'ai',
  tool: 'tool',
  function: 'tool',
  system: 'system',
  developer: 'system',
};
export type Kind = 'human' | 'ai' | 'tool' | 'system';

export interface ReadMessage {
  readonly kind: Kind;
  readonly fields: JsonObject;
}

/**
 * A message of any of LangChain's spellings: its class with what it was made of (`lc`), a type with `data`, or its fields beside a type or a
 * role. Undefined for what is none.
 */
export function messageOf(value: Json | undefined): ReadMessage | undefined {
  if (!isObject(value)) return undefined;
  if (value.type === 'constructor' && Array.isArray(value.id) && isObject(value.kwargs)) {
    const name = value.id.at(-1);
    const kind = typeof name === 'string' && Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    return kind && { kind, fields: value.kwargs };
  }
  const given = stringAt(value, 'type') ?? stringAt(value, 'role');
  const kind = given !== undefined && Object.hasOwn(kinds, given) ? kinds[given] : undefined;
  if (!kind) return undefined;
  const fields = isObject(value.data) && value.content === undefined ? value.data : value;
  return fields.content === undefined ? undefined : { kind, fields };
}
