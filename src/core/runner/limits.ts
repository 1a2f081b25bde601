import type { ReadChain } from '../chain/index.js';
import { defaultLimits, type RequestTokens, type RunLimits, type Used } from '../contract/index.js';
import { countTokens } from '../formats/index.js';
import { unknownUsage } from '../requests/index.js';
import { type ModelProvider, mergedCost, mergedTokens, type ReplyPiece } from '../turns/index.js';
import { costOf } from '../usage/index.js';

const maxReplyLength = 8_000_000;

/** The estimated characters per token, for a reply that the provider has not counted yet. */
const charactersPerToken = 4;

/** A limit was reached. The job ends with the status `limit`. */
export class LimitReached extends Error {}

/** Counts the usage of a job. Every method throws `LimitReached` as soon as a limit is reached. */
export interface Meter {
  readonly used: Used;
  /** Call it before a model call that runs alone. */
  beginCall(): void;
  /** Begins a call beside others, once the limits have room for all of them, each as large as the largest call so far. */
  enter(signal: AbortSignal | undefined): Promise<RunningCall>;
  /**
   * Call it for each piece of a reply. Until the provider has counted the reply, its tokens are estimated.
   * @param characters the number of characters of the reply so far
   * @param model the model that replies, for its price
   * @param call the call, if others of the job may run beside it
   */
  check(characters: number, model?: string | null, call?: RunningCall): void;
  /**
   * @param cost the cost that the provider reported; without it, the list price counts
   * @param estimated the tokens of the call, for the limit only, in case the provider did not count them
   */
  endCall(tokens: RequestTokens, model: string | null, cost: number | null, estimated: number): void;
}

/** A model call that runs, with the tokens and the cost of its reply so far. */
export interface RunningCall {
  output: number;
  cost: number;
  /** Call it when the call has ended, however it ended. */
  leave(): void;
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
  const open = new Set<RunningCall>();
  const largest = { tokens: 0, cost: 0 };
  let waiting: (() => void)[] = [];
  const hasRoom = (): boolean => {
    const calls = open.size + 1;
    const fits = (used: number, one: number, limit: number | undefined): boolean => limit === undefined || (one > 0 && used + one * calls <= limit);
    return fits(spent, largest.tokens, limits.tokens) && fits(used.cost ?? 0, largest.cost, limits.cost);
  };
  const alone: RunningCall = { output: 0, cost: 0, leave: () => {} };
  const check = (characters: number, model: string | null = null, call = alone): void => {
    call.output = Math.floor(characters / charactersPerToken);
    call.cost = limits.cost === undefined || call.output === 0 ? 0 : (priceOf({ ...unknownUsage, input: 0, output: call.output }, model) ?? 0);
    const sum = (of: 'output' | 'cost'): number => [...open, ...(open.has(call) ? [] : [call])].reduce((all, each) => all + each[of], 0);
    if (limits.tokens !== undefined && call.output > 0 && spent + sum('output') > limits.tokens) reached(inWords.tokens);
    if (limits.cost !== undefined && call.output > 0 && (used.cost ?? 0) + sum('cost') > limits.cost) reached(inWords.cost);
    if (now() >= deadline) reached(minutes === 1 ? '1 minute' : `${minutes} minutes`);
    if (characters > maxReplyLength) reached(`${maxReplyLength.toLocaleString('en-US')} characters in one reply`);
  };
  const beginCall = (): void => {
    check(0);
    if (used.calls >= calls) reached(calls === 1 ? '1 model call' : `${calls.toLocaleString('en-US')} model calls`);
    if (limits.tokens !== undefined && spent >= limits.tokens) reached(inWords.tokens);
    if (limits.cost !== undefined && (used.cost ?? 0) >= limits.cost) reached(inWords.cost);
    used.calls++;
  };
  return {
    used,
    check,
    beginCall,
    async enter(signal) {
      while (open.size > 0 && !hasRoom()) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        signal?.throwIfAborted();
      }
      beginCall();
      const call: RunningCall = {
        output: 0,
        cost: 0,
        leave: () => {
          open.delete(call);
          const woken = waiting;
          waiting = [];
          for (const wake of woken) wake();
        },
      };
      open.add(call);
      return call;
    },
    endCall(tokens, model, reported, estimated) {
      const { input, output, cacheRead, cacheWrite } = tokens;
      const cost = reported ?? priceOf(tokens, model);
      const counted = input === null || output === null ? null : input + output + (cacheRead ?? 0) + (cacheWrite ?? 0);
      spent += counted ?? estimated;
      largest.tokens = Math.max(largest.tokens, counted ?? estimated);
      largest.cost = Math.max(largest.cost, cost ?? 0);
      used.tokens = used.tokens === null || counted === null ? null : used.tokens + counted;
      if (cost !== null) used.cost = (used.cost ?? 0) + cost;
    },
  };
}

/** A provider whose calls count toward a job's limits. @param takeTurn waits before a reply ends, because its commit follows */
export const meteredProvider = (provider: ModelProvider, meter: Meter, takeTurn: () => Promise<void>): ModelProvider => ({
  ...provider,
  models: () => provider.models(),
  async *stream(request, signal) {
    const call = await meter.enter(signal);
    let tokens = unknownUsage;
    let cost: number | null = null;
    let size = 0;
    try {
      for await (const piece of provider.stream(request, signal)) {
        size += measurePiece(piece);
        meter.check(size, request.model, call);
        if (piece.kind === 'usage') {
          tokens = mergedTokens(tokens, piece.tokens);
          cost = mergedCost(cost, piece.cost);
        }
        yield piece;
      }
      await takeTurn();
      if (!signal?.aborted)
        meter.endCall(tokens, request.model, cost, countTokens(JSON.stringify(request.body)) + Math.ceil(size / charactersPerToken));
    } finally {
      call.leave();
    }
  },
});

function measurePiece(piece: ReplyPiece): number {
  if (piece.kind === 'text' || piece.kind === 'thinking') return piece.delta.length;
  return piece.kind === 'tool_call' ? JSON.stringify(piece.arguments ?? {}).length : 0;
}
