import { parentPort, workerData } from 'node:worker_threads';
import { doWork, type Question, type WorkOrder } from '../../core/project/index.js';

/** Does long work in a project, such as an import, on this thread (core/project/worker.ts). */
export async function workForParent(): Promise<void> {
  const parent = parentPort;
  if (!parent) return;
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
