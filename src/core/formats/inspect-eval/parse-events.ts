import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { continuations, isSummaryText } from '../shared/continued.js';
import { objectsIn } from '../shared/drafts.js';

/** A call to a model with its messages, references resolved. */
export interface InspectCall {
  /** The name of the innermost span around the call, such as a solver or a scorer. */
  readonly span: string | undefined;
  readonly event: JsonObject;
  readonly input: readonly JsonObject[];
  readonly output: readonly JsonObject[];
}

/** Calls of a branch or of a subagent, in the order of their events. */
export interface Lane {
  readonly id: string;
  readonly name: string;
  readonly isAgent: boolean;
  /** The anchor or message that a branch begins after. */
  readonly from: string | undefined;
  readonly startedBy: string | undefined;
  readonly calls: InspectCall[];
}

/** The calls of a sample by where they were made. */
export interface SampleCalls {
  readonly main: readonly InspectCall[];
  readonly lanes: readonly Lane[];
  /** Calls of scorers, which grade the sample. They belong to no conversation. */
  readonly grading: readonly InspectCall[];
  /** For each compaction, the call after it. */
  readonly compactions: readonly { readonly event: JsonObject; readonly next: InspectCall | undefined }[];
}

const deepest = 20;
/** Spans that name each other as parents would never end. */
const maxSpans = 200;

/** The events in order. Old logs nest the events of tools and subtasks. */
export function flatEvents(list: readonly JsonObject[], depth = 0): readonly JsonObject[] {
  return list.flatMap((event) => {
    const inner = depth < deepest ? objectsIn(event.events) : [];
    return inner.length > 0 ? [event, ...flatEvents(inner, depth + 1)] : [event];
  });
}

/** Sorts the calls of a sample by branches and by agents that an agent started. */
export function toldBy(events: readonly JsonObject[], pool: readonly JsonObject[]): SampleCalls {
  const spans = new Map(events.flatMap((event) => (event.event === 'span_begin' ? [[stringAt(event, 'id') ?? '', event] as const] : [])));
  const main: InspectCall[] = [];
  const grading: InspectCall[] = [];
  const lanes = new Map<string, Lane>();
  const compactions: { event: JsonObject; next: InspectCall | undefined }[] = [];
  for (const event of events) {
    const path = spansAround(event);
    const isGrading = path.some(({ type }) => type === 'scorer' || type === 'scorers');
    const lane = laneOf(path);
    if (event.event === 'model' && isGrading) grading.push(readCall(event, pool, path[0]));
    else if (event.event === 'model') {
      const call = readCall(event, pool, path[0]);
      (lane?.calls ?? main).push(call);
      const waiting = compactions.at(-1);
      if (waiting && !waiting.next && !lane) waiting.next = call;
    }
    if (event.event === 'compaction' && !lane) compactions.push({ event, next: undefined });
  }
  return { main, lanes: [...lanes.values()], grading, compactions };

  /** The spans that an event lies in, from the inside. */
  function spansAround(event: JsonObject): readonly JsonObject[] {
    const path: JsonObject[] = [];
    for (let at = spans.get(stringAt(event, 'span_id') ?? ''); at && path.length < maxSpans; at = spans.get(stringAt(at, 'parent_id') ?? ''))
      path.push(at);
    return path;
  }

  function laneOf(path: readonly JsonObject[]): Lane | undefined {
    const agents = path.filter(({ type }) => type === 'agent');
    const own = path.find((span) => span.type === 'branch' || (span.type === 'agent' && span !== agents.at(-1)));
    const id = own && stringAt(own, 'id');
    if (!own || id === undefined) return undefined;
    const lane = lanes.get(id) ?? newLane(own, id);
    lanes.set(id, lane);
    return lane;
  }

  function newLane(span: JsonObject, id: string): Lane {
    const branch = events.find((event) => event.event === 'branch' && event.span_id === id);
    const started = events.find((event) => event.event === 'tool' && event.agent_span_id === id);
    const name = stringAt(span, 'name') ?? id;
    return {
      ...{ id, name, isAgent: span.type === 'agent', calls: [] },
      from: branch && stringAt(branch, 'from_anchor'),
      startedBy: started && stringAt(started, 'id'),
    };
  }
}

function readCall(event: JsonObject, pool: readonly JsonObject[], span: JsonObject | undefined): InspectCall {
  const given = objectsIn(event.input);
  const refs = Array.isArray(event.input_refs) ? event.input_refs : [];
  const input = given.length > 0 ? given : slicesOf(pool, refs);
  const output = isObject(event.output) ? event.output : {};
  const message = objectsIn(output.choices)[0]?.message;
  return { span: span && stringAt(span, 'name'), event, input, output: isObject(message) ? [message] : [] };
}

/** The parts of a list to which references `[from, to]` point. */
export const slicesOf = <One>(list: readonly One[], refs: readonly Json[]): One[] =>
  refs.flatMap((ref) => (Array.isArray(ref) && typeof ref[0] === 'number' && typeof ref[1] === 'number' ? list.slice(ref[0], ref[1]) : []));

/** The text by which messages are compared: their content, regardless of their ids. */
export const printOf = ({ role, content, tool_calls: calls, tool_call_id: answers }: JsonObject): string =>
  JSON.stringify([role ?? null, content ?? null, objectsIn(calls).map(({ id }) => id ?? null), answers ?? null]);

/** A message of a conversation that is known only from events. The message of a compaction has the remaining messages. */
export interface Spoken {
  readonly message: JsonObject;
  /** The message after which it was said; null at the beginning. Undefined after the message before it. */
  readonly after?: JsonObject | null;
}

/** A call that returned no message was still made and counted. */
function unsaid({ uuid, output, model }: JsonObject): readonly JsonObject[] {
  const usage = isObject(output) ? output.usage : undefined;
  return isObject(usage) ? [{ ...(typeof uuid === 'string' && { id: uuid }), role: 'assistant', content: '', usage, model: model ?? null }] : [];
}

/** The messages that are known from calls. */
export function spokenIn(calls: readonly InspectCall[], compacted: ReadonlySet<InspectCall>): readonly Spoken[] {
  const placeOf = continuations<JsonObject>({
    printOf,
    isSystem: ({ role }) => role === 'system',
    echoOf: () => '',
    isEcho: (message) => message.role === 'assistant',
    isSummary: ({ role, content }) => role === 'user' && typeof content === 'string' && isSummaryText(content),
  });
  const ends = new Map<string, JsonObject>();
  return calls.flatMap((call, at): Spoken[] => {
    const id = `${at}`;
    const { fresh, after, isCompaction } = placeOf({ id, input: call.input, output: call.output, isCompacted: compacted.has(call) });
    const before = isCompaction ? [{ compacted: [...fresh] }] : fresh;
    const messages = [...before, ...(call.output.length > 0 ? call.output : unsaid(call.event))];
    const last = messages.at(-1);
    if (last) ends.set(id, last);
    return messages.map((message, number): Spoken => {
      const from = number === 0 && after !== undefined ? { after: after === null ? null : (ends.get(after) ?? null) } : {};
      return { message, ...from };
    });
  });
}
