// analyst: the process that answers one question over many sessions, such as a SELECT statement of a person, and ends. The engine starts it
// (engine/analyst.ts) and kills it when it takes too long.
// So no statement can hold an engine.
import { dirname } from 'node:path';
import { settled } from '../../core/base/index.js';
import { type AnalystOrder, answerOrder } from '../../core/project/index.js';
import { readStandardInput } from '../launch/index.js';
import { limitMemory } from '../system/index.js';
import { printJson } from '../terminal/index.js';

/** Bytes of memory that the process may use. SQLite in Node has no limit of its own. */
const maxMemory = 768 * 1024 * 1024;

/** Answers the question on standard input, and prints the result or the refusal as JSON. */
export async function answerQuestion(): Promise<void> {
  const lift = limitMemory(maxMemory);
  // node:sqlite says that it is experimental.
  process.removeAllListeners('warning').on('warning', () => {});
  const order = JSON.parse(await readStandardInput()) as AnalystOrder;
  // What SQLite sorts for a file and cannot hold in memory is beside the file, on the same disk.
  if ('path' in order.ask) process.env.SQLITE_TMPDIR = dirname(order.ask.path);
  printJson(await settled(() => answerOrder(order)));
  await lift();
}
