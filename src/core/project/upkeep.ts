import { type Chain, keepRestPoints, restIsDue } from '../chain/index.js';

/**
 * Work on the store that nobody waits for: when nothing else is going on, what was committed a while ago is packed closer, and long
 * chains get places from which their readers go on.
 */
export interface Upkeep {
  /** Something was called: work waits until it has been quiet for a while. */
  wake(): void;
  close(): void;
}

export interface UpkeepTimes {
  /** Quiet before work begins, and between two steps of it, in milliseconds. */
  readonly quiet: number;
  readonly between: number;
}

const usual: UpkeepTimes = { quiet: 20_000, between: 50 };
/** Less that is new is left as it is: a block of few small objects is hardly smaller. */
const worthIt = { objects: 256, bytes: 4_000_000 };
/** A turn that is still going on stays loose: its neighbors come soon. */
const settledMs = 60_000;

export function openUpkeep(chain: Chain, times: UpkeepTimes = usual): Upkeep {
  let timer: NodeJS.Timeout | undefined;
  let work: Generator<undefined, unknown> | undefined;
  const plan = (ms: number, what: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(what, ms);
    timer.unref();
  };
  const isWorthIt = (): boolean => {
    const { objects, bytes } = chain.artifacts.loose();
    return objects >= worthIt.objects || bytes >= worthIt.bytes;
  };
  const begin = (): void => {
    if (chain.db.readonly || !(isWorthIt() || restIsDue(chain))) return;
    work = upkeep();
    step();
  };
  const upkeep = function* (): Generator<undefined, void> {
    if (isWorthIt()) yield* chain.artifacts.repack({ olderThanMs: settledMs, shrink: false });
    yield* keepRestPoints(chain);
  };
  const step = (): void => {
    try {
      if (work?.next().done === false) plan(times.between, step);
      else {
        work = undefined;
        // What is left was too young, and is looked at once more when it is not.
        if (isWorthIt()) plan(settledMs, begin);
      }
    } catch {
      // A full disk or another's long transaction: nothing is lost, and the next quiet time tries again.
      work = undefined;
    }
  };
  return {
    wake: () => plan(times.quiet, work ? step : begin),
    close: () => clearTimeout(timer),
  };
}
