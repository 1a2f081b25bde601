import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { badRequest, inWords, type Timestamp, toTimestamp } from '../base/index.js';
import { type ContextRow, findCommit, type ReadChain } from '../chain/index.js';
import { type InputOf, type OutputOf, type Runtime, runtimes } from '../contract/index.js';
import { absolutePath, makeFolders, readInside, unlessRefused, writeNew } from '../files/index.js';
import { opencodeId, requireFormat } from '../formats/index.js';
import type { AgentRoot } from '../import/index.js';
import { commandLine, inWsl, isOnNetwork, pathRules, type System, shellOf, thisSystem, type WslFolder, wslHomeOf, wslPath } from '../system/index.js';
import { writeSession } from './context.js';

export type Resumable = OutputOf<'export.resume'>;

interface Place {
  readonly root: string;
  readonly cwd: string;
  readonly sessionId: string;
  readonly now: Timestamp;
}

/** How one agent resumes a session that it did not write: the format, the place of the file and the command. */
interface Driver {
  readonly name: string;
  readonly format: string;
  path(place: Place): string;
  /** The commands, one after the other. `prompt` is the prompt to run at once, or nothing. */
  commands(place: Place, path: string, prompt: readonly string[]): readonly (readonly string[])[];
  /** The commands that start a new session under the id of the place with a prompt, if the agent can. */
  start?(place: Place, prompt: string): readonly (readonly string[])[];
  /** Creates the files that the agent needs in its folder to find the session. */
  prepare?(place: Place, path: string): void;
}

const drivers: Readonly<Record<Runtime, Driver>> = {
  'claude-code': {
    name: 'Claude Code',
    format: 'claude-code-v1',
    path: ({ root, cwd, sessionId }) => join(root, 'projects', folderName(cwd), `${sessionId}.jsonl`),
    commands: ({ sessionId }, _, prompt) => [['claude', '--resume', sessionId, ...prompt]],
    start: ({ sessionId }, prompt) => [['claude', '--session-id', sessionId, prompt]],
  },
  codex: {
    name: 'Codex',
    format: 'codex-v1',
    path: ({ root, sessionId, now }) => {
      const [day = '', time = ''] = now.slice(0, 19).split('T');
      return join(root, 'sessions', ...day.split('-'), `rollout-${day}T${time.replaceAll(':', '-')}-${sessionId}.jsonl`);
    },
    commands: ({ sessionId }, _, prompt) => [['codex', 'resume', sessionId, ...prompt]],
  },
  gemini: {
    name: 'Gemini CLI',
    format: 'gemini-v1',
    // The agent (0.61.0) looks in the folder of its project. A file in that folder names the project's path.
    path: (place) =>
      join(projectFolder(place), 'chats', `session-${place.now.slice(0, 16).replaceAll(':', '-')}-${place.sessionId.slice(0, 8)}.jsonl`),
    commands: ({ sessionId }, _, prompt) => [['gemini', '--resume', sessionId, ...after('--prompt-interactive', prompt)]],
    prepare: ({ cwd }, path) => {
      const owner = join(dirname(dirname(path)), ownerFile);
      if (!existsSync(owner)) writeNew(owner, resolve(cwd));
    },
  },
  opencode: {
    name: 'OpenCode',
    format: 'opencode-v1',
    // The agent imports the document into its database itself, under the id in the document.
    path: ({ root, sessionId }) => join(root, 'stemma', `${sessionId}.json`),
    commands: ({ sessionId }, path, prompt) => [
      ['opencode', 'import', path],
      ['opencode', '--session', opencodeId(sessionId), ...after('--prompt', prompt)],
    ],
  },
  copilot: {
    name: 'GitHub Copilot CLI',
    format: 'copilot-cli-v1',
    // The agent (1.0.102) reads the events of the folder that has the session's id.
    path: ({ root, sessionId }) => join(root, 'session-state', sessionId, 'events.jsonl'),
    commands: ({ sessionId }, _, prompt) => [['copilot', `--resume=${sessionId}`, ...after('--interactive', prompt)]],
  },
  qwen: {
    name: 'Qwen Code',
    format: 'qwen-code-v1',
    path: ({ root, cwd, sessionId }) => join(root, 'projects', folderName(cwd), 'chats', `${sessionId}.jsonl`),
    commands: ({ sessionId }, _, prompt) => [['qwen', '--resume', sessionId, ...after('--prompt-interactive', prompt)]],
  },
  pi: {
    name: 'pi',
    format: 'pi-v1',
    // The agent (1.5.2) looks in a folder named after the working directory, and reads the header of each file.
    path: ({ root, cwd, sessionId, now }) =>
      join(root, 'sessions', `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`, `${now.replace(/[:.]/g, '-')}_${sessionId}.jsonl`),
    commands: ({ sessionId }, _, prompt) => [['pi', '--session', sessionId, ...prompt]],
  },
};

