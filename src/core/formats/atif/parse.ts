import { defined, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { TokenUsage } from '../format.js';
import {
  answered,
  called,
  type Numbered,
  noCall,
  noted,
  objectsIn,
  pictured,
  readMember,
  said,
  summarized,
  thought,
  type UnplacedEntry,
  usageIn,
  withUsage,
} from '../shared/drafts.js';
import { entryIn } from '../shared/entry-lines.js';
import { parseShallow } from '../shared/jsonl.js';
import { unreadDrafts } from './parse-unread.js';
import { byProgram, isCopied, isReplacing, isSource, managementOf, readParts, readRoot, readStep, residualsOf } from './schema.js';

/** The entries of a line. */
export function readEntries(record: JsonObject): readonly Numbered[] {
  const step = withModel(readStep(record), record);
  if (!step) return record.row === undefined ? rootDrafts(readRoot(record)) : [[0, noted('step', record.row)]];
  const own = stepDrafts(step);
  const usage = readUsage(step);
  // A call counts even if its answer was not recorded.
  const isBare = usage !== undefined && !usage.isCopy && !own.some(({ role, kind }) => role === 'assistant' && kind !== 'event');
  const bare: readonly Numbered[] = isBare ? [[own.length, said('assistant', '', authorOf(step))]] : [];
  const counted = withUsage([...bare, ...own.map((draft, at): Numbered => [at, draft])], usage);
  const read = withResiduals(counted, residualsOf(step));
  // Stemma's own facts may replace the entry that had the counts, such as joined thinking.
  return usage === undefined || read.some(([, draft]) => draft.usage) ? read : withUsage(read, usage);
}

/** The step with its model. */
const withModel = (step: JsonObject | undefined, { model }: JsonObject): JsonObject | undefined =>
  step && model !== undefined ? { ...step, model_name: model } : step;

function rootDrafts(root: JsonObject | undefined): readonly Numbered[] {
  const tools = isObject(root?.agent) ? root.agent.tool_definitions : undefined;
  return Array.isArray(tools) ? [[0, noted('tools', tools)]] : [];
}

/** Input includes cached tokens (since 1.2), `extra` has those written. Repeated steps count elsewhere; steps of a program call no model. */
function readUsage(step: JsonObject): TokenUsage | undefined {
  const { metrics, llm_call_count: calls } = step;
  if (isCopied(step) || calls === 0) return step.source === 'agent' && (step.message !== '' || isCopied(step)) ? noCall : undefined;
  if (!isObject(metrics)) return undefined;
  const { prompt_tokens: input, completion_tokens: output, cached_tokens: cacheRead, extra } = metrics;
  const cacheWrite = readMember(extra, 'cache_creation_input_tokens') ?? readMember(extra, 'cache_write_tokens');
  return usageIn({ input, output, cacheRead, cacheWrite, reasoning: readMember(extra, 'reasoning_tokens') }, 'within');
}

function stepDrafts(step: JsonObject): readonly UnplacedEntry[] {
  // The event contains the whole step, whatever its source is.
  if (!isSource(step.source)) return [noted('step', step)];
  return [...spokenDrafts(step), ...unreadDrafts(step)];
}

function spokenDrafts(step: JsonObject): readonly UnplacedEntry[] {
  const results = objectsIn(readMember(step.observation, 'results'));
  switch (step.source) {
    case 'user':
      return [...messageDrafts(step, 'user'), ...results.flatMap(resultDrafts)];
    case 'agent':
      return [...agentDrafts(step), ...results.flatMap(resultDrafts)];
    default:
      return systemDrafts(step, results);
  }
}

function systemDrafts(step: JsonObject, results: readonly JsonObject[]): readonly UnplacedEntry[] {
  const managed = managementOf(step);
  if (!managed) return [...messageDrafts(step, 'system'), ...results.flatMap(resultDrafts)];
  const note = noted(`context ${managed.type}`.trim(), step);
  if (!isReplacing(step) && managed.type !== 'compaction') return [note];
  const contents = results.flatMap(({ content }) => textsIn(content));
  const text = contents.length > 0 ? contents.join('\n') : textsIn(step.message).join('\n');
  return [note, summarized(text)];
}

const textsIn = (content: Json | undefined): readonly string[] => readParts(content).flatMap((part) => stringAt(part, 'text') ?? []);

function messageDrafts({ message }: JsonObject, role: 'user' | 'system' | 'assistant'): readonly UnplacedEntry[] {
  return readParts(message).flatMap((part): UnplacedEntry[] => {
    const text = stringAt(part, 'text');
    if (part.type === 'text' && text !== undefined) return text === '' && role !== 'user' ? [] : [said(role, text)];
    if (part.type === 'image') return [pictured(role === 'system' ? 'user' : role, { link: part.source ?? part })];
    return [noted(stringAt(part, 'type') ?? 'part', part)];
  });
}

const authorOf = (step: JsonObject) => defined({ author: stringAt(step, 'model_name') || undefined });

function agentDrafts(step: JsonObject): readonly UnplacedEntry[] {
  const author = authorOf(step);
  const thinking = stringAt(step, 'reasoning_content');
  const marks = step.llm_call_count === 0 ? { marks: [byProgram] } : {};
  const own = (draft: UnplacedEntry): UnplacedEntry => (draft.kind === 'event' ? draft : { ...draft, ...author, ...marks });
  return [
    ...(thinking ? [thought(thinking)] : []),
    ...messageDrafts(step, 'assistant'),
    ...objectsIn(step.tool_calls).map((call) =>
      called(stringAt(call, 'function_name') ?? '', stringAt(call, 'tool_call_id') || undefined, argumentsIn(call)),
    ),
  ].map(own);
}

/** Arguments that are not an object are stored as a text. */
function argumentsIn({ arguments: input, extra }: JsonObject): Json | undefined {
  const text = readMember(extra, 'raw_arguments') === true ? readMember(input, 'input') : undefined;
  if (typeof text !== 'string') return input;
  return /^\s*\[/.test(text) ? (parseShallow(text) ?? text) : text;
}

/** A result without a call is feedback of the environment. */
function resultDrafts(result: JsonObject): readonly UnplacedEntry[] {
  const id = stringAt(result, 'source_call_id');
  const { content, extra } = result;
  const others = objectsIn(readMember(extra, 'subagent_sessions'));
  const refs = others.length > 0 ? [...objectsIn(result.subagent_trajectory_ref), ...others] : result.subagent_trajectory_ref;
  const images = readParts(content).filter(({ type }) => type === 'image');
  const text = textsIn(content).join('\n');
  if (id === undefined)
    return [
      ...(text === '' ? [] : [said('user', text, { marks: ['meta', 'environment'] })]),
      ...(refs === undefined ? [] : [noted('subagent', refs)]),
    ];
  const isError = readMember(extra, 'is_error') === true || readMember(extra, 'error') === true || stringAt(extra, 'status') === 'error';
  return [
    answered(id, text, { ...(isError && { isError }), ...(refs !== undefined && { result: { subagent_trajectory_ref: refs } }) }),
    ...images.map((part) => pictured('tool', { link: part.source ?? part }, { toolCallId: id })),
  ];
}

/** Whether the step itself contains the entry too: calls, and results without their call, which read like feedback of the environment. */
const isRepeated = (draft: UnplacedEntry, { kind, text, toolCallId }: UnplacedEntry): boolean =>
  kind === 'tool_call'
    ? draft.kind === kind && draft.toolCallId === toolCallId
    : kind === 'tool_result' && draft.marks?.includes('environment') === true && draft.text === text;

/** Restores the facts of a step's `extra` (keys, times, signatures) to its entries in order. A step edited by hand keeps its edited text. */
function withResiduals(drafts: readonly Numbered[], residuals: readonly JsonObject[]): readonly Numbered[] {
  if (residuals.length === 0) return drafts;
  const waiting = drafts.map(([, draft]) => draft);
  const merged: Numbered[] = [];
  for (const [number, residual] of residuals.entries()) {
    const { key: written, ...entry } = entryIn(residual);
    const { tokens: _, text, role, kind, ...facts } = entry;
    // A step that was edited by hand may have lost the key.
    const key = written === '' ? number : written;
    if (residual.whole === true) {
      const repeated = waiting.findIndex((draft) => isRepeated(draft, entry));
      if (repeated >= 0) waiting.splice(repeated, 1);
      merged.push([key, entry]);
      continue;
    }
    const at = waiting.findIndex(
      (draft) => draft.kind === kind && (draft.role === role || kind === 'summary') && draft.toolCallId === facts.toolCallId,
    );
    const [draft] = at < 0 ? [] : waiting.splice(at, 1);
    if (draft) merged.push([key, { ...draft, ...facts, ...(text !== undefined && { text }) }]);
  }
  const rest = waiting.filter(({ kind }) => kind !== 'event' && kind !== 'thinking');
  return [...merged, ...rest.map((draft, at): Numbered => [residuals.length + at, draft])];
}
