import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { ClientKind, EngineOptions } from '../../core/project/index.js';
import { built } from './places.js';
import type { FromEngine, ToEngine } from './protocol.js';

/** An engine on its own thread. */
export type WorkerEngine = Awaited<ReturnType<typeof startWorker>>;

/** Starts an engine on a worker thread. Rejects if the engine cannot start. */
export async function startWorker(options: EngineOptions) {
  // An engine without an import worker imports on its own thread, so the thread gets the memory limits of a worker (core/project/worker.ts).
  const limits = options.worker === undefined ? { resourceLimits: { maxYoungGenerationSizeMb: 16 } } : {};
  const worker = new Worker(built('engine', 'engine.js'), { name: 'stemma-engine', ...limits });
  const say = (message: ToEngine, port?: MessagePort): void => worker.postMessage({ message, port }, port ? [port] : []);
  let failure: Error | undefined;
  worker.on('error', (error: Error) => {
    failure = error;
  });
  const ended = new Promise<Error | undefined>((resolve) => worker.once('exit', () => resolve(failure)));

  await new Promise<void>((resolve, reject) => {
    worker.once('message', (message: FromEngine) => {
      if (message.kind === 'ready') resolve();
      else reject(new Error(message.kind === 'failed' ? message.message : `the engine answered ${message.kind} before it was ready`));
    });
    void ended.then((error) => reject(error ?? new Error('the engine ended before it was ready')));
    say({ kind: 'start', options });
  });

  let connections = 0;
  return {
    /** Resolves when the thread has ended, with the error if it ended unexpectedly. */
    ended,
    /** Opens a connection that lives as long as its port. */
    connect(caller: ClientKind): MessagePort {
      const { port1, port2 } = new MessageChannel();
      say({ kind: 'connect', connection: ++connections, caller }, port2);
      return port1;
    },
    async close(): Promise<void> {
      say({ kind: 'stop' });
      await ended;
    },
  };
}
