import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/core/base/index.js';
import { root } from './machine.js';

/** The agents whose calls the proxy is tested with. */
export type CoreAgent = 'claude' | 'codex' | 'pi' | 'gemini' | 'opencode';
export type Agent = CoreAgent | 'copilot' | 'qwen' | 'cline' | 'kilo' | 'openclaw';

/** The real agents and transcripts are next to the repository, on developer machines only. */
const shared = join(root, '..', 'shared');
export const tools = join(shared, 'tools');
export const transcripts = join(shared, 'transcripts');

/** Tours of further agents take minutes each, so they run on request only. */
export const tours = process.env.STEMMA_AGENTS === 'all';

/** Tests of OpenCode and Gemini CLI need minutes of processor time, as each of their starts needs seconds. */
const runsOnRequest = (agent: Agent): boolean => (agent === 'opencode' || agent === 'gemini') && !tours;

/** Installing an agent takes a minute, so these tests run only if it is installed or all tests are requested. */
export const wantsAll = process.env.STEMMA_ORACLE === 'all';
const isInstalled = (agent: Agent): boolean =>
  existsSync(join(tools, 'agent-live')) && (wantsAll || existsSync(join('/opt/resume-oracle', agent, 'node_modules')));
export const hasAgent = (agent: Agent): boolean => isInstalled(agent) && !runsOnRequest(agent);

/** The reason why tests of an agent are skipped, for their titles. */
export function unlessHere(agent: Agent): string {
  if (!isInstalled(agent)) return ' (the real agent is not on this machine; STEMMA_ORACLE=all installs it where ../shared is)';
  return runsOnRequest(agent) ? ' (STEMMA_AGENTS=all runs it)' : '';
}

export const scenario = (name: string): string => join(tools, 'scenarios', `${name}.json`);

/** The session folder of each agent below its home. */
export const folders: Readonly<Record<Agent, string>> = {
  claude: '.claude/projects',
  codex: '.codex/sessions',
  pi: '.pi/sessions',
  gemini: '.gemini/tmp',
  opencode: '.opencode',
  copilot: '.copilot/session-state',
  qwen: '.qwen/projects',
  cline: '.cline/data/sessions',
  kilo: '.kilo',
  openclaw: '.openclaw',
};

/** Runs a real agent through a scenario (a file or its content) in a home folder. Resolves with the results of its steps. */
export async function runAgent(agent: Agent, script: string | object, home: string): Promise<readonly { prompt: string; ok: boolean }[]> {
  const path = typeof script === 'string' ? script : join(home, 'scenario.json');
  if (typeof script !== 'string') writeFileSync(path, JSON.stringify(script));
  const child = spawn(join(tools, 'agent-live'), [agent, path, home], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (said.out += data));
  child.stderr.on('data', (data: Buffer) => (said.err += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`agent-live ${agent} failed: ${said.out}${said.err}`);
  return (JSON.parse(said.out) as { steps: { prompt: string; ok: boolean }[] }).steps;
}

export interface LiveRun {
  readonly home: string;
  /** The session folder of the agent, and its files. */
  readonly sessions: string;
  readonly transcripts: readonly string[];
  /** Request bodies in sent order. */
  readonly wire: readonly JsonObject[];
}

/**
 * The result of a scenario of ../shared/tools. It runs once for all tests of all processes. Its home is read-only for tests;
 * a test that continues the session copies it first.
 */
export function liveRun(agent: Agent, name = `${agent}-tour`): LiveRun {
  const home = ranOnce(`${agent}-${name}`, (place) => {
    for (let attempt = 1; ; attempt++) {
      const ran = spawnSync(join(tools, 'agent-live'), [agent, scenario(name), place], { encoding: 'utf8' });
      if (ran.status !== 0) return `agent-live ${agent} failed: ${ran.stdout}${ran.stderr}`;
      if (agent !== 'gemini' || wentBack(place, name)) return undefined;
      if (attempt === 3) return `agent-live ${agent} did not go back where ${name} says so, in ${attempt} attempts`;
      rmSync(place, { recursive: true });
      mkdirSync(place);
    }
  });
  const sessions = join(home, folders[agent]);
  return {
    home,
    sessions,
    transcripts: filesOf(sessions, /\.jsonl$/),
    wire: requestsIn(home),
  };
}

interface Script {
  readonly steps: readonly (string | { readonly prompt: string; readonly rewindTo?: string })[];
}

/**
 * Whether the rewind of Gemini CLI worked. The tool types it at a fixed time, and on a busy machine the screen may not be
 * ready.
 */
function wentBack(home: string, name: string): boolean {
  const { steps } = JSON.parse(readFileSync(scenario(name), 'utf8')) as Script;
  const prompts = steps.map((step) => (typeof step === 'string' ? step : step.prompt));
  const sent = requestsIn(home).map((body) => JSON.stringify(body.contents));
  return steps.every((step, at) => typeof step === 'string' || !step.rewindTo || !isBeside(sent, prompts[at], prompts[at - 1]));
}

const isBeside = (sent: readonly string[], prompt = '', takenBack = ''): boolean =>
  sent.some((contents) => contents.includes(prompt) && contents.includes(takenBack));

const requestsIn = (home: string): readonly JsonObject[] =>
  filesOf(join(home, 'requests'), /\.json$/).map((file) => JSON.parse(readFileSync(file, 'utf8')) as JsonObject);

/** Creates a folder once per test run. The first process creates it, and the others wait. */
function ranOnce(name: string, make: (place: string) => string | undefined): string {
  const place = join(agentRuns(), name);
  const outcome = `${place}.outcome`;
  if (mine(place)) {
    writeFileSync(`${outcome}.part`, make(place) ?? '');
    renameSync(`${outcome}.part`, outcome);
  }
  for (let waits = 0; !existsSync(outcome); waits++) {
    if (waits > 3_000) throw new Error(`${name} was not created within five minutes by another process.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  const problem = readFileSync(outcome, 'utf8');
  if (problem) throw new Error(problem);
  return place;
}

/** Whether this process creates the folder. */
function mine(place: string): boolean {
  try {
    mkdirSync(place);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

let ownRuns: string | undefined;

/** The folder for runs: the shared one of the test run (agent-runs.ts), else one of this process. */
function agentRuns(): string {
  const { STEMMA_AGENT_RUNS: sharedRuns } = process.env;
  if (sharedRuns) return sharedRuns;
  if (ownRuns === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'stemma-agents-'));
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
    ownRuns = made;
  }
  return ownRuns;
}

/** The messages that the real agent sends if it resumes the file with the prompt PING. Throws if it refuses the file. */
export function sentOnResume(agent: Exclude<Agent, 'opencode' | 'cline' | 'kilo' | 'openclaw'>, path: string): readonly unknown[] {
  const out = join(mkdtempSync(join(agentRuns(), 'resumed-')), 'messages.json');
  const { stdout, stderr } = spawnSync(join(tools, 'resume-oracle'), [agent, path, '--out', out], { encoding: 'utf8' });
  const { accepted } = JSON.parse(stdout) as { accepted: boolean };
  if (!accepted) throw new Error(`${agent} cannot resume ${path}: ${stdout}${stderr}`);
  return JSON.parse(readFileSync(out, 'utf8')) as unknown[];
}

/** Files below a folder whose paths match, sorted. */
export const filesOf = (folder: string, like: RegExp): string[] =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => like.test(path) && statSync(path).isFile())
    .sort();
