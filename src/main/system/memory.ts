import { Worker } from 'node:worker_threads';

/** Kills this process above this much memory. A thread watches, because the work blocks the main one. Returns what ends the watch. */
export function limitMemory(bytes: number): () => Promise<unknown> {
  const watcher = new Worker(`setInterval(() => process.memoryUsage.rss() > ${bytes} && process.kill(process.pid, 'SIGKILL'), 25)`, { eval: true });
  return () => watcher.terminate();
}
