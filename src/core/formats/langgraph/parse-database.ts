import { createHash } from 'node:crypto';
import { decodeText, defined, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { ColumnValue, DatabaseReader, DatabaseRows } from '../format.js';
import { clip } from '../shared/headline.js';
import { isDeep, writeLines } from '../shared/jsonl.js';
import { firstIn } from '../shared/plans.js';
import { columnValue } from './parse-values.js';
import { readMessage } from './schema.js';

const needed = ['thread_id', 'checkpoint_ns', 'checkpoint_id', 'parent_checkpoint_id', 'type', 'checkpoint', 'metadata'] as const;
const ofWrites = ['thread_id', 'checkpoint_ns', 'checkpoint_id', 'task_id', 'idx', 'channel', 'type', 'value'] as const;

/** A checkpointer's database: each thread and each nested graph is a source. The file is not stored, because each checkpoint repeats all. */
export const database: DatabaseReader = {
  mayBe: (_, head) => decodeText(head).includes('checkpoint_ns'),
  keeps: { not: 'The database repeats the whole state at every checkpoint. Stemma keeps each thread with the changes of its checkpoints instead.' },
  recognize: (tables) => needed.every((column) => tables.get('checkpoints')?.includes(column)),
  *members(rows) {
    const threads = new Map<string, readonly [thread: string, namespace: string]>();
    for (const row of rows.each('checkpoints', ['thread_id', 'checkpoint_ns'])) {
      const [thread, namespace] = [String(row.thread_id), String(row.checkpoint_ns ?? '')];
      threads.set(namespace === '' ? thread : `${thread}/${namespace}`, [thread, namespace]);
    }
    for (const [id, [thread, namespace]] of [...threads].sort(([a], [b]) => (a < b ? -1 : 1)))
      yield { id, lines: () => writeLines([...readThread(rows, thread, namespace)]) };
  },
};

interface State {
  /** Messages shared with the state before are held once. */
  readonly messages: readonly Json[];
  /** The channel that holds the messages. */
  readonly channel: string | undefined;
  /** The content of the other channels, shortened, by their names. */
  readonly channels: ReadonlyMap<string, string>;
  readonly last: Added | null;
}

interface Added {
  readonly checkpoint: string;
  /** The number of messages up to and including it. */
  readonly end: number;
  readonly before: Added | null;
}

function* readThread(rows: DatabaseRows, thread: string, namespace: string): Generator<JsonObject> {
  yield { thread, ...(namespace !== '' && { namespace }) };
  const place = { thread_id: thread, checkpoint_ns: namespace };
  const found = [...rows.each('checkpoints', ['checkpoint_id', 'parent_checkpoint_id'], place)].map((row) => ({
    id: String(row.checkpoint_id),
    parent: typeof row.parent_checkpoint_id === 'string' ? row.parent_checkpoint_id : undefined,
  }));
  // Ids contain the time, so a state comes before its successors.
  found.sort((a, b) => (a.id < b.id ? -1 : 1));
  const waiting = new Map<string, number>();
  for (const { parent } of found) if (parent !== undefined) waiting.set(parent, (waiting.get(parent) ?? 0) + 1);
  const states = new Map<string, State>();
  for (const { id, parent } of found) {
    const before = parent === undefined ? undefined : states.get(parent);
    if (parent !== undefined) {
      const left = (waiting.get(parent) ?? 1) - 1;
      waiting.set(parent, left);
      if (left === 0) states.delete(parent);
    }
    // Read as a whole, because the database can serve only one reader at a time.
    for (const row of [...rows.each('checkpoints', ['type', 'checkpoint', 'metadata'], { ...place, checkpoint_id: id })]) {
      const checkpoint = columnValue(row.type, row.checkpoint);
      if (!isObject(checkpoint) || !isObject(checkpoint.channel_values) || isDeep(checkpoint)) {
        yield { row: { table: 'checkpoints', checkpoint_id: id, type: plain(row.type), checkpoint: plain(row.checkpoint) } };
        continue;
      }
      const metadata = shallowValue('json', row.metadata);
      const written = (channel: string): Json[] => (parent === undefined ? [] : writesTo(rows, { ...place, checkpoint_id: parent }, channel));
      const { line, state } = readStep({ id, parent, checkpoint, metadata, written }, before);
      if ((waiting.get(id) ?? 0) > 0) states.set(id, state);
      yield line;
    }
    yield* writesOf(rows, { ...place, checkpoint_id: id });
  }
}

interface Step {
  readonly id: string;
  readonly parent: string | undefined;
  readonly checkpoint: JsonObject;
  readonly metadata: Json | undefined;
  /** The values written to a channel at the previous checkpoint. */
  readonly written: (channel: string) => readonly Json[];
}

function readStep({ id, parent, checkpoint, metadata, written }: Step, before: State | undefined) {
  const values = checkpoint.channel_values as JsonObject;
  const held = messageChannel(values);
  const channel = held ?? changedChannel(checkpoint, values, before);
  const list =
    held !== undefined ? (values[held] as readonly Json[]) : channel === undefined ? [] : afterWrites(before?.messages ?? [], written(channel));
  const same = before ? sharedLength(list, before.messages) : 0;
  const messages = before ? [...before.messages.slice(0, same), ...list.slice(same)] : list;
  let last = before?.last ?? null;
  while (last && last.end > same) last = last.before;
  const start = last?.end ?? 0;
  const source = stringAt(metadata, 'source');
  // A person's edit makes a branch. A graph that drops its first messages continues with fewer.
  const replaces = start === 0 && before?.last != null && messages.length > 0 && source !== 'update' && source !== 'fork';
  const { channels, changed, gone } = otherChannels(values, channel, before);
  const at = stringAt(checkpoint, 'ts');
  const line: JsonObject = {
    checkpoint: id,
    ...defined({ parent, at }),
    after: replaces ? (before?.last?.checkpoint ?? null) : (last?.checkpoint ?? null),
    ...(replaces && { replaces }),
    ...defined({ channel }),
    messages: list.slice(start),
    ...(Object.keys(changed).length > 0 && { state: changed }),
    ...(gone.length > 0 && { gone }),
    ...defined({ metadata, versions: checkpoint.channel_versions, seen: checkpoint.versions_seen }),
  };
  const added = messages.length > start ? { checkpoint: id, end: messages.length, before: last } : last;
  const state: State = { messages, channel, channels, last: added };
  return { line, state };
}

/** A channel after writes, by LangGraph's rule: known ids replace, removals remove, others append. For checkpoints that say no more. */
function afterWrites(before: readonly Json[], writes: readonly Json[]): readonly Json[] {
  let messages = [...before];
  for (const write of writes) {
    const overwritten = overwriteIn(write);
    if (overwritten !== undefined) {
      messages = [...toList(overwritten)];
      continue;
    }
    for (const message of toList(write)) {
      const removed = removedBy(message);
      if (removed === all) messages = [];
      else if (removed !== undefined) messages = messages.filter((one) => idOf(one) !== removed);
      else put(messages, message);
    }
  }
  return messages;
}

const all = '__remove_all__';

function put(messages: Json[], message: Json): void {
  const id = idOf(message);
  const at = id === undefined ? -1 : messages.findIndex((one) => idOf(one) === id);
  if (at < 0) messages.push(message);
  else messages[at] = message;
}

const toList = (value: Json): readonly Json[] => (Array.isArray(value) ? value : value === null ? [] : [value]);
const idOf = (message: Json): string | undefined => stringAt(readMessage(message)?.fields, 'id');

const isOfClass = (value: Json, name: string): value is JsonObject =>
  isObject(value) && value.type === 'constructor' && Array.isArray(value.id) && value.id.at(-1) === name;

function removedBy(message: Json): string | undefined {
  if (isOfClass(message, 'RemoveMessage')) return stringAt(message.kwargs, 'id');
  return isObject(message) && message.type === 'remove' ? stringAt(message, 'id') : undefined;
}

function overwriteIn(write: Json): Json | undefined {
  if (!isOfClass(write, 'Overwrite')) return undefined;
  if (isObject(write.kwargs)) return write.kwargs.value;
  return Array.isArray(write.args) ? write.args[0] : undefined;
}

/** The channels other than the messages: digests of their values, and the changes since the previous state. */
function otherChannels(values: JsonObject, channel: string | undefined, before: State | undefined) {
  const changed: { [channel: string]: Json } = {};
  const channels = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) {
    if (name === channel) continue;
    const digest = createHash('sha256').update(JSON.stringify(value)).digest('base64');
    channels.set(name, digest);
    if (before?.channels.get(name) !== digest) changed[name] = value;
  }
  const gone = [...(before?.channels.keys() ?? [])].filter((name) => !channels.has(name));
  return { channels, changed, gone };
}

