// hook: the command that an agent runs at its own events. It stores the new part of the transcript that the event names.
// It is small, because the agent waits for it at every turn: it loads only the store and the readers of transcripts.
// An error never stops the agent: it prints nothing on standard output and exits with code 0 (test/spec/capture.md, L8).
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { attempt } from '../../core/base/index.js';
import { checkpointAt, claimBackup, type HookEvent, hasArrived, historiesIn, openForHook, readHookEvent } from '../../core/project/index.js';
import { openTrustedProjects } from '../../core/trust/index.js';
import { agentRootsOf, appendLog, findDataDir, findProject, ownCommand, readStandardInput } from '../launch/index.js';
import { runBeside } from '../system/index.js';
import { escapeLine, line, say } from '../terminal/index.js';

/** The longest wait for the agent's answer, in milliseconds: an agent writes it to the file shortly after the event. */
const waitMs = 1_000;
const lookMs = 15;

/** Handles an event of an agent: JSON on standard input. `words` are the arguments of `stemma hook`. Never throws, never prints to stdout. */
export async function runHook(words: readonly string[]): Promise<void> {
  const problem = (text: string): void => {
    say(line`stemma hook: ${text}`);
    keep(text);
  };
  try {
    const { project, signed, unknown } = optionsIn(words);
    if (unknown.length > 0) problem(`unknown arguments: ${unknown.join(' ')}`);
    const event = readHookEvent(await readStandardInput(), agentRootsOf());
    if (typeof event === 'string') problem(event);
    else if (event) await checkpoint(event, project, signed, problem);
  } catch (error) {
    problem(error instanceof Error ? error.message : String(error));
  }
}

async function checkpoint(event: HookEvent, named: string | undefined, signed: Signed, problem: (text: string) => void): Promise<void> {
  const chosen = findProject(named);
  const target = chosen ? { dir: chosen.dir } : historiesIn(findDataDir());
  const folder = openForHook(target, Date.now, openTrustedProjects(findDataDir()), hostname());
  if (chosen?.isFound) keep(`${event.event}: recording into ${folder.dir}, the nearest project of ${process.cwd()}`);
  try {
    await arrival(event);
    for (const { path, line, reason } of checkpointAt(folder, event, signed).skipped) problem(`${event.event}: ${path}:${line}: ${reason}`);
  } finally {
    folder.close();
  }
  if (claimBackup(folder, Date.now)) backUpDetached(folder.dir);
}

/** Makes the daily backup in a separate process, so that the agent does not wait for it. */
function backUpDetached(dir: string): void {
  const [program, ...first] = ownCommand();
  runBeside(program, [...first, 'backup', '--now', '--project', dir], dir, (error) => keep(`backup of ${dir}: ${error.message}`));
}

/** Waits until the answer is in the file. If it does not arrive in time, the hook of the next event stores it. */
async function arrival({ awaited, ...file }: HookEvent): Promise<void> {
  if (awaited === undefined) return;
  const until = performance.now() + waitMs;
  while (!hasArrived(file, awaited) && performance.now() < until) await setTimeout(lookMs);
}

/** The principal, ticket and machine that the command line of the hook names. */
interface Signed {
  readonly principal?: string;
  readonly ticketId?: string;
  readonly machine?: string;
}

const options = { '--project': 'project', '-p': 'project', '--principal': 'principal', '--ticket': 'ticketId', '--machine': 'machine' } as const;

function optionsIn(words: readonly string[]): { readonly project: string | undefined; readonly signed: Signed; readonly unknown: readonly string[] } {
  const given: { [Name in (typeof options)[keyof typeof options]]?: string } = {};
  const unknown: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const [option = '', ...value] = (words[at] as string).split('=');
    const name = Object.hasOwn(options, option) ? options[option as keyof typeof options] : undefined;
    if (name === undefined) unknown.push(words[at] as string);
    else given[name] = value.length ? value.join('=') : words[++at];
  }
  const { project, ...signed } = given;
  return { project, signed, unknown };
}

/** Writes to the log in Stemma's folder, because agents do not show the output of their hooks. A log that cannot be written loses nothing else. */
const keep = (text: string): unknown => attempt(() => appendLog(join(findDataDir(), 'hook.log'), escapeLine(text)));
