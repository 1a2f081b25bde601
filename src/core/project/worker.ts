import { Worker } from 'node:worker_threads';
import { openMailbox, resultOf } from '../base/index.js';
import type { WritableDb } from '../store/index.js';
import type { WorkMessage, WorkOrder } from './work.js';

/** The thread did not start or ended by itself. Every transaction that it committed is stored. */
export class WorkerFailed extends Error {
  constructor(
    /** Whether it may have stored something. */
    readonly hadBegun: boolean,
    options?: ErrorOptions,
  ) {
    super('the worker thread of the project ended before its work did', options);
  }
}

/** Imports discard most objects soon. Without this limit, V8 frees new objects only after 128 MB of them. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 };

/**
 * Runs work of a project in another thread, so that this one never waits for it. Yields its events and returns its result. If the signal
 * aborts or the caller stops early, the thread ends after its current step.
 * @param script the built `main/engine/work.ts`.
 * @param db the connection of this thread to the project. While the other thread works, it does not copy the log into the database.
 * @throws StemmaError as the work does; WorkerFailed; the reason of the aborted signal.
 */
export async function* runInWorker<Event, Result>(
  script: string,
  order: WorkOrder,
  signal?: AbortSignal,
  db?: Pick<WritableDb, 'leaveLog'>,
): AsyncGenerator<Event, Result> {
  signal?.throwIfAborted();
  const worker = new Worker(script, { name: 'stemma-work', workerData: order, resourceLimits });
  const takeLog = db?.leaveLog();
  const messages = openMailbox<WorkMessage>();
  let hasBegun = false;
  let failure: unknown;
  worker.on('message', messages.put);
  worker.on('error', (error) => {
    failure = error;
  });
  const ended = new Promise<unknown>((resolve) => worker.once('exit', resolve)).then(messages.close);
  const stop = (): void => worker.postMessage('stop');
  signal?.addEventListener('abort', stop);
  try {
    for await (const message of messages.read()) {
      if (message.kind === 'begun') hasBegun = true;
      else if (message.kind === 'event') yield message.event as Event;
      else {
        const result = resultOf(message.outcome);
        signal?.throwIfAborted();
        return result as Result;
      }
    }
    throw new WorkerFailed(hasBegun, { cause: failure });
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
    await ended;
    takeLog?.();
  }
}
