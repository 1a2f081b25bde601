import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { argumentsIn, countedIn, type Endpoint, modelsOf, piecesOf, requireKey, type Server, unavailable } from './line.js';

interface Delta {
  readonly content?: string | null;
  /** The reasoning of the model; servers use either name. */
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

interface Call {
  id: string;
  name: string;
  json: string;
}

/** A provider with the chat completions API. `listTimeoutMs` limits the listing of models: a running local server answers at once. */
export function openaiProvider({ url, id, title, key, listTimeoutMs }: Server & { readonly listTimeoutMs?: number }): ModelProvider {
  const headers = async (): Promise<Record<string, string>> => (key ? { authorization: `Bearer ${await requireKey(key, title)}` } : {});
  const endpoint: Endpoint = { url: url.replace(/\/$/, ''), headers, name: title };
  return {
    id,
    title,
    wire: 'openai',
    models: () => modelsOf(endpoint, '/models', listTimeoutMs),
    async *stream({ body }, signal) {
      const calls = new Map<number, Call>();
      const asked = { ...body, stream: true, stream_options: { include_usage: true } };
      yield* piecesOf(endpoint, '/chat/completions', asked, signal, function* (event) {
        if (event.error) throw unavailable(endpoint, String((event.error as { message?: unknown }).message ?? 'the reply ended with an error'));
        const [choice] = (event.choices ?? []) as { delta?: Delta; finish_reason?: string | null }[];
        if (choice?.delta) yield* readPieces(choice.delta, calls);
        if (event.usage) yield usageIn(event.usage as Counted);
        if (choice?.finish_reason) yield { kind: 'end', reason: choice.finish_reason };
        return Boolean(choice?.finish_reason);
      });
      for (const call of calls.values()) yield { kind: 'tool_call', toolCallId: call.id, toolName: call.name, arguments: argumentsIn(call.json) };
    },
  };
}

interface Counted {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  /** In US dollars, if the server reports it. */
  readonly cost?: number;
}

const usageIn = ({ prompt_tokens: prompt, completion_tokens: output, prompt_tokens_details: details, cost }: Counted): ReplyPiece => ({
  ...countedIn(prompt, output, details?.cached_tokens),
  ...(typeof cost === 'number' && { cost }),
});

function* readPieces(delta: Delta, calls: Map<number, Call>): Generator<ReplyPiece> {
  const thinking = delta.reasoning_content ?? delta.reasoning;
  if (thinking) yield { kind: 'thinking', delta: thinking };
  if (delta.content) yield { kind: 'text', delta: delta.content };
  for (const part of delta.tool_calls ?? []) {
    const call = calls.get(part.index ?? 0) ?? { id: '', name: '', json: '' };
    calls.set(part.index ?? 0, call);
    call.id ||= part.id ?? '';
    call.name ||= part.function?.name ?? '';
    call.json += part.function?.arguments ?? '';
  }
}
