import { encodeText, isObject, type Json, type JsonObject } from '../../base/index.js';
import type { DatabaseContent, SessionOptions } from '../format.js';
import { recordsOf } from '../shared/jsonl.js';
import { construct, isCheckpoint, readMessage, scanLines } from './schema.js';

const tables = [
  `CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
  parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))`,
  `CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL,
  idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))`,
];

/** Channels with the state of the run itself. A new thread creates its own. */
const isOfTheRun = (name: string): boolean => name.startsWith('__') || name.startsWith('branch:') || name.startsWith('start:');

/** A database with one thread and one checkpoint without pending tasks, so that the graph continues with its next input. */
export function sessionTables(delta: Uint8Array, { sessionId, newId, now }: SessionOptions): DatabaseContent {
  const records = recordsOf(scanLines(delta).pieces).filter(isCheckpoint);
  const channel = records.map((record) => record.channel).findLast((name) => typeof name === 'string') ?? 'messages';
  let messages: Json[] = [];
  const state: { [name: string]: Json } = {};
  for (const record of records) {
    if (record.replaces === true) messages = [];
    messages.push(...record.messages.map(asObject));
    for (const name of Array.isArray(record.gone) ? record.gone : []) delete state[String(name)];
    if (isObject(record.state)) for (const [name, value] of Object.entries(record.state)) if (!isOfTheRun(name)) state[name] = value;
  }
  const id = checkpointId(Date.parse(now), newId());
  const values: JsonObject = { ...state, [String(channel)]: messages };
  const checkpoint = {
    v: 4,
    id,
    ts: now,
    channel_values: values,
    channel_versions: Object.fromEntries(Object.keys(values).map((name) => [name, 1])),
    versions_seen: {},
  };
  const row = {
    thread_id: sessionId,
    checkpoint_ns: '',
    checkpoint_id: id,
    parent_checkpoint_id: null,
    type: 'json',
    checkpoint: encodeText(JSON.stringify(checkpoint)),
    metadata: encodeText(JSON.stringify({ source: 'update', step: 0, parents: {} })),
  };
  return { tables, rows: [{ table: 'checkpoints', values: row }] };
}

/** A message with its class name is created again on reading. LangChain for Python and JavaScript both know this form. */
function asObject(message: Json): Json {
  const read = readMessage(message);
  if (!read) return message;
  const { type: _, role: __, ...kwargs } = read.fields;
  return construct(read.kind, kwargs);
}

/** The time from the start of the Gregorian calendar, where these ids begin to count, to 1970, in ticks of 100 ns. */
const epoch = 0x01b21dd213814000n;

/** An id of UUID version 6, which sorts by time like LangGraph's own. */
function checkpointId(ms: number, random: string): string {
  const ticks = (BigInt(ms) * 10_000n + epoch).toString(16).padStart(15, '0');
  const rest = random.replaceAll('-', '').padEnd(32, '0');
  return `${ticks.slice(0, 8)}-${ticks.slice(8, 12)}-6${ticks.slice(12, 15)}-8${rest.slice(17, 20)}-${rest.slice(20, 32)}`;
}
