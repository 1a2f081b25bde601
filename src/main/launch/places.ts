import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { SourceAgent } from '../../core/contract/index.js';
import type { AgentRoot, EngineOptions } from '../../core/project/index.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder that contains `out/` and `resources/`, in a checkout and in a package. */
const root = resolve(import.meta.dirname, '..', '..');

/** A file of the build, by its path below `out/`. */
export const built = (...parts: string[]): string => join(root, 'out', ...parts);

/** The copy of a packaged file beside Electron's archive, for programs that cannot read the archive. Other paths stay as they are. */
export const outsideArchive = (path: string): string => path.replace(/([\\/]app\.asar)(?=[\\/])/, '$1.unpacked');

/** Stemma's own folder, for everything outside of projects: `$STEMMA_HOME`, or the platform's folder for application data. */
export function dataDirOf(env: Environment = process.env, platform: string = process.platform, home: string = homedir()): string {
  if (env.STEMMA_HOME) return resolve(env.STEMMA_HOME);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Stemma');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'Stemma');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'stemma');
}

/** The folders of each agent: the folder that its environment variable names, and the folder in the home folder. */
const agentFolders: Readonly<Record<SourceAgent, (env: Environment, home: string, platform: string) => readonly (string | undefined)[]>> = {
  'claude-code': (env, home) => [env.CLAUDE_CONFIG_DIR, join(home, '.claude')],
  codex: (env, home) => [env.CODEX_HOME, join(home, '.codex')],
  gemini: (env, home) => [env.GEMINI_CLI_HOME && join(env.GEMINI_CLI_HOME, '.gemini'), join(home, '.gemini')],
  opencode: (env, home) => [env.XDG_DATA_HOME && join(env.XDG_DATA_HOME, 'opencode'), join(home, '.local', 'share', 'opencode')],
  copilot: (env, home) => [env.COPILOT_HOME, join(home, '.copilot')],
  qwen: (env, home) => [env.QWEN_HOME, env.QWEN_RUNTIME_DIR, join(home, '.qwen')],
  cline: (env, home, platform) => [
    env.CLINE_DIR,
    env.CLINE_DATA_DIR,
    join(home, '.cline'),
    ...extensionFolders('saoudrizwan.claude-dev', env, home, platform),
  ],
  roo: (env, home, platform) => extensionFolders('rooveterinaryinc.roo-cline', env, home, platform),
  kilo: (env, home, platform) => [
    env.KILO_DB && dirname(env.KILO_DB),
    env.XDG_DATA_HOME && join(env.XDG_DATA_HOME, 'kilo'),
    join(home, '.local', 'share', 'kilo'),
    ...extensionFolders('kilocode.kilo-code', env, home, platform),
  ],
  openclaw: (env, home) => [env.OPENCLAW_STATE_DIR, join(home, '.openclaw')],
  cursor: (env, home, platform) => [editorFolder('Cursor', env, home, platform), join(home, '.cursor')],
  vscode: (env, home, platform) => userFolders(env, home, platform),
  droid: (_, home) => [join(home, '.factory')],
  goose: (env, home, platform) => [
    env.GOOSE_PATH_ROOT && join(env.GOOSE_PATH_ROOT, 'data'),
    platform === 'win32'
      ? join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'Block', 'goose', 'data')
      : join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'goose'),
  ],
  openhands: (_, home) => [join(home, '.openhands')],
  kimi: (_, home) => [join(home, '.kimi-code')],
  antigravity: (_, home) => [join(home, '.gemini', 'antigravity'), join(home, '.gemini', 'antigravity-cli')],
  pi: (env, home) => [env.PI_CODING_AGENT_DIR, join(home, '.pi', 'agent')],
};

/** The folder in which extensions of an editor of the VS Code family store a person's data. */
function editorFolder(editor: string, env: Environment, home: string, platform: string): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', editor, 'User');
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), editor, 'User');
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), editor, 'User');
}

const userFolders = (env: Environment, home: string, platform: string): string[] => [
  ...['Code', 'Code - Insiders', 'VSCodium'].map((editor) => editorFolder(editor, env, home, platform)),
  join(home, '.vscode-server', 'data', 'User'),
];

/** The folders of an extension's files, one for each editor of the VS Code family. */
const extensionFolders = (name: string, env: Environment, home: string, platform: string): string[] =>
  [...userFolders(env, home, platform), ...['Cursor', 'Windsurf'].map((editor) => editorFolder(editor, env, home, platform))].map((folder) =>
    join(folder, 'globalStorage', name),
  );

/** The folders where agents store their histories on this machine, installed or not. */
export function agentRootsOf(env: Environment = process.env, home: string = homedir(), platform: string = process.platform): AgentRoot[] {
  const usual = Object.entries(agentFolders).flatMap(([agent, folders]) =>
    [...new Set(folders(env, home, platform).flatMap((folder) => (folder ? [resolve(folder)] : [])))].map((root) => ({
      agent: agent as SourceAgent,
      root,
    })),
  );
  const { CLINE_SESSION_DATA_DIR: sessions } = env;
  return sessions ? [...usual, { agent: 'cline', root: resolve(sessions), holdsSessions: true }] : usual;
}

const isProject = (path: string): boolean => path.endsWith('.stemma');

/**
 * The facts about this machine that the engine needs. `paths` come from the command line, relative to `cwd`: the first project folder is opened, all
 * other paths are offered for import.
 */
export function engineOptions(paths: readonly string[] = [], cwd: string = process.cwd(), env: Environment = process.env): EngineOptions {
  const named = paths.map((path) => resolve(cwd, path));
  return {
    dataDir: dataDirOf(env),
    agentRoots: agentRootsOf(env),
    sampleDir: join(root, 'resources', 'sample'),
    worker: built('engine', 'work.js'),
    startup: { paths: named.filter((path) => !isProject(path)), project: named.find(isProject) ?? null },
    platform: process.platform,
  };
}
