import { defined, type EntryKey, encodeText, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { SessionOptions, TokenUsage, WritableEntry, WriteOptions } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { inRecords, writeLine } from '../shared/entry-lines.js';
import { groupMessages, namer, textsOf } from '../shared/groups.js';
import { encodeLines } from '../shared/jsonl.js';
import { outlastsSummary } from '../shared/kept.js';
import { firstIn } from '../shared/plans.js';
import { readRecords } from '../shared/records.js';
import { byProgram, dialect, formatId, nameIn, readRoot, readStep, residualsOf, stepName, versionIn, writtenVersion } from './schema.js';

type Keyed = WritableEntry & { readonly key: EntryKey };
interface Draft {
  readonly entries: Keyed[];
  /** The results of the step's calls, regardless of their position in the conversation. */
  readonly results: Keyed[];
}

/** Writes entries as lines of steps. `extra.stemma` of a step holds facts that ATIF has no field for; images are omitted. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const id = options.sessionId ?? 'stemma';
  return encodeLines(stepsOf(entries, options).map((step) => ({ atif: id, step })));
}

const isHeld = ({ kind, marks, result }: WritableEntry): boolean =>
  kind !== 'event' && !marks?.includes('hidden') && (kind !== 'image' || sourceIn(result) !== undefined);

/** The source of an image that ATIF can name: a type and a path. */
const sourceIn = (link: unknown): JsonObject | undefined =>
  isObject(link) && typeof link.path === 'string' && typeof link.media_type === 'string' ? link : undefined;

function stepsOf(entries: readonly WritableEntry[], options: WriteOptions): readonly JsonObject[] {
  const keyFor = namer(() => `${options.newId()}.0`);
  const keyed = entries.filter(isHeld).map((entry): Keyed => ({ ...entry, key: keyFor(entry.key) as EntryKey }));
  const drafts: Draft[] = [];
  const byCall = new Map<string, Draft>();
  for (const { entries: group } of groupMessages(keyed, (entry) => entry.role !== 'tool' && entry.kind !== 'summary')) {
    const [first] = group;
    if (first.role === 'tool') {
      const step = byCall.get(first.toolCallId ?? '');
      if (step) step.results.push(...group);
      else drafts.push({ entries: [], results: [...group] });
      continue;
    }
    const draft: Draft = { entries: [...group], results: [] };
    drafts.push(draft);
    for (const { kind, toolCallId } of group) if (kind === 'tool_call' && toolCallId !== undefined) byCall.set(toolCallId, draft);
  }
  // A summary replaces nothing if it follows only entries that stay in the window.
  const spoken = drafts.findIndex(({ entries: [first] }) => first === undefined || (first.kind !== 'summary' && !outlastsSummary(first)));
  return drafts.map((draft, at) => stepOfDraft(draft, at + 1, { ...options, boundary: at < spoken || spoken < 0 ? 'append' : 'replace' }));
}

function stepOfDraft({ entries, results }: Draft, number: number, options: WriteOptions & { readonly boundary: string }): JsonObject {
  const [first] = entries as readonly (Keyed | undefined)[];
  const all = [...entries, ...results];
  const common = { step_id: number, timestamp: (first ?? results[0])?.at ?? options.now };
  const extra = { stemma: { entries: all.map((entry) => residualOf(entry, entries)) } };
  if (first?.kind === 'summary')
    return json({
      ...common,
      source: 'system',
      message: 'The conversation before this step was summarized.',
      observation: { results: [{ content: first.text ?? '' }] },
      extra: { ...extra, context_management: { type: 'compaction', boundary: options.boundary } },
    });
  if (first?.role === 'user' || first?.role === 'system') return json({ ...common, source: first.role, message: writeMessage(entries), extra });
  return json({ ...common, source: 'agent', ...agentFields(entries, results), extra });
}

const json = (value: object): JsonObject => value as JsonObject;

function writeMessage(entries: readonly WritableEntry[]): Json {
  const shown = entries.filter(({ kind }) => kind === 'text' || kind === 'image');
  if (shown.every(({ kind }) => kind === 'text') && shown.length <= 1) return shown[0]?.text ?? '';
  return shown.map(
    ({ kind, text, result }): JsonObject =>
      kind === 'text' ? { type: 'text', text: text ?? '' } : { type: 'image', source: sourceIn(result) as JsonObject },
  );
}

function agentFields(entries: readonly WritableEntry[], results: readonly WritableEntry[]): object {
  const calls = entries.filter(({ kind }) => kind === 'tool_call');
  const known = new Set(calls.map(({ toolCallId }) => toolCallId));
  const thinking = textsOf(
    entries.filter(({ text }) => text !== undefined && text !== ''),
    'thinking',
  );
  const model = entries.find(({ author }) => author !== undefined)?.author;
  const usage = entries.find((entry) => entry.usage)?.usage;
  // A result whose call is elsewhere gets a step without a model call.
  const isCalled = entries.length > 0 && !entries[0]?.marks?.includes(byProgram);
  return {
    ...(model !== undefined && { model_name: model }),
    message: writeMessage(entries),
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ toolCallId, toolName, arguments: input }) => ({
        tool_call_id: toolCallId ?? '',
        function_name: toolName ?? '',
        ...(isObject(input) ? { arguments: input } : argumentsOf(input)),
      })),
    }),
    ...(results.length > 0 && {
      observation: { results: results.filter(({ kind }) => kind === 'tool_result').map((entry) => writeResult(entry, results, known)) },
    }),
    ...(isCalled && (usage?.isCopy ? { is_copied_context: true } : usage && { metrics: metricsOf(usage) })),
    ...(!isCalled && { llm_call_count: 0 }),
  };
}

