import { create } from 'zustand';

/** Reads a stream of the engine to its end. An abort also stops the engine. Returns the final value, or undefined after an abort. */
export async function readStream<Part, Result>(
  open: (signal: AbortSignal) => Promise<AsyncIterator<Part, Result>>,
  signal: AbortSignal,
  onPart: (part: Part) => void,
): Promise<Result | undefined> {
  try {
    const stream = await open(signal);
    signal.addEventListener('abort', () => void stream.return?.(undefined as never).catch(() => {}), { once: true });
    for (;;) {
      const step = await stream.next();
      if (signal.aborted) return undefined;
      if (step.done) return step.value;
      onPart(step.value);
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** A job that has ended is kept while it is among this many newest ones. */
const maxKept = 20;

export interface BackgroundJob {
  readonly id: number;
  readonly project: string;
  /** `running` until the job ends. */
  readonly state: string;
  readonly error?: unknown;
  readonly stop: () => void;
}

/** The jobs of one kind in this window, the newest first. They continue in the background of every view. */
export function backgroundJobs<Job extends BackgroundJob>() {
  const useJobs = create<{ readonly jobs: readonly Job[] }>(() => ({ jobs: [] }));
  let nextId = 1;
  const begin = (make: (own: Pick<Job, 'id' | 'stop'>) => Job) => {
    const controller = new AbortController();
    const id = nextId++;
    const job = make({ id, stop: () => controller.abort() } as Pick<Job, 'id' | 'stop'>);
    useJobs.setState(({ jobs }) => ({ jobs: [job, ...jobs].filter(({ state }, place) => place < maxKept || state === 'running') }));
    const change = (part: (job: Job) => Partial<Job>) =>
      useJobs.setState(({ jobs }) => ({ jobs: jobs.map((one) => (one.id === id ? { ...one, ...part(one) } : one)) }));
    return { job, signal: controller.signal, change };
  };
  return { useJobs, begin };
}
