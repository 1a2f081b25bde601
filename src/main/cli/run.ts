import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type CaptureStatus, type Runtime, runtimes } from '../../core/contract/index.js';
import type { Environment } from '../../core/system/index.js';
import { type Ended, runForPerson } from '../system/index.js';
import { dim, isWatched, line, passThrough, say } from '../terminal/index.js';
import { type CliConnection, connectThread } from './client.js';
import { backUpDaily, openTarget, type ProjectChoice, type SignedOptions, signedOf } from './command.js';
import { counted } from './numbers.js';
import { addressesOf, type BodyFiles, bodyFiles, startRecorder, upstreamsOf } from './record.js';
import { claudeStream, type StreamReader, streamTranscript } from './stream.js';

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

async function beginRecording(command: readonly string[], options: CliRunOptions) {
  const connection = await connectThread();
  try {
    const { dir } = await openTarget(connection.client, options);
    const agent = options.agent ?? agentIn(command);
    const { granularity } = options;
    const cwd = process.cwd();
    const reader = agent && drivers[agent].stream?.(command, cwd);
    const stream = reader && streamTranscript(reader);
    const places = stream ? { paths: [stream.folder] } : agent && { agents: [agent] };
    await connection.client.capture.watch({ ...places, from: 'now', cwd, granularity, ...signedOf(options) });
    const recorder = options.record ? await startRecorder(connection.client, upstreamsOf(process.env)) : undefined;
    const bodies = recorder && agent === 'claude-code' ? bodyFiles(process.env) : undefined;
    return {
      /** Additional variables of the command's environment. */
      env: { ...(recorder && addressesOf(recorder)), ...bodies?.env },
      /** Reads the command's standard output if the agent reports its session only there. */
      onOutput: stream?.take,
      async end(): Promise<void> {
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

/** How `stemma run` recognizes the command of an agent. `launch` knows where each agent writes its sessions. */
interface AgentDriver {
  readonly command: string;
  readonly packages: readonly string[];
  /** Returns a reader of the agent's output if the arguments make it write no transcript; otherwise undefined. */
  readonly stream?: (args: readonly string[], cwd: string) => StreamReader | undefined;
}

const drivers: Readonly<Record<Runtime, AgentDriver>> = {
  'claude-code': { command: 'claude', packages: ['@anthropic-ai/claude-code'], stream: claudeStream },
  codex: { command: 'codex', packages: ['@openai/codex'] },
  gemini: { command: 'gemini', packages: ['@google/gemini-cli'] },
  opencode: { command: 'opencode', packages: ['opencode-ai'] },
  copilot: { command: 'copilot', packages: ['@github/copilot'] },
  qwen: { command: 'qwen', packages: ['@qwen-code/qwen-code'] },
  pi: { command: 'pi', packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'] },
};

/** Commands that start another command: the agent is their first argument that is not an option. */
const launchers = new Set(['npx', 'bunx', 'pnpx', 'node', 'bun', 'deno', 'env', 'nice', 'time', 'stdbuf', 'exec', 'dlx', 'x', 'pnpm', 'yarn', 'npm']);

/** The agent that a command starts. If it is undefined, Stemma follows every agent. */
function agentIn([command, ...args]: readonly string[]): Runtime | undefined {
  if (command === undefined) return undefined;
  const name = basename(command).replace(/\.(exe|cmd|js|mjs|cjs)$/i, '');
  const withoutVersion = command.replace(/(?<=.)@[^@/]*$/, '');
  const isPackage = (one: string): boolean => one === withoutVersion || command.includes(`node_modules/${one}/`);
  const found = runtimes.find((agent) => drivers[agent].command === name || drivers[agent].packages.some(isPackage));
  if (found) return found;
  // `env` accepts variables before the command.
  const next = args.findIndex((each) => !each.startsWith('-') && !/^[A-Za-z_]\w*=/.test(each));
  return launchers.has(name) && next >= 0 ? agentIn(args.slice(next)) : undefined;
}
