import { encodeText, type Json, type JsonObject, type Timestamp } from '../../base/index.js';
import { digest } from '../digest.js';
import type { ParsedEntry, SessionOptions, TokenUsage } from '../format.js';
import { writeLine } from '../shared/entry-lines.js';
import { base64Of } from '../shared/groups.js';
import { outlastsSummary } from '../shared/kept.js';
import type { ReadSpan } from './parse-spans.js';

const hex = (text: string, bytes: number): string => digest(text, bytes * 2).replace(/^0+$/, (zeros) => `${zeros.slice(1)}1`);

/** Writes a trace with spans of the agent, its model calls and tools, with ids from entries. A call's input has only the new messages. */
export function packSpans(formatId: string, entries: readonly ParsedEntry[], options: SessionOptions): Uint8Array {
  const visible = entries.filter(({ marks }) => !marks?.includes('hidden'));
  const session = visible[0]?.key ?? options.sessionId;
  const traceId = hex(session, 16);
  const root = hex(`${session}:agent`, 8);
  const results = new Map(visible.flatMap((entry) => (entry.kind === 'tool_result' && entry.toolCallId ? [[entry.toolCallId, entry] as const] : [])));
  const spans: object[] = [];
  const draw = (spanId: string, drawn: Drawn): object => ({ traceId, spanId, parentSpanId: spanId === root ? '' : root, ...spanOf(drawn) });
  let last: Timestamp = visible.find(({ at }) => at !== undefined)?.at ?? options.now;
  const first = last;
  let system = options.system !== undefined && !visible.some(({ role, kind }) => role === 'system' && kind === 'text') ? options.system : undefined;
  for (const { input, output } of divideCalls(visible)) {
    const id = (output[0] ?? input[0])?.key ?? '';
    const asked = input.findLast(({ at }) => at !== undefined)?.at ?? last;
    // Spans are read in the order of their starts.
    const start = Date.parse(asked) < Date.parse(last) ? last : asked;
    const end = output.find(({ at }) => at !== undefined)?.at ?? start;
    const usage = output.map((entry) => entry.usage ?? options.calls?.get(entry.key)).find((one) => one !== undefined);
    const model = output.find(({ author }) => author !== undefined)?.author;
    const attributes: JsonObject = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerOf(model),
      'gen_ai.conversation.id': options.sessionId,
      ...(model !== undefined && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
      ...(usage && usageAttributes(usage)),
      ...(system !== undefined && { 'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: system }]) }),
      ...(options.tools && spans.length === 0 && { 'gen_ai.tool.definitions': JSON.stringify(options.tools) }),
      'gen_ai.input.messages': JSON.stringify(writeMessages(input)),
      'gen_ai.output.messages': JSON.stringify(
        writeMessages(output).map((message) => ({
          ...message,
          finish_reason: output.some(({ kind }) => kind === 'tool_call') ? 'tool_call' : 'stop',
        })),
      ),
      'stemma.entries': JSON.stringify([...input, ...output].map(({ tokens: _, raw: __, ...entry }) => writeLine(formatId, entry))),
    };
    system = undefined;
    spans.push(draw(hex(id, 8), { name: `chat ${model ?? ''}`.trim(), kind: 3, start, end, attributes }));
    for (const call of output.filter(({ kind }) => kind === 'tool_call')) {
      const result = results.get(call.toolCallId ?? '');
      const began = call.at ?? end;
      const tool = { name: `execute_tool ${call.toolName ?? ''}`, kind: 1, start: began, end: result?.at ?? began, failed: result?.isError === true };
      spans.push(draw(hex(`${call.key}:tool`, 8), { ...tool, attributes: toolAttributes(call, result, options.sessionId) }));
    }
    last = Date.parse(end) < Date.parse(start) ? start : end;
  }
  const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': options.sessionId };
  const agent = draw(root, { name: 'invoke_agent stemma', kind: 1, start: first, end: last, attributes });
  const document = {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'stemma' }) },
        scopeSpans: [{ scope: { name: 'stemma' }, spans: [agent, ...spans] }],
      },
    ],
  };
  return encodeText(`${JSON.stringify(document)}\n`);
}

