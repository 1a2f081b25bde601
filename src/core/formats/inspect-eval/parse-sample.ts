import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { objectsIn } from '../shared/drafts.js';
import { startedWith } from '../shared/keys.js';
import type { Wrapped } from '../shared/wrapped.js';
import { flatEvents, type Lane, printOf, type SampleCalls, type Spoken, slicesOf, spokenIn, toldBy } from './parse-events.js';

/** A conversation of a sample: its own, or that of an agent that an agent started. */
export interface Conversation {
  readonly id: string;
  readonly agent?: string;
  readonly records: readonly Wrapped[];
}

/**
 * The conversations of a sample. Its own has its messages with the usage of their calls, what its events tell of branches and compactions,
 * then its scores, error and limit. Where it has no messages, those of its calls are taken.
 */
export function conversationsOf(sample: JsonObject, session: string): readonly Conversation[] {
  const resolve = resolver(sample);
  const events = flatEvents(objectsIn(sample.events ?? (isObject(sample.transcript) ? sample.transcript.events : undefined)));
  const told = toldBy(events, poolOf(sample));
  const agents = told.lanes.filter(({ isAgent, calls }) => isAgent && calls.length > 0);
  const starts = new Map(agents.flatMap(({ id, startedBy }) => (startedBy === undefined ? [] : [[startedBy, `${session}/${id}`] as const])));
  const names = namer(callsIn(events), resolve, starts);
  const messages = messagesIn(sample);
  const main =
    messages.length > 0
      ? messages.map((message) => names.record(message))
      : spokenIn(told.main, new Set(told.compactions.flatMap(({ next }) => next ?? []))).map((one) => names.spoken(one));
  const whole = messages.length > 0 ? withCompactions(main, messages, told, resolve) : main;
  const branches = told.lanes.filter(({ isAgent }) => !isAgent).flatMap((lane) => branchOf(lane, messages, main, names));
  const beside = callsBeside(told, messages).map((one) => ({ ...one, record: resolve(one.record) }));
  const [notes, end] = [[...beside, ...notesOf(sample, events, resolve)], branches.length > 0 ? whole.at(-1) : undefined];
  return [
    // The other facts of a sample follow its messages and not a branch.
    { id: session, records: [...whole, ...branches, ...notes.map((one, at) => (at === 0 && end ? { ...one, parent: end.id } : one))] },
    ...agents.map(
      ({ id, name, calls }): Conversation => ({
        id: `${session}/${id}`,
        agent: name,
        records: spokenIn(calls, new Set()).map((one) => names.spoken(one)),
      }),
    ),
  ];
}

/** Makes records of messages, each with a unique name. */
function namer(calls: ReadonlyMap<string, Call>, resolve: (value: JsonObject) => JsonObject, starts: ReadonlyMap<string, string>) {
  const seen = new Map<string, number>();
  const made = new Map<JsonObject, string>();
  let count = 0;
  const record = (message: JsonObject, parent?: string | null): Wrapped => {
    const named = stringAt(message, 'id') ?? `${count}-${createHash('sha256').update(JSON.stringify(message)).digest('hex').slice(0, 12)}`;
    count++;
    const before = seen.get(named) ?? 0;
    seen.set(named, before + 1);
    const call = calls.get(named) ?? (message.role === 'assistant' ? calls.get(answerOf(message)) : undefined);
    const id = before === 0 ? named : `${named}-${before + 1}`;
    made.set(message, id);
    const started = objectsIn(message.tool_calls).flatMap(({ id: call }) => {
      const conversation = typeof call === 'string' ? starts.get(call) : undefined;
      return conversation === undefined ? [] : [startedWith(conversation, String(call))];
    });
    return {
      id,
      record: {
        ...resolve(message),
        ...(call?.usage !== undefined && { usage: call.usage }),
        ...(call?.model !== undefined && message.model === undefined && { model: call.model }),
        ...(started.length > 0 && { started }),
      } as JsonObject,
      ...(parent !== undefined && { parent }),
      at: call?.at,
    };
  };
  const spoken = ({ message, after }: Spoken): Wrapped => record(message, after === undefined || after === null ? after : (made.get(after) ?? null));
  return { record, spoken };
}

/** A compaction stands before the answer of the call after it, with what that call was sent. The messages of the sample stay as they are. */
function withCompactions(
  main: readonly Wrapped[],
  messages: readonly JsonObject[],
  { compactions }: SampleCalls,
  resolve: (value: JsonObject) => JsonObject,
): readonly Wrapped[] {
  const before = new Map<number, Wrapped>();
  for (const [number, { event, next }] of compactions.entries()) {
    const [answer] = next?.output ?? [];
    const at = answer ? messages.findIndex((message) => isSame(message, answer)) : -1;
    const list = next?.input.map(resolve) ?? [];
    if (at > 0) before.set(at, { id: `compaction-${stringAt(event, 'uuid') ?? number}`, record: { compacted: list }, at: event.timestamp });
  }
  return main.flatMap((one, at) => [...(before.has(at) ? [before.get(at) as Wrapped] : []), one]);
}

const isSame = (one: JsonObject, other: JsonObject): boolean =>
  typeof one.id === 'string' && typeof other.id === 'string' ? one.id === other.id : printOf(one) === printOf(other);

