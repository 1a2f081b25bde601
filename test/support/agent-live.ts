import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/core/base/index.js';

/** The real agents on loopback: they leave their transcripts and each request as it went over the wire. */
export const tools = join(import.meta.dirname, '../../../shared/tools');
export const hasAgents = existsSync(join(tools, 'agent-live'));
if (!hasAgents) console.warn('skipped: the tools that run real agents (../shared/tools) are not on this machine');

export type Agent = 'claude' | 'codex' | 'pi' | 'gemini' | 'opencode';

/** Where each agent keeps its sessions under its home. */
export const folders: Readonly<Record<Agent, string>> = {
  claude: '.claude/projects',
  codex: '.codex/sessions',
  pi: '.pi/sessions',
  gemini: '.gemini/tmp',
  opencode: '.opencode',
};

export interface LiveRun {
  readonly home: string;
  /** Where the agent keeps its sessions, and the files of them. */
  readonly sessions: string;
  readonly transcripts: readonly string[];
  /** Bodies in the order sent. */
  readonly wire: readonly JsonObject[];
}

/** Runs a scenario of ../shared/tools; whoever asks for it removes `home`. */
export function runAgent(agent: Agent, scenario: string): LiveRun {
  const home = mkdtempSync(join(tmpdir(), 'stemma-live-'));
  execFileSync(join(tools, 'agent-live'), [agent, join(tools, `scenarios/${scenario}.json`), home], { stdio: 'pipe', timeout: 120_000 });
  const sessions = join(home, folders[agent]);
  const requests = join(home, 'requests');
  return {
    home,
    sessions,
    transcripts: readdirSync(sessions, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.jsonl'))
      .sort()
      .map((path) => join(sessions, path)),
    wire: readdirSync(requests)
      .sort()
      .map((file) => JSON.parse(readFileSync(join(requests, file), 'utf8')) as JsonObject),
  };
}
