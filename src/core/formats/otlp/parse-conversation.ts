import { decodeText, defined, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { DocumentReader, Member } from '../format.js';
import { continuations, isSummaryText, type MessageRules } from '../shared/continued.js';
import { objectsIn } from '../shared/drafts.js';
import { detached } from '../shared/headline.js';
import { isDeep } from '../shared/jsonl.js';
import { startedWith } from '../shared/keys.js';
import { hasMembers } from '../shared/top-members.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';
import { spansInFile } from './parse-large.js';
import { exportIn, isObserved, observedSpans } from './parse-observed.js';
import { listAt, messagesAt, withDetails } from './parse-sent.js';
import { eventsBySpan, operationNamed, type ReadSpan, spansIn, valuesIn } from './parse-spans.js';
import { unknownKinds } from './parse-unread.js';

export const formatId = 'otlp-v1';

/** Files of spans. Spans without GenAI attributes are ignored. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = decodeText(head);
    return (
      hasMembers(text, { resourceSpans: /^\[/ }) ||
      hasMembers(text, { type: /^span$/, traceId: /./ }) ||
      (text.includes('"_spanContext"') && /"_spanContext"\s*:\s*\{/.test(text)) ||
      isObserved(text)
    );
  },
  unread(bytes) {
    const text = decodeText(bytes);
    const places: number[] = [];
    const values = valuesIn(text, (at) => places.push(at));
    // Within a value that does not end, others begin that do not end.
    const [first] = places;
    const line = text.slice(0, first).split('\n').length;
    const broken = first === undefined ? [] : [{ line, reason: 'the JSON value that begins here is broken or does not end: left out' }];
    return [...broken, ...unknownKinds(values)];
  },
  members(bytes) {
    const values = valuesIn(decodeText(bytes));
    const logged = eventsBySpan(values);
    const own = values.flatMap(spansIn).map((span): ReadSpan => ({ ...span, events: [...span.events, ...(logged.get(span.spanId) ?? [])] }));
    const members = readMembers((own.length > 0 ? own : observedSpans(values.map(exportIn))).map(withDetails));
    return members.length > 0 ? members : undefined;
  },
  membersInFile(file) {
    const members = readMembers(spansInFile(file), true);
    return members.length > 0 ? members : undefined;
  },
};

/** The conversations of spans with their details. Of spans in a file that does not fit into memory, records are made on demand. */
export function readMembers(told: readonly ReadSpan[], isLarge = false): readonly Member[] {
  const spans = spansOnce(told);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const starts = startsIn(spans, byId);
  const known = spans.filter((span) => operationOf(span) !== undefined);
  const groups = Map.groupBy(known, (span) => conversationOf(span, byId).id);
  return [...groups].flatMap(([id, some]): Member[] => {
    const records = makeRecords(some, starts, isLarge);
    if (records.length === 0) return [];
    const attribute = (name: string): string | undefined =>
      some.map(({ attributes }) => stringAt(attributes, name)).find((value) => value !== undefined);
    const isSubagent = some.some((span) => conversationOf(span, byId).agent !== undefined);
    const about = {
      sessionId: id,
      ...defined({ machine: attribute('host.name') }),
      ...(isSubagent && { agent: attribute('gen_ai.agent.name') ?? 'agent', startedIn: id }),
    };
    return [{ id, lines: () => wrapLines(formatId, id, about, records, isLarge) }];
  });
}

/** A span that was exported again replaces the earlier one. */
const spansOnce = (spans: readonly ReadSpan[]): readonly ReadSpan[] => [
  ...new Map(spans.map((span, at) => [span.spanId === '' ? at : `${span.traceId} ${span.spanId}`, span])).values(),
];

const calls: ReadonlySet<string> = new Set(['chat', 'generate_content', 'text_completion', 'responses']);

function operationOf(span: ReadSpan): 'call' | 'tool' | 'agent' | undefined {
  const operation = operationNamed(span);
  if (operation === undefined) return messagesAt(span, 'input') === undefined ? undefined : 'call';
  if (calls.has(operation) || operation === 'llm') return 'call';
  if (operation === 'execute_tool' || operation === 'tool') return 'tool';
  return operation === 'invoke_agent' || operation === 'agent' ? 'agent' : undefined;
}

/** Spans with one conversation id form a conversation, those of a subagent a separate one. Without ids, each trace is one. */
function conversationOf(span: ReadSpan, byId: ReadonlyMap<string, ReadSpan>): { readonly id: string; readonly agent?: string } {
  // VS Code stores its session id in a separate attribute, because each of its calls has a different conversation id.
  const named = ['copilot_chat.chat_session_id', 'gen_ai.conversation.id', 'session.id', 'langfuse.session.id'];
  const seen = new Set<string>();
  let id: string | undefined;
  let agents = 0;
  let agent = '';
  for (let at: ReadSpan | undefined = span; at && !seen.has(at.spanId); at = byId.get(at.parentSpanId ?? '')) {
    seen.add(at.spanId);
    const { attributes } = at;
    id ??= named.map((name) => stringAt(attributes, name)).find((value) => value !== undefined);
    if (operationOf(at) === 'agent') {
      if (agents === 0) agent = at.spanId;
      agents++;
    }
  }
  const whole = id ?? span.traceId;
  return agents > 1 ? { id: `${whole}/${agent}`, agent } : { id: whole };
}

/** The subagents that each call of a tool started, by the id of the call. */
function startsIn(spans: readonly ReadSpan[], byId: ReadonlyMap<string, ReadSpan>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const span of spans) {
    const { id, agent } = conversationOf(span, byId);
    if (agent !== span.spanId) continue;
    const seen = new Set<string>();
    for (let at = byId.get(span.parentSpanId ?? ''); at && !seen.has(at.spanId); at = byId.get(at.parentSpanId ?? '')) {
      seen.add(at.spanId);
      const call = operationOf(at) === 'tool' ? stringAt(at.attributes, 'gen_ai.tool.call.id') : undefined;
      if (call === undefined) continue;
      found.set(call, [...(found.get(call) ?? []), id]);
      break;
    }
  }
  return found;
}

