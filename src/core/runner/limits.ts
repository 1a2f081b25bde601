import type { ReadChain } from '../chain/index.js';
import { defaultLimits, type RequestTokens, type RunLimits, type Used } from '../contract/index.js';
import { countTokens } from '../formats/index.js';
import { unknownUsage } from '../requests/index.js';
import { type ModelProvider, mergedTokens, type ReplyPiece } from '../turns/index.js';
import { costOf } from '../usage/index.js';

/** The most characters of one reply. */
const maxReplyLength = 8_000_000;

/** The estimated characters per token, for a reply that the provider has not counted yet. */
const charactersPerToken = 4;

/** A limit was reached. The job ends with the status `limit`. */
export class LimitReached extends Error {}

/** Counts the usage of a job. Every method throws `LimitReached` as soon as a limit is reached. */
export interface Meter {
  readonly used: Used;
  /** Call it before a model call. */
  beginCall(): void;
  /**
   * Call it for each piece of a reply. Until the provider has counted the reply, its tokens are estimated.
   * @param characters the number of characters of the reply so far
   * @param model the model that replies, for its price
   */
  check(characters: number, model?: string | null): void;
  /**
   * @param cost the cost that the provider reported; without it, the list price counts
   * @param estimated the tokens of the call, for the limit only, in case the provider did not count them
   */
  endCall(tokens: RequestTokens, model: string | null, cost: number | null, estimated: number): void;
}

/** Opens the meter of a job. Counts that a provider did not report stay unknown. */
export function openMeter(chain: ReadChain, limits: RunLimits): Meter {
  const now = chain.clock;
  const calls = limits.calls ?? defaultLimits.calls;
  const minutes = limits.minutes ?? defaultLimits.minutes;
  const deadline = now() + minutes * 60_000;
  const used: { calls: number; tokens: number | null; cost: number | null } = { calls: 0, tokens: 0, cost: null };
  let spent = 0;
  const reached = (what: string): never => {
    throw new LimitReached(`The job reached its limit of ${what}.`);
  };
  const inWords = { tokens: `${limits.tokens?.toLocaleString('en-US')} tokens`, cost: `$${limits.cost}` };
  const priceOf = (tokens: RequestTokens, model: string | null): number | null =>
    costOf(chain, { ...tokens, model, at: now(), cacheWrite1h: null, windowTokens: null, terms: null });
  const check = (characters: number, model: string | null = null): void => {
    const output = Math.floor(characters / charactersPerToken);
    if (limits.tokens !== undefined && output > 0 && spent + output > limits.tokens) reached(inWords.tokens);
    if (limits.cost !== undefined && output > 0 && (used.cost ?? 0) + (priceOf({ ...unknownUsage, input: 0, output }, model) ?? 0) > limits.cost)
      reached(inWords.cost);
    if (now() >= deadline) reached(minutes === 1 ? '1 minute' : `${minutes} minutes`);
    if (characters > maxReplyLength) reached(`${maxReplyLength.toLocaleString('en-US')} characters in one reply`);
  };
  return {
    used,
    check,
    beginCall() {
      check(0);
      if (used.calls >= calls) reached(calls === 1 ? '1 model call' : `${calls.toLocaleString('en-US')} model calls`);
      if (limits.tokens !== undefined && spent >= limits.tokens) reached(inWords.tokens);
      if (limits.cost !== undefined && (used.cost ?? 0) >= limits.cost) reached(inWords.cost);
      used.calls++;
    },
    endCall(tokens, model, reported, estimated) {
      const { input, output, cacheRead, cacheWrite } = tokens;
      const cost = reported ?? priceOf(tokens, model);
      const counted = input === null || output === null ? null : input + output + (cacheRead ?? 0) + (cacheWrite ?? 0);
      spent += counted ?? estimated;
      used.tokens = used.tokens === null || counted === null ? null : used.tokens + counted;
      if (cost !== null) used.cost = (used.cost ?? 0) + cost;
    },
  };
}

/**
 * A provider whose calls count toward the limits of a job. A stream ends with `LimitReached` at a limit.
 * @param takeTurn waits before a reply ends, because its commit follows
 */
export const meteredProvider = (provider: ModelProvider, meter: Meter, takeTurn: () => Promise<void>): ModelProvider => ({
  ...provider,
  models: () => provider.models(),
  async *stream(request, signal) {
    meter.beginCall();
    let tokens = unknownUsage;
    let cost: number | null = null;
    let size = 0;
    for await (const piece of provider.stream(request, signal)) {
      size += sizeOf(piece);
      meter.check(size, request.model);
      if (piece.kind === 'usage') {
        tokens = mergedTokens(tokens, piece.tokens);
        cost = piece.cost ?? cost;
      }
      yield piece;
    }
    await takeTurn();
    if (!signal?.aborted)
      meter.endCall(tokens, request.model, cost, countTokens(JSON.stringify(request.body)) + Math.ceil(size / charactersPerToken));
  },
});

/** The characters of a piece that count toward the size of a reply. */
function sizeOf(piece: ReplyPiece): number {
  if (piece.kind === 'text' || piece.kind === 'thinking') return piece.delta.length;
  return piece.kind === 'tool_call' ? JSON.stringify(piece.arguments ?? {}).length : 0;
}
