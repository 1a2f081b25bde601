import { parentPort, workerData } from 'node:worker_threads';
import { doWork, type Question, type WorkOrder } from '../../core/project/index.js';

/** The entry of a thread for long work in a project, such as an import (core/project/worker.ts). */
const parent = parentPort;
if (parent) {
  let isStopped = false;
  const waiting: Question[] = [];
  let next = Promise.withResolvers<void>();
  parent.on('message', (message: 'stop' | Question) => {
    if (message === 'stop') isStopped = true;
    else waiting.push(message);
    next.resolve();
  });
  const questions = async function* (): AsyncGenerator<Question> {
    while (!isStopped) {
      const question = waiting.shift();
      if (question) yield question;
      else {
        await next.promise;
        next = Promise.withResolvers<void>();
      }
    }
  };
  await doWork(
    workerData as WorkOrder,
    (message) => parent.postMessage(message),
    () => isStopped,
    questions(),
  );
  // Without a listener, the thread would end.
  parent.close();
}
