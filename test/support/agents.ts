import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './machine.js';

/** The real agents, where their tools are on this machine: the mission's, beside the repository. */
const tools = join(root, '..', 'shared', 'tools');

/** An agent takes a minute to install: it is asked where it is there already, or where somebody wants all of it. */
export const hasAgent = (agent: string): boolean =>
  existsSync(join(tools, 'agent-live')) && (process.env.STEMMA_ORACLE === 'all' || existsSync(join('/opt/resume-oracle', agent, 'node_modules')));

export const tour = (agent: string): string => join(tools, 'scenarios', `${agent}-tour.json`);

/** Lets the real agent go through a scenario, a file or its content, in a home folder; resolves with what became of its steps. */
export async function runAgent(agent: string, scenario: string | object, home: string): Promise<readonly { prompt: string; ok: boolean }[]> {
  const script = typeof scenario === 'string' ? scenario : join(home, 'scenario.json');
  if (typeof scenario !== 'string') writeFileSync(script, JSON.stringify(scenario));
  const child = spawn(join(tools, 'agent-live'), [agent, script, home], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (said.out += data));
  child.stderr.on('data', (data: Buffer) => (said.err += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`agent-live ${agent} failed: ${said.out}${said.err}`);
  return (JSON.parse(said.out) as { steps: { prompt: string; ok: boolean }[] }).steps;
}
