import { Worker } from 'node:worker_threads';
import { StemmaError } from '../../core/base/index.js';
import { type AnalystOrder, answerOrder } from '../../core/project/index.js';
import { readStandardInput } from '../launch/index.js';

/** Bytes of memory that the process may use. SQLite in Node counts none, so a thread watches. */
const maxMemory = 768 * 1024 * 1024;
const watch = `setInterval(() => process.memoryUsage.rss() > ${maxMemory} && process.kill(process.pid, 'SIGKILL'), 25)`;

/** Answers the question on standard input, and writes the result or the refusal to standard output as JSON. */
export async function answerQuestion(): Promise<void> {
  const watcher = new Worker(watch, { eval: true });
  // node:sqlite says that it is experimental.
  process.removeAllListeners('warning').on('warning', () => {});
  const order = JSON.parse(await readStandardInput()) as AnalystOrder;
  process.stdout.write(JSON.stringify(await answered(order)));
  await watcher.terminate();
}

async function answered(order: AnalystOrder): Promise<unknown> {
  try {
    return { result: await answerOrder(order) };
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    const { code, message, data } = error;
    return { refused: { code, message, data } };
  }
}
