import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const bundle = join(root, 'out', 'faults');

/** Builds what the processes run; once for all tests. */
export async function setup(): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: true,
      target: 'node24',
      outDir: bundle,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: { input: { worker: join(here, 'worker.ts') }, output: { entryFileNames: '[name].js', format: 'esm' } },
    },
  });
}

export interface Worker {
  readonly process: ChildProcess;
  /** Whole lines that it has said so far: half a line was not acknowledged. */
  lines(): string[];
  /** Resolves when it has said such a line, or has ended. */
  said(start: string): Promise<void>;
  readonly ended: Promise<number | null>;
  kill(): Promise<void>;
}

export function startWorker(args: readonly string[], wrapped: readonly string[] = []): Worker {
  const script = join(bundle, 'worker.js');
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
      // A crash that is not the test's own doing is told.
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
