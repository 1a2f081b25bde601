import { Worker } from 'node:worker_threads';

/**
 * Kills this process when it uses more memory than this. A thread watches, because the work blocks the main thread. Returns a function that ends the
 * watch.
 */
export function limitMemory(bytes: number): () => Promise<unknown> {
  const watcher = new Worker(`setInterval(() => process.memoryUsage.rss() > ${bytes} && process.kill(process.pid, 'SIGKILL'), 25)`, { eval: true });
  return () => watcher.terminate();
}
