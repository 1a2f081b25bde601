import { encodeText, type Json, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { ParsedEntry, SessionOptions, TokenUsage } from '../format.js';
import { writeLine } from '../shared/entry-lines.js';
import { dataUrlOf, groupMessages } from '../shared/groups.js';
import { writeZip } from '../shared/zip.js';

/** Writes a log of one sample: the messages of one context, a model event for each call, and the counts of the calls. */
export function packLog(formatId: string, entries: readonly ParsedEntry[], options: SessionOptions): Uint8Array {
  const { now, sessionId, calls: counted } = options;
  const visible = entries.filter(({ marks }) => !marks?.includes('hidden'));
  const groups = groupMessages(visible, (entry) => entry.role !== 'tool' || entry.kind === 'image');
  const messages = groups.map((group, at) => writeMessage(formatId, group.entries, `m${at}`));
  const model = visible.find(({ role, author }) => role === 'assistant' && author !== undefined)?.author ?? 'unknown';
  const totals = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const events = messages.flatMap((message, at): JsonObject[] => {
    if (message.role !== 'assistant') return [];
    const group = groups[at]?.entries ?? [];
    const usage = group.map((entry) => entry.usage ?? counted?.get(entry.key ?? '')).find((one) => one !== undefined);
    if (usage) for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += usage[name] ?? 0;
    return [eventOf(message, at, group[0]?.at ?? now, model, usage, options)];
  });
  const spec = {
    eval_id: sessionId,
    run_id: sessionId,
    task_id: sessionId,
    created: now,
    task: 'session',
    dataset: { name: 'stemma', samples: 1, sample_ids: [1] },
    model,
    config: {},
    metadata: { stemma: { ...(options.cwd !== undefined && { cwd: options.cwd }) } },
  };
  const summed = { ...writeUsage(totals), total_tokens: totals.input + totals.output + totals.cacheRead + totals.cacheWrite };
  const isCounted = events.some((event) => (event.output as JsonObject).usage !== undefined);
  const stats = { started_at: now, completed_at: now, model_usage: isCounted ? { [model]: summed } : {} };
  const first = messages.find(({ role }) => role === 'user');
  const input = typeof first?.content === 'string' ? first.content : '';
  const isPrompted = options.system === undefined || messages.some(({ role }) => role === 'system');
  const system = isPrompted ? [] : [{ id: 'system', role: 'system', content: options.system }];
  const sample = {
    id: 1,
    epoch: 1,
    input,
    target: '',
    messages: [...system, ...messages],
    output: { model, choices: [] },
    scores: {},
    metadata: {},
    store: {},
    events,
    events_data: { messages, calls: [] },
    model_usage: stats.model_usage,
    attachments: {},
  };
  const summary = [{ id: 1, epoch: 1, input: input.slice(0, 1_000), target: '', scores: {}, completed: true, metadata: {} }];
  const plan = { name: 'plan', steps: [], config: {} };
  const file = (name: string, value: object): { name: string; content: Uint8Array } => ({ name, content: encodeText(JSON.stringify(value)) });
  return writeZip([
    file('_journal/start.json', { version: 2, eval: spec, plan }),
    file('samples/1_epoch_1.json', sample),
    file('_journal/summaries/1.json', summary),
    file('summaries.json', summary),
    file('header.json', { version: 2, status: 'success', eval: spec, plan, results: { total_samples: 1, completed_samples: 1, scores: [] }, stats }),
  ]);
}

const writeUsage = ({ input, output, cacheRead, cacheWrite }: TokenUsage): JsonObject => ({
  ...(input !== null && { input_tokens: input }),
  ...(output !== null && { output_tokens: output }),
  ...(cacheRead !== null && { input_tokens_cache_read: cacheRead }),
  ...(cacheWrite !== null && { input_tokens_cache_write: cacheWrite }),
});

/** The model event of the call that returned the message at a place. Its input names the messages before it, which the sample holds once. */
function eventOf(
  message: JsonObject,
  at: number,
  time: Timestamp,
  model: string,
  usage: TokenUsage | undefined,
  { tools = [], sessionId }: SessionOptions,
): JsonObject {
  const sum = usage && (usage.input ?? 0) + (usage.output ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0);
  return {
    event: 'model',
    uuid: `${sessionId}-${at}`,
    timestamp: time,
    working_start: 0,
    model: stringAt(message, 'model') ?? model,
    input: [],
    input_refs: [[0, at]],
    tools: tools.flatMap((tool) => (typeof tool === 'object' && tool !== null && 'function' in tool ? [(tool as JsonObject).function as Json] : [])),
    tool_choice: 'auto',
    config: {},
    output: {
      model: stringAt(message, 'model') ?? model,
      choices: [{ message, stop_reason: Array.isArray(message.tool_calls) ? 'tool_calls' : 'stop' }],
      ...(usage && { usage: { ...writeUsage(usage), total_tokens: sum as number } }),
    },
  };
}

function writeMessage(formatId: string, entries: readonly [ParsedEntry, ...ParsedEntry[]], id: string): JsonObject {
  const [first] = entries;
  const calls = entries.filter(({ kind }) => kind === 'tool_call');
  const parts = entries.flatMap(writePart);
  const [only] = parts;
  const content = parts.length === 0 ? '' : parts.length === 1 && only?.type === 'text' ? (only.text ?? '') : parts;
  const stemma = { entries: entries.map(({ tokens: _, raw: __, ...entry }) => writeLine(formatId, entry)) };
  const role = first.kind === 'summary' ? 'user' : first.role;
  return {
    id,
    role,
    content,
    ...(role === 'assistant' && { ...(first.author !== undefined && { model: first.author }), source: 'generate' }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ toolCallId, toolName, arguments: input }) => ({
        id: toolCallId ?? '',
        function: toolName ?? '',
        arguments: input ?? {},
        type: 'function',
      })),
    }),
    ...(role === 'tool' && {
      tool_call_id: first.toolCallId ?? '',
      ...(first.toolName !== undefined && { function: first.toolName }),
      ...(first.isError && { error: { type: 'unknown', message: first.text ?? '' } }),
    }),
    metadata: { stemma },
  } as unknown as JsonObject;
}

function writePart(entry: ParsedEntry): JsonObject[] {
  const { kind, text = '', media, result } = entry;
  const seal = result as { readonly signature?: string; readonly data?: string } | undefined;
  switch (kind) {
    case 'thinking':
      return [
        seal?.data === undefined
          ? { type: 'reasoning', reasoning: text, ...(seal?.signature !== undefined && { signature: seal.signature }) }
          : { type: 'reasoning', reasoning: seal.data, redacted: true },
      ];
    case 'text':
    case 'summary':
    case 'tool_result':
      return [{ type: 'text', text }];
    case 'image':
      return media ? [{ type: 'image', image: dataUrlOf(media) }] : [];
    default:
      return [];
  }
}