/** The number of leading messages that two lists share. */
function sharedLength(a: readonly Json[], b: readonly Json[]): number {
  const first = a.findIndex((message, at) => at >= b.length || !isSame(message, b[at]));
  return first < 0 ? a.length : first;
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, at) => isSame(one, b[at]));
  const [own, other] = [a as JsonObject, b as JsonObject];
  const names = Object.keys(own);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && isSame(own[name], other[name]));
}

/** The channel that holds the conversation: `messages`, else the first that is a list of messages only. */
function messageChannel(values: JsonObject): string | undefined {
  const holds = (name: string): boolean => {
    const list = values[name];
    return Array.isArray(list) && list.length > 0 && list.every((one) => readMessage(one) !== undefined);
  };
  if (Array.isArray(values.messages) && (values.messages.length === 0 || holds('messages'))) return 'messages';
  return Object.keys(values).filter(holds).sort()[0];
}

/** A channel of messages of which the checkpoint holds only a version. Its content is the previous content plus the writes since. */
function changedChannel({ channel_versions: versions }: JsonObject, values: JsonObject, before: State | undefined): string | undefined {
  const name = before?.channel ?? 'messages';
  return before && isObject(versions) && Object.hasOwn(versions, name) && !Object.hasOwn(values, name) ? name : undefined;
}

