import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { argumentsIn, countedIn, type Endpoint, modelsOf, piecesOf, requireKey, type Server, unavailable } from './line.js';

interface TextPart {
  readonly text?: string;
  readonly refusal?: string;
}

interface Item {
  readonly id?: string;
  readonly type?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly content?: readonly TextPart[] | null;
  readonly summary?: readonly TextPart[];
  readonly encrypted_content?: string | null;
}

interface Counted {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly input_tokens_details?: { readonly cached_tokens?: number } | null;
}

interface Outcome {
  readonly status?: string;
  readonly error?: { readonly message?: string } | null;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly usage?: Counted | null;
}

/** A provider that sends the given body to the Responses API. */
export function responsesProvider({ url, id, title, key }: Server): ModelProvider {
  const headers = async (): Promise<Record<string, string>> => (key ? { authorization: `Bearer ${await requireKey(key, title)}` } : {});
  const endpoint: Endpoint = { url: url.replace(/\/$/, ''), headers, name: title };
  return {
    id,
    title,
    wire: 'responses',
    models: () => modelsOf(endpoint, '/models'),
    async *stream({ body, headers: more }, signal) {
      const own = { ...endpoint, headers: async () => ({ ...more, ...(await headers()) }) };
      const streamed = new Set<unknown>();
      yield* piecesOf(own, '/responses', { ...body, stream: true }, signal, function* (event) {
        const outcome = (event.response ?? {}) as Outcome;
        if (event.type === 'error' || event.type === 'response.failed')
          throw unavailable(endpoint, String(event.message ?? outcome.error?.message ?? reasonOf(event.error) ?? 'the reply ended with an error'));
        yield* readPieces(event, streamed);
        if (event.type !== 'response.completed' && event.type !== 'response.incomplete') return false;
        if (outcome.usage)
          yield countedIn(outcome.usage.input_tokens, outcome.usage.output_tokens, outcome.usage.input_tokens_details?.cached_tokens);
        yield { kind: 'end', reason: outcome.incomplete_details?.reason ?? outcome.status ?? 'completed' };
        return true;
      });
    },
  };
}

const reasonOf = (error: unknown): unknown => (error as { message?: unknown } | null | undefined)?.message;

function* readPieces(event: Record<string, unknown>, streamed: Set<unknown>): Generator<ReplyPiece> {
  const delta = typeof event.delta === 'string' ? event.delta : '';
  switch (event.type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      streamed.add(event.item_id);
      yield { kind: 'text', delta };
      return;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      streamed.add(event.item_id);
      yield { kind: 'thinking', delta };
      return;
    case 'response.reasoning_summary_part.added':
      if (Number(event.summary_index) > 0) yield { kind: 'thinking', delta: '\n\n' };
      return;
    case 'response.output_item.done':
      yield* wholeItem((event.item ?? {}) as Item, streamed);
      return;
  }
}

/** The pieces of a finished item: calls, text that was not streamed, and the signature of a thought. */
function* wholeItem(item: Item, streamed: ReadonlySet<unknown>): Generator<ReplyPiece> {
  if (item.type === 'function_call')
    yield { kind: 'tool_call', toolCallId: item.call_id ?? '', toolName: item.name ?? '', arguments: argumentsIn(item.arguments ?? '') };
  if (item.type === 'custom_tool_call')
    yield { kind: 'tool_call', toolCallId: item.call_id ?? '', toolName: item.name ?? '', arguments: { input: item.input ?? '' } };
  const isStreamed = streamed.has(item.id);
  if (item.type === 'message' && !isStreamed) yield* said('text', item.content, '');
  if (item.type === 'reasoning' && !isStreamed) yield* said('thinking', item.summary, '\n\n');
  if (item.type === 'reasoning' && item.encrypted_content) yield { kind: 'signature', name: 'encrypted_content', signature: item.encrypted_content };
}

function* said(kind: 'text' | 'thinking', words: readonly TextPart[] | null | undefined, between: string): Generator<ReplyPiece> {
  const delta = (words ?? []).map(({ text, refusal }) => text ?? refusal ?? '').join(between);
  if (delta) yield { kind, delta };
}
