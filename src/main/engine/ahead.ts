import { workerData } from 'node:worker_threads';
import { type AheadThread, answerAhead } from '../../core/project/index.js';

/** Reads files for an import on this thread (core/project/ahead.ts). */
export const readForWriter = (): void => answerAhead(workerData as AheadThread);