function writeResult(entry: WritableEntry, results: readonly WritableEntry[], known: ReadonlySet<string | undefined>): object {
  const images = results.filter(({ kind, toolCallId }) => kind === 'image' && toolCallId === entry.toolCallId);
  return {
    ...(entry.toolCallId !== undefined && known.has(entry.toolCallId) && { source_call_id: entry.toolCallId }),
    content:
      images.length === 0
        ? (entry.text ?? '')
        : [{ type: 'text', text: entry.text ?? '' }, ...images.map(({ result }) => ({ type: 'image', source: sourceIn(result) as JsonObject }))],
    ...(entry.isError && { extra: { is_error: true } }),
  };
}

function metricsOf({ input, output, cacheRead, cacheWrite }: TokenUsage): object {
  return {
    ...((input ?? cacheRead ?? cacheWrite) !== null && { prompt_tokens: (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) }),
    ...(output !== null && { completion_tokens: output }),
    ...(cacheRead !== null && { cached_tokens: cacheRead }),
    ...(cacheWrite !== null && { extra: { cache_creation_input_tokens: cacheWrite } }),
  };
}

/** The facts about an entry that the step cannot express, such as its key. An entry that the step cannot contain is written completely. */
function residualOf(entry: Keyed, entries: readonly Keyed[]): JsonObject {
  const { text, arguments: input, media: _, usage: __, ...facts } = entry;
  const isSealed = entry.kind === 'thinking' && (text === undefined || text === '');
  // A step joins its thinking entries and cannot express a result without its call, or arguments that are not an object.
  const isJoined = entry.kind === 'thinking' && entries.filter(({ kind }) => kind === 'thinking').length > 1;
  const isHidden =
    isSealed ||
    isJoined ||
    (entry.kind === 'text' && text === '') ||
    (entry.kind === 'tool_call' && !isObject(input)) ||
    (entry.role === 'tool' && entries.length === 0);
  const { stemma: ___, ...line } = writeLine(formatId, isHidden ? entry : facts) as { stemma: string };
  return json(isHidden ? { ...line, whole: true } : line);
}