const toolAttributes = (call: ParsedEntry, result: ParsedEntry | undefined, sessionId: string): JsonObject => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.conversation.id': sessionId,
  'gen_ai.tool.name': call.toolName ?? '',
  'gen_ai.tool.call.id': call.toolCallId ?? '',
  'gen_ai.tool.type': 'function',
  'gen_ai.tool.call.arguments': JSON.stringify(call.arguments ?? {}),
  ...(result && { 'gen_ai.tool.call.result': result.text ?? '' }),
  ...(result?.isError && { 'error.type': 'tool_error' }),
});

/** The calls: each answer with the entries since the previous answer. Entries after the last answer form a call without an answer. */
function divideCalls(entries: readonly ParsedEntry[]): readonly { readonly input: ParsedEntry[]; readonly output: ParsedEntry[] }[] {
  const calls: { input: ParsedEntry[]; output: ParsedEntry[] }[] = [];
  for (const entry of entries) {
    const last = calls.at(-1);
    const before = last?.output[0];
    if (entry.role !== 'assistant') {
      if (last && last.output.length === 0 && (entry.kind !== 'summary' || last.input.every(outlastsSummary))) last.input.push(entry);
      else calls.push({ input: [entry], output: [] });
    } else if (last && (before === undefined || before.messageId === entry.messageId)) last.output.push(entry);
    else calls.push({ input: [], output: [entry] });
  }
  return calls;
}

function usageAttributes({ input, output, cacheRead, cacheWrite }: TokenUsage): JsonObject {
  const all = input === null && cacheRead === null && cacheWrite === null ? null : (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
  const counts = { input_tokens: all, output_tokens: output, 'cache_read.input_tokens': cacheRead, 'cache_write.input_tokens': cacheWrite };
  return Object.fromEntries(Object.entries(counts).flatMap(([name, count]) => (count === null ? [] : [[`gen_ai.usage.${name}`, count] as const])));
}

const providerOf = (model: string | undefined): string =>
  model === undefined
    ? 'unknown'
    : /claude/i.test(model)
      ? 'anthropic'
      : /gemini/i.test(model)
        ? 'gcp.gemini'
        : /^(?:gpt|o\d|codex)/i.test(model)
          ? 'openai'
          : 'unknown';

/** Entries of one role in a row as messages of the conventions. */
function writeMessages(entries: readonly ParsedEntry[]): readonly JsonObject[] {
  const messages: { role: string; parts: JsonObject[] }[] = [];
  for (const entry of entries) {
    const last = messages.at(-1);
    const part = writePart(entry);
    if (!part) continue;
    if (last?.role === entry.role) last.parts.push(part);
    else messages.push({ role: entry.role, parts: [part] });
  }
  return messages as unknown as readonly JsonObject[];
}

function writePart({ kind, role, text = '', toolName = '', toolCallId = '', arguments: input, media, result }: ParsedEntry): JsonObject | undefined {
  switch (kind) {
    case 'thinking':
      return { type: 'reasoning', content: text };
    case 'tool_call':
      return { type: 'tool_call', id: toolCallId, name: toolName, arguments: (input ?? {}) as Json };
    case 'tool_result':
      return { type: 'tool_call_response', id: toolCallId, response: text };
    case 'image':
      return media
        ? { type: 'blob', modality: 'image', mime_type: media.mediaType, content: base64Of(media) }
        : { type: 'uri', modality: 'image', uri: JSON.stringify(result ?? '') };
    default:
      return role === 'tool' ? undefined : { type: 'text', content: text };
  }
}

interface Drawn extends Pick<ReadSpan, 'name' | 'attributes'> {
  readonly kind: number;
  readonly start: Timestamp;
  readonly end: Timestamp;
  readonly failed?: boolean;
}

const nanos = (at: Timestamp): string => `${Date.parse(at)}000000`;

const spanOf = ({ start, end, attributes, failed, ...rest }: Drawn): object => ({
  ...rest,
  startTimeUnixNano: nanos(start),
  endTimeUnixNano: nanos(Date.parse(end) < Date.parse(start) ? start : end),
  attributes: attributesOf(attributes),
  status: failed ? { code: 2 } : {},
});

const attributesOf = (attributes: JsonObject): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: String(value) },
  }));
