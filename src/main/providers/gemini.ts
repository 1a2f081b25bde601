import type { ModelProvider, ReplyPiece } from '../../core/project/index.js';
import { countedIn, type Endpoint, modelsOf, piecesOf, requireKey, type Server, unavailable } from './line.js';

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: unknown };
}

interface Piece {
  readonly responseId?: string;
  readonly error?: { readonly message?: string };
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly Part[] }; readonly finishReason?: string }[];
  readonly usageMetadata?: Counted;
}

interface Counted {
  readonly promptTokenCount?: number;
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
  readonly cachedContentTokenCount?: number;
}

/** A provider that sends the given body to Gemini's API. The model is part of the address. */
export function geminiProvider({ url, key, id = 'gemini', title = 'Gemini' }: Pick<Server, 'url'> & Partial<Server>): ModelProvider {
  const headers = async () => ({ 'x-goog-api-key': await requireKey(key, title) });
  const address = url.replace(/\/$/, '');
  const endpoint: Endpoint = { url: /\/v\d\w*$/.test(address) ? address : `${address}/v1beta`, headers, name: title };
  return {
    id,
    title,
    wire: 'gemini',
    models: () => modelsOf(endpoint, '/models?pageSize=1000'),
    async *stream({ model, body }, signal) {
      let calls = 0;
      let counted: Counted | undefined;
      let end: string | undefined;
      yield* piecesOf(endpoint, `/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`, body, signal, function* (event) {
        const { responseId, error, promptFeedback, candidates, usageMetadata } = event as Piece;
        if (error) throw unavailable(endpoint, error.message ?? 'the reply ended with an error');
        if (promptFeedback?.blockReason) throw unavailable(endpoint, `it refuses the prompt (${promptFeedback.blockReason})`);
        const [candidate] = candidates ?? [];
        for (const part of candidate?.content?.parts ?? []) {
          // Some models give their calls no id, but each result must name its call.
          yield* readPieces(part, () => `call-${responseId ?? 'of'}-${++calls}`);
        }
        counted = usageMetadata ?? counted;
        end = candidate?.finishReason ?? end;
        return end !== undefined;
      });
      if (counted) yield usageIn(counted);
      if (end !== undefined) yield { kind: 'end', reason: end };
    },
  };
}

function* readPieces({ text, thought, thoughtSignature, functionCall }: Part, newId: () => string): Generator<ReplyPiece> {
  if (text) yield { kind: thought ? 'thinking' : 'text', delta: text };
  if (functionCall)
    yield { kind: 'tool_call', toolCallId: functionCall.id ?? newId(), toolName: functionCall.name ?? '', arguments: functionCall.args ?? {} };
  if (thoughtSignature && !thought) yield { kind: 'signature', name: 'thoughtSignature', signature: thoughtSignature };
}

/** The tokens of thoughts are counted separately from the answer. */
const usageIn = ({
  promptTokenCount: prompt,
  candidatesTokenCount: said,
  thoughtsTokenCount: thought,
  cachedContentTokenCount: cached,
}: Counted): ReplyPiece => countedIn(prompt, said === undefined ? undefined : said + (thought ?? 0), cached);
