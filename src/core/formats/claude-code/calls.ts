import { defined, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { ParsedEntry } from '../format.js';
import {
  type AgentTotal,
  besidePrefix,
  type CallCount,
  type CallPart,
  type CallTerms,
  type CallTokens,
  countsIn,
  doesOf,
  isCount,
  joinCalls,
  noCounts,
  partOfEntries,
} from '../shared/calls.js';
import { isHidden } from '../shared/outline.js';
import { readEntries } from './parse-entries.js';
import { scanLines } from './parse-lines.js';
import { messageIdOf, syntheticModel } from './schema.js';

/** The counts in a message's `usage`. The provider's `input_tokens` exclude cached tokens. */
export function countsOfUsage(usage: Json | undefined): CallTokens & { readonly flaw?: string } {
  const given = isObject(usage) ? usage : {};
  const written = isObject(given.cache_creation) ? given.cache_creation : {};
  const counts = countsIn({
    input: given.input_tokens,
    cacheRead: given.cache_read_input_tokens,
    cacheWrite: given.cache_creation_input_tokens,
    cacheWrite1h: written.ephemeral_1h_input_tokens,
    output: given.output_tokens,
    reasoning: isObject(given.output_tokens_details) ? given.output_tokens_details.thinking_tokens : undefined,
  });
  const { cacheWrite, cacheWrite1h } = counts;
  const short = written.ephemeral_5m_input_tokens;
  if (cacheWrite !== null && cacheWrite1h !== null && cacheWrite1h > cacheWrite)
    return { ...counts, cacheWrite1h: null, flaw: `one-hour cache writes (${cacheWrite1h}) exceed all cache writes (${cacheWrite})` };
  if (cacheWrite !== null && cacheWrite1h !== null && isCount(short) && short + cacheWrite1h !== cacheWrite)
    return { ...counts, flaw: `cache writes for five minutes (${short}) and an hour (${cacheWrite1h}) are not all cache writes (${cacheWrite})` };
  // Without the split, all writes are five-minute writes, because the parameter for the longer cache also makes the provider report the split.
  return cacheWrite === null && isCount(short) && cacheWrite1h !== null ? { ...counts, cacheWrite: short + cacheWrite1h } : counts;
}

/** Whether the line was written after the reply had ended. Earlier lines have no stop reason, and an output count of a few tokens. */
export const isFinalMessage = (message: Json | undefined): boolean => isObject(message) && message.stop_reason !== null;

/** The uses of tools that the provider ran: `web_search_requests` as `webSearch`. */
function serverToolsIn(given: Json | undefined): Record<string, number> | undefined {
  if (!isObject(given)) return undefined;
  const uses = Object.entries(given).filter((use): use is [string, number] => isCount(use[1]) && use[1] > 0);
  const toolOf = (name: string): string => name.replace(/_requests$/, '').replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return uses.length > 0 ? Object.fromEntries(uses.map(([name, count]) => [toolOf(name), count])) : undefined;
}

/** Speeds, tiers and places at the usual price. */
const usualSpeeds: ReadonlySet<string> = new Set(['standard']);
const usualPlaces: ReadonlySet<string> = new Set(['', 'global', 'not_available']);

/** What the price of a reply depends on beside its tokens. Standard speed, tier and place are left out. */
function termsIn(usage: Json | undefined): CallTerms | undefined {
  if (!isObject(usage)) return undefined;
  const speed = unusual(usage.speed, usualSpeeds);
  const tier = unusual(usage.service_tier, usualSpeeds);
  const geo = unusual(usage.inference_geo, usualPlaces);
  const serverTools = serverToolsIn(usage.server_tool_use);
  if (speed === undefined && tier === undefined && geo === undefined && !serverTools) return undefined;
  return defined({ speed, tier, geo, serverTools });
}

const unusual = (value: Json | undefined, usual: ReadonlySet<string>): string | undefined =>
  typeof value === 'string' && !usual.has(value) ? value : undefined;

/** The steps in which the provider made a reply. */
const stepsIn = (usage: Json | undefined): readonly JsonObject[] =>
  isObject(usage) && Array.isArray(usage.iterations) ? usage.iterations.filter(isObject) : [];

/** The input of the last step of the conversation: the counts of the reply are those of all steps. */
function windowIn(usage: Json | undefined): number | undefined {
  const own = stepsIn(usage).filter(({ type }) => type === 'message' || type === undefined);
  const last = own.at(-1);
  if (!last || own.length < 2) return undefined;
  const { input, cacheRead, cacheWrite } = countsOfUsage(last);
  return (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) || undefined;
}

/**
 * The calls that the provider made beside a reply: advisors whom it asked, and summaries that it wrote of the conversation before. Their tokens are not
 * in the reply's own counts. A model that declined before another one answered is not billed, and is no call.
 */
function besidesOf(record: JsonObject, first: ParsedEntry): CallPart[] | undefined {
  const message = isObject(record.message) ? record.message : {};
  if (stepsIn(message.usage).length === 0) return undefined;
  return stepsIn(message.usage).flatMap((step, at): CallPart[] => {
    const isAdvisor = step.type === 'advisor_message';
    if (!isAdvisor && step.type !== 'compaction') return [];
    const prompt = isAdvisor ? 'advisor' : 'compaction';
    const id = `${besidePrefix}${prompt}:${messageIdOf(record) ?? first.key}:${at}`;
    const model = stringAt(step, 'model') ?? stringAt(isAdvisor ? record : message, isAdvisor ? 'advisorModel' : 'model') ?? null;
    const terms = isAdvisor ? { ...termsIn(step), advisor: true as const } : termsIn({ ...speedOf(message.usage), ...step });
    return [{ at: first.at, prompt, isFinal: true, reply: { id, key: first.key, model, ...countsOfUsage(step), terms } }];
  });
}

/** The speed, tier and place of a reply, which hold for its summaries too. */
function speedOf(usage: Json | undefined): JsonObject {
  if (!isObject(usage)) return {};
  const { speed = null, service_tier = null, inference_geo = null } = usage;
  return { speed, service_tier, inference_geo };
}

/** The sums of a result with those of the processes that ran the session before, by model. */
function allTotalsIn(record: JsonObject): CallPart | undefined {
  const earlier = Array.isArray(record.earlier) ? record.earlier.filter(isObject) : [];
  const parts = [...earlier.map((one): JsonObject => ({ type: 'result', ...one })), record].flatMap((one) => totalsIn(one)?.others ?? []);
  if (earlier.length === 0) return parts.length > 0 ? { others: parts } : undefined;
  const byModel = Map.groupBy(parts, ({ reply }) => reply?.model ?? '');
  return { others: [...byModel.values()].map((some) => some.reduce(added)) };
}

function added(one: CallPart, other: CallPart): CallPart {
  const [a, b] = [one.reply, other.reply];
  if (!a || !b) return one;
  const plus = (x: number | null | undefined, y: number | null | undefined): number | null => (x == null && y == null ? null : (x ?? 0) + (y ?? 0));
  const counts = Object.fromEntries(countNames.map((name) => [name, plus(a[name], b[name])])) as unknown as CallTokens;
  const total = { cost: plus(a.total?.cost, b.total?.cost), webSearch: plus(a.total?.webSearch, b.total?.webSearch) };
  return { isFinal: true, reply: { ...a, ...counts, total } };
}
const countNames = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning'] as const;

/** The sums that Claude Code writes when a session ends, by model or in total. They include calls in no line, such as those of helpers. */
function totalsIn(record: JsonObject): CallPart | undefined {
  const all = numberAt(record, record.type === 'result' ? 'total_cost_usd' : 'totalCostUSD');
  const { modelUsage } = record;
  if (!isObject(modelUsage)) {
    const counts = isObject(record.usage) ? countsOfUsage(record.usage) : noCounts;
    return all === null && counts === noCounts ? undefined : { others: [totalPart('', counts, { cost: all, webSearch: null })] };
  }
  const parts = Object.entries(modelUsage).flatMap(([model, usage]) => {
    if (!isObject(usage)) return [];
    const counts = countsIn({
      input: usage.inputTokens,
      cacheRead: usage.cacheReadInputTokens,
      cacheWrite: usage.cacheCreationInputTokens,
      cacheWrite1h: usage.cacheCreationEphemeral1hInputTokens,
      output: usage.outputTokens,
      reasoning: undefined,
    });
    const { webSearchRequests: searches } = usage;
    return [totalPart(model, counts, { cost: numberAt(usage, 'costUSD'), webSearch: isCount(searches) ? searches : null })];
  });
  return { others: parts };
}

const numberAt = (value: JsonObject, name: string): number | null => (typeof value[name] === 'number' ? value[name] : null);

function totalPart(model: string, counts: CallTokens, total: AgentTotal): CallPart {
  const id = `total:${model}`;
  return { isFinal: true, reply: { id, key: id as ParsedEntry['key'], model, ...counts, total } };
}

/** The facts of one record about calls. `entries` are the entries of the record. Most records are replies, so their members are named one by one. */
export function callPartOf(record: JsonObject, entries: readonly ParsedEntry[]): CallPart | undefined {
  if (record.type === 'cost-state' || record.type === 'result') return allTotalsIn(record);
  if (record.type !== 'assistant') return partOfEntries(entries);
  const first = entries.find((entry) => !isHidden(entry));
  const message = isObject(record.message) ? record.message : {};
  const { model, usage } = message;
  if (!first || model === syntheticModel) return undefined;
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, flaw } = countsOfUsage(usage);
  return {
    at: first.at,
    others: besidesOf(record, first),
    isFinal: isFinalMessage(message),
    reply: {
      id: messageIdOf(record) ?? first.key,
      key: first.key,
      model: typeof model === 'string' ? model : null,
      input,
      cacheRead,
      cacheWrite,
      cacheWrite1h,
      output,
      reasoning,
      flaw,
      does: doesOf(entries),
      // A copy that does not name its origin is never joined to it, so it may be the only one that counts the call.
      replayed: stringAt(record.forkedFrom, 'sessionId') && stringAt(record.forkedFrom, 'messageUuid') ? true : undefined,
      window: windowIn(usage),
      terms: termsIn(usage),
    },
  };
}

/** The calls whose replies a delta contains. */
export const callsIn = (delta: Uint8Array): CallCount[] =>
  joinCalls(
    scanLines(delta).pieces.flatMap(({ record, range, sort }) =>
      record && sort === 'record' ? (callPartOf(record, readEntries(record, range)) ?? []) : [],
    ),
  );
