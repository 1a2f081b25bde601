import type { RequestTokens, RunLimits, Used } from '../contract/index.js';

/** The limits of a job that names none: they end a model that never stops. */
export const usualLimits = { calls: 50, minutes: 30 } as const;
/** The most characters of one reply. */
const mostReply = 8_000_000;

/** A limit was reached. The job ends with the status `limit`. */
export class LimitReached extends Error {}

/** Counts what a job uses. Every method throws `LimitReached` as soon as a limit is reached. */
export interface Meter {
  readonly used: Used;
  /** Call it before a model call. */
  beginCall(): void;
  /** Call it for each piece of a reply. @param characters the number of characters of the reply so far */
  check(characters: number): void;
  /** @param estimated the tokens of the call, for the limit only, in case the provider did not count them */
  endCall(tokens: RequestTokens, cost: number | null, estimated: number): void;
}

/** Opens the meter of a job. Counts that a provider did not report stay unknown. */
export function openMeter(limits: RunLimits, now: () => number): Meter {
  const calls = limits.calls ?? usualLimits.calls;
  const minutes = limits.minutes ?? usualLimits.minutes;
  const deadline = now() + minutes * 60_000;
  const used: { calls: number; tokens: number | null; cost: number | null } = { calls: 0, tokens: 0, cost: null };
  let spent = 0;
  const reached = (what: string): never => {
    throw new LimitReached(`The job reached its limit of ${what}.`);
  };
  const check = (characters: number): void => {
    if (now() >= deadline) reached(minutes === 1 ? '1 minute' : `${minutes} minutes`);
    if (characters > mostReply) reached(`${mostReply.toLocaleString('en-US')} characters in one reply`);
  };
  return {
    used,
    check,
    beginCall() {
      check(0);
      if (used.calls >= calls) reached(calls === 1 ? '1 model call' : `${calls.toLocaleString('en-US')} model calls`);
      if (limits.tokens !== undefined && spent >= limits.tokens) reached(`${limits.tokens.toLocaleString('en-US')} tokens`);
      if (limits.cost !== undefined && (used.cost ?? 0) >= limits.cost) reached(`$${limits.cost}`);
      used.calls++;
    },
    endCall({ input, output, cacheRead, cacheWrite }, cost, estimated) {
      const counted = input === null || output === null ? null : input + output + (cacheRead ?? 0) + (cacheWrite ?? 0);
      spent += counted ?? estimated;
      used.tokens = used.tokens === null || counted === null ? null : used.tokens + counted;
      if (cost !== null) used.cost = (used.cost ?? 0) + cost;
    },
  };
}