/** The messages of a branch beyond the conversation that it starts from. */
function branchOf(lane: Lane, messages: readonly JsonObject[], main: readonly Wrapped[], names: ReturnType<typeof namer>): readonly Wrapped[] {
  const said = spokenIn(lane.calls, new Set());
  let shared = 0;
  while (shared < said.length && shared < messages.length && isSame(said[shared]?.message as JsonObject, messages[shared] as JsonObject)) shared++;
  const anchored = lane.from === undefined ? -1 : messages.findIndex(({ id }) => id === lane.from);
  const parent = main[Math.max(shared - 1, anchored)]?.id ?? null;
  return said.slice(shared).map((one, at) => (at === 0 ? names.record(one.message, parent) : names.spoken(one)));
}

/** Calls whose answers are no messages of the sample, of scorers and solvers. They count, but say nothing about the window. */
function callsBeside({ grading, main }: SampleCalls, messages: readonly JsonObject[]): (Wrapped & { readonly record: JsonObject })[] {
  const known = new Set(messages.flatMap(identifyMessage));
  const isKnown = (answer: JsonObject | undefined): boolean => answer !== undefined && identifyMessage(answer).some((name) => known.has(name));
  const others = messages.length > 0 ? main.filter(({ output: [answer] }) => !isKnown(answer)) : [];
  return [...others, ...grading].flatMap(({ span = 'call', event, output: [answer] }, number) => {
    const { usage, model, at } = readCall(event);
    if (!isObject(usage) && answer === undefined) return [];
    const record = {
      note: span,
      value: { model: model ?? null, answer: answer ?? null },
      ...(isObject(usage) && { usage }),
      ...(model !== undefined && { model }),
    };
    return [{ id: `beside-${stringAt(event, 'uuid') ?? number}`, record, at }];
  });
}

function notesOf(sample: JsonObject, events: readonly JsonObject[], resolve: (value: JsonObject) => JsonObject): readonly Wrapped[] {
  const scores = isObject(sample.scores) ? Object.entries(sample.scores) : [];
  const others = events.filter(({ event }) => typeof event !== 'string' || !told.has(event));
  return [
    ...scores.map(([name, value]): Wrapped => ({ id: `score-${name}`, record: { note: 'score', value: { name, score: value } } })),
    ...(sample.error === undefined || sample.error === null ? [] : [{ id: 'error', record: { error: sample.error } }]),
    ...(sample.limit === undefined || sample.limit === null ? [] : [{ id: 'limit', record: { note: 'limit', value: sample.limit } }]),
    // A timeline arranges the events, which are read already, by their ids.
    ...objectsIn(sample.timelines).map((value, at): Wrapped => ({ id: `timeline-${at}`, record: { note: 'timeline', value } })),
    ...others.map((event, at): Wrapped => {
      const record = { note: stringAt(event, 'event') ?? 'event', value: resolve(event) };
      return { id: `event-${stringAt(event, 'uuid') ?? at}`, record };
    }),
  ];
}

/** Events whose content is in messages, scores or calls, or that only frame other events. All others are kept as notes. */
const told: ReadonlySet<string> = new Set('model tool state store step subtask span_begin span_end sandbox score sample_init'.split(' '));

function messagesIn(sample: JsonObject): readonly JsonObject[] {
  const own = objectsIn(sample.messages);
  if (own.length > 0) return own;
  const pool = Array.isArray(sample.pool) ? sample.pool : [];
  const refs = Array.isArray(sample.message_refs) ? sample.message_refs : undefined;
  return objectsIn(refs ? slicesOf(pool, refs) : pool);
}

interface Call {
  readonly usage?: Json | undefined;
  readonly model?: string | undefined;
  readonly at?: Json | undefined;
}

function readCall(event: JsonObject): Call {
  const output = isObject(event.output) ? event.output : undefined;
  return { usage: output?.usage, model: stringAt(output, 'model') ?? stringAt(event, 'model'), at: event.timestamp };
}

/** Messages of old logs have no ids. Their content finds the call that returned them. */
const answerOf = ({ content, tool_calls: calls }: JsonObject): string => JSON.stringify([content ?? null, calls ?? null]);

function identifyMessage(message: JsonObject): readonly string[] {
  const id = stringAt(message, 'id');
  return id ? [id, answerOf(message)] : [answerOf(message)];
}

function callsIn(events: readonly JsonObject[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>();
  for (const event of events) {
    const output = isObject(event.output) ? event.output : undefined;
    const message = objectsIn(output?.choices)[0]?.message;
    const id = isObject(message) ? (stringAt(message, 'id') ?? answerOf(message)) : undefined;
    if (event.event === 'model' && id !== undefined) calls.set(id, readCall(event));
  }
  return calls;
}

/** The messages to which inputs of calls refer. */
function poolOf({ pool, events_data: data }: JsonObject): readonly JsonObject[] {
  const own = objectsIn(pool);
  return own.length > 0 ? own : objectsIn(isObject(data) ? data.messages : undefined);
}

const reference = /^attachment:\/\/([0-9a-f]+)$/;
const references = /attachment:\/\/([0-9a-f]{32})/g;

/** Puts attachments in the places of their references: a whole string, or a hash anywhere in one. */
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
      return id === undefined ? value.replace(references, (text, hash: string) => textFor(hash) ?? text) : (textFor(id) ?? value);
    }
    if (Array.isArray(value)) return value.map(resolve);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member)])) : value;
  };
  return (value) => resolve(value) as JsonObject;
}
