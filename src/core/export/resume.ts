import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { badRequest, type ContextId, inWords, type Timestamp, timestampOf } from '../base/index.js';
import { type Chain, type ContextRow, commitOf } from '../chain/index.js';
import { type Runtime, runtimes } from '../contract/index.js';
import { formatOf, opencodeId } from '../formats/index.js';
import { type AgentRoot, makeFolders, writeNew } from '../intake/index.js';
import { sessionOf } from './context.js';

export interface Resumable {
  readonly agent: Runtime;
  readonly path: string;
  readonly cwd: string;
  readonly sessionId: string;
  /** For a person to paste into a shell; nothing here runs it. */
  readonly command: string;
}

interface Place {
  readonly root: string;
  readonly cwd: string;
  readonly sessionId: string;
  readonly now: Timestamp;
}

/** How one agent takes a session that it did not write: in which format, where its file lies, and which words resume it there. */
interface Driver {
  readonly name: string;
  readonly format: string;
  path(place: Place): string;
  command(place: Place, path: string): string;
  /** What else its folder needs before it looks there. */
  prepare?(place: Place, path: string): void;
}

const drivers: Readonly<Record<Runtime, Driver>> = {
  'claude-code': {
    name: 'Claude Code',
    format: 'claude-code-v1',
    path: ({ root, cwd, sessionId }) => join(root, 'projects', folderName(cwd), `${sessionId}.jsonl`),
    command: ({ sessionId }) => `claude --resume ${sessionId}`,
  },
  codex: {
    name: 'Codex',
    format: 'codex-v1',
    path: ({ root, sessionId, now }) => {
      const [day = '', time = ''] = now.slice(0, 19).split('T');
      return join(root, 'sessions', ...day.split('-'), `rollout-${day}T${time.replaceAll(':', '-')}-${sessionId}.jsonl`);
    },
    command: ({ sessionId }) => `codex resume ${sessionId}`,
  },
  gemini: {
    name: 'Gemini CLI',
    format: 'gemini-v1',
    // The agent (0.61.0) finds a session in the folder of its project, which says by a file in it whose it is.
    path: (place) =>
      join(projectFolder(place), 'chats', `session-${place.now.slice(0, 16).replaceAll(':', '-')}-${place.sessionId.slice(0, 8)}.jsonl`),
    command: ({ sessionId }) => `gemini --resume ${sessionId}`,
    prepare: ({ cwd }, path) => {
      const owner = join(dirname(dirname(path)), ownerFile);
      if (!existsSync(owner)) writeNew(owner, resolve(cwd));
    },
  },
  opencode: {
    name: 'OpenCode',
    format: 'opencode-v1',
    // Its database is its own: the agent itself takes the document in, and calls the session by the id inside.
    path: ({ root, sessionId }) => join(root, 'stemma', `${sessionId}.json`),
    command: ({ sessionId }, path) => `opencode import ${quoted(path)} && opencode --session ${opencodeId(sessionId)}`,
  },
  pi: {
    name: 'pi',
    format: 'pi-v1',
    // The agent (1.5.2) finds a session by the header inside, in the folder that it makes of the working directory.
    path: ({ root, cwd, sessionId, now }) =>
      join(root, 'sessions', `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`, `${now.replace(/[:.]/g, '-')}_${sessionId}.jsonl`),
    command: ({ sessionId }) => `pi --session ${sessionId}`,
  },
};

/**
 * Puts a context where an agent looks for its sessions: a new file under a fresh id. Without `agent` it is the one that wrote the
 * context; where none did, Claude Code.
 * @throws BAD_REQUEST where no working directory is known or it is not absolute, or the agent has no folder on this machine.
 */
export function resumeIn(
  chain: Chain,
  roots: readonly AgentRoot[],
  input: { id: ContextId; agent?: Runtime | undefined; cwd?: string | undefined },
): Resumable {
  const tip = commitOf(chain, input.id);
  const agent = input.agent ?? runtimes.find((one) => drivers[one].format === tip.format) ?? 'claude-code';
  const driver = drivers[agent];
  const root = roots.find((one) => one.agent === agent)?.root;
  if (root === undefined) throw badRequest('agent', `no folder of ${driver.name} is known on this machine`);
  const cwd = input.cwd ?? workingDirectoryOf(chain, tip);
  if (cwd === undefined) throw badRequest('cwd', `${tip.id} does not say in which folder its agent worked: give the folder to resume it in`);
  if (!isAbsolute(cwd)) throw badRequest('cwd', `${inWords(cwd)} is no absolute path: give the folder to resume it in`);
  const place: Place = { root, cwd, sessionId: chain.newId(), now: timestampOf(chain.clock()) };
  const path = driver.path(place);
  makeFolders(dirname(path), 0o700);
  driver.prepare?.(place, path);
  writeNew(path, sessionOf(chain, tip, formatOf(driver.format), { sessionId: place.sessionId, cwd }).bytes);
  return { agent, path, cwd, sessionId: place.sessionId, command: `cd ${quoted(cwd)} && ${driver.command(place, path)}` };
}

/** As Claude Code names the folder of a working directory: nothing of it but letters and digits is left. */
export const folderName = (cwd: string): string => cwd.replace(/[^a-zA-Z0-9]/g, '-');

const ownerFile = '.project_root';

/** The folder that Gemini CLI keeps for a working directory, or the one that it would make: named like it, and by a number where that is taken. */
function projectFolder({ root, cwd }: Place): string {
  const all = join(root, 'tmp');
  const ownerOf = (folder: string): string | undefined => {
    const file = join(all, folder, ownerFile);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  };
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

function workingDirectoryOf(chain: Chain, row: ContextRow): string | undefined {
  const source =
    row.sessionId === null
      ? undefined
      : chain.db.one<{ cwd: string | null }>(
          'SELECT cwd FROM source WHERE project = ? AND sessionId = ? AND cwd IS NOT NULL ORDER BY no DESC LIMIT 1',
          chain.project,
          row.sessionId,
        );
  // Principals of imported commits are `<agent>@<working directory>`.
  return source?.cwd ?? row.principal?.match(/^[a-z-]+@(.+)$/s)?.[1];
}

const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
