import { parentPort, workerData } from 'node:worker_threads';
import { doWork, type WorkOrder } from '../../core/project/index.js';

/** Does long work in a project, such as an import, on this thread (core/project/worker.ts). */
export async function workForParent(): Promise<void> {
  const parent = parentPort;
  if (!parent) return;
  let isStopped = false;
  parent.on('message', () => {
    isStopped = true;
  });
  await doWork(
    workerData as WorkOrder,
    (message) => parent.postMessage(message),
    () => isStopped,
  );
  // Without a listener, the thread would end.
  parent.close();
}
