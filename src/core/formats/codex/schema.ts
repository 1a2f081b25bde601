import { hash } from 'node:crypto';
import { type ByteRange, canonicalJson, isObject, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { FileBytes } from '../format.js';
import { type Dialect, type RecordPiece, readTime, type Scan, type ScanOptions, scanJsonl } from '../shared/jsonl.js';

/** The form of the lines of a rollout. */
export const dialect: Dialect = {
  beginning: /\{"(?:timestamp|type|ordinal|record_type)":/g,
  isWhole: (record) => typeof record.timestamp === 'string' && typeof record.type === 'string',
};

/** Splits a rollout into records. Never throws for the content of the bytes. */
export const scanLines = (file: FileBytes, options?: ScanOptions): Scan => scanJsonl(file, dialect, options);

/** `item`: what the model sees or writes; `event`: the screen; `compacted`: a new history; `context`: a turn's settings; `other`: not read. */
export type Sort = 'meta' | 'item' | 'event' | 'compacted' | 'context' | 'other';

const sorts: Readonly<Record<string, Sort>> = {
  session_meta: 'meta',
  response_item: 'item',
  event_msg: 'event',
  compacted: 'compacted',
  turn_context: 'context',
};

/** Lines without content of the conversation. */
const bookkeeping: ReadonlySet<string> = new Set([
  'world_state',
  'token_usage_record',
  'inter_agent_communication_metadata',
  'security_risk_score',
  'realtime_item',
]);

/** Whether a record is a line of a type that this version of the format does not know. */
export const isUnknown = (record: JsonObject): record is JsonObject & { readonly type: string } =>
  isObject(record.payload) && typeof record.type === 'string' && !Object.hasOwn(sorts, record.type) && !bookkeeping.has(record.type);

export interface RolloutLine {
  readonly sort: Sort;
  readonly payload: JsonObject;
  readonly at: Timestamp | undefined;
  /** The agent's notes about an item: the call that created it, and whether it belongs to a compaction. */
  readonly metadata: JsonObject | undefined;
  /** The form of 2025: items and the session line are bare, without time and kind. */
  readonly flat?: true;
}

/** Reads a record of either form as a line. */
export function readLine(record: JsonObject): RolloutLine {
  const { payload, metadata } = record;
  if (isObject(payload) && typeof record.type === 'string')
    return {
      sort: Object.hasOwn(sorts, record.type) ? (sorts[record.type] as Sort) : 'other',
      payload,
      at: readTime(record),
      metadata: isObject(metadata) ? metadata : undefined,
    };
  if (record.record_type !== undefined || payload !== undefined) return flatLine('other', record);
  if (typeof record.type === 'string') return flatLine(record.type === 'compacted' ? 'compacted' : 'item', record);
  const at = readTime(record);
  return typeof record.id === 'string' && at !== undefined ? flatLine('meta', record, at) : flatLine('other', record);
}

const flatLine = (sort: Sort, payload: JsonObject, at?: Timestamp): RolloutLine => ({ sort, payload, at, metadata: undefined, flat: true });

export interface PlacedLine extends RolloutLine {
  readonly raw: ByteRange;
}

/** The readable lines of a scanned delta, in order. */
export const placedLines = (pieces: readonly RecordPiece[]): PlacedLine[] =>
  pieces.flatMap(({ record, range }) => (record ? [{ ...readLine(record), raw: range }] : []));

/** The readable lines of a delta, in order. */
export const readLines = (delta: Uint8Array): PlacedLine[] => placedLines(scanLines(delta).pieces);

/** The turn that a line opens or belongs to, if it names a turn. */
export const turnOf = ({ sort, payload }: RolloutLine): string | undefined =>
  sort === 'context' || (sort === 'event' && startsTurn(payload)) ? stringAt(payload, 'turn_id') : undefined;

/** Whether the event starts a turn. */
export const startsTurn = (event: JsonObject): boolean => event.type === 'task_started' || event.type === 'turn_started';

/** An item as the model gets it, without the agent's own notes. */
export const sentItem = ({ internal_chat_message_metadata_passthrough: _, ...item }: JsonObject): JsonObject => item;

export interface Name {
  readonly name: string;
  /** Whether no item of another session can have this name. A name made from content alone can belong to many items. */
  readonly isUnique: boolean;
}

export interface Names extends Name {
  /** The name in a delta that begins inside a turn and does not name the turn. */
  readonly loose: string;
  /** The name by content and turn of an answer that is named by its time. A fork that repeats the answer writes a new time. */
  readonly inTurn?: string;
}

/**
 * The name of an item: its id, its call's id, else a digest of its content. An answer without an id has its time in the digest, because the same
 * words or empty thinking stand several times in a turn. Any other item has its turn. The name is the same in every copy of the file.
 */
export function nameItem(item: JsonObject, turn: string, at?: Timestamp): Name {
  const said = saidName(item);
  if (said !== undefined) return { name: said, isUnique: true };
  if (at !== undefined && isAnswer(item)) return { name: digestItem(at, heldIn(item)), isUnique: true };
  return { name: digestItem(turn, heldIn(item)), isUnique: turn !== '' };
}

/** The names of an item with and without the current turn. */
export function nameInTurn(item: JsonObject, turn: string, at?: Timestamp): Names {
  const named = nameItem(item, turn, at);
  if (saidName(item) !== undefined) return { ...named, loose: named.name };
  const held = heldIn(item);
  if (at === undefined || !isAnswer(item)) return { ...named, loose: digestItem('', held) };
  return { ...named, loose: named.name, ...(turn !== '' && !isVoid(item) && { inTurn: digestItem(turn, held) }) };
}

/** Whether an item belongs to the answer of a call. The kinds of all tool calls end in `_call`, unknown ones too. */
export const isAnswer = ({ type, role }: JsonObject): boolean =>
  type === 'message' ? role === 'assistant' : typeof type === 'string' && (type === 'reasoning' || type.endsWith('_call'));

/** Thinking of which a publisher left nothing: neither a name nor content. It says nothing about the file that contains it. */
export const isVoid = (item: JsonObject): boolean =>
  item.type === 'reasoning' && saidName(item) === undefined && item.encrypted_content === undefined && readTexts(item.summary).length === 0;

function saidName(item: JsonObject): string | undefined {
  const id = stringAt(item, 'id');
  if (id !== undefined && id !== '') return id.slice(0, maxNameLength);
  const call = stringAt(item, 'call_id');
  if (call === undefined || call === '') return undefined;
  const isAnswer = typeof item.type === 'string' && item.type.endsWith('_output');
  return `${call.slice(0, maxNameLength)}#${isAnswer ? 'output' : 'call'}`;
}

const heldIn = (item: JsonObject): string => canonicalJson(sentItem(item));
const digestItem = (turn: string, held: string): string => `item-${hash('sha256', `${turn}\0${held}`).slice(0, 24)}`;
const maxNameLength = 200;

/** The texts of an item's content or output, in order; null for a part that is not text. */
export function readTexts(content: unknown): readonly (string | null)[] {
  if (typeof content === 'string') return [content];
  if (isObject(content)) return [textIn(content)];
  return Array.isArray(content) ? content.map((part: unknown) => (typeof part === 'string' ? part : textIn(part))) : [];
}

const textIn = (part: unknown): string | null => {
  const text = stringAt(part, 'text');
  const type = stringAt(part, 'type');
  return text !== undefined && (type === undefined || type.endsWith('text')) ? text : null;
};

/** Texts that the agent adds to user messages: the environment, instructions, interruptions. */
const injected =
  /^\s*(<(environment_context|user_instructions|permissions|turn_aborted|skill|skills_instructions|subagent_notification|user_shell_command|collaboration_mode|app-context|model_switch|personality_spec|INSTRUCTIONS|apps_instructions|plugins_instructions)\b|# AGENTS\.md instructions)/;

/** The folder in which the agent works, if a line names it. */
export function folderOf({ sort, payload }: RolloutLine): string | undefined {
  if (sort === 'meta' || sort === 'context') return stringAt(payload, 'cwd') || undefined;
  if (sort !== 'item' || payload.type !== 'message' || payload.role !== 'user') return undefined;
  const text = readTexts(payload.content).find((part) => part?.trimStart().startsWith('<environment_context>'));
  return /<cwd>([^<]+)<\/cwd>/.exec(text ?? '')?.[1];
}

/** The source of each part of a user message, as current versions record it. `user.text` is text that a person typed. */
function kindsOf(item: JsonObject): readonly string[] {
  const own = item.internal_chat_message_metadata_passthrough;
  const kinds = isObject(own) ? own.content_item_kinds : undefined;
  return Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === 'string') : [];
}

/** Whether the agent added the part of a user message. */
export function isInjected(item: JsonObject, part: number, text: string | undefined): boolean {
  const kind = kindsOf(item)[part];
  if (kind !== undefined && kind !== 'unknown') return !kind.startsWith('user.');
  return text !== undefined && injected.test(text);
}

/** Whether a person wrote the message. Such a message begins a turn, and rollbacks count it. */
export function isPrompt(item: JsonObject): boolean {
  if (item.type !== 'message' || item.role !== 'user') return false;
  const parts = readTexts(item.content);
  return parts.length > 0 && parts.some((text, part) => !isInjected(item, part, text ?? undefined));
}

/** The text of a model's message; empty for all other items. */
export const saidIn = (item: JsonObject): string =>
  item.type === 'message' && item.role === 'assistant'
    ? readTexts(item.content)
        .flatMap((text) => text ?? [])
        .join('\n')
    : '';

/** Whether the text ends the summary. A summary is an introduction by the agent followed by the model's text. */
export const endsSummary = (said: string, summary: string): boolean => said !== '' && summary.length > said.length && summary.endsWith(said);

/** The text of a prompt, without text that the agent added. */
export const promptText = (item: JsonObject): string =>
  readTexts(item.content)
    .filter((text, part) => text !== null && !isInjected(item, part, text))
    .join('\n');
