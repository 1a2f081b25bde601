import { isObject, type Json, type JsonObject, parseJson, stringAt, textOf } from '../../base/index.js';
import type { DocumentReader, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { isDeep } from '../shared/jsonl.js';
import { startedWith } from '../shared/subagents.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';
import { isObserved, observedSpans } from './parse-observed.js';
import { type Span, spansIn, valuesIn } from './parse-spans.js';

export const formatId = 'otlp-v1';

/** Files of spans. Spans without GenAI attributes are no conversation. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = textOf(head);
    return (
      /^\s*\{\s*"resourceSpans"\s*:/.test(text) ||
      /^\s*\{"type":"span","traceId":/.test(text) ||
      /"_spanContext"\s*:\s*\{/.test(text) ||
      isObserved(text)
    );
  },
  members(bytes) {
    const values = valuesIn(textOf(bytes));
    const own = values.flatMap(spansIn);
    const spans = own.length > 0 ? own : observedSpans(values);
    const members = membersOf(spans);
    return members.length > 0 ? members : undefined;
  },
};

/** The conversations of spans. */
export function membersOf(spans: readonly Span[]): readonly Member[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const starts = startsIn(spans, byId);
  const groups = Map.groupBy(
    spans.filter((span) => operationOf(span) !== undefined),
    (span) => conversationOf(span, byId).id,
  );
  return [...groups].flatMap(([id, some]): Member[] => {
    const records = recordsOf(some, starts);
    if (records.length === 0) return [];
    const attribute = (name: string): string | undefined =>
      some.map(({ attributes }) => stringAt(attributes, name)).find((value) => value !== undefined);
    const isSubagent = some.some((span) => conversationOf(span, byId).agent !== undefined);
    const machine = attribute('host.name');
    const about = {
      sessionId: id,
      ...(machine !== undefined && { machine }),
      ...(isSubagent && { agent: attribute('gen_ai.agent.name') ?? 'agent', startedIn: id }),
    };
    return [{ id, lines: () => wrapLines(formatId, id, about, records) }];
  });
}

const calls: ReadonlySet<string> = new Set(['chat', 'generate_content', 'text_completion', 'responses']);

/** The operation that a span tells of, by the conventions of today or before. */
function operationOf({ attributes, name }: Span): 'call' | 'tool' | 'agent' | undefined {
  const operation =
    stringAt(attributes, 'gen_ai.operation.name') ??
    stringAt(attributes, 'openinference.span.kind')?.toLowerCase() ??
    /^(chat|execute_tool|invoke_agent)\b/.exec(name)?.[1];
  if (operation === undefined) return messagesAt(attributes, 'input') === undefined ? undefined : 'call';
  if (calls.has(operation) || operation === 'llm') return 'call';
  if (operation === 'execute_tool' || operation === 'tool') return 'tool';
  return operation === 'invoke_agent' || operation === 'agent' ? 'agent' : undefined;
}

/** A conversation is joined by its id. A subagent's spans are a conversation of their own; without ids, a trace is one. */
function conversationOf(span: Span, byId: ReadonlyMap<string, Span>): { readonly id: string; readonly agent?: string } {
  // VS Code names its session apart: there each call has a conversation id of its own.
  const named = ['copilot_chat.chat_session_id', 'gen_ai.conversation.id', 'session.id', 'langfuse.session.id'];
  const seen = new Set<string>();
  let id: string | undefined;
  let agents = 0;
  let agent = '';
  for (let at: Span | undefined = span; at && !seen.has(at.spanId); at = byId.get(at.parentSpanId ?? '')) {
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
function startsIn(spans: readonly Span[], byId: ReadonlyMap<string, Span>): ReadonlyMap<string, readonly string[]> {
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

/** One record for each call with what is new in its input, and one for each tool whose result no message holds. */
function recordsOf(spans: readonly Span[], starts: ReadonlyMap<string, readonly string[]>): readonly Wrapped[] {
  const ordered = [...spans].sort((a, b) => a.start - b.start);
  const known: string[] = [];
  const answered = new Set<string>();
  const called = new Set<string>();
  const failures = failuresIn(ordered);
  const records: Wrapped[] = [];
  let system = '';
  for (const span of ordered) {
    if (operationOf(span) !== 'call') continue;
    const { attributes } = span;
    const input = messagesAt(attributes, 'input') ?? [];
    const output = messagesAt(attributes, 'output') ?? [];
    const prints = input.map(printOf);
    let same = 0;
    while (same < prints.length && same < known.length && prints[same] === known[same]) same++;
    // Some tools record only what is new since the call before.
    const isWhole = same > 0 || known.length === 0;
    const fresh = isWhole ? input.slice(same) : input;
    const told = JSON.stringify(attributes['gen_ai.system_instructions'] ?? null);
    // Some tools tell the system prompt twice.
    const isTold = told !== system && told !== 'null' && !fresh.some(({ role }) => role === 'system');
    const instructions = isTold ? partsIn(attributes['gen_ai.system_instructions']) : [];
    if (told !== 'null') system = told;
    if (isWhole) known.splice(0, known.length, ...prints, ...output.map(printOf));
    else known.push(...prints, ...output.map(printOf));
    const started: string[] = [];
    for (const message of [...input, ...output])
      for (const part of partsIn(message.parts)) {
        const id = stringAt(part, 'id') ?? '';
        if (part.type === 'tool_call_response') answered.add(id);
        if (part.type !== 'tool_call' || called.has(id)) continue;
        called.add(id);
        started.push(...(starts.get(id) ?? []).map((conversation) => startedWith(conversation, id)));
      }
    const own = entriesAt(attributes);
    const failed = Object.fromEntries(fresh.flatMap(({ parts }) => partsIn(parts)).flatMap(failureOf));
    records.push({
      id: span.spanId,
      record: {
        call: factsOf(attributes),
        ...(span.failed !== undefined && { failed: span.failed }),
        ...(started.length > 0 && { started }),
        ...(Object.keys(failed).length > 0 && { failures: failed }),
        ...(own ? { entries: own } : { instructions, input: fresh, output }),
      } as JsonObject,
      at: span.start,
    });
  }
  const tools = ordered.filter((span) => operationOf(span) === 'tool' && !answered.has(stringAt(span.attributes, 'gen_ai.tool.call.id') ?? ''));
  const isOwn = records.some(({ record }) => record.entries !== undefined);
  return isOwn ? records : withTools(records, tools, ordered, called);

  /** Messages do not say that a tool failed: its span does. */
  function failureOf(part: JsonObject): readonly (readonly [string, string])[] {
    const id = stringAt(part, 'id') ?? '';
    const why = part.type === 'tool_call_response' ? failures.get(id) : undefined;
    return why === undefined ? [] : [[id, why]];
  }
}

/** Why tools failed, by the ids of their calls. */
const failuresIn = (spans: readonly Span[]): ReadonlyMap<string, string> =>
  new Map(
    spans.flatMap((span) => {
      const id = stringAt(span.attributes, 'gen_ai.tool.call.id');
      return operationOf(span) === 'tool' && span.failed !== undefined && id !== undefined ? [[id, span.failed] as const] : [];
    }),
  );

/** A tool follows the call before it in time. One that no message calls is a call too. */
function withTools(records: readonly Wrapped[], tools: readonly Span[], ordered: readonly Span[], called: ReadonlySet<string>): readonly Wrapped[] {
  const starts = new Map(ordered.map(({ spanId, start }) => [spanId, start]));
  const added = tools.map(
    (span): Wrapped => ({
      id: span.spanId,
      record: {
        tool: span.attributes,
        isCalled: called.has(stringAt(span.attributes, 'gen_ai.tool.call.id') ?? ''),
        ...(span.failed !== undefined && { failed: span.failed }),
      },
      at: span.end || span.start,
    }),
  );
  const timeOf = ({ id, at }: Wrapped): number => starts.get(id) ?? Number(at);
  return [...records, ...added].sort((a, b) => timeOf(a) - timeOf(b));
}

/** Entries that Stemma wrote beside the messages. */
function entriesAt(attributes: JsonObject): readonly JsonObject[] | undefined {
  const value = attributes['stemma.entries'];
  const list = typeof value === 'string' ? parseJson(value) : value;
  return Array.isArray(list) && !isDeep(list) ? objectsIn(list) : undefined;
}

/**
 * What makes two messages the same. An answer comes back in the next input without its thinking, and calls and results are known by their
 * ids however they are written.
 */
const printOf = (message: JsonObject): string =>
  JSON.stringify([
    message.role ?? null,
    partsIn(message.parts ?? message.content).flatMap((part): Json[] => {
      if (part.type === 'reasoning' || part.type === 'thinking') return [];
      const id = stringAt(part, 'id') ?? '';
      if (id !== '' && (part.type === 'tool_call' || part.type === 'tool_call_response')) return [[part.type, id]];
      return [part.type === 'text' ? (stringAt(part, 'content') ?? stringAt(part, 'text') ?? '') : part];
    }),
  ]);

/** The messages of a call: an attribute with JSON or a structure. */
function messagesAt(attributes: JsonObject, which: 'input' | 'output'): readonly JsonObject[] | undefined {
  const value = attributes[`gen_ai.${which}.messages`] ?? attributes[which === 'input' ? 'gen_ai.prompt' : 'gen_ai.completion'];
  const list = typeof value === 'string' ? parseJson(value) : value;
  if (Array.isArray(list) && !isDeep(list)) return objectsIn(list);
  const numbered = numberedMessages(
    attributes,
    which === 'input'
      ? /^(?:gen_ai\.prompt|llm\.input_messages)\.(\d+)\.(?:message\.)?(role|content)$/
      : /^(?:gen_ai\.completion|llm\.output_messages)\.(\d+)\.(?:message\.)?(role|content)$/,
  );
  return numbered.length > 0 ? numbered : undefined;
}

/** Messages as attributes of their own, as OpenLLMetry and OpenInference write them. */
function numberedMessages(attributes: JsonObject, like: RegExp): readonly JsonObject[] {
  const found = new Map<number, { [name: string]: Json }>();
  for (const [name, value] of Object.entries(attributes)) {
    const [, number, field] = like.exec(name) ?? [];
    if (number === undefined || field === undefined) continue;
    const message = found.get(Number(number)) ?? {};
    message[field] = value;
    found.set(Number(number), message);
  }
  return [...found].sort(([a], [b]) => a - b).map(([, message]) => message);
}

/** Parts, which can be JSON in a text. */
export function partsIn(value: Json | undefined): readonly JsonObject[] {
  const list = typeof value === 'string' ? parseJson(value) : value;
  if (typeof value === 'string' && !Array.isArray(list)) return [{ type: 'text', content: value }];
  return Array.isArray(list) ? objectsIn(list) : [];
}

/** Attributes of a call without its messages. */
const factsOf = (attributes: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes).filter(
      ([name, value]) =>
        !/messages$|system_instructions$|^stemma\.entries$|\.(?:prompt|completion)\.\d|_messages\.\d/.test(name) &&
        value !== undefined &&
        isPlain(value),
    ),
  );

const isPlain = (value: Json): boolean => !isObject(value) || !isDeep(value);
