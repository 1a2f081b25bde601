import { type Json, type JsonObject, parseJson, stringAt } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { requestBody } from '../composer/index.js';
import type { MemoryMessage, Message, RequestTokens } from '../contract/index.js';
import type { CallReply } from '../handover/index.js';
import { unknownUsage } from '../requests/index.js';
import { type ModelProvider, mergedTokens, ownMembers, type ReplyPiece } from '../turns/index.js';
import type { Happening } from './jobs.js';

/** The services that a turn needs for its model calls. */
export interface CallParts {
  readonly chain: WriteChain;
  /** Counts the calls toward the limits of the job. */
  readonly provider: ModelProvider;
  readonly signal: AbortSignal;
  /** Reports events as they happen. */
  tell(happening: Happening): void;
}

export interface ModelCall {
  readonly messages: readonly Message[];
  readonly tools: readonly Record<string, unknown>[] | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly model: string;
}

/** A tool call of a reply. Arguments that are not an object are invalid for every tool. */
export interface CalledTool {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export interface ModelReply extends CallReply {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly CalledTool[];
}

/**
 * Makes one model call and collects its reply.
 * @throws LimitReached at a limit; UNAVAILABLE if the provider does not answer; the signal's reason if it aborts.
 */
export async function callModel(parts: CallParts, call: ModelCall): Promise<ModelReply> {
  const { chain, provider, signal, tell } = parts;
  const body = bodyOf(provider, call);
  const at = chain.clock();
  const heard: Heard = { text: '', thinking: '', calls: [], tokens: unknownUsage, cost: null, stop: null };
  for await (const piece of provider.stream({ model: call.model, body, headers: {} }, signal)) hear(heard, piece, tell);
  signal.throwIfAborted();
  const { tokens, cost, stop, text, thinking, calls } = heard;
  tell({ kind: 'usage', text: '', tokens });
  return { text, thinking, calls, tokens, cost, stop, ms: Math.max(0, chain.clock() - at) };
}

interface Heard {
  text: string;
  thinking: string;
  calls: CalledTool[];
  tokens: RequestTokens;
  cost: number | null;
  stop: string | null;
}

function hear(heard: Heard, piece: ReplyPiece, tell: CallParts['tell']): void {
  switch (piece.kind) {
    case 'text':
    case 'thinking':
      heard[piece.kind] += piece.delta;
      tell({ kind: piece.kind, text: piece.delta });
      return;
    case 'tool_call': {
      const said = JSON.stringify(piece.arguments ?? {});
      heard.calls.push({ id: piece.toolCallId, name: piece.toolName, arguments: piece.arguments ?? {} });
      tell({ kind: 'call', text: said, toolName: piece.toolName });
      return;
    }
    case 'waiting':
      tell({ kind: 'waiting', text: piece.reason });
      return;
    case 'usage':
      heard.tokens = mergedTokens(heard.tokens, piece.tokens);
      heard.cost = piece.cost ?? heard.cost;
      return;
    case 'end':
      heard.stop = piece.reason;
      return;
    case 'signature':
      return;
  }
}

/** The body of a call in the format of its provider. */
function bodyOf(provider: ModelProvider, { messages, tools, parameters, model }: ModelCall): JsonObject {
  const body = requestBody(messages.map(toMemory), provider.wire, model) as JsonObject;
  return { ...body, ...ownMembers(provider.wire, (tools ?? []) as readonly Json[], parameters) };
}

const speakers = { system: 'system', user: 'human', assistant: 'ai', tool: 'tool' } as const;

/** A message of a card turn as input for the composer. */
function toMemory({ role, content, tool_calls: calls, tool_call_id: answers }: Message): MemoryMessage {
  return {
    role: speakers[role],
    content,
    ...(calls && {
      tool_calls: calls.map((call) => {
        const asked = (call.function ?? {}) as JsonObject;
        return { id: call.id, name: asked.name, args: parseJson(stringAt(asked, 'arguments') ?? '') ?? {} };
      }),
    }),
    ...(answers !== undefined && { tool_call_id: answers }),
  };
}
