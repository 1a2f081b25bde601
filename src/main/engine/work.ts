import { parentPort, workerData } from 'node:worker_threads';
import { doWork, type WorkOrder } from '../../core/project/index.js';

/** The entry of a thread that does long work in a project, such as an import (core/project/worker.ts). */
const parent = parentPort;
if (parent) {
  let isStopped = false;
  parent.on('message', () => {
    isStopped = true;
  });
  await doWork(
    workerData as WorkOrder,
    (message) => parent.postMessage(message),
    () => isStopped,
  );
  // Without a listener, nothing keeps the thread.
  parent.close();
}