/** One record for each call with the new part of its input, and one for each tool whose result is in no message. */
function makeRecords(spans: readonly ReadSpan[], starts: ReadonlyMap<string, readonly string[]>, isLarge: boolean): readonly Wrapped[] {
  const ordered = [...spans].sort((a, b) => a.start - b.start);
  const answered = new Set<string>();
  const called = new Set<string>();
  const failures = failuresIn(ordered);
  const placeOf = continuations(messageRules);
  let system = '';
  let isOwn = false;
  const records = callsIn(ordered).flatMap((span): Wrapped[] => {
    const { attributes } = span;
    const input = messagesAt(span, 'input') ?? [];
    const output = messagesAt(span, 'output') ?? [];
    const isCompacted = attributes['gen_ai.conversation.compacted'] === true;
    const { fresh, after, isCompaction } = placeOf({ id: span.spanId, input, output, isCompacted });
    const told = JSON.stringify(attributes['gen_ai.system_instructions'] ?? null);
    // Some tools record the system prompt twice. Only a branch from the beginning and a compaction need it again.
    const isTold = (told !== system || after === null || isCompaction) && told !== 'null' && !fresh.some(({ role }) => role === 'system');
    if (told !== 'null') system = told;
    const parts = [...input, ...output].flatMap((message) => partsIn(message.parts));
    for (const id of callIds(parts, 'tool_call_response')) answered.add(id);
    const newCalls = [...new Set(callIds(parts, 'tool_call'))].filter((id) => !called.has(id));
    for (const id of newCalls) called.add(id);
    const started = newCalls.flatMap((id) => (starts.get(id) ?? []).map((conversation) => startedWith(conversation, id)));
    const own = entriesAt(attributes);
    isOwn ||= own !== undefined;
    const facts: CallFacts = {
      ...{ from: input.length - fresh.length, isTold, isCompaction, started: started.length > 0 ? started : undefined },
      failures: failures.size > 0 ? Object.fromEntries(fresh.flatMap(({ parts }) => partsIn(parts)).flatMap(failureOf)) : undefined,
    };
    const parent = own ? undefined : after;
    const recordFor = (part?: Part): Wrapped => {
      const place = part === 'summary' ? { id: `${span.spanId}:summary`, parent } : { id: span.spanId, parent: part ? undefined : parent };
      if (isLarge) return new LazyRecord(place.id, place.parent, span, { ...facts, part });
      return { ...place, at: span.start, record: makeRecord(span, { ...facts, part }, { fresh, output }) };
    };
    return compacts(own, isCompaction, output) ? [recordFor('summary'), recordFor('answer')] : [recordFor()];
  });
  const tools = ordered.filter((span) => operationOf(span) === 'tool' && !answered.has(stringAt(span.attributes, 'gen_ai.tool.call.id') ?? ''));
  return isOwn ? records : withTools(records, tools, ordered, called);

  /** Only the span of a tool says that it failed, not its message. */
  function failureOf(part: JsonObject): readonly (readonly [string, string])[] {
    const id = stringAt(part, 'id') ?? '';
    const why = part.type === 'tool_call_response' ? failures.get(id) : undefined;
    return why === undefined ? [] : [[id, why]];
  }
}

