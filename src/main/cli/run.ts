import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { CaptureStatus, Runtime } from '../../core/contract/index.js';
import { type Connection, connect, openWhereItGoes } from './client.js';
import { driverOf, drivers } from './drivers.js';
import { counted, dim, printable, say } from './output.js';
import { addressesOf, startRecorder, upstreamsOf } from './record.js';
import { streamTranscript } from './stream.js';

export interface RunOptions {
  readonly project?: string;
  readonly agent?: Runtime;
  readonly granularity?: 'turn_boundary' | 'tool_call';
  /** Its calls to models go through a proxy that records them. */
  readonly record?: boolean;
}

/** What became of a command that was run: its exit code, or the signal that ended it. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Signals that are handed on. A terminal sends its interrupt to the command itself, too. */
const handedOn = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/**
 * Runs an agent's command as if it had been called by itself, and takes in what it writes of its sessions in this directory while it
 * runs; what is there when it has ended is their end. A capture that fails says so and leaves the command alone.
 */
export async function runCaptured(command: readonly string[], options: RunOptions): Promise<Ended> {
  const capture = await beginCapture(command, options).catch((error: Error) => void notCaptured(error));
  const ended = await runThrough(command, { ...process.env, ...capture?.env }, capture?.output);
  await capture?.end().catch(notCaptured);
  return ended;
}

const notCaptured = (error: Error): void => say(`stemma: this run is not captured: ${printable(error.message)}`);

interface Capture {
  /** What the command's environment has beside this process's. */
  readonly env: Readonly<Record<string, string>>;
  /** What its standard output is shown to on its way, where that is all that it tells of its session. */
  readonly output?: (part: Buffer) => void;
  end(): Promise<void>;
}

async function beginCapture(command: readonly string[], options: RunOptions): Promise<Capture> {
  const connection = connect();
  try {
    const { dir } = await openWhereItGoes(connection.client, options.project);
    const agent = options.agent ?? driverOf(command)?.agent;
    const { granularity } = options;
    const cwd = process.cwd();
    const reader = agent && drivers[agent].stream?.(command, cwd);
    const stream = reader && streamTranscript(reader);
    const places = stream ? { paths: [stream.folder] } : agent && { agents: [agent] };
    await connection.client.capture.watch({ ...places, from: 'now', cwd, granularity });
    const recorder = options.record ? await startRecorder(connection.client, upstreamsOf(process.env)) : undefined;
    return {
      env: recorder ? addressesOf(recorder) : {},
      ...(stream && { output: stream.take }),
      async end() {
        await recorder?.close();
        await endCapture(connection, dir);
        stream?.remove();
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function endCapture({ client, close }: Connection, dir: string): Promise<void> {
  try {
    sayWhatCame(await client.capture.stop({ end: true }), dir);
  } finally {
    close();
  }
}

/** Only to a person: whoever reads the command's standard error otherwise reads the command's alone. */
function sayWhatCame({ checkpoints, problems, last }: CaptureStatus, dir: string): void {
  for (const { path, line, reason } of problems) say(`stemma: ${printable(path)}:${line}: ${printable(reason)}`);
  if (process.stderr.isTTY) say(dim(`stemma: ${counted(checkpoints, 'checkpoint')} in ${dir}${last?.commit ? `, the last ${last.commit}` : ''}`));
}

/** Resolves when the command has ended. 127 where it is not there, 126 where it may not be run, as a shell says it. */
export function runThrough(
  [word = '', ...words]: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  output?: (part: Buffer) => void,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(word, words, { stdio: ['inherit', output ? 'pipe' : 'inherit', 'inherit'], env });
    if (output) showOn(child.stdout, output);
    const handOn = (signal: NodeJS.Signals): void => {
      if (signal !== 'SIGINT' && signal !== 'SIGQUIT') child.kill(signal);
      else if (!process.stdin.isTTY) child.kill(signal);
    };
    for (const signal of handedOn) process.on(signal, handOn);
    const settle = (ended: Ended): void => {
      for (const signal of handedOn) process.off(signal, handOn);
      resolve(ended);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      say(`stemma: ${word}: ${error.code === 'ENOENT' ? 'there is no such command' : error.message}`);
      settle({ code: error.code === 'ENOENT' ? 127 : 126, signal: null });
    });
    // With its output in our hands, the end is where that has come to its own.
    child.on(output ? 'close' : 'exit', (code, signal) => settle({ code, signal }));
  });
}

/** The command's output, to our own and to one more. Who reads no further ends it, as a pipe without us would. */
function showOn(from: Readable | null, output: (part: Buffer) => void): void {
  from?.on('data', output);
  from?.pipe(process.stdout, { end: false });
  process.stdout.on('error', () => from?.destroy());
}

/** Ends this process as the command ended: by the same signal, or with the same code. */
export function endLike({ code, signal }: Ended): void {
  if (signal === null) {
    process.exitCode = code ?? 1;
    return;
  }
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
  process.kill(process.pid, signal);
}
