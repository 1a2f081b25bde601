import { defined, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { TokenUsage } from '../format.js';
import type { RecordRole, TreeRecord } from '../shared/branches.js';
import {
  answered,
  called,
  failed,
  type Numbered,
  noCall,
  noted,
  objectsIn,
  said,
  summarized,
  thought,
  type UnplacedEntry,
  unsent,
  usageIn,
  withUsage,
} from '../shared/drafts.js';
import { callNamed } from '../shared/keys.js';
import type { RecordMark } from '../shared/progress.js';
import type { About, RecordPlace, RecordRules } from '../shared/records.js';
import { argumentsOf, bookkeeping, dialect, formatId, laneOf, readData, readType, sentText } from './schema.js';

/** Plans commits from events: a chain in file order, and a separate chain for the events of each subagent. */
export const rules: RecordRules<Gathered> = {
  formatId,
  template: 'copilot-cli',
  dialect,
  about,
  place,
  entries: readEntries,
  gather,
  keeps: keptSystem,
  mark,
  prompt: (record) => (readType(record) === 'user.message' && laneOf(record) === undefined ? stringAt(readData(record), 'content') : undefined),
};

function about(records: readonly JsonObject[]): About {
  const start = records.find((record) => readType(record) === 'session.start');
  const resumed = records.find((record) => readType(record) === 'session.resume');
  const folder = (record: JsonObject | undefined): string | undefined => {
    return record && stringAt(readData(record).context, 'cwd');
  };
  const named = records.findLast((record) => readType(record) === 'session.title_changed' || readType(record) === 'session.renamed');
  return {
    sessionId: start && stringAt(readData(start), 'sessionId'),
    cwd: folder(start) ?? folder(resumed),
    title: named && (stringAt(readData(named), 'title') ?? stringAt(readData(named), 'name')),
  };
}

function place(record: JsonObject): RecordPlace | undefined {
  const name = stringAt(record, 'id');
  if (name === undefined || name === '' || typeof record.type !== 'string') return undefined;
  const lane = laneOf(record);
  const call = lane === undefined ? undefined : (stringAt(readData(record), 'parentToolCallId') ?? startedIn(record));
  const starts = startingCalls(record);
  return {
    name,
    part: roleInTurn(record),
    ...(lane !== undefined && { lane }),
    ...(call !== undefined && { startedBy: { toolCallId: call } }),
    ...(starts.length > 0 && { others: starts.map(callNamed) }),
  };
}

const startingCalls = (record: JsonObject): readonly string[] =>
  readType(record) === 'assistant.message'
    ? objectsIn(readData(record).toolRequests).flatMap((call) => (call.name === 'task' ? (stringAt(call, 'toolCallId') ?? []) : []))
    : [];

/** The call that an event of a subagent's start names. */
const startedIn = (record: JsonObject): string | undefined =>
  readType(record).startsWith('subagent.') ? stringAt(readData(record), 'toolCallId') : undefined;

const rolesInTurn: ReadonlyMap<string, RecordRole> = new Map([
  ['user.message', 'prompt'],
  ['assistant.message', 'answer'],
  ['tool.execution_complete', 'result'],
  ['session.resume', 'lead'],
  ['session.info', 'lead'],
]);

const roleInTurn = (record: JsonObject): RecordRole =>
  readType(record) === 'session.compaction_complete' && readData(record).success === true
    ? 'compaction'
    : (rolesInTurn.get(readType(record)) ?? 'quiet');

/** After a compaction, the agent sends the last recorded system prompt again. */
function keptSystem(_: JsonObject, before: readonly TreeRecord[]): readonly TreeRecord[] {
  const last = before.findLast(({ piece }) => piece.record && readType(piece.record) === 'system.message');
  return last ? [last] : [];
}

/** Each model call ends with a separate event. A turn ends with a model call without tool calls, or with an error. */
function mark(record: JsonObject): Omit<RecordMark, 'range'> | undefined {
  const type = readType(record);
  if (type === 'session.resume') return { is: 'starts' };
  return ['session.error', 'session.shutdown', 'abort'].includes(type) ? { is: 'ends' } : undefined;
}

/** The usage of calls by their id, whose record comes before the answer's, and the first answer of each call. */
function gather(records: readonly JsonObject[]) {
  const [usages, firsts] = [new Map<string, TokenUsage>(), new Map<string, Json | undefined>()];
  for (const record of records) {
    const data = readData(record);
    const { usage } = readType(record) === 'session.usage_record' ? data : {};
    const [id, counts] = [stringAt(usage, 'apiCallId'), countsIn(usage)];
    if (id !== undefined && counts) usages.set(id, counts);
    const call = readType(record) === 'assistant.message' ? stringAt(data, 'apiCallId') : undefined;
    if (call !== undefined && !firsts.has(call)) firsts.set(call, record.id);
  }
  return { usages, firsts };
}
type Gathered = ReturnType<typeof gather>;

/** What an answer's call counted. Of several answers of a call that are read together, the first counts. */
function usageOf({ id }: JsonObject, data: JsonObject, { usages, firsts }: Gathered): TokenUsage | undefined {
  const call = stringAt(data, 'apiCallId') ?? '';
  return firsts.has(call) && firsts.get(call) !== id ? noCall : (usages.get(call) ?? outputIn(data));
}

/** Counts as the agent writes them. As in chat completions, its input count includes the tokens read from the cache. */
function countsIn(usage: Json | undefined): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite, reasoningTokens: reasoning } = usage;
  return usageIn({ input, output, cacheRead, cacheWrite, reasoning }, 'within');
}

