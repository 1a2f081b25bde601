import { unavailable } from '../../core/base/index.js';
import type { BackingStore } from '../../core/replicas/index.js';

/**
 * The milliseconds until a call must have ended, the wait for its turn included, and the number of calls at the same time. A call that hangs keeps its
 * turn until it ends.
 */
const usual = { answerMs: 25_000, running: 32 };
export type BucketLimits = typeof usual;

/** The store with limits: a bucket that hangs ends calls with UNAVAILABLE, and holds at most `running` of them in memory. */
export function patientStore(store: BackingStore, given: Partial<BucketLimits> = {}): BackingStore {
  const limits = { ...usual, ...given };
  const waiting: (() => void)[] = [];
  let running = 0;
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < limits.running) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The turn passes on to the next call.
      if (next) next();
      else running -= 1;
    }
  };
  const within = async <T>(work: () => Promise<T>): Promise<T> => {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      const seconds = limits.answerMs / 1_000;
      reject(
        unavailable(`The hub's bucket does not answer within ${seconds} seconds. Try again: what has arrived stays.`, { reason: 'bucket timeout' }),
      );
    }, limits.answerMs);
    try {
      // Nobody waits for the work of a call whose turn comes too late.
      return await Promise.race([inTurn(() => (isLate ? ended : work())), ended]);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    put: (hash, bytes) => within(() => store.put(hash, bytes)),
    get: (hash) => within(() => store.get(hash)),
    remove: (hash) => within(() => store.remove(hash)),
    putFile: (name, bytes) => within(() => store.putFile(name, bytes)),
    close: store.close,
  };
}