const callIds = (parts: readonly JsonObject[], type: string): string[] =>
  parts.flatMap((part) => (part.type === type ? [stringAt(part, 'id') ?? ''] : []));

/** The facts about a call that depend on earlier calls. */
interface CallFacts {
  /** The number of messages of its input that an earlier call has. */
  readonly from: number;
  /** True if its system prompt differs from the previous one. */
  readonly isTold: boolean;
  readonly started: readonly string[] | undefined;
  readonly failures: JsonObject | undefined;
  readonly isCompaction: boolean;
  readonly part?: Part | undefined;
}

/** A call after a compaction has two records, because a compaction replaces what comes before it and no call ends with it. */
type Part = 'summary' | 'answer';

const isAnswer = ({ role }: JsonObject): boolean => role === 'assistant';

const compacts = (own: readonly JsonObject[] | undefined, isCompaction: boolean, output: readonly JsonObject[]): boolean =>
  own ? own.some(({ kind }) => kind === 'summary') && own.some(isAnswer) : isCompaction && output.length > 0;

interface Messages {
  readonly fresh: readonly JsonObject[];
  readonly output: readonly JsonObject[];
}

function makeRecord(
  span: ReadSpan,
  { from, isTold, started, failures, isCompaction, part }: CallFacts,
  { fresh, output }: Messages = { fresh: (messagesAt(span, 'input') ?? []).slice(from), output: messagesAt(span, 'output') ?? [] },
): JsonObject {
  const { attributes, failed } = span;
  const own = entriesAt(attributes);
  const instructions = isTold ? partsIn(attributes['gen_ai.system_instructions']) : [];
  const answer = own?.findIndex(isAnswer) ?? 0;
  if (part === 'summary') return (own ? { entries: own.slice(0, answer) } : { instructions, input: fresh, output: [], isCompaction }) as JsonObject;
  if (part === 'answer')
    return { call: keepFacts(attributes), ...defined({ failed, started }), ...(own ? { entries: own.slice(answer) } : { output }) } as JsonObject;
  return {
    call: keepFacts(attributes),
    ...defined({ failed, started }),
    ...(failures && Object.keys(failures).length > 0 && { failures }),
    ...(own ? { entries: own } : { instructions, input: fresh, output, ...(isCompaction && { isCompaction }) }),
  } as JsonObject;
}

/** A record that is made whenever it is read. A class, because a getter of its own in each of many records takes far more memory. */
class LazyRecord implements Wrapped {
  constructor(
    readonly id: string,
    readonly parent: Wrapped['parent'],
    private readonly span: ReadSpan,
    private readonly facts: CallFacts,
  ) {}

  get at(): number {
    return this.span.start;
  }

  get record(): JsonObject {
    return makeRecord(this.span, this.facts);
  }
}