const after = (option: string, prompt: readonly string[]): readonly string[] => (prompt.length === 0 ? [] : [option, ...prompt]);

export const resumedFormats: ReadonlySet<string> = new Set(Object.values(drivers).map(({ format }) => format));

/**
 * Writes a context into an agent's session folder: a new file with a new id. Without `agent` it is the agent that wrote the context, or Claude Code
 * if no agent did. If a fork ends with a prompt, the command passes the prompt, and the file does not contain it, unless `takesPrompt` is false. With
 * `mayStart`, a fork of the first prompt writes no file: the command starts a session under the new id. Also returns the commands of `command` as
 * words (programs and their arguments), and the folder to run them in: `cwd`, or the path of Windows for a folder of a Linux system inside it.
 * @throws BAD_REQUEST if no working directory is known or it is not absolute, or if the agent has no folder on this machine.
 */
export function resumeIn(
  chain: ReadChain,
  roots: readonly AgentRoot[],
  input: InputOf<'export.resume'> & { readonly takesPrompt?: boolean | undefined; readonly mayStart?: boolean | undefined },
  checkOutput: (path: string, sessionId: string) => void = () => {},
  system: System = thisSystem,
): Resumable & { readonly folder: string; readonly commands: readonly (readonly string[])[] } {
  const tip = findCommit(chain, input.id);
  const agent = input.agent ?? runtimes.find((one) => drivers[one].format === tip.format) ?? 'claude-code';
  const driver = drivers[agent];
  const cwd = input.cwd === undefined ? workingDirectoryOf(chain, tip) : input.cwd.startsWith('~') ? absolutePath(input.cwd) : input.cwd;
  if (cwd === undefined)
    throw badRequest('cwd', `the folder in which the agent of ${tip.id} worked is not recorded: give the folder to resume it in`);
  if (!pathRules(system).isAbsolute(cwd)) throw badRequest('cwd', `${inWords(cwd)} is not an absolute path: give the folder to resume it in`);
  // A session of a Linux system inside Windows stays there, unless a folder of Windows is given.
  const home = system === 'windows' && cwd.startsWith('/') ? wslHomeOf(sourceOf(chain, tip)?.path ?? '') : undefined;
  const root = roots.find((one) => one.agent === agent && isSameHome(wslHomeOf(one.root), home))?.root;
  if (root === undefined) throw badRequest('agent', `${home ? home.distribution : 'this machine'} has no folder of ${driver.name}`);
  const name = JSON.stringify([tip.id, agent, root, cwd]);
  const place: Place = { root, cwd, ...plannedFor(chain, name) };
  const path = driver.path(place);
  const session = writeSession(chain, tip, requireFormat(driver.format), {
    sessionId: place.sessionId,
    cwd,
    takesPrompt: input.takesPrompt ?? tip.forked === 1,
    mayBeEmpty: input.mayStart === true && driver.start !== undefined,
    ...(input.takesPrompt && tip.type === 'snapshot' && { stop: 'compaction' as const }),
  });
  if (!input.dryRun) {
    checkOutput(path, place.sessionId);
    // The agent itself writes the file of a session that it starts.
    if (session.bytes.length > 0) {
      makeFolders(dirname(path));
      driver.prepare?.(place, path);
      writeNew(path, session.bytes);
    }
    planned.get(chain)?.delete(name);
  }
  const { prompt } = session;
  // A word that starts with a hyphen would be read as an option.
  const word = prompt?.startsWith('-') ? ` ${prompt}` : prompt;
  const started = session.bytes.length === 0 && word !== undefined ? driver.start?.(place, word) : undefined;
  const own = started ?? driver.commands(place, path, word === undefined ? [] : [word]);
  const inside = home && { distribution: home.distribution, path: cwd };
  const folder = inside ? wslPath(inside) : cwd;
  const commands = inside ? [inWsl(inside, own)] : own;
  const command = commandLine(shellOf(system), inside ? undefined : cwd, commands);
  const asked = prompt !== undefined && { prompt };
  return { agent, path, cwd, cwdExists: isFolder(folder), sessionId: place.sessionId, ...asked, command, commands, folder };
}

