import type { MessagePort } from 'node:worker_threads';
import { type ClientKind, type EngineOptions, startWorker, type WorkerEngine } from '../launch/index.js';
import { line, say } from '../terminal/index.js';

/** The host's engine. If it ends unexpectedly, the next connection starts it again. */
export type Engines = ReturnType<typeof openEngines>;

/** No engine runs until the first start or connection. */
export function openEngines(options: EngineOptions) {
  let running: Promise<WorkerEngine> | undefined;
  const engine = (): Promise<WorkerEngine> => {
    if (running) return running;
    const starting = startWorker(options);
    running = starting;
    const forget = (error: unknown): void => {
      if (error) say(line`Stemma: the engine ended: ${error instanceof Error ? error.message : String(error)}`);
      if (running === starting) running = undefined;
    };
    starting.then((started) => started.ended.then(forget), forget);
    return starting;
  };
  return {
    /** @throws Error when the engine cannot start. */
    start: async (): Promise<void> => void (await engine()),
    connect: async (caller: ClientKind): Promise<MessagePort> => (await engine()).connect(caller),
    close: async (): Promise<void> => await (await running)?.close(),
  };
}
