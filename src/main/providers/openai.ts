import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { argumentsIn, type Endpoint, events, modelsOf, requireKey, type Server, unavailable } from './line.js';

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
      let isComplete = false;
      const asked = { ...body, stream: true, stream_options: { include_usage: true } };
      for await (const incoming of events(endpoint, '/chat/completions', asked, signal)) {
        if (incoming.kind === 'waiting') {
          yield incoming;
          continue;
        }
        const { value: event } = incoming;
        if (event.error) throw unavailable(endpoint, String((event.error as { message?: unknown }).message ?? 'the reply ended with an error'));
        const [choice] = (event.choices ?? []) as { delta?: Delta; finish_reason?: string | null }[];
        if (choice?.delta) yield* readPieces(choice.delta, calls);
        if (event.usage) yield countedIn(event.usage as Counted);
        if (!choice?.finish_reason) continue;
        isComplete = true;
        yield { kind: 'end', reason: choice.finish_reason };
      }
      if (!isComplete && !signal?.aborted) throw unavailable(endpoint, 'the reply is incomplete');
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

/** The prompt tokens include the tokens read from the cache. */
function countedIn({ prompt_tokens: prompt, completion_tokens: output, prompt_tokens_details: details, cost }: Counted): ReplyPiece {
  const cacheRead = details?.cached_tokens;
  return {
    kind: 'usage',
    tokens: {
      ...(prompt !== undefined && { input: prompt - (cacheRead ?? 0) }),
      ...(output !== undefined && { output }),
      ...(cacheRead !== undefined && { cacheRead }),
    },
    ...(typeof cost === 'number' && { cost }),
  };
}

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