/** Older versions, and the event stream of VS Code, count only the output. They write zero for unknown counts. */
const outputIn = ({ outputTokens: output }: JsonObject): TokenUsage | undefined => (output === 0 ? undefined : usageIn({ output }, 'within'));

/** The call that wrote a summary, or failed to. */
function compactionCall({ compactionTokensUsed: counts, behaviorModelId }: JsonObject): readonly Numbered[] {
  const usage = countsIn(counts);
  const author = stringAt(counts, 'model') ?? (typeof behaviorModelId === 'string' ? behaviorModelId : undefined);
  return usage ? [[1, noted('compaction', counts, { ...(author !== undefined && { author }), usage, marks: ['beside'] })]] : [];
}

/** The entries of an event. */
function readEntries(record: JsonObject, gathered: Gathered): readonly Numbered[] {
  const data = readData(record);
  const type = readType(record);
  switch (type) {
    case 'system.message':
      return [[0, said('system', stringAt(data, 'content') ?? '')]];
    case 'user.message':
      return promptDrafts(data);
    case 'assistant.message':
      return withUsage(answerDrafts(data), usageOf(record, data, gathered));
    case 'assistant.reasoning':
      return [[0, unsent(thought(stringAt(data, 'content') ?? ''), 'repeated')]];
    case 'tool.execution_complete':
      return [[0, resultDraft(data)]];
    case 'session.compaction_complete':
      return [[0, data.success === true ? summarized(stringAt(data, 'summaryContent') ?? '') : noted(type, data)], ...compactionCall(data)];
    case 'session.shutdown':
      return totalsOf(data);
    case 'session.error':
      return [[0, failed(stringAt(data, 'message') ?? 'the call failed')]];
    default:
      return bookkeeping.has(type) ? [] : [[0, noted(type, data)]];
  }
}

/** What the agent counted for each model when it ended, over the whole session. It includes calls that stand in no event. */
function totalsOf(data: JsonObject): readonly Numbered[] {
  const metrics = data.modelMetrics ?? (isObject(data.accountingSnapshot) ? data.accountingSnapshot.modelMetrics : undefined);
  return Object.entries(isObject(metrics) ? metrics : {}).flatMap(([author, metric], at): Numbered[] => {
    const usage = isObject(metric) ? countsIn(metric.usage) : undefined;
    return usage ? [[at, noted('session.shutdown', metric, { author, usage, marks: ['total'] })]] : [];
  });
}

function promptDrafts(data: JsonObject): readonly Numbered[] {
  // Prompts that the agent makes name their source. A subagent's prompt comes from its parent.
  const source = stringAt(data, 'source');
  const injected = source !== undefined && source !== 'user' && !source.startsWith('agent-');
  const text = said('user', sentText(data), injected ? { marks: ['meta', source] } : {});
  const files = objectsIn(data.attachments).map((file, at): Numbered => [at + 1, noted('attachment', file)]);
  return [[0, text], ...files];
}

function answerDrafts(data: JsonObject): readonly Numbered[] {
  const author = defined({ author: stringAt(data, 'model') });
  const text = stringAt(data, 'content') ?? '';
  const calls = objectsIn(data.toolRequests).map((call) =>
    called(stringAt(call, 'name') ?? '', stringAt(call, 'toolCallId'), argumentsOf(call.arguments), author),
  );
  const thoughts = thinkingOf(data).map((draft): UnplacedEntry => ({ ...draft, ...author }));
  return [...thoughts, ...(text === '' ? [] : [said('assistant', text, author)]), ...calls].map((draft, at): Numbered => [at, draft]);
}

function thinkingOf(data: JsonObject): readonly UnplacedEntry[] {
  const { reasoningBlocks } = data;
  const blocks = isObject(reasoningBlocks) ? objectsIn(reasoningBlocks.blocks) : [];
  if (blocks.length > 0)
    return blocks.map((block) =>
      block.type === 'redacted_thinking'
        ? thought('', { data: stringAt(block, 'data') ?? '' })
        : thought(stringAt(block, 'thinking') ?? '', { signature: stringAt(block, 'signature') }),
    );
  const text = stringAt(data, 'reasoningText');
  return text ? [thought(text)] : [];
}

function resultDraft(data: JsonObject): UnplacedEntry {
  const { result, error, shellExecution, fileEdits } = data;
  const isError = data.success === false;
  const text = isError
    ? (stringAt(error, 'message') ?? stringAt(result, 'content') ?? '')
    : (stringAt(result, 'content') ?? stringAt(result, 'text_result_for_llm') ?? stringAt(result, 'textResultForLlm') ?? '');
  const code = isError ? stringAt(error, 'code') : undefined;
  const shown = defined({ detailedContent: stringAt(result, 'detailedContent'), shellExecution, fileEdits, code });
  return answered(stringAt(data, 'toolCallId'), text, {
    ...(isError && { isError }),
    ...(Object.keys(shown).length > 0 && { result: shown }),
  });
}
