import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const built = (...parts: string[]): string => join(root, 'out', ...parts);

/** The compiled code of the built processes: hundreds of them start in a run, and compiling is a quarter of a start. */
export const compiled = built('test-compiled');

/** The Node that runs the tests: each script of package.json starts them on one that is new enough. */
export const node = process.execPath;

/** The time of the files of {@link copyHistories}, in seconds. Files of one time are imported in the order of their names. */
const copiedAt = Date.parse('2026-11-21T10:00:00Z') / 1_000;

/** A temporary machine: a home folder with Stemma's data and Claude Code's histories. */
export interface Machine {
  dir: string;
  /** The environment of its processes. */
  env: NodeJS.ProcessEnv;
  /** Claude Code's configuration folder. */
  claude: string;
  /** The working folder of commands. */
  cwd: string;
  /** A path below the machine's home. */
  path(...parts: string[]): string;
  /** Copies the sample's transcripts to Claude Code's folder. */
  giveHistory(): string;
  run(...words: string[]): Promise<Ran>;
  /**
   * Runs a command as `run` does, but in one process for all commands of all machines: starting it takes most of the time of a short one.
   * For tests of what commands do. Tests of processes, their input and their end use `run`. The commands run one after another.
   */
  ask(...words: string[]): Promise<Ran>;
  runWith(input: string, ...words: string[]): Promise<Ran>;
  /** Starts a command that runs until it is ended, at the latest with the machine. */
  follow(...words: string[]): Following;
  /** Runs `npm start` with this environment; ended with the machine. */
  start(environment: NodeJS.ProcessEnv, ...words: string[]): Promise<WebHost>;
  /** Serves the window with a bearer for scripts; ended with the machine. */
  web(...words: string[]): Promise<WebHost>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Following extends AsyncDisposable {
  /** Its complete output lines so far. */
  lines(): string[];
  readonly process: ChildProcess;
}

export interface WebHost {
  url: string;
  origin: string;
  port: number;
  /** The one-time code of the printed link. */
  code: string;
  /** The bearer for scripts; empty unless `web` started the host. */
  bearer: string;
  process: ChildProcess;
  /** Its output so far. */
  said(): string;
}

/** Copies the sample's transcripts to a folder. */
export function copyHistories(place: string): void {
  cpSync(join(root, 'resources', 'sample', 'larder'), place, { recursive: true });
  // Files are imported by their times, and two sessions share turns, which belong to the first: without one time for all,
  // their owner would depend on how fast each file was copied.
  for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' })) utimesSync(join(place, name), copiedAt, copiedAt);
}

export function machine(): Machine {
  const dir = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  const claude = join(dir, '.claude');
  mkdirSync(join(claude, 'projects'), { recursive: true });
  mkdirSync(join(dir, 'work'));
  const { STEMMA_PROJECT: _, CLAUDE_CONFIG_DIR: __, DISPLAY: ___, WAYLAND_DISPLAY: ____, FORCE_COLOR: _____, ...outer } = process.env;
  const env = { ...outer, HOME: dir, STEMMA_HOME: join(dir, 'stemma'), TZ: 'UTC', NO_COLOR: '1', NODE_COMPILE_CACHE: compiled };
  const children: ChildProcess[] = [];

  const begin = (script: string, words: string[], more: NodeJS.ProcessEnv = {}): ChildProcess => {
    const child = spawn(node, [script, ...words], { cwd: own.cwd, env: { ...env, ...more } });
    children.push(child);
    return child;
  };
  const start = (words: string[]): ChildProcess => begin(built('cli', 'stemma.js'), words);
  const own: Machine = {
    dir,
    env,
    claude,
    cwd: join(dir, 'work'),
    path: (...parts) => join(dir, ...parts),
    giveHistory() {
      const place = join(claude, 'projects', '-work-larder');
      copyHistories(place);
      return place;
    },
    run: (...words) => ended(start(words), ''),
    ask: (...words) => answered({ words, cwd: own.cwd, env }),
    runWith: (input, ...words) => ended(start(words), input),
    follow(...words) {
      const child = start(words);
      const out = collected(child.stdout);
      return { process: child, lines: () => out().split('\n').slice(0, -1), [Symbol.asyncDispose]: () => end(child) };
    },
    start: (environment, ...words) => served(begin(join(root, 'src', 'main', 'start', 'index.ts'), words, environment)),
    web(...words) {
      const named = words.indexOf('--bearer-file');
      const bearerFile = (named >= 0 && words[named + 1]) || join(dir, `bearer-${children.length}`);
      return served(start(['web', '--no-open', ...words, ...(named >= 0 ? [] : ['--bearer-file', bearerFile])]), bearerFile);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.filter((child) => child.exitCode === null && child.signalCode === null).map(kill));
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return own;
}

/** Asks a process of a test to end, as Ctrl+C does, so that it ends what it started itself. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await exited;
  clearTimeout(late);
}

/** Kills a process of a test, and waits until it has ended. */
export function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

interface Command {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The process of `ask`, and the end of its last command. It ends with this process, whose channel it listens to. */
let commands: ChildProcess | undefined;
let lastCommand: Promise<unknown> = Promise.resolve();

/** Runs commands one after another in one process, which starts with the first, or anew after it was killed (commands.mjs). */
function answered(command: Command): Promise<Ran> {
  const ran = lastCommand.then(() => answerTo(commandProcess(command.env), command));
  lastCommand = ran.catch(() => {});
  return ran;
}

function commandProcess(env: NodeJS.ProcessEnv): ChildProcess {
  if (commands?.connected) return commands;
  const child = fork(join(root, 'test', 'support', 'commands.mjs'), [built('cli', 'stemma.js')], { cwd: root, env, execPath: node, execArgv: [] });
  child.unref();
  child.channel?.unref();
  commands = child;
  return child;
}

function answerTo(child: ChildProcess, command: Command): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => child.kill('SIGKILL'), 120_000);
    const ended = (): void => reject(new Error(`the process ended, or was killed after two minutes, at stemma ${command.words.join(' ')}`));
    child.once('exit', ended);
    child.once('message', (ran) => {
      clearTimeout(late);
      child.off('exit', ended);
      resolve(ran as Ran);
    });
    child.send(command);
  });
}

function ended(child: ChildProcess, input: string): Promise<Ran> {
  const [out, err] = [collected(child.stdout), collected(child.stderr)];
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    // Report which command hangs, with its output. The test's timeout would not.
    const late = setTimeout(() => {
      reject(new Error(`${child.spawnargs.slice(1).join(' ')} did not end in two minutes; it said: ${out()}${err()}`));
      child.kill('SIGKILL');
    }, 120_000);
    child.on('close', (code) => {
      clearTimeout(late);
      resolve({ code, out: out(), err: err() });
    });
  });
}

async function served(child: ChildProcess, bearerFile?: string): Promise<WebHost> {
  const said = collected(child.stdout);
  const complaints = collected(child.stderr);
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => said().includes('token=') && resolve());
    child.once('exit', (code) => reject(new Error(`the web host ended with ${code}: ${complaints()}`)));
  });
  const url = /http:\S+/.exec(said())?.[0] ?? '';
  const { origin, port, searchParams } = new URL(url);
  return {
    url,
    origin,
    port: Number(port),
    code: searchParams.get('token') ?? '',
    bearer: bearerFile === undefined ? '' : readFileSync(bearerFile, 'utf8'),
    process: child,
    said: () => said() + complaints(),
  };
}

function collected(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Whether a program is installed. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
