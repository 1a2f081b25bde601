import { setTimeout } from 'node:timers/promises';
import type { CaptureStatus, Runtime } from '../../core/contract/index.js';
import type { Environment } from '../../core/system/index.js';
import { type Ended, runForPerson } from '../system/index.js';
import { dim, isWatched, line, passThrough, say } from '../terminal/index.js';
import { backUpDaily } from './backups.js';
import { type CliConnection, connectThread } from './client.js';
import { openTarget, type ProjectChoice, type SignedOptions, signedOf } from './command.js';
import { driverOf, drivers } from './drivers.js';
import { counted } from './numbers.js';
import { addressesOf, type BodyFiles, bodyFiles, startRecorder, upstreamsOf } from './record.js';
import { streamTranscript } from './stream.js';

export interface CliRunOptions extends ProjectChoice, SignedOptions {
  readonly agent?: Runtime;
  readonly granularity?: 'turn_boundary' | 'tool_call';
  /** Record its model calls through a proxy. */
  readonly record?: boolean;
}

/** Runs an agent's command unchanged, and records the sessions that it writes here. A failed recording does not affect the command. */
export async function runRecorded(command: readonly string[], options: CliRunOptions): Promise<Ended> {
  const recording = await beginRecording(command, options).catch((error: Error) => void sayNotRecorded(error));
  const ended = await runThrough(command, { ...process.env, ...recording?.env }, recording?.onOutput);
  const end = recording?.end().catch(sayNotRecorded);
  // After a signal ended the command, this process ends within seconds, however long the history is.
  await (ended.signal === null ? end : Promise.race([end, setTimeout(maxEndMs, undefined, { ref: false })]));
  return ended;
}

/** Milliseconds to record the last output after a signal ended the command. */
const maxEndMs = 5_000;

const sayNotRecorded = (error: Error): void => say(line`stemma: this run is not recorded: ${error.message}`);

interface Recording {
  /** Additional variables of the command's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Reads the command's standard output if the agent reports its session only there. */
  readonly onOutput?: (part: Buffer) => void;
  end(): Promise<void>;
}

async function beginRecording(command: readonly string[], options: CliRunOptions): Promise<Recording> {
  const connection = await connectThread();
  try {
    const { dir } = await openTarget(connection.client, options);
    const agent = options.agent ?? driverOf(command)?.agent;
    const { granularity } = options;
    const cwd = process.cwd();
    const reader = agent && drivers[agent].stream?.(command, cwd);
    const stream = reader && streamTranscript(reader);
    const places = stream ? { paths: [stream.folder] } : agent && { agents: [agent] };
    await connection.client.capture.watch({ ...places, from: 'now', cwd, granularity, ...signedOf(options) });
    const recorder = options.record ? await startRecorder(connection.client, upstreamsOf(process.env)) : undefined;
    const bodies = recorder && agent === 'claude-code' ? bodyFiles(process.env) : undefined;
    return {
      env: { ...(recorder && addressesOf(recorder)), ...bodies?.env },
      ...(stream && { onOutput: stream.take }),
      async end() {
        await recorder?.close();
        await endRecording(connection, dir, bodies);
        stream?.remove();
        bodies?.remove();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function endRecording({ client, close }: CliConnection, dir: string, bodies: BodyFiles | undefined): Promise<void> {
  try {
    sayRecorded(await client.capture.stop({ end: true }), dir);
    await bodies?.importInto(client);
    await backUpDaily(client);
  } finally {
    await close();
  }
}

/** Only a person gets the summary. A program that reads standard error gets only the output of the command. */
function sayRecorded({ checkpoints, problems, last }: CaptureStatus, dir: string): void {
  for (const { path, line: number, reason } of problems) say(line`stemma: ${path}:${number}: ${reason}`);
  if (isWatched()) say(dim(`stemma: ${counted(checkpoints, 'checkpoint')} in ${dir}${last?.commit ? `, the last is ${last.commit}` : ''}`));
}

/** Runs a command in this terminal. If `onOutput` is given, it also reads the command's standard output. */
function runThrough([command = '', ...args]: readonly string[], env: Environment, onOutput?: (part: Buffer) => void): Promise<Ended> {
  return runForPerson(command, args, {
    env,
    onOutput:
      onOutput &&
      ((output) => {
        output.on('data', onOutput);
        passThrough(output);
      }),
    failed: (error) => say(line`stemma: cannot run ${command}: ${error.code === 'ENOENT' ? 'the command does not exist' : error.message}`),
  });
}
