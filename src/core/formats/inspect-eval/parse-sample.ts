import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { objectsIn } from '../shared/drafts.js';
import type { Wrapped } from '../shared/wrapped.js';

/** The records of a sample: its messages with the usage of their calls, then its scores, error and limit. */
export function recordsOf(sample: JsonObject): readonly Wrapped[] {
  const resolve = resolver(sample);
  const events = objectsIn(sample.events ?? (isObject(sample.transcript) ? sample.transcript.events : undefined));
  const calls = callsIn(events);
  const seen = new Map<string, number>();
  const messages = messagesIn(sample).map((message, at): Wrapped => {
    const named = stringAt(message, 'id') ?? `${at}-${createHash('sha256').update(JSON.stringify(message)).digest('hex').slice(0, 12)}`;
    const before = seen.get(named) ?? 0;
    seen.set(named, before + 1);
    const call = calls.get(named) ?? (message.role === 'assistant' ? calls.get(printOf(message)) : undefined);
    const record = {
      ...resolve(message),
      ...(call?.usage !== undefined && { usage: call.usage }),
      ...(call?.model !== undefined && message.model === undefined && { model: call.model }),
    };
    return { id: before === 0 ? named : `${named}-${before + 1}`, record: record as JsonObject, at: call?.at };
  });
  const scores = isObject(sample.scores) ? Object.entries(sample.scores) : [];
  const notes: Wrapped[] = [
    ...scores.map(([name, value]): Wrapped => ({ id: `score-${name}`, record: { note: 'score', value: { name, score: value } } })),
    ...(sample.error === undefined || sample.error === null ? [] : [{ id: 'error', record: { error: sample.error } }]),
    ...(sample.limit === undefined || sample.limit === null ? [] : [{ id: 'limit', record: { note: 'limit', value: sample.limit } }]),
    ...events
      .filter(({ event }) => typeof event === 'string' && told.has(event))
      .map(
        (event, at): Wrapped => ({
          id: `event-${stringAt(event, 'uuid') ?? at}`,
          record: { note: stringAt(event, 'event') ?? 'event', value: resolve(event) },
        }),
      ),
  ];
  return [...messages, ...notes];
}

/** Events that no message tells. */
const told: ReadonlySet<string> = new Set(['compaction', 'branch', 'anchor', 'approval', 'interrupt', 'sample_limit', 'score_edit', 'error']);

function messagesIn(sample: JsonObject): readonly JsonObject[] {
  const own = objectsIn(sample.messages);
  if (own.length > 0) return own;
  const pool = Array.isArray(sample.pool) ? sample.pool : [];
  const refs = Array.isArray(sample.message_refs) ? sample.message_refs : undefined;
  if (!refs) return objectsIn(pool);
  return objectsIn(
    refs.flatMap((ref) => (Array.isArray(ref) && typeof ref[0] === 'number' && typeof ref[1] === 'number' ? pool.slice(ref[0], ref[1]) : [])),
  );
}

interface Call {
  readonly usage?: Json | undefined;
  readonly model?: string | undefined;
  readonly at?: Json | undefined;
}

/** Messages of old logs have no ids. Their content finds the call that returned them. */
const printOf = ({ content, tool_calls: calls }: JsonObject): string => JSON.stringify([content ?? null, calls ?? null]);

/** The calls by the message that they returned. */
function callsIn(events: readonly JsonObject[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>();
  const walk = (list: readonly JsonObject[], depth: number): void => {
    for (const event of list) {
      const output = isObject(event.output) ? event.output : undefined;
      const choice = objectsIn(output?.choices)[0];
      const message = isObject(choice?.message) ? choice.message : undefined;
      const id = message && (stringAt(message, 'id') ?? printOf(message));
      if (event.event === 'model' && id !== undefined)
        calls.set(id, { usage: output?.usage, model: stringAt(output, 'model') ?? stringAt(event, 'model'), at: event.timestamp });
      // Old logs nest the events of tools and subtasks.
      if (depth < 20) walk(objectsIn(event.events), depth + 1);
    }
  };
  walk(events, 0);
  return calls;
}

const reference = /^attachment:\/\/([0-9a-f]+)$/;

/** Puts attachments in the places of their references, which are whole strings. */
function resolver({ attachments, attached }: JsonObject): (value: JsonObject) => JsonObject {
  const list = Array.isArray(attached) ? attached : [];
  const byHash = isObject(attachments) ? attachments : {};
  const textFor = (id: string): string | undefined => {
    const content = Object.hasOwn(byHash, id) ? byHash[id] : /^\d+$/.test(id) ? list[Number(id)] : undefined;
    return typeof content === 'string' ? content : undefined;
  };
  const resolve = (value: Json): Json => {
    if (typeof value === 'string') {
      const id = reference.exec(value)?.[1];
      return id === undefined ? value : (textFor(id) ?? value);
    }
    if (Array.isArray(value)) return value.map(resolve);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member)])) : value;
  };
  return (value) => resolve(value) as JsonObject;
}
