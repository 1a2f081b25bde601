import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { argumentsIn } from './anthropic.js';
import { type Endpoint, events, modelsOf, unavailable } from './line.js';

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
  readonly key?: string | undefined;
  /** How long the list of models may take: a local server answers at once or is not there. */
  readonly listTimeoutMs: number;
}

/** Any server that speaks chat completions. */
export function openaiProvider({ url, id, title, key, listTimeoutMs }: OpenaiOptions): ModelProvider {
  const endpoint: Endpoint = { url: url.replace(/\/$/, ''), headers: key ? { authorization: `Bearer ${key}` } : {}, name: title };
  return {
    id,
    title,
    wire: 'openai',
    models: () => modelsOf(endpoint, '/models', listTimeoutMs),
    async *stream({ body }, signal) {
      const calls = new Map<number, Call>();
      let isWhole = false;
      for await (const event of events(endpoint, '/chat/completions', { ...body, stream: true }, signal)) {
        const [choice] = (event.choices ?? []) as { delta?: Delta; finish_reason?: string | null }[];
        if (choice?.delta) yield* piecesOf(choice.delta, calls);
        if (choice?.finish_reason) isWhole = true;
      }
      if (!isWhole && !signal?.aborted) throw unavailable(endpoint, 'its reply ended before it was whole');
      for (const call of calls.values()) yield { kind: 'tool_call', toolCallId: call.id, toolName: call.name, arguments: argumentsIn(call.json) };
    },
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
