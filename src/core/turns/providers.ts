import { badRequest, inWords } from '../base/index.js';
import type { Entry, RequestTokens, Wire } from '../contract/index.js';

/** A call to a model: the body as it would go over the wire to the provider that it is written for. */
export interface ModelRequest {
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A piece of a reply as it arrives. A tool call comes whole. */
export type ReplyPiece =
  | { readonly kind: 'text' | 'thinking'; readonly delta: string }
  /** What the provider seals of what it said last, and wants back with it: under the name that its wire has for it. */
  | { readonly kind: 'signature'; readonly signature: string; readonly name?: 'signature' | 'encrypted_content' | 'thoughtSignature' }
  | { readonly kind: 'tool_call'; readonly toolCallId: string; readonly toolName: string; readonly arguments: unknown }
  /** The provider said to come back later, and is asked again after so many milliseconds. */
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string }
  /** What the provider counted so far, as far as it says it; in US dollars what it costs. */
  | { readonly kind: 'usage'; readonly tokens: Partial<RequestTokens>; readonly cost?: number }
  /** Why the reply ended, in the provider's word. */
  | { readonly kind: 'end'; readonly reason: string };

/** Who answers a request. Outside of core: keys and networks are the business of the process that has them. */
export interface ModelProvider {
  readonly id: string;
  readonly title: string;
  /** In which form it takes a request. */
  readonly wire: Wire;
  /** Names of models, or why there are none. */
  models(): Promise<{ readonly models: readonly string[]; readonly problem?: string }>;
  /** Streams one reply. Ends early, without an error, when the signal says so. */
  stream(request: ModelRequest, signal: AbortSignal | undefined): AsyncIterable<ReplyPiece>;
}

/** The embedded default, which needs no key and no network: it says again what was said. */
export const recordedProvider = { id: 'recorded', title: 'As it was recorded' } as const;

/** The provider with this id; undefined stands for the recording. @throws BAD_REQUEST naming those that there are. */
export function providerOf(providers: readonly ModelProvider[], id: string): ModelProvider | undefined {
  const provider = providers.find((each) => each.id === id);
  if (!provider && id !== recordedProvider.id)
    throw badRequest(
      'provider',
      `${inWords(id)} is no provider here; there are ${[recordedProvider.id, ...providers.map((each) => each.id)].join(', ')}`,
    );
  return provider;
}

/** How a recorded reply arrives: in pieces of about a line, so that what shows it shows how it grew. */
const pieceLength = 120;

/** A recorded entry of the model as it would have arrived. */
export function* recordedPieces(entry: Entry): Generator<ReplyPiece> {
  if (entry.role !== 'assistant') return;
  if (entry.kind === 'tool_call')
    yield { kind: 'tool_call', toolCallId: entry.toolCallId ?? entry.key, toolName: entry.toolName ?? '', arguments: entry.arguments ?? {} };
  if (entry.kind === 'text' || entry.kind === 'thinking')
    for (const delta of (entry.text ?? '').match(new RegExp(`[^]{1,${pieceLength}}`, 'gu')) ?? []) yield { kind: entry.kind, delta };
}
