import { badRequest, inWords } from '../base/index.js';
import type { Entry, RequestTokens, Wire } from '../contract/index.js';

/** A call to a model. The body is in the provider's wire format. */
export interface ModelRequest {
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A piece of a streamed reply. A tool call is one piece. */
export type ReplyPiece =
  | { readonly kind: 'text' | 'thinking'; readonly delta: string }
  /** The provider's signature of the last entry, which is sent back with the entry. `name` is the field on the wire. */
  | { readonly kind: 'signature'; readonly signature: string; readonly name?: 'signature' | 'data' | 'encrypted_content' | 'thoughtSignature' }
  | { readonly kind: 'tool_call'; readonly toolCallId: string; readonly toolName: string; readonly arguments: unknown }
  /** The provider asked to retry later. `ms` is the delay in milliseconds. */
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string }
  /** The provider's token counts so far, and the cost in US dollars if it reports one. */
  | { readonly kind: 'usage'; readonly tokens: Partial<RequestTokens>; readonly cost?: number }
  | { readonly kind: 'end'; readonly reason: string };

/** Answers model requests. Implementations are outside of core, because they need keys and a network. */
export interface ModelProvider {
  readonly id: string;
  readonly title: string;
  readonly wire: Wire;
  /** Model names, or the reason why they are not available. */
  models(): Promise<{ readonly models: readonly string[]; readonly problem?: string }>;
  /** Streams one reply. Ends early, without an error, when the signal aborts. */
  stream(request: ModelRequest, signal: AbortSignal | undefined): AsyncIterable<ReplyPiece>;
}

/** The built-in default provider. It replays the recorded reply and needs no key or network. */
export const recordedProvider = { id: 'recorded', title: 'Recorded reply' } as const;

/** Finds a provider by id; undefined means the recording. @throws BAD_REQUEST listing the known ids. */
export function providerOf(providers: readonly ModelProvider[], id: string): ModelProvider | undefined {
  const provider = providers.find((each) => each.id === id);
  if (!provider && id !== recordedProvider.id)
    throw badRequest('provider', `Unknown provider ${inWords(id)}. Known: ${[recordedProvider.id, ...providers.map((each) => each.id)].join(', ')}.`);
  return provider;
}

/** Characters per piece of a replayed reply, about one line. */
const pieceLength = 120;

/** Splits a recorded assistant entry into stream pieces. */
export function* recordedPieces(entry: Entry): Generator<ReplyPiece> {
  if (entry.role !== 'assistant') return;
  if (entry.kind === 'tool_call')
    yield { kind: 'tool_call', toolCallId: entry.toolCallId ?? entry.key, toolName: entry.toolName ?? '', arguments: entry.arguments ?? {} };
  if (entry.kind === 'text' || entry.kind === 'thinking')
    for (const delta of (entry.text ?? '').match(new RegExp(`[^]{1,${pieceLength}}`, 'gu')) ?? []) yield { kind: entry.kind, delta };
}

/** Merges partial token counts, because a provider reports each number as soon as it knows it. */
export const mergedTokens = (known: RequestTokens, said: Partial<RequestTokens>): RequestTokens => ({
  input: countIn(said.input) ?? known.input,
  output: countIn(said.output) ?? known.output,
  cacheRead: countIn(said.cacheRead) ?? known.cacheRead,
  cacheWrite: countIn(said.cacheWrite) ?? known.cacheWrite,
});

/** A reported count; undefined if it is none. Whoever reports less than nothing must not give a job more than its limits. */
const countIn = (said: number | null | undefined): number | undefined =>
  typeof said === 'number' && Number.isSafeInteger(said) && said >= 0 ? said : undefined;

/** The cost of a call after a report of it, which counts only if it is an amount. */
export const mergedCost = (known: number | null, said: number | null | undefined): number | null =>
  typeof said === 'number' && Number.isFinite(said) && said >= 0 ? said : known;
