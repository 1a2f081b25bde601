import { MessageChannel, type MessagePort, parentPort } from 'node:worker_threads';
import type { PlanAnswer, Said } from './planner.js';
import { type PlanRequest, planFile } from './planning.js';

/** So many messages of commits wait to be stored: then the planning waits, too. */
const mostAhead = 32;

/** The thread that plans files (planner.ts): one request after the other, each answered, whatever the file holds. */
parentPort?.once('message', ({ port, signal }: { port: MessagePort; signal: Int32Array<SharedArrayBuffer> }) => {
  // Who waits for an answer does so without turning its event loop.
  const wake = (): void => {
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
  port.on('message', (request: PlanRequest) => {
    const { port1: own, port2: commits } = new MessageChannel();
    const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    let sent = 0;
    let isAnswered = false;
    const answer = (planned?: PlanAnswer['planned']): void => {
      if (isAnswered) return;
      isAnswered = true;
      port.postMessage({ id: request.id, planned } satisfies PlanAnswer, planned ? [planned.commits] : []);
      wake();
    };
    const say = (said: Said): void => {
      own.postMessage(said);
      wake();
    };
    try {
      planFile(request, {
        begin: (file) => answer({ file, commits, taken }),
        send: (some) => {
          for (let seen = Atomics.load(taken, 0); sent - seen >= mostAhead; seen = Atomics.load(taken, 0)) Atomics.wait(taken, 0, seen);
          sent += 1;
          say(some);
        },
      });
      say('whole');
    } catch {
      // What breaks here breaks for whoever asked, too, and is told there.
      say('broken');
    }
    answer();
    own.close();
  });
  port.postMessage('ready');
  wake();
});
