import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { argumentsIn, type Endpoint, events, type Key, keyOf, modelsOf, unavailable } from './line.js';

interface Delta {
  readonly content?: string | null;
  /** What servers that show a model's reasoning call it. */
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

interface OpenaiOptions {
  readonly url: string;
  readonly id: string;
  readonly title: string;
  readonly key?: Key | undefined;
  /** How long the list of models may take: a local server answers at once or is not there. */
  readonly listTimeoutMs?: number;
}

/** Any server that speaks chat completions. */
export function openaiProvider({ url, id, title, key, listTimeoutMs }: OpenaiOptions): ModelProvider {
  const headers = async (): Promise<Record<string, string>> => (key ? { authorization: `Bearer ${await keyOf(key, title)}` } : {});
  const endpoint: Endpoint = { url: url.replace(/\/$/, ''), headers, name: title };
  return {
    id,
    title,
    wire: 'openai',
    models: () => modelsOf(endpoint, '/models', listTimeoutMs),
    async *stream({ body }, signal) {
      const calls = new Map<number, Call>();
      let isWhole = false;
      const asked = { ...body, stream: true, stream_options: { include_usage: true } };
      for await (const incoming of events(endpoint, '/chat/completions', asked, signal)) {
        if (incoming.kind === 'waiting') {
          yield incoming;
          continue;
        }
        const { value: event } = incoming;
        if (event.error) throw unavailable(endpoint, String((event.error as { message?: unknown }).message ?? 'it broke off with an error'));
        const [choice] = (event.choices ?? []) as { delta?: Delta; finish_reason?: string | null }[];
        if (choice?.delta) yield* piecesOf(choice.delta, calls);
        if (event.usage) yield countedIn(event.usage as Counted);
        if (!choice?.finish_reason) continue;
        isWhole = true;
        yield { kind: 'end', reason: choice.finish_reason };
      }
      if (!isWhole && !signal?.aborted) throw unavailable(endpoint, 'its reply ended before it was whole');
      for (const call of calls.values()) yield { kind: 'tool_call', toolCallId: call.id, toolName: call.name, arguments: argumentsIn(call.json) };
    },
  };
}

interface Counted {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  /** In US dollars, where the server says it. */
  readonly cost?: number;
}

/** What is read from the cache is counted among the prompt's tokens here. */
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

function* piecesOf(delta: Delta, calls: Map<number, Call>): Generator<ReplyPiece> {
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
