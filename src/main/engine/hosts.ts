import { type MessagePort, parentPort as workerParent } from 'node:worker_threads';
import type { MessagePortMain } from 'electron';
import type { FromEngine, ToEngine } from '../launch/index.js';
import { say } from '../terminal/index.js';
import type { Port } from './connection.js';
import { frontBehind } from './front.js';

/** The host of a utility process. */
interface UtilityParent {
  on(event: 'message', listener: (event: { data: ToEngine; ports: MessagePortMain[] }) => void): void;
  postMessage(message: FromEngine): void;
}

type Answer = (message: ToEngine, port?: Port) => void;

/**
 * Answers the messages of a host: with threads that read and one that writes, or, if the host wants an engine that imports on its own thread, on
 * this thread alone. Only then does this thread load the engine, which takes most of a start. `ended` gets the exit code.
 */
function answerer(say: (message: FromEngine) => void, ended: (code: number) => void): Answer {
  let answer: Answer | undefined;
  let loading: Promise<void> | undefined;
  const load = async ({ hasThreads }: { readonly hasThreads: boolean }): Promise<void> => {
    answer = hasThreads ? frontBehind(say, ended) : (await import('./serve.js')).engineBehind(say, () => ended(0));
  };
  return (message, port) => {
    loading ??= load({ hasThreads: message.kind === 'start' && message.options.worker !== undefined });
    if (answer) answer(message, port);
    else void loading.then(() => answer?.(message, port));
  };
}

/** Finds the host of the engine, which is a utility process, a worker or a Node process, and answers its messages. */
export function answerHost(): void {
  const utilityParent = (process as { parentPort?: UtilityParent }).parentPort;

  if (utilityParent) {
    const answer = answerer(
      (message) => utilityParent.postMessage(message),
      (code) => process.exit(code),
    );
    utilityParent.on('message', ({ data, ports }) => answer(data, ports[0]));
  } else if (workerParent) {
    const parent = workerParent;
    const answer = answerer(
      (message) => parent.postMessage(message),
      (code) => {
        parent.close();
        if (code !== 0) throw new Error('the thread that writes ended');
      },
    );
    parent.on('message', ({ message, port }: { message: ToEngine; port?: MessagePort }) => answer(message, port));
  } else if (process.send) {
    const send = process.send.bind(process);
    const answer = answerer(
      (message) => process.connected && send(message),
      (code) => {
        process.exitCode = code;
        if (process.connected) process.disconnect();
      },
    );
    process.on('message', (message) => answer(message as ToEngine));
    // The shell has ended, so no more calls will come.
    process.on('disconnect', () => {
      answer({ kind: 'stop' });
      process.exit(0);
    });
  } else {
    say('The app or the web host starts the engine. It cannot run by itself.');
    process.exitCode = 2;
  }
}
