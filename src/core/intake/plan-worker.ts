import { MessageChannel, type MessagePort, parentPort, type Transferable } from 'node:worker_threads';
import { type PlannedFile, type PlanRequest, planFile } from './planning.js';

/** The thread that plans files (planner.ts): one request after the other, each answered, whatever the file holds. */
parentPort?.once('message', ({ port, signal }: { port: MessagePort; signal: Int32Array<SharedArrayBuffer> }) => {
  const say = (message: unknown, transfer: Transferable[] = []): void => {
    port.postMessage(message, transfer);
    // Who waits for the answer does so without turning its event loop.
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
  port.on('message', (request: PlanRequest) => {
    // Its commits wait in a channel of their own until they are stored, one after the other.
    const { port1, port2: commits } = new MessageChannel();
    const file = attempt(request, port1);
    if (file) return say({ id: request.id, file, commits }, [commits]);
    port1.close();
    say({ id: request.id });
  });
  say('ready');
});

/** What breaks here breaks for whoever asked, too, and is told there. */
function attempt(request: PlanRequest, port: MessagePort): PlannedFile | undefined {
  try {
    return planFile(request, (commits) => port.postMessage(commits));
  } catch {
    return undefined;
  }
}
