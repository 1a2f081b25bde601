import { StemmaError } from '../../core/base/index.js';
import type { BackingStore } from '../../core/replicas/index.js';

export interface BucketLimits {
  /** Milliseconds until a call must have ended, the wait for its turn included. */
  readonly answerMs: number;
  /** Calls at the same time. A call that hangs keeps its turn until it ends. */
  readonly running: number;
}

const usual: BucketLimits = { answerMs: 25_000, running: 32 };

/** The store with limits: a bucket that hangs ends calls with UNAVAILABLE, and holds at most `running` of them in memory. */
export function patientStore(store: BackingStore, given: Partial<BucketLimits> = {}): BackingStore {
  const limits = { ...usual, ...given };
  const waiting: (() => void)[] = [];
  let running = 0;
  const turn = async (isLate: () => boolean): Promise<void> => {
    if (running >= limits.running) await new Promise<void>((resolve) => waiting.push(resolve));
    if (isLate()) {
      leave();
      throw late(limits.answerMs);
    }
    running += 1;
  };
  // The next call takes the turn; `running` counts it again there.
  const leave = (): void => void waiting.shift()?.();
  const within = async <T>(work: () => Promise<T>): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    let isLate = false;
    const ended = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(late(limits.answerMs));
      }, limits.answerMs);
    });
    const answer = turn(() => isLate).then(() =>
      work().finally(() => {
        running -= 1;
        leave();
      }),
    );
    // Nobody waits for an answer that comes too late.
    answer.catch(() => {});
    try {
      return await Promise.race([answer, ended]);
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

const late = (ms: number): StemmaError =>
  new StemmaError('UNAVAILABLE', `The hub's bucket does not answer within ${ms / 1_000} seconds. Try again: what has arrived stays.`, {
    reason: 'bucket timeout',
  });
