import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { type Endpoint, events, modelsOf, unavailable } from './line.js';

const listTimeoutMs = 5_000;

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  /** The arguments of a call, as they arrive: JSON in pieces. */
  json: string;
}

/** The Messages API, asked with the very body that it is given. */
export function anthropicProvider({
  url,
  key,
  id = 'anthropic',
  title = 'Anthropic',
}: {
  url: string;
  key: string;
  id?: string;
  title?: string;
}): ModelProvider {
  const endpoint: Endpoint = { url: url.replace(/\/$/, ''), headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' }, name: title };
  return {
    id,
    title,
    wire: 'anthropic',
    models: () => modelsOf(endpoint, '/v1/models?limit=100', listTimeoutMs),
    async *stream({ body, headers }, signal) {
      const own = { ...endpoint, headers: { ...headers, ...endpoint.headers } };
      const blocks = new Map<number, Block>();
      let isWhole = false;
      for await (const event of events(own, '/v1/messages', { ...body, stream: true }, signal)) {
        if (event.type === 'error')
          throw unavailable(endpoint, String((event.error as { message?: unknown } | undefined)?.message ?? 'it broke off with an error'));
        if (event.type === 'message_stop') isWhole = true;
        yield* piecesOf(event, blocks);
      }
      if (!isWhole && !signal?.aborted) throw unavailable(endpoint, 'its reply ended before it was whole');
    },
  };
}

function* piecesOf(event: Record<string, unknown>, blocks: Map<number, Block>): Generator<ReplyPiece> {
  const index = Number(event.index);
  if (event.type === 'content_block_start') blocks.set(index, { ...(event.content_block as Omit<Block, 'json'>), json: '' });
  const block = blocks.get(index);
  if (!block) return;
  if (event.type === 'content_block_delta') {
    const delta = event.delta as { type?: string; text?: string; thinking?: string; signature?: string; partial_json?: string };
    if (delta.type === 'text_delta') yield { kind: 'text', delta: delta.text ?? '' };
    if (delta.type === 'thinking_delta') yield { kind: 'thinking', delta: delta.thinking ?? '' };
    if (delta.type === 'signature_delta') yield { kind: 'signature', signature: delta.signature ?? '' };
    if (delta.type === 'input_json_delta') block.json += delta.partial_json ?? '';
  }
  if (event.type === 'content_block_stop' && block.type === 'tool_use')
    yield { kind: 'tool_call', toolCallId: block.id ?? '', toolName: block.name ?? '', arguments: argumentsIn(block.json) };
}

/** What a model wrote as arguments; what is no JSON stays the text that it is. */
export function argumentsIn(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
