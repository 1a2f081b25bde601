import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const shared = resolve(import.meta.dirname, '../../../../shared');
export const transcripts = join(shared, 'transcripts');
export const oracle = join(shared, 'tools/resume-oracle');
export { hasAgent } from '../../support/agents.js';
export const scenario = (name: string): string => join(shared, 'tools/scenarios', `${name}.json`);

const ran = new Map<string, string>();

/** The folder in which the real agent went through the scenario; once a run for each. */
export function live(agent: string, script: string): string {
  const known = ran.get(script);
  if (known !== undefined) return known;
  const home = mkdtempSync(join(tmpdir(), `stemma-${agent}-`));
  process.on('exit', () => rmSync(home, { recursive: true, force: true }));
  const done = spawnSync(join(shared, 'tools/agent-live'), [agent, script, home], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`agent-live ${agent} failed: ${done.stdout}${done.stderr}`);
  ran.set(script, home);
  return home;
}

/** Files under a folder whose paths are like that, in order. */
export const filesOf = (home: string, like: RegExp): string[] =>
  readdirSync(home, { recursive: true })
    .map((name) => join(home, String(name)))
    .filter((path) => like.test(path) && statSync(path).isFile())
    .sort();