/** The rows of the writes at a checkpoint. */
function writesAt(rows: DatabaseRows, place: Readonly<Record<string, string>>, isWanted: (row: Readonly<Record<string, ColumnValue>>) => boolean) {
  if (!ofWrites.every((column) => rows.tables.get('writes')?.includes(column))) return [];
  return [...rows.each('writes', ['task_id', 'idx', 'channel', 'type', 'value'], place)].filter(isWanted);
}

/** The values written to a channel at a checkpoint, in the order in which they were applied. */
function writesTo(rows: DatabaseRows, place: Readonly<Record<string, string>>, wanted: string): Json[] {
  const found = writesAt(rows, place, ({ channel }) => channel === wanted);
  found.sort((a, b) => (a.task_id === b.task_id ? Number(a.idx) - Number(b.idx) : String(a.task_id) < String(b.task_id) ? -1 : 1));
  return found.flatMap(({ type, value }) => {
    const read = columnValue(type, value);
    return read === undefined || isDeep(read) ? [] : [read];
  });
}

/** Writes of a run that stopped at a checkpoint: a question to a person, the answer, or an error. */
const stops = ['__interrupt__', '__error__', '__resume__'];

function* writesOf(rows: DatabaseRows, place: Readonly<Record<string, string>>): Generator<JsonObject> {
  const kept = writesAt(rows, place, ({ channel }) => stops.includes(String(channel)));
  kept.sort((a, b) => stops.indexOf(String(a.channel)) - stops.indexOf(String(b.channel)) || (String(a.task_id) < String(b.task_id) ? -1 : 1));
  for (const { task_id: task, channel, type, value } of kept)
    yield { write: String(channel), of: place.checkpoint_id as string, task: String(task), value: shallowValue(type, value) };
}

function shallowValue(type: ColumnValue | undefined, value: ColumnValue | undefined): Json {
  const read = columnValue(type, value);
  return read === undefined || isDeep(read) ? plain(value) : read;
}

const plain = (value: ColumnValue | undefined): Json =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : typeof value === 'bigint' ? value.toString() : (value ?? null);

/** The first prompt of a person. */
export function titleIn(messages: Iterable<Json>): string | undefined {
  return firstIn(messages, (message) => {
    const read = readMessage(message);
    return read?.kind === 'human' && typeof read.fields.content === 'string' ? clip(read.fields.content) : undefined;
  });
}
