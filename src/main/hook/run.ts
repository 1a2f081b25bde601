import { appendFileSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { checkpointAt, type HookEvent, hasArrived, historiesIn, openForHook, readHookEvent } from '../../core/project/index.js';
import { agentRootsOf, dataDirOf, findProject } from '../launch/index.js';

/** An agent's answer comes into its file a moment after the event that tells of it; for longer, the agent is not held up. */
const waitMs = 1_000;
const lookMs = 15;

/**
 * Answers one event of an agent: its JSON is on standard input. `words` are those behind `stemma hook`: `--project DIR`, as for `capture`.
 * Never throws and never says anything on standard output.
 */
export async function runHook(words: readonly string[]): Promise<void> {
  const problem = (text: string): void => {
    process.stderr.write(`stemma hook: ${text}\n`);
    keep(text);
  };
  try {
    const { project, unknown } = optionsIn(words);
    if (unknown.length > 0) problem(`it does not know ${unknown.join(' ')}`);
    const event = readHookEvent(readFileSync(0, 'utf8'), agentRootsOf());
    if (typeof event === 'string') problem(event);
    else if (event) await checkpoint(event, project, problem);
  } catch (error) {
    problem(error instanceof Error ? error.message : String(error));
  }
}

async function checkpoint(event: HookEvent, named: string | undefined, problem: (text: string) => void): Promise<void> {
  const dir = findProject(named);
  const folder = openForHook(dir === undefined ? historiesIn(dataDirOf()) : { dir }, Date.now);
  try {
    await arrival(event);
    for (const { path, line, reason } of checkpointAt(folder, event).skipped) problem(`${event.event}: ${path}:${line}: ${reason}`);
  } finally {
    folder.close();
  }
}

/** Until the answer that the event tells of is in its file, or has not come in time: then the next event brings it. */
async function arrival({ path, awaited }: HookEvent): Promise<void> {
  if (awaited === undefined) return;
  const until = performance.now() + waitMs;
  while (!hasArrived(path, awaited) && performance.now() < until) await setTimeout(lookMs);
}

function optionsIn(words: readonly string[]): { readonly project: string | undefined; readonly unknown: readonly string[] } {
  let project: string | undefined;
  const unknown: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === '--project' || word === '-p') project = words[++at];
    else if (word.startsWith('--project=')) project = word.slice('--project='.length);
    else unknown.push(word);
  }
  return { project, unknown };
}

const logLimit = 256 * 1024;

/** Into the log in Stemma's own folder: agents show nobody what their hooks say. One that is full becomes the older one. */
function keep(text: string): void {
  try {
    const log = join(dataDirOf(), 'hook.log');
    mkdirSync(dataDirOf(), { recursive: true });
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > logLimit) renameSync(log, `${log}.old`);
    appendFileSync(log, `${new Date().toISOString()} ${text.replaceAll('\n', ' ')}\n`, { mode: 0o600 });
  } catch {
    // Where even that cannot be written, standard error has it.
  }
}
