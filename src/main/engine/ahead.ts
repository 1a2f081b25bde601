import { workerData } from 'node:worker_threads';
import { type AheadThread, answerAhead } from '../../core/project/index.js';

/** Reads files for an import on this thread (core/project/ahead.ts). It has a file of its own, so that the thread loads nothing else of the engine. */
export const readForWriter = (): void => answerAhead(workerData as AheadThread);
