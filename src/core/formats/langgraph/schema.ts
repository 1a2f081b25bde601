import { isObject, type Json, type JsonObject, parseInstant, stringAt, type Timestamp, toTimestamp } from '../../base/index.js';
import { type Dialect, type Scan, type ScanOptions, scanJsonl } from '../shared/jsonl.js';

/**
 * LangGraph writes the whole state at every step. Here a thread is lines: the first names the thread, and each other line is a checkpoint with the
 * messages that it added and the channels that it changed. `after` names the checkpoint whose messages come before these. If it is not the previous
 * checkpoint, messages were removed or changed. `replaces` means that all earlier messages are replaced.
 */
export interface CheckpointLine extends JsonObject {
  readonly checkpoint: string;
  readonly messages: readonly Json[];
}

const dialect: Dialect = { beginning: /\{"(?:thread|checkpoint|write|row)":/g, isWhole: (record) => isCheckpoint(record) || 'thread' in record };

/** Splits a thread into records. Never throws for the content of the bytes. */
export const scanLines = (bytes: Uint8Array, options?: ScanOptions): Scan => scanJsonl(bytes, dialect, options);

/** Whether the record is a checkpoint. */
export const isCheckpoint = (record: JsonObject): record is CheckpointLine => typeof record.checkpoint === 'string' && Array.isArray(record.messages);

/** The time of a checkpoint; undefined if it has no valid time. */
export function readTime({ at }: JsonObject): Timestamp | undefined {
  const ms = typeof at === 'string' ? parseInstant(at) : undefined;
  return ms === undefined ? undefined : toTimestamp(ms);
}

export type MessageKind = 'human' | 'ai' | 'tool' | 'system';

/** The names of each kind of message: its class first, then others. */
const names: Readonly<Record<MessageKind, readonly string[]>> = {
  human: ['HumanMessage', 'HumanMessageChunk', 'ChatMessage', 'human', 'user'],
  ai: ['AIMessage', 'AIMessageChunk', 'ai', 'assistant'],
  tool: ['ToolMessage', 'ToolMessageChunk', 'FunctionMessage', 'tool', 'function'],
  system: ['SystemMessage', 'SystemMessageChunk', 'system', 'developer'],
};
const kinds = new Map(Object.entries(names).flatMap(([kind, some]) => some.map((name) => [name, kind as MessageKind])));

/** A message in the JSON form of LangChain, for Python and JavaScript. */
export const construct = (kind: MessageKind, kwargs: JsonObject): JsonObject => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', names[kind][0] as string],
  kwargs,
});

/** A message in LangChain's spellings: a class with its arguments (`lc`), a type with `data`, or fields beside a type or role. */
export function readMessage(value: Json | undefined): { readonly kind: MessageKind; readonly fields: JsonObject } | undefined {
  if (!isObject(value)) return undefined;
  if (value.type === 'constructor' && Array.isArray(value.id) && isObject(value.kwargs)) {
    const kind = kinds.get(value.id.at(-1) as string);
    return kind && { kind, fields: value.kwargs };
  }
  const kind = kinds.get(stringAt(value, 'type') ?? stringAt(value, 'role') ?? '');
  if (!kind) return undefined;
  const fields = isObject(value.data) && value.content === undefined ? value.data : value;
  return fields.content === undefined ? undefined : { kind, fields };
}
