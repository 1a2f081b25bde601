import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, type SpawnOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { defined } from '../../core/base/index.js';
import { type Environment, thisSystem } from '../../core/system/index.js';
import { endTree } from './processes.js';
import { findProgram, type Launch, launchOf } from './programs.js';
import { type Ended, forwardSignals } from './signals.js';

/**
 * How to start a program by its name or path. @throws ENOENT if it is not on this machine, as a failed start does; TypeError if it cannot receive an
 * argument.
 */
function launchFor(program: string, args: readonly string[], env: Environment): Launch {
  const path = findProgram(program, { env });
  if (path === undefined) throw Object.assign(new Error(`${program} does not exist`), { code: 'ENOENT' });
  return launchOf(path, args, { env });
}

function spawnLaunch({ file, args, isVerbatim }: Launch, options: SpawnOptions): ChildProcess {
  return spawn(file, args, { ...options, windowsVerbatimArguments: isVerbatim, windowsHide: options.windowsHide ?? true });
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program with pipes, and the processes that it started. */
export interface Piped {
  readonly child: ChildProcessWithoutNullStreams;
  /** Kills it and every process that it started. Does nothing if it has ended. */
  kill(): void;
}

/**
 * A shell script that replaces itself with the program, and leaves a watcher in the same process group. The watcher waits for the end of a pipe that
 * only this process holds, and then kills the group. So if this process is killed, its agent cannot keep working in a folder where the next job
 * works. On Windows, the system itself ends the programs of a process that ends.
 */
const watched = '(read _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$0" "$@" 3<&-';

/** Starts a program with pipes. It ends with this process. @throws ENOENT if it is not on this machine; TypeError if it cannot receive an argument. */
export function startPiped(program: string, args: readonly string[], { cwd, env }: Place): Piped {
  const launch = launchFor(program, args, env);
  const stdio = ['pipe', 'pipe', 'pipe'] as const;
  if (thisSystem === 'windows') {
    const child = spawnLaunch(launch, { cwd, env, stdio: [...stdio] });
    return { child: child as ChildProcessWithoutNullStreams, kill: () => killTree(child) };
  }
  const child = spawn('/bin/sh', ['-c', watched, launch.file, ...launch.args], { cwd, env, stdio: [...stdio, 'pipe'], detached: true });
  // When the program ends, this ends the watcher and every process that the program left running.
  child.once('exit', () => (child.stdio[3] as { destroy(): void } | null)?.destroy());
  return { child: child as ChildProcessWithoutNullStreams, kill: () => killTree(child) };
}

/** Runs a command line of a person with the system's shell, with pipes. */
export function runShell(command: string, { cwd, env }: Place): Piped {
  const child = spawn(command, { cwd, env, shell: true, stdio: ['pipe', 'pipe', 'pipe'], detached: thisSystem !== 'windows', windowsHide: true });
  return { child, kill: () => killTree(child) };
}

function killTree({ pid }: ChildProcess): void {
  if (pid !== undefined) endTree(pid);
}

interface Limits extends Partial<Place> {
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** The most bytes of output; 1 MiB without it. */
  readonly maxBuffer?: number;
  readonly input?: string | undefined;
}

/** Runs a program and returns its standard output. @throws an error with the program's standard error if it fails, and as {@link startPiped}. */
export function programOutput(program: string, args: readonly string[], { env = setVariables(process.env), input, ...limits }: Limits = {}) {
  return new Promise<string>((resolve, reject) => {
    const { file, args: words, isVerbatim } = launchFor(program, args, env);
    const options = { ...limits, env, encoding: 'utf8', windowsVerbatimArguments: isVerbatim, windowsHide: true } as const;
    const child = execFile(file, words, options, (error, output, stderr) => (error ? reject(Object.assign(error, { stderr })) : resolve(output)));
    if (input === undefined) return;
    // Writing to a program that has ended fails. Its exit code says more.
    child.stdin?.on('error', () => {}).end(input);
  });
}

/** The variables that are set. */
export const setVariables = (env: Environment): Record<string, string> => defined(env) as Record<string, string>;

/** Starts a program that outlives this process. @param failed called if it does not start */
export function runBeside(program: string, args: readonly string[], cwd: string, failed: (error: Error) => void): void {
  spawn(program, args, { cwd, detached: true, stdio: 'ignore', windowsHide: true }).on('error', failed).unref();
}

interface ForPerson {
  readonly env: Environment;
  /** Receives the standard output, which is otherwise this process's own. */
  readonly onOutput?: ((output: Readable) => void) | undefined;
  /** Called if the command cannot start. */
  readonly failed: (error: NodeJS.ErrnoException) => void;
}

/** Runs a command in this process's terminal, and resolves when it has ended. As in a shell, 127 is an unknown command and 126 one that cannot run. */
export function runForPerson(program: string, args: readonly string[], { env, onOutput, failed }: ForPerson): Promise<Ended> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      failed(error);
      resolve({ code: error.code === 'ENOENT' ? 127 : 126, signal: null });
    };
    let launch: Launch;
    try {
      // On POSIX the system itself looks for what the person typed, and tells an unknown command from one that cannot run.
      launch = thisSystem === 'windows' ? launchFor(program, args, env) : { file: program, args, isVerbatim: false };
    } catch (error) {
      return fail(error as NodeJS.ErrnoException);
    }
    const child = spawnLaunch(launch, { stdio: ['inherit', onOutput ? 'pipe' : 'inherit', 'inherit'], env: setVariables(env), windowsHide: false });
    if (onOutput && child.stdout) onOutput(child.stdout);
    const stop = forwardSignals(child);
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      stop();
      fail(error);
    });
    // If the output is read here, the command counts as ended only when all of its output has arrived.
    child.on(onOutput ? 'close' : 'exit', (code, signal) => {
      stop();
      resolve({ code, signal });
    });
  });
}
