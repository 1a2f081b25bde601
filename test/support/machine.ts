import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const built = (...parts: string[]): string => join(root, 'out', ...parts);

/** The Node that the project brings along, whichever runs the tests. */
export const node = join(root, 'node_modules', '.bin', 'node');

/** A machine of a test's own: a home folder, Stemma's data in it, and Claude Code's histories in it. */
export interface Machine {
  dir: string;
  /** The environment of everything that runs on it. */
  env: NodeJS.ProcessEnv;
  /** Claude Code's configuration folder. */
  claude: string;
  /** Where commands are run: a folder of the machine's own, unless a test says otherwise. */
  cwd: string;
  /** Makes a path below the machine's home. */
  path(...parts: string[]): string;
  /** Puts the sample's transcripts where Claude Code would have written them. */
  giveHistory(): string;
  run(...words: string[]): Promise<Ran>;
  runWith(input: string, ...words: string[]): Promise<Ran>;
  /** A command that goes on until it is ended, or the machine is. */
  follow(...words: string[]): Following;
  /** What `npm start` runs, on a machine with this environment; ended with the machine. */
  start(environment: NodeJS.ProcessEnv, ...words: string[]): Promise<WebHost>;
  /** Serves the window; ended with the machine. */
  web(...words: string[]): Promise<WebHost>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Following extends AsyncDisposable {
  /** The whole lines that it has written so far. */
  lines(): string[];
}

export interface WebHost {
  url: string;
  origin: string;
  port: number;
  token: string;
  process: ChildProcess;
  /** What it has said so far. */
  said(): string;
}

export function machine(): Machine {
  const dir = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  const claude = join(dir, '.claude');
  mkdirSync(join(claude, 'projects'), { recursive: true });
  mkdirSync(join(dir, 'work'));
  const { STEMMA_PROJECT: _, CLAUDE_CONFIG_DIR: __, DISPLAY: ___, WAYLAND_DISPLAY: ____, FORCE_COLOR: _____, ...outer } = process.env;
  const env = { ...outer, HOME: dir, STEMMA_HOME: join(dir, 'stemma'), TZ: 'UTC', NO_COLOR: '1' };
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
      cpSync(join(root, 'resources', 'sample', 'larder'), place, { recursive: true });
      return place;
    },
    run: (...words) => ended(start(words), ''),
    runWith: (input, ...words) => ended(start(words), input),
    follow(...words) {
      const child = start(words);
      const out = collected(child.stdout);
      return { lines: () => out().split('\n').slice(0, -1), [Symbol.asyncDispose]: () => kill(child) };
    },
    start: (environment, ...words) => served(begin(join(root, 'src', 'main', 'start', 'index.ts'), words, environment)),
    web: (...words) => served(start(['web', '--no-open', ...words])),
    async [Symbol.asyncDispose]() {
      await Promise.all(children.filter((child) => child.exitCode === null && child.signalCode === null).map(kill));
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return own;
}

/** Ends a process that a test started, and waits until it is gone. */
export function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

function ended(child: ChildProcess, input: string): Promise<Ran> {
  const [out, err] = [collected(child.stdout), collected(child.stderr)];
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    // What hangs is named, with what it said: a test's own end would say neither.
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

async function served(child: ChildProcess): Promise<WebHost> {
  const said = collected(child.stdout);
  const complaints = collected(child.stderr);
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => said().includes('token=') && resolve());
    child.once('exit', (code) => reject(new Error(`the web host ended with ${code}: ${complaints()}`)));
  });
  const url = /http:\S+/.exec(said())?.[0] ?? '';
  const { origin, port, searchParams } = new URL(url);
  return { url, origin, port: Number(port), token: searchParams.get('token') ?? '', process: child, said: () => said() + complaints() };
}

function collected(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}
