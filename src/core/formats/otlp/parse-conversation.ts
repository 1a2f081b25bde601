import { isObject, type Json, type JsonObject, parseJson, stringAt, textOf } from '../../base/index.js';
import type { DocumentReader, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { isDeep } from '../shared/jsonl.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';
import { isObserved, observedSpans } from './parse-observed.js';
import { type Span, spansIn, valuesIn } from './parse-spans.js';

export const formatId = 'otlp-v1';

/** Files of spans. Spans without GenAI attributes are no conversation. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = textOf(head);
    return /^\s*\{\s*"resourceSpans"\s*:/.test(text) || /^\s*\{"type":"span","traceId":/.test(text) || isObserved(text);
  },
  members(bytes) {
    const values = valuesIn(textOf(bytes));
    const own = values.flatMap(spansIn);
    const spans = own.length > 0 ? own : observedSpans(values);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const groups = Map.groupBy(
      spans.filter((span) => operationOf(span) !== undefined),
      (span) => conversationOf(span, byId),
    );
    const members = [...groups].flatMap(([id, some]): Member[] => {
      const records = recordsOf(some);
      if (records.length === 0) return [];
      const agent = some.map(({ attributes }) => stringAt(attributes, 'gen_ai.agent.name')).find((name) => name !== undefined);
      const title = agent === undefined ? id : `${agent} · ${id}`;
      const machine = some.map(({ attributes }) => stringAt(attributes, 'host.name')).find((name) => name !== undefined);
      const about = { sessionId: id, title, ...(machine !== undefined && { machine }) };
      return [{ id, title, lines: () => wrapLines(formatId, id, about, records) }];
    });
    return members.length > 0 ? members : undefined;
  },
};

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
function conversationOf(span: Span, byId: ReadonlyMap<string, Span>): string {
  const named = ['gen_ai.conversation.id', 'session.id', 'langfuse.session.id', 'copilot_chat.chat_session_id'];
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
  return agents > 1 ? `${whole}/${agent}` : whole;
}

/** One record for each call with what is new in its input, and one for each tool whose result no message holds. */
function recordsOf(spans: readonly Span[]): readonly Wrapped[] {
  const ordered = [...spans].sort((a, b) => a.start - b.start);
  const known: string[] = [];
  const answered = new Set<string>();
  const called = new Set<string>();
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
    const instructions = told !== system && told !== 'null' ? partsIn(attributes['gen_ai.system_instructions']) : [];
    if (told !== 'null') system = told;
    if (isWhole) known.splice(0, known.length, ...prints, ...output.map(printOf));
    else known.push(...prints, ...output.map(printOf));
    for (const message of [...input, ...output])
      for (const part of partsIn(message.parts)) {
        const id = stringAt(part, 'id') ?? '';
        if (part.type === 'tool_call_response') answered.add(id);
        if (part.type === 'tool_call') called.add(id);
      }
    const own = entriesAt(attributes);
    records.push({
      id: span.spanId,
      record: {
        call: factsOf(attributes),
        ...(span.failed !== undefined && { failed: span.failed }),
        ...(own ? { entries: own } : { instructions, input: fresh, output }),
      } as JsonObject,
      at: span.start,
    });
  }
  const tools = ordered.filter((span) => operationOf(span) === 'tool' && !answered.has(stringAt(span.attributes, 'gen_ai.tool.call.id') ?? ''));
  const isOwn = records.some(({ record }) => record.entries !== undefined);
  return isOwn ? records : withTools(records, tools, ordered, called);
}

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

const printOf = (message: JsonObject): string => JSON.stringify([message.role ?? null, message.parts ?? message.content ?? null]);

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