/** An ATIF document: the steps of one context with consecutive numbers, and the agent of the conversation. */
export function writeDocument(delta: Uint8Array, options: SessionOptions): Uint8Array {
  const records = inRecords(readRecords({ dialect }, delta), (entries) => readRecords({ dialect }, writeEntries(entries, options)));
  const root = firstIn(records, readRoot);
  const own = records.flatMap((record) => {
    const step = readStep(record);
    return step ? [withValidCalls(withValidRefs(withCall(withName(step, record), options.calls)))] : [];
  });
  const isToldSystem = options.system === undefined || own.some(({ source }) => source === 'system');
  const steps = isToldSystem ? own : [{ step_id: 1, source: 'system', message: options.system }, ...own];
  const { parent: _, startedBy: __, agent, final_metrics: ___, ...rest } = root ?? ({} as JsonObject);
  const models = own.flatMap((step) => stringAt(step, 'model_name') ?? []);
  const document = {
    ...rest,
    schema_version: root && [7, 8].includes(versionIn(root) ?? 0) ? (stringAt(root, 'schema_version') as string) : writtenVersion,
    session_id: stringAt(root, 'session_id') ?? options.sessionId,
    trajectory_id: options.sessionId,
    agent: isObject(agent)
      ? agent
      : {
          name: 'unknown',
          version: 'unknown',
          ...(models[0] !== undefined && { model_name: models[0] }),
          ...(options.tools && { tool_definitions: options.tools }),
        },
    steps: steps.map((step, at) => ({ ...step, step_id: at + 1 })),
    final_metrics: finalMetrics(own),
    notes: stringAt(root, 'notes') ?? 'Written by Stemma from one branch of a session. Keys and facts without a place in ATIF are in extra.stemma.',
    extra: {
      ...(isObject(rest.extra) ? rest.extra : {}),
      stemma: { session: options.sessionId, ...defined({ cwd: options.cwd }) },
    },
  };
  return encodeText(`${JSON.stringify(document, null, 1)}\n`);
}

/** The step with the token counts of its call, if another agent recorded them. */
function withCall(step: JsonObject, calls: SessionOptions['calls']): JsonObject {
  if (!calls || step.source !== 'agent' || step.metrics !== undefined) return step;
  const usage = firstIn(residualsOf(step), (residual) => calls.get(stringAt(residual, 'key') ?? ''));
  return usage ? { ...step, metrics: json(metricsOf(usage)) } : step;
}

/** Keeps the name of a step that another program wrote, so that its entries have the same keys in every document. */
function withName(step: JsonObject, line: JsonObject): JsonObject {
  if (residualsOf(step).length > 0 || nameIn(step) !== undefined) return step;
  const extra = isObject(step.extra) ? step.extra : {};
  return { ...step, extra: { ...extra, stemma: { ...(isObject(extra.stemma) && extra.stemma), name: stepName(step, line) } } };
}

function withValidCalls(step: JsonObject): JsonObject {
  const calls = objectsIn(step.tool_calls);
  if (calls.every((call) => isObject(call.arguments))) return step;
  return {
    ...step,
    tool_calls: calls.map((call) => {
      if (isObject(call.arguments)) return call;
      return { ...call, ...argumentsOf(call.arguments), ...(isObject(call.extra) && { extra: { ...call.extra, raw_arguments: true } }) };
    }),
  };
}

/** Arguments that are no object, as the text of one. */
const argumentsOf = (input: unknown): JsonObject => ({
  arguments: { input: typeof input === 'string' ? input : JSON.stringify(input ?? null) },
  extra: { raw_arguments: true },
});

/** Since 1.7, a reference that names a subagent only by its session is invalid, so it is kept in a separate field of the result. */
function withValidRefs(step: JsonObject): JsonObject {
  const { observation } = step;
  const results = isObject(observation) ? objectsIn(observation.results) : [];
  const isValid = (ref: JsonObject): boolean => typeof (ref.trajectory_id ?? ref.trajectory_path) === 'string';
  if (!isObject(observation) || results.every((result) => objectsIn(result.subagent_trajectory_ref).every(isValid))) return step;
  return {
    ...step,
    observation: {
      ...observation,
      results: results.map(({ subagent_trajectory_ref: refs, extra, ...result }): JsonObject => {
        const [valid, others] = [objectsIn(refs).filter(isValid), objectsIn(refs).filter((ref) => !isValid(ref))];
        return {
          ...result,
          ...(valid.length > 0 && { subagent_trajectory_ref: valid }),
          extra: { ...(isObject(extra) && extra), ...(others.length > 0 && { subagent_sessions: others }) },
        };
      }),
    },
  };
}

/** Sums over the steps. A count that no step has is omitted. */
function finalMetrics(steps: readonly JsonObject[]): JsonObject {
  const counted = steps.flatMap(({ metrics, is_copied_context: copied }) => (isObject(metrics) && copied !== true ? [metrics] : []));
  const sums = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost_usd'].flatMap((name) => {
    const counts = counted.map((metrics) => metrics[name]).filter((count) => typeof count === 'number');
    return counts.length === 0 ? [] : [[`total_${name}`, counts.reduce((a, b) => a + b, 0)] as const];
  });
  return { ...Object.fromEntries(sums), total_steps: steps.length };
}