const isSameHome = (one: WslFolder | undefined, other: WslFolder | undefined): boolean =>
  one?.distribution === other?.distribution && one?.path === other?.path;

type Planned = Pick<Place, 'sessionId' | 'now'>;

/** The sessions that were named and are not written yet. */
const planned = new WeakMap<ReadChain, Map<string, Planned>>();
const maxPlanned = 100;

/** The id and the time of the next session of a context. They stay until it is written, so the file that a dry run names is the file that is written. */
function plannedFor(chain: ReadChain, name: string): Planned {
  const all = planned.get(chain) ?? new Map<string, Planned>();
  planned.set(chain, all);
  const known = all.get(name) ?? { sessionId: chain.newId(), now: toTimestamp(chain.clock()) };
  all.delete(name);
  all.set(name, known);
  for (const oldest of [...all.keys()].slice(0, -maxPlanned)) all.delete(oldest);
  return known;
}

/** The file in which an agent keeps a session of a folder. */
export const sessionFile = (agent: Runtime, place: Omit<Place, 'now'>): string => drivers[agent].path({ ...place, now: toTimestamp(0) });

/** The path may come from a history: one that leads to another machine is not looked at. */
const isFolder = (path: string): boolean => !isOnNetwork(path) && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);

/** @throws BAD_REQUEST if the folder does not exist, because no terminal can be opened in it. */
export function checkFolder(cwd: string, field = 'cwd'): void {
  if (!isAbsolute(cwd)) throw badRequest(field, `${inWords(cwd)} is not an absolute path`);
  if (!isFolder(cwd)) throw badRequest(field, `the folder ${inWords(cwd)} does not exist on this machine: give a folder that exists`);
}

/** The folder name that Claude Code gives a working directory: everything but letters and digits becomes a hyphen. */
export const folderName = (cwd: string): string => cwd.replace(/[^a-zA-Z0-9]/g, '-');

const ownerFile = '.project_root';
const maxPathLength = 64 * 1024;

/** The folder of Gemini CLI for a working directory, existing or not: its name, with a number if that name is taken. */
function projectFolder({ root, cwd }: Place): string {
  const all = join(root, 'tmp');
  const ownerOf = (folder: string): string | undefined =>
    unlessRefused(() => readInside(all, join(folder, ownerFile), { limit: maxPathLength }).toString('utf8').trim());
  const folders = existsSync(all) ? readdirSync(all) : [];
  const own = folders.find((folder) => ownerOf(folder) === resolve(cwd));
  if (own !== undefined) return join(all, own);
  const slug =
    basename(cwd)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '-')
      .replace(/-+/g, '-')
      .replace(/^-|-$/g, '') || 'project';
  let name = slug;
  for (let number = 1; folders.includes(name); number++) name = `${slug}-${number}`;
  return join(all, name);
}

/** The newest file of the commit's session that names a working directory. */
const sourceOf = (chain: ReadChain, { sessionId }: ContextRow): { readonly path: string; readonly cwd: string } | undefined =>
  sessionId === null
    ? undefined
    : chain.db.one<{ path: string; cwd: string }>(
        'SELECT path, cwd FROM source WHERE project = ? AND sessionId = ? AND cwd IS NOT NULL ORDER BY no DESC LIMIT 1',
        [chain.project, sessionId],
      );

function workingDirectoryOf(chain: ReadChain, row: ContextRow): string | undefined {
  // Principals of imported commits are `<agent>@<working directory>`.
  return sourceOf(chain, row)?.cwd ?? row.principal?.match(/^[a-z/-]+@(.+?)(?:#[^#/\\]*)?$/s)?.[1];
}
