import { hash } from 'node:crypto';
import { canonicalJson, isObject, type Json, type JsonObject, stringAt, type Timestamp, toTimestamp } from '../../base/index.js';
import type { TokenUsage } from '../format.js';
import { usageIn, withThoughts } from '../shared/drafts.js';
import { type Dialect, type Scan, type ScanOptions, scanJsonl } from '../shared/jsonl.js';

/** A message as OpenCode exports it, `{info, parts}`, or last the session. With `key`, Stemma wrote or cut it, and it keeps that name. */
export interface MessageLine extends JsonObject {
  readonly info: JsonObject;
  readonly parts: readonly Json[];
}

/** The model name of messages that Stemma wrote without a model. */
export const unknownModel = 'unknown';

const dialect: Dialect = { beginning: /\{"(?:info|session|row|key)":/g, isWhole: (record) => isMessage(record) || isObject(record.session) };

/** Splits a session into records. Never throws for the content of the bytes. */
export const scanLines = (bytes: Uint8Array, options?: ScanOptions): Scan => scanJsonl(bytes, dialect, options);

/** Whether the record is a message. */
export const isMessage = (record: JsonObject): record is MessageLine => isObject(record.info) && Array.isArray(record.parts);

/** The parts of a message. */
export const readParts = ({ parts }: MessageLine): readonly JsonObject[] => parts.filter(isObject);
/** The id of a message. */
export const idOf = ({ info }: MessageLine): string => stringAt(info, 'id') ?? '';
/** The author's role. */
export const readRole = ({ info }: MessageLine): string => stringAt(info, 'role') ?? '';
/** The type of a part. */
export const readType = (part: JsonObject): string => stringAt(part, 'type') ?? '';
const at = (value: Json | undefined, key: string): Json | undefined => (isObject(value) ? value[key] : undefined);

/** The creation time in milliseconds since 1970. */
export const createdAt = ({ info }: MessageLine): number | undefined => msOf(at(info.time, 'created'));
const msOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= latestTime ? Math.floor(value) : undefined;
/** The last millisecond of the year 9999. Later times have no timestamp with a four-digit year. */
const latestTime = 253_402_300_799_999;

/** The time at which the message was created. */
export const readTime = (line: MessageLine): Timestamp | undefined => instantOf(at(line.info.time, 'created'));

/** A number of milliseconds since 1970 as an instant; undefined for other values. */
export function instantOf(value: Json | undefined): Timestamp | undefined {
  const ms = msOf(value);
  return ms === undefined ? undefined : toTimestamp(ms);
}

/** Whether the answer is still being written: neither its end nor an error is recorded. */
export const isOpen = (line: MessageLine): boolean =>
  readRole(line) === 'assistant' && typeof at(line.info.time, 'completed') !== 'number' && line.info.error === undefined;

/** Whether the part is a call with a result. */
export function hasResult({ type, state }: JsonObject): boolean {
  if (type !== 'tool') return false;
  const status = stringAt(state, 'status');
  if (status === 'completed' || status === 'error') return true;
  // A call in a state that this version does not know has a result if it has an output.
  return status !== 'pending' && status !== 'running' && stringAt(state, 'output') !== undefined;
}

/** The counts of an answer. One that never ended has zeros because it was not counted. */
export function usageOf(info: JsonObject): TokenUsage | undefined {
  const { input, output, reasoning, cache } = isObject(info.tokens) && typeof info.finish === 'string' ? info.tokens : {};
  const { read: cacheRead, write: cacheWrite } = isObject(cache) ? cache : {};
  // Thinking is counted beside the text.
  return usageIn({ input, output: withThoughts(output, reasoning), cacheRead, cacheWrite, reasoning }, 'beside');
}

/** The session that a call started, and the call; none for other parts. */
export function startIn({ callID, state }: JsonObject): readonly (readonly [started: string, call: string])[] {
  const started = isObject(state) ? stringAt(state.metadata, 'sessionId') : undefined;
  return started !== undefined && typeof callID === 'string' ? [[started, callID]] : [];
}

/** OpenCode stores call and result as one part. Result number n is named after its message with this suffix; attachments are more entries. */
export const resultName = (number: number): string => `-r${number}`;

/** The message and the number of the part that the name of a result refers to. */
export function splitResultName(name: string): { readonly name: string; readonly number: number } | undefined {
  const match = /^(.+)-r(\d+)$/.exec(name);
  return match ? { name: match[1] as string, number: Number(match[2]) } : undefined;
}

/** The names of the results in a message of that name. */
export const resultNames = (line: MessageLine, name: string): readonly string[] =>
  readRole(line) === 'assistant' ? readParts(line).flatMap((part, number) => (hasResult(part) ? [`${name}${resultName(number)}`] : [])) : [];

/** Whether the message is a summary that replaces the earlier messages. A failed summary replaces nothing. */
export const isSummary = ({ info }: MessageLine): boolean =>
  info.role === 'assistant' && info.summary === true && typeof info.finish === 'string' && info.error === undefined;
/** The part of a message that requests a compaction. */
export const compactionOf = (line: MessageLine): JsonObject | undefined =>
  readRole(line) === 'user' ? readParts(line).find((part) => readType(part) === 'compaction') : undefined;

/** The name of a message, from author, time and text: the same in forks with new ids, and after later notes such as a pruned result. */
export function nameMessage(line: MessageLine): string {
  if (typeof line.key === 'string' && line.key !== '') return line.key;
  const content = canonicalJson([readRole(line), createdAt(line) ?? null, readParts(line).map(contentOf)]);
  return `oc-${hash('sha256', content).slice(0, 20)}`;
}

function contentOf({ id: _, messageID: __, sessionID: ___, tail_start_id: ____, ...part }: JsonObject): Json {
  if (!isObject(part.state) || !isObject(part.state.time)) return part;
  const { compacted: _____, ...time } = part.state.time;
  return { ...part, state: { ...part.state, time } };
}

/** The session that the last line describes, the call that started it, the parents of messages that do not follow the one before, and notes on how it was read. */
export function sessionIn(record: JsonObject | undefined) {
  const { session, parents, notes, startedBy } = isObject(record?.session) ? record : ({} as JsonObject);
  const isParent = (one: [string, Json]): one is [string, string | null] => one[1] === null || typeof one[1] === 'string';
  return {
    session: isObject(session) ? session : {},
    startedBy,
    parents: new Map(Object.entries(isObject(parents) ? parents : {}).filter(isParent)),
    notes: Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : [],
  };
}