/** The spans of calls, else those of agents, whose messages only repeat those of the calls where calls are recorded. */
function callsIn(ordered: readonly ReadSpan[]): readonly ReadSpan[] {
  const calls = ordered.filter((span) => operationOf(span) === 'call');
  if (calls.length > 0) return calls;
  return ordered.filter((span) => operationOf(span) === 'agent' && (messagesAt(span, 'input') ?? messagesAt(span, 'output')) !== undefined);
}

const failuresIn = (spans: readonly ReadSpan[]): ReadonlyMap<string, string> =>
  new Map(
    spans.flatMap((span) => {
      const id = stringAt(span.attributes, 'gen_ai.tool.call.id');
      return operationOf(span) === 'tool' && span.failed !== undefined && id !== undefined ? [[id, span.failed] as const] : [];
    }),
  );

/** A tool follows the previous call in time. A tool that no message calls becomes a call too. */
function withTools(
  records: readonly Wrapped[],
  tools: readonly ReadSpan[],
  ordered: readonly ReadSpan[],
  called: ReadonlySet<string>,
): readonly Wrapped[] {
  const starts = new Map(ordered.map(({ spanId, start }) => [spanId, start]));
  const added = tools.map(
    (span): Wrapped => ({
      id: span.spanId,
      record: {
        tool: span.attributes,
        isCalled: called.has(stringAt(span.attributes, 'gen_ai.tool.call.id') ?? ''),
        ...defined({ failed: span.failed }),
      },
      at: span.end || span.start,
    }),
  );
  const timeOf = ({ id, at }: Wrapped): number => starts.get(id) ?? Number(at);
  return [...records, ...added].sort((a, b) => timeOf(a) - timeOf(b));
}

/** Entries that Stemma wrote beside the messages. */
const entriesAt = (attributes: JsonObject): readonly JsonObject[] | undefined => listAt(attributes['stemma.entries']);

/** Compares messages by this text: inputs repeat answers without thinking, and ids identify calls and results in any form. */
const messageRules: MessageRules<JsonObject> = {
  printOf: (message) =>
    JSON.stringify([
      message.role ?? null,
      partsIn(message.parts ?? message.content).flatMap((part): Json[] => {
        if (part.type === 'reasoning' || part.type === 'thinking') return [];
        const id = stringAt(part, 'id') ?? '';
        if (id !== '' && (part.type === 'tool_call' || part.type === 'tool_call_response')) return [[part.type, id]];
        return [part.type === 'text' ? textOfPart(part).trim() : part];
      }),
    ]),
  isSystem: ({ role }) => role === 'system' || role === 'developer',
  echoOf: (answer) => detached(textIn(answer).slice(0, enough)),
  isEcho: (message, echo) => message.role === 'assistant' && isAlike(textIn(message), echo),
  isSummary: (message) => message.role === 'user' && isSummaryText(textIn(message)),
};

const textOfPart = (part: JsonObject): string => stringAt(part, 'content') ?? stringAt(part, 'text') ?? '';
const textIn = (message: JsonObject): string =>
  partsIn(message.parts ?? message.content)
    .filter(({ type }) => type === 'text')
    .map(textOfPart)
    .join('')
    .trim();

/** Some tools shorten answers, or omit their text if they contain calls. */
const isAlike = (text: string, echo: string): boolean => text === '' || echo === '' || text.startsWith(echo) || echo.startsWith(text);
const enough = 40;

/** Parts, which can be JSON in a text. */
export function partsIn(value: Json | undefined): readonly JsonObject[] {
  const list = typeof value === 'string' ? parseJson(value) : value;
  if (typeof value === 'string' && !Array.isArray(list)) return [{ type: 'text', content: value }];
  return Array.isArray(list) ? objectsIn(list) : [];
}

const keepFacts = (attributes: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes).filter(
      ([name, value]) =>
        !/messages$|system_instructions$|^stemma\.entries$|^(?:all_messages_)?events$|\.(?:prompt|completion)\.\d|_messages\.\d/.test(name) &&
        value !== undefined &&
        isPlain(value),
    ),
  );

const isPlain = (value: Json): boolean => !isObject(value) || !isDeep(value);
