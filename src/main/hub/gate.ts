import { StemmaError } from '../../core/base/index.js';

interface Caller {
  running: number;
  readonly queue: (() => void)[];
  left: number;
  at: number;
}

/** The most callers to remember. Those that are idle and have their whole budget are forgotten first. */
const maxCallers = 10_000;

/**
 * Opens a gate. It limits what one caller may cost: the time that its calls take, because the number of calls says little about it.
 * @param limits the calls of one caller that run at the same time, and those that wait for them; the milliseconds of work that a caller may use at
 * once, and how many it gets back in each millisecond.
 * @param clock returns milliseconds.
 */
export function openGate(
  limits: { readonly running: number; readonly waiting: number; readonly budgetMs: number; readonly refill: number },
  clock: () => number = () => performance.now(),
) {
  const callers = new Map<string, Caller>();
  const callerAt = (name: string): Caller => {
    const now = clock();
    const caller = callers.get(name) ?? { running: 0, queue: [], left: limits.budgetMs, at: now };
    caller.left = Math.min(limits.budgetMs, caller.left + (now - caller.at) * limits.refill);
    caller.at = now;
    // The newest is last, so that the oldest is forgotten first.
    callers.delete(name);
    callers.set(name, caller);
    if (callers.size > maxCallers) forget(now);
    return caller;
  };
  const forget = (now: number): void => {
    const isIdle = ({ running, left, at }: Caller): boolean => running === 0 && left + (now - at) * limits.refill >= limits.budgetMs;
    for (const [name, caller] of callers) if (isIdle(caller)) callers.delete(name);
    for (const [name, { running }] of callers) {
      if (callers.size <= maxCallers) break;
      if (running === 0) callers.delete(name);
    }
  };
  const requireLeft = ({ left }: Caller): void => {
    if (left < 1) throw tooMuch(Math.ceil((1 - left) / limits.refill));
  };
  return {
    /** Waits for a turn and returns the function that ends it. @throws UNAVAILABLE with `retryAfterMs` if the caller uses too much. */
    enter: async (name: string): Promise<() => void> => {
      const caller = callerAt(name);
      requireLeft(caller);
      if (caller.running >= limits.running) {
        if (caller.queue.length >= limits.waiting) throw tooMuch(1_000);
        await new Promise<void>((resolve) => caller.queue.push(resolve));
      } else caller.running += 1;
      const started = clock();
      let hasEnded = false;
      return () => {
        if (hasEnded) return;
        hasEnded = true;
        caller.left -= clock() - started;
        const next = caller.queue.shift();
        // The turn passes on to the next call.
        if (next) next();
        else caller.running -= 1;
      };
    },
    /** Charges work that took no time here, such as a refused sign-in. @throws as `enter`. */
    charge: (name: string, ms: number): void => {
      const caller = callerAt(name);
      requireLeft(caller);
      caller.left -= ms;
    },
    /** @throws as `enter` if the caller has used its budget up. */
    require: (name: string): void => requireLeft(callerAt(name)),
  };
}

const tooMuch = (retryAfterMs: number): StemmaError =>
  new StemmaError('UNAVAILABLE', `These calls cost the hub too much. Try again in ${Math.ceil(retryAfterMs / 1_000)} seconds.`, { retryAfterMs });
