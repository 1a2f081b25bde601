import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Runtime } from '../../core/contract/index.js';
import type { AgentRoot, EngineOptions } from '../../core/project/index.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The root of what was built: the folder that holds `out/` and `resources/`, in a checkout and inside a package alike. */
const root = resolve(import.meta.dirname, '..', '..');

/** A file that the build made, by its place under `out/`. */
export const built = (...parts: string[]): string => join(root, 'out', ...parts);

/** Where Stemma keeps what is no project of its own: `$STEMMA_HOME`, else where the platform keeps applications' data. */
export function dataDirOf(env: Environment = process.env, platform: string = process.platform, home: string = homedir()): string {
  if (env.STEMMA_HOME) return resolve(env.STEMMA_HOME);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Stemma');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'Stemma');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'stemma');
}

/** Each agent's own folder: the one that its variable in the environment names, and the one in the home folder. */
const agentFolders: Readonly<Record<Runtime, (env: Environment, home: string) => readonly (string | undefined)[]>> = {
  'claude-code': (env, home) => [env.CLAUDE_CONFIG_DIR, join(home, '.claude')],
  codex: (env, home) => [env.CODEX_HOME, join(home, '.codex')],
  gemini: (env, home) => [env.GEMINI_CLI_HOME && join(env.GEMINI_CLI_HOME, '.gemini'), join(home, '.gemini')],
  opencode: (env, home) => [env.XDG_DATA_HOME && join(env.XDG_DATA_HOME, 'opencode'), join(home, '.local', 'share', 'opencode')],
  pi: (env, home) => [env.PI_CODING_AGENT_DIR, join(home, '.pi', 'agent')],
};

/** Where agents keep their histories on this machine, whether they are installed or not. */
export function agentRootsOf(env: Environment = process.env, home: string = homedir()): AgentRoot[] {
  return Object.entries(agentFolders).flatMap(([agent, folders]) =>
    [...new Set(folders(env, home).flatMap((folder) => (folder ? [resolve(folder)] : [])))].map((root) => ({ agent: agent as Runtime, root })),
  );
}

const isProject = (path: string): boolean => path.endsWith('.stemma');

/**
 * What the engine needs to know of this machine. `paths` are what a person named on the command line, as seen from
 * `cwd`: the first project folder among them is opened, everything else is offered for import.
 */
export function engineOptions(paths: readonly string[] = [], cwd: string = process.cwd(), env: Environment = process.env): EngineOptions {
  const named = paths.map((path) => resolve(cwd, path));
  return {
    dataDir: dataDirOf(env),
    agentRoots: agentRootsOf(env),
    sampleDir: join(root, 'resources', 'sample'),
    planner: built('engine', 'planner.js'),
    startup: { paths: named.filter((path) => !isProject(path)), project: named.find(isProject) ?? null },
    platform: process.platform,
  };
}
