import { defined, isObject, type Json, type JsonObject, parseInstant, stringAt } from '../../base/index.js';
import { countIn, objectsIn } from '../shared/drafts.js';
import { exchangeIn, unquoted } from './parse-messages.js';
import type { ReadSpan } from './parse-spans.js';

/** How exports of Langfuse and LangSmith begin. */
export const isObserved = (head: string): boolean =>
  /^\s*\{\s*"(?:trace|observations)"\s*:\s*[[{]/.test(head) ||
  /^\s*\{\s*"(?:post|patch)"\s*:\s*\[/.test(head) ||
  (/"dotted_order"\s*:/.test(head) && /"run_type"\s*:/.test(head));

/** Reads an observation or a run, from memory or from its file. */
type Reading = () => JsonObject;

export interface Export {
  readonly trace: JsonObject;
  readonly observations: readonly Reading[];
  readonly runs: readonly Reading[];
}

/** The facts in a value in memory. */
export function exportIn(value: JsonObject): Export {
  const { trace, observations, post, patch } = value;
  const runs = [...objectsIn(post), ...objectsIn(patch), ...(typeof value.run_type === 'string' ? [value] : [])];
  const readings = (list: readonly JsonObject[]): readonly Reading[] => list.map((one) => () => one);
  return { trace: isObject(trace) ? trace : {}, observations: readings(objectsIn(observations)), runs: readings(runs) };
}

/** Keeps a span, or only the data for reading it again. */
type Keep = (read: () => ReadSpan, span: ReadSpan) => ReadSpan;

/** The spans of an export of Langfuse or LangSmith; none for any other file. */
export function observedSpans(values: readonly Export[], keep: Keep = (_, span) => span): readonly ReadSpan[] {
  return [
    ...values.filter(({ observations }) => observations.length > 0).flatMap((value) => spansOf(langfuseSpans(value), keep)),
    ...spansOf(langSmithSpans(values.flatMap(({ runs }) => runs)), keep),
  ];
}

const time = (value: Json | undefined): number =>
  (typeof value === 'string' ? (parseInstant(value) ?? 0) : typeof value === 'number' ? value : 0) || 0;

const readNumber = (value: Json | undefined): number | undefined => countIn(value) ?? undefined;

/** Attributes with the tokens of a call. If the total exceeds input plus output, the input excludes the cached tokens. */
function readUsage(counts: JsonObject): JsonObject {
  const details = isObject(counts.input_token_details) ? counts.input_token_details : {};
  const input = readNumber(counts.input ?? counts.input_tokens ?? counts.prompt_tokens);
  const output = readNumber(counts.output ?? counts.output_tokens ?? counts.completion_tokens);
  const read = readNumber(counts['prompt_details.cache_read'] ?? counts.cache_read_input_tokens ?? counts.input_cached_tokens ?? details.cache_read);
  const wrote = readNumber(counts.cache_creation_input_tokens ?? details.cache_creation);
  const total = readNumber(counts.total ?? counts.total_tokens);
  const held = (read ?? 0) + (wrote ?? 0);
  const isBeside = total !== undefined && input !== undefined && held > 0 && total === input + (output ?? 0) + held;
  return {
    ...(input !== undefined && { 'gen_ai.usage.input_tokens': isBeside ? input + held : input }),
    ...defined({
      'gen_ai.usage.output_tokens': output,
      'gen_ai.usage.cache_read.input_tokens': read,
      'gen_ai.usage.cache_write.input_tokens': wrote,
    }),
  };
}

interface Observed extends Pick<ReadSpan, 'name' | 'start' | 'end' | 'failed'> {
  readonly id: string;
  readonly parent: string | undefined;
  readonly trace: string;
  /** The conversation that joins traces. */
  readonly session: string;
  readonly kind: 'call' | 'tool' | 'other';
  readonly model: string | undefined;
  readonly content: () => { readonly input: Json | undefined; readonly output: Json | undefined; readonly usage: JsonObject };
  readonly tool: string;
}

function langfuseSpans({ trace, observations }: Export): readonly Observed[] {
  const kinds: Readonly<Record<string, Observed['kind']>> = { GENERATION: 'call', TOOL: 'tool' };
  return observations.map((read): Observed => {
    const one = read();
    const traceId = stringAt(one, 'traceId') ?? stringAt(trace, 'id') ?? '';
    const name = stringAt(one, 'name') ?? '';
    return {
      id: stringAt(one, 'id') ?? '',
      parent: stringAt(one, 'parentObservationId'),
      trace: traceId,
      session: stringAt(trace, 'sessionId') ?? traceId,
      kind: kinds[stringAt(one, 'type') ?? ''] ?? 'other',
      name,
      start: time(one.startTime),
      end: time(one.endTime),
      model: stringAt(one, 'model'),
      content: () => observationContent(read()),
      failed: one.level === 'ERROR' ? (stringAt(one, 'statusMessage') ?? 'error') : undefined,
      tool: name.replace(/^(?:execute_tool|running tool:)\s+/, ''),
    };
  });
}

const observationContent = ({ input, output, usageDetails: usage }: JsonObject) => ({ input, output, usage: isObject(usage) ? usage : {} });

/** Runs come as a list, one per line, or as the SDK posts them. A later state of a run replaces the fields that it contains. */
function langSmithSpans(all: readonly Reading[]): readonly Observed[] {
  const states = Map.groupBy(all, (read) => stringAt(read(), 'id') ?? '');
  const kinds: Readonly<Record<string, Observed['kind']>> = { llm: 'call', tool: 'tool' };
  return [...states].map(([id, readings]): Observed => {
    const run = readRun(readings);
    const extra = isObject(run.extra) ? run.extra : {};
    const facts = isObject(extra.metadata) ? extra.metadata : {};
    const trace = stringAt(run, 'trace_id') ?? id;
    const name = stringAt(run, 'name') ?? '';
    return {
      id,
      parent: stringAt(run, 'parent_run_id'),
      trace,
      session: ['thread_id', 'session_id', 'conversation_id'].map((one) => stringAt(facts, one)).find((one) => one !== undefined) ?? trace,
      kind: kinds[stringAt(run, 'run_type') ?? ''] ?? 'other',
      name,
      start: time(run.start_time),
      end: time(run.end_time),
      model: (isObject(run.outputs) ? stringAt(run.outputs, 'model') : undefined) ?? stringAt(facts, 'ls_model_name'),
      content: () => runContent(readRun(readings)),
      failed: stringAt(run, 'error'),
      tool: name,
    };
  });
}

function readRun(readings: readonly Reading[]): JsonObject {
  const given = readings.flatMap((read) =>
    Object.entries(read()).filter(([, one]) => one !== null && !(isObject(one) && Object.keys(one).length === 0)),
  );
  return Object.fromEntries(given);
}

function runContent(run: JsonObject) {
  const output = isObject(run.outputs) ? run.outputs : {};
  const counts = output.usage_metadata ?? output.usage;
  return { input: run.inputs, output: run.outputs, usage: isObject(counts) ? counts : run };
}

/** Calls and tools as spans. Calls of one parent are one conversation; a trace with several of them has as many. */
function spansOf(observed: readonly Observed[], keep: Keep): readonly ReadSpan[] {
  const ordered = [...observed].sort((a, b) => a.start - b.start);
  const kinds = new Map(ordered.map((one) => [one.id, one]));
  const ownerOf = (one: Observed): string => {
    const seen = new Set<string>();
    let at = kinds.get(one.parent ?? '');
    // A tool can be below the call that requested it, or below a span that groups tools.
    while (at && one.kind === 'tool' && !seen.has(at.id) && !owners.has(at.id)) {
      seen.add(at.id);
      at = kinds.get(at.parent ?? '');
    }
    return at?.id ?? one.trace;
  };
  const calls = ordered.filter(({ kind }) => kind === 'call');
  const owners = new Set(calls.map((one) => kinds.get(one.parent ?? '')?.id ?? one.trace));
  const perSession = Map.groupBy(calls, ({ session, trace }) => `${session}\n${trace}`);
  const severalOwners = new Set([...perSession].filter(([, some]) => new Set(some.map(ownerOf)).size > 1).map(([name]) => name));
  const waiting = new Map<string, string[]>();
  const spans: ReadSpan[] = [];
  const named = new Set<string>();
  for (const one of ordered) {
    if (one.kind === 'other') continue;
    const owner = ownerOf(one);
    const conversation = severalOwners.has(`${one.session}\n${one.trace}`) ? `${one.session}/${owner}` : one.session;
    const call = one.kind === 'tool' ? waiting.get(`${owner}\n${one.tool}`)?.shift() : undefined;
    const read = (): ReadSpan => spanOf(one, conversation, call);
    const span = read();
    if (one.kind === 'call')
      for (const { parts } of objectsIn(span.attributes['gen_ai.output.messages']))
        for (const { type, id, name } of objectsIn(parts)) {
          if (type !== 'tool_call' || typeof id !== 'string' || named.has(`${owner}\n${id}`)) continue;
          named.add(`${owner}\n${id}`);
          waiting.set(`${owner}\n${String(name)}`, [...(waiting.get(`${owner}\n${String(name)}`) ?? []), id]);
        }
    spans.push(keep(read, span));
  }
  return spans;
}

/** @param call the id of the call that asked for the tool */
function spanOf(one: Observed, conversation: string, call: string | undefined): ReadSpan {
  const attributes = one.kind === 'call' ? callAttributes(one) : toolAttributes(one, call);
  return {
    traceId: one.trace,
    spanId: one.id,
    parentSpanId: undefined,
    name: one.name,
    start: one.start,
    end: one.end,
    attributes: { ...attributes, 'gen_ai.conversation.id': conversation },
    events: [],
    failed: one.failed,
  };
}

function callAttributes({ model, content }: Observed): JsonObject {
  const { input, output, usage } = content();
  const [sent, got] = [exchangeIn(input, 'user'), exchangeIn(output, 'assistant')];
  const system = sent.system.length > 0 ? sent.system : got.system;
  return {
    'gen_ai.operation.name': 'chat',
    ...(model !== undefined && { 'gen_ai.request.model': model }),
    ...readUsage(usage),
    ...(system.length > 0 && { 'gen_ai.system_instructions': system }),
    'gen_ai.input.messages': sent.messages,
    'gen_ai.output.messages': continued(sent.messages, got.messages),
  };
}

/** Continues the numbering of calls without ids from the input, so that a later input gives them the same names. */
function continued(before: readonly JsonObject[], messages: readonly JsonObject[]): readonly JsonObject[] {
  const earlier = before.flatMap(({ parts }) => objectsIn(parts).filter(({ type }) => type === 'tool_call'));
  return messages.map((message) => ({
    ...message,
    parts: objectsIn(message.parts).map((part): JsonObject => {
      const [, number] = part.type === 'tool_call' ? (/-(\d+)$/.exec(String(part.id)) ?? []) : [];
      if (number === undefined || part.id !== `${String(part.name)}-${number}`) return part;
      return { ...part, id: `${String(part.name)}-${Number(number) + earlier.filter(({ name }) => name === part.name).length}` };
    }),
  }));
}

function toolAttributes({ tool, content }: Observed, id: string | undefined): JsonObject {
  const { input, output } = content();
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    ...(id !== undefined && { 'gen_ai.tool.call.id': id }),
    'gen_ai.tool.call.arguments': unquoted(input) ?? {},
    'gen_ai.tool.call.result': unquoted(output) ?? '',
  };
}
