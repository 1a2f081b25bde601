import { Worker } from 'node:worker_threads';
import { StemmaError } from '../base/index.js';
import type { LongQuestion, longAnswers } from '../usage/index.js';
import type { Question, WorkMessage, WorkOrder } from './work.js';
import { WorkerFailed } from './worker.js';

/** Answers questions about a context's tokens in a thread of its own, because counting them takes long. */
export interface UsageThread {
  /** @throws StemmaError as the question does; WorkerFailed if the thread does not start or ends. */
  ask<About extends Question['about']>(about: About, question: LongQuestion, settings: string | undefined): Promise<Answered<About>>;
  close(): void;
}

/** The answer to a question of a kind. */
export type Answered<About extends Question['about']> = ReturnType<(typeof longAnswers)[About]>;

/** The thread ends after this time without a question, to free the memory of its tokenizer. */
const idleMs = 60_000;

interface Running {
  readonly worker: Worker;
  readonly open: Map<number, PromiseWithResolvers<unknown>>;
}

/** The thread starts with the first question. @param script the built `main/engine/work.ts`. */
export function openUsageThread(script: string, place: Omit<WorkOrder, 'work'>): UsageThread {
  let running: Running | undefined;
  let idle: NodeJS.Timeout | undefined;
  let count = 0;

  function start(): Running {
    const order: WorkOrder = { ...place, work: { kind: 'usage' } };
    const worker = new Worker(script, { name: 'stemma-usage', workerData: order });
    const open: Running['open'] = new Map();
    const own: Running = { worker, open };
    let failure: unknown;
    const end = (): void => {
      if (running === own) running = undefined;
      for (const { reject } of open.values()) reject(failure instanceof StemmaError ? failure : new WorkerFailed(false, { cause: failure }));
      open.clear();
    };
    worker.on('message', (message: WorkMessage) => {
      if (message.kind === 'refused') failure = new StemmaError(message.code, message.message, message.data);
      if (message.kind !== 'answer') return;
      const asked = open.get(message.number);
      if ('refused' in message.result) {
        const { code, message: why, data } = message.result.refused;
        asked?.reject(new StemmaError(code, why, data));
      } else asked?.resolve(message.result.result);
      open.delete(message.number);
    });
    worker.on('error', (error) => {
      failure = error;
    });
    worker.once('exit', end);
    worker.unref();
    return own;
  }

  function stop(): void {
    clearTimeout(idle);
    running?.worker.postMessage('stop');
    running = undefined;
  }

  return {
    async ask(about, question, settings) {
      running ??= start();
      const { open, worker } = running;
      const number = ++count;
      const answer = Promise.withResolvers<unknown>();
      open.set(number, answer);
      worker.ref();
      worker.postMessage({ number, about, question, settings } satisfies Question);
      clearTimeout(idle);
      try {
        return (await answer.promise) as Answered<typeof about>;
      } finally {
        if (open.size === 0) {
          worker.unref();
          idle = setTimeout(stop, idleMs).unref();
        }
      }
    },
    close: stop,
  };
}
