import type { Json } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { ComposedMessage, RequestTokens } from '../contract/index.js';
import type { CallReply } from '../handover/index.js';
import { unknownUsage } from '../requests/index.js';
import { composedBody, type ModelProvider, mergedCost, mergedTokens, type ReplyPiece } from '../turns/index.js';
import type { Happening } from './jobs.js';

/** The services that a turn needs for its model calls. */
export interface CallParts {
  readonly chain: WriteChain;
  /** Counts the calls toward the limits of the job. */
  readonly provider: ModelProvider;
  readonly signal: AbortSignal;
  tell(happening: Happening): void;
}

export interface PreparedCall {
  readonly messages: readonly ComposedMessage[];
  readonly tools: readonly Record<string, unknown>[] | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly model: string;
}

/** A tool call of a reply. Arguments that are not an object are invalid for every tool. */
export interface CalledTool {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  /** The signature that Gemini gave the call. It is sent back with the call. */
  readonly thoughtSignature?: string | undefined;
}

/** A thought, with its provider's signature. Only that provider gets it back. */
export interface Thought {
  readonly text: string;
  readonly [signature: string]: string;
}

export interface ModelReply extends CallReply {
  readonly text: string;
  readonly thinking: string;
  readonly thoughts: readonly Thought[];
  readonly calls: readonly CalledTool[];
}

/** Makes one model call. @throws LimitReached at a limit; UNAVAILABLE without an answer; the signal's reason if it aborts. */
export async function callModel(parts: CallParts, call: PreparedCall): Promise<ModelReply> {
  const { chain, provider, signal, tell } = parts;
  const { messages, tools, parameters, model } = call;
  const body = composedBody(messages, provider.wire, { model, tools: (tools ?? []) as readonly Json[], parameters });
  const at = chain.clock();
  const heard: Heard = { text: '', thinking: '', thought: '', thoughts: [], calls: [], tokens: unknownUsage, cost: null, stop: null };
  for await (const piece of provider.stream({ model, body, headers: {} }, signal)) hear(heard, piece, tell);
  signal.throwIfAborted();
  const { tokens, cost, stop, text, thinking, thoughts, calls } = heard;
  tell({ kind: 'usage', text: '', tokens });
  return { text, thinking, thoughts, calls, tokens, cost, stop, ms: Math.max(0, chain.clock() - at) };
}

interface Heard {
  text: string;
  thinking: string;
  thought: string;
  thoughts: Thought[];
  calls: CalledTool[];
  tokens: RequestTokens;
  cost: number | null;
  stop: string | null;
}

function hear(heard: Heard, piece: ReplyPiece, tell: CallParts['tell']): void {
  const { kind } = piece;
  if (kind === 'text' || kind === 'thinking') {
    heard[kind] += piece.delta;
    if (kind === 'thinking') heard.thought += piece.delta;
    tell({ kind, text: piece.delta });
  } else if (kind === 'tool_call') {
    const { toolCallId: id, toolName } = piece;
    const given = piece.arguments ?? {};
    heard.calls.push({ id, name: toolName, arguments: given });
    tell({ kind: 'call', text: JSON.stringify(given), toolName });
  } else if (kind === 'usage') {
    heard.tokens = mergedTokens(heard.tokens, piece.tokens);
    heard.cost = mergedCost(heard.cost, piece.cost);
  } else if (kind === 'waiting') tell({ kind, text: piece.reason });
  else if (kind === 'end') heard.stop = piece.reason;
  else if (kind === 'signature') sign(heard, piece);
}

/** A signature belongs to the thinking before it. Gemini signs calls instead. */
function sign(heard: Heard, { name = 'signature', signature }: Extract<ReplyPiece, { kind: 'signature' }>): void {
  const last = heard.calls.at(-1);
  if (name !== 'thoughtSignature') {
    heard.thoughts.push({ text: heard.thought, [name]: signature });
    heard.thought = '';
  } else if (last) heard.calls[heard.calls.length - 1] = { ...last, thoughtSignature: signature };
}
