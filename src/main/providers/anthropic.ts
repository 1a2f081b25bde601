import { defined } from '../../core/base/index.js';
import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { argumentsIn, type Endpoint, modelsOf, piecesOf, requireKey, type Server, unavailable } from './line.js';

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  /** A redacted thought, which is sent back as it came. */
  readonly data?: string;
  /** The received part of a call's arguments, which arrive as pieces of JSON. */
  json: string;
  /** The received part of a thought's signature. */
  signature: string;
}

/** A provider that sends the given body to the Messages API. */
export function anthropicProvider({ url, key, id = 'anthropic', title = 'Anthropic' }: Pick<Server, 'url'> & Partial<Server>): ModelProvider {
  const headers = async () => ({ 'x-api-key': await requireKey(key, title), 'anthropic-version': '2023-06-01' });
  const endpoint: Endpoint = { url: url.replace(/\/$/, ''), headers, name: title };
  return {
    id,
    title,
    wire: 'anthropic',
    models: () => modelsOf(endpoint, '/v1/models?limit=100'),
    async *stream({ body, headers: more }, signal) {
      const own = { ...endpoint, headers: async () => ({ ...more, ...(await headers()) }) };
      const blocks = new Map<number, Block>();
      yield* piecesOf(own, '/v1/messages', { ...body, stream: true }, signal, function* (event) {
        if (event.type === 'error')
          throw unavailable(endpoint, String((event.error as { message?: unknown } | undefined)?.message ?? 'the reply ended with an error'));
        yield* readCounts(event);
        yield* readPieces(event, blocks);
        return event.type === 'message_stop';
      });
    },
  };
}

interface Counted {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

/** The counts that the provider reports: the input tokens at the start, the output tokens and the stop reason at the end. */
function* readCounts(event: Record<string, unknown>): Generator<ReplyPiece> {
  const { usage } = (event.type === 'message_start' ? event.message : event) as { usage?: Counted };
  if (usage)
    yield {
      kind: 'usage',
      tokens: defined({
        input: usage.input_tokens,
        output: usage.output_tokens,
        cacheRead: usage.cache_read_input_tokens ?? undefined,
        cacheWrite: usage.cache_creation_input_tokens ?? undefined,
      }),
    };
  const { stop_reason: reason } = (event.type === 'message_delta' ? event.delta : {}) as { stop_reason?: string | null };
  if (reason) yield { kind: 'end', reason };
}

function* readPieces(event: Record<string, unknown>, blocks: Map<number, Block>): Generator<ReplyPiece> {
  const index = Number(event.index);
  if (event.type === 'content_block_start') blocks.set(index, { ...(event.content_block as Block), json: '', signature: '' });
  const block = blocks.get(index);
  if (!block) return;
  if (event.type === 'content_block_delta') {
    const delta = event.delta as { type?: string; text?: string; thinking?: string; signature?: string; partial_json?: string };
    if (delta.type === 'text_delta') yield { kind: 'text', delta: delta.text ?? '' };
    if (delta.type === 'thinking_delta') yield { kind: 'thinking', delta: delta.thinking ?? '' };
    if (delta.type === 'signature_delta') block.signature += delta.signature ?? '';
    if (delta.type === 'input_json_delta') block.json += delta.partial_json ?? '';
  }
  if (event.type !== 'content_block_stop') return;
  if (block.signature !== '') yield { kind: 'signature', signature: block.signature };
  if (block.type === 'redacted_thinking') yield { kind: 'signature', name: 'data', signature: block.data ?? '' };
  if (block.type === 'tool_use')
    yield { kind: 'tool_call', toolCallId: block.id ?? '', toolName: block.name ?? '', arguments: argumentsIn(block.json) };
}
