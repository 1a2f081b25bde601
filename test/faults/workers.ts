import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../support/bundle.ts';

const script = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'out', 'faults', 'script.js');

/** Builds the worker script, and that of its threads, once for all tests. */
export async function setup(): Promise<void> {
  await bundle('test/faults/worker.ts', 'faults');
  await bundle('src/main/engine/work.ts', 'faults-threads');
}

export interface Worker {
  readonly process: ChildProcess;
  /** Its complete output lines so far. An incomplete line is not an acknowledgment. */
  lines(): string[];
  /** Resolves at a matching line, or at its end. */
  said(start: string): Promise<void>;
  readonly ended: Promise<number | null>;
  kill(): Promise<void>;
}

export function startWorker(args: readonly string[], wrapped: readonly string[] = []): Worker {
  if (!existsSync(script)) throw new Error(`${script} is not built`);
  const [command = process.execPath, ...words] = [...wrapped, process.execPath, script, ...args];
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let errors = '';
  const waiting: { start: string; resolve: () => void }[] = [];
  const lines = (): string[] => text.split('\n').slice(0, -1);
  const look = (): void => {
    for (const one of waiting) if (lines().some((line) => line.startsWith(one.start))) one.resolve();
  };
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    look();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      // Report a crash that the test did not cause.
      if (code !== null && code !== 0 && code !== 3) text += `crashed ${errors.replaceAll('\n', ' ')}\n`;
      for (const one of waiting) one.resolve();
      resolve(code);
    });
  });
  return {
    process: child,
    lines,
    said: (start) =>
      new Promise<void>((resolve) => {
        waiting.push({ start, resolve });
        look();
        void ended.then(() => resolve());
      }),
    ended,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
