import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isObject, type Json, type JsonObject, parseJson, StemmaError } from '../../core/base/index.js';

/** A program that exchanges JSON messages, one per line. */
export interface LineProgram {
  send(message: object): void;
  /** The messages until the program ends. @throws UNAVAILABLE if it ends with an error; the signal's reason if the signal aborts */
  messages(): AsyncGenerator<JsonObject>;
  /** Tells the program that no more messages will come. */
  end(): void;
}

/** A member that is an object. */
export function objectAt(value: Json | undefined, key: string): JsonObject | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : undefined;
}

/** A member that is a list. */
export function arrayAt(value: Json | undefined, key: string): readonly Json[] {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

/** A value that is a number. */
export const numberIn = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null);

interface Start {
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The most characters of an error message that are kept. */
const keptError = 2_000;

/**
 * A shell script that replaces itself with the program, and leaves a watcher in the same process group. The watcher waits for the end of a pipe that
 * only this process holds, and then kills the group. So if this process is killed, its agent cannot keep working in a folder where the next job
 * works.
 */
const watched = '(read _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$0" "$@" 3<&-';

function start({ command, args, cwd, env }: Start): ChildProcessWithoutNullStreams {
  if (process.platform === 'win32') return spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const child = spawn('/bin/sh', ['-c', watched, command, ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe', 'pipe'], detached: true });
  // When the program ends, this ends the watcher and every process that the program left running.
  child.once('exit', () => child.stdio[3]?.destroy());
  return child as ChildProcessWithoutNullStreams;
}

/** Starts a program. If the signal aborts or this process ends, the program is killed with every process that it started. */
export function startLines(order: Start, signal: AbortSignal): LineProgram {
  const { title } = order;
  const child = start(order);
  let problem = '';
  let isEnded = false;
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  const queue: JsonObject[] = [];
  let wake: () => void = () => {};
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-keptError);
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parseJson(line);
    if (isObject(message)) queue.push(message);
    wake();
  });
  let code: number | null = null;
  child.on('error', (error) => {
    problem = error.message;
  });
  child.on('close', (ended) => {
    code = ended;
    isEnded = true;
    wake();
  });
  return {
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    end: () => child.stdin.end(),
    async *messages() {
      try {
        for (;;) {
          for (let message = queue.shift(); message; message = queue.shift()) yield message;
          if (isEnded) break;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        signal.throwIfAborted();
        if (code !== 0) throw new StemmaError('UNAVAILABLE', `${title} ended with code ${code ?? 'unknown'}. ${problem.trim()}`.trim());
      } finally {
        signal.removeEventListener('abort', kill);
        kill();
      }
    },
  };
}
