import { workerData } from 'node:worker_threads';
import { type AheadThread, answerAhead } from '../../core/project/index.js';

/** Reads files for an import on this thread (core/project/ahead.ts). This file is apart so that the thread loads no contract and no router. */
export const readForWriter = (): void => answerAhead(workerData as AheadThread);
