import { type MessagePort, parentPort as workerParent } from 'node:worker_threads';
import type { MessagePortMain } from 'electron';
import type { FromEngine, ToEngine } from '../launch/index.js';
import { say } from '../terminal/index.js';
import { engineBehind } from './serve.js';

/** The host of a utility process. */
interface UtilityParent {
  on(event: 'message', listener: (event: { data: ToEngine; ports: MessagePortMain[] }) => void): void;
  postMessage(message: FromEngine): void;
}
/** Finds the host of the engine, which is a utility process, a worker or a Node process, and answers its messages. */
export function answerHost(): void {
  const utilityParent = (process as { parentPort?: UtilityParent }).parentPort;

  if (utilityParent) {
    const answer = engineBehind(
      (message) => utilityParent.postMessage(message),
      () => process.exit(0),
    );
    utilityParent.on('message', ({ data, ports }) => answer(data, ports[0]));
  } else if (workerParent) {
    const parent = workerParent;
    const answer = engineBehind(
      (message) => parent.postMessage(message),
      () => parent.close(),
    );
    parent.on('message', ({ message, port }: { message: ToEngine; port?: MessagePort }) => answer(message, port));
  } else if (process.send) {
    const send = process.send.bind(process);
    const answer = engineBehind(
      (message) => process.connected && send(message),
      () => process.connected && process.disconnect(),
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
