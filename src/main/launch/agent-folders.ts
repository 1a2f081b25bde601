import type { PlatformPath } from 'node:path';
import type { SourceAgent } from '../../core/contract/index.js';
import type { AgentRoot } from '../../core/project/index.js';
import { type FolderOwner, foldersOf, variableOf } from '../../core/system/index.js';

/** A person, and the paths of the system that reads the person's files: Windows reads the files of a Linux inside it by paths of its own. */
export interface Home extends FolderOwner {
  readonly paths: PlatformPath;
}

interface Around {
  /** A path below the home folder. */
  home(...below: string[]): string;
  /** A path below the folder that a variable of the agent names; undefined if it is not set. */
  named(variable: string, ...below: string[]): string | undefined;
  /** The folder in which an editor of the VS Code family stores a person's data. */
  editor(name: string): string;
  data(name: string): string;
  readonly isWindows: boolean;
  readonly isLinux: boolean;
  /** The folder for settings of applications. */
  readonly settings: string;
  /** The folder for data of applications that stays on the machine. */
  readonly local: string;
  below(...parts: string[]): string;
  dirname(path: string): string;
}

/** The folders of each agent: the folder that its environment variable names, and the folder in the home folder. */
const agentFolders: Readonly<Record<SourceAgent, (at: Around) => readonly (string | undefined)[]>> = {
  'claude-code': ({ home, named }) => [named('CLAUDE_CONFIG_DIR'), home('.claude')],
  codex: ({ home, named }) => [named('CODEX_HOME'), home('.codex')],
  gemini: ({ home, named }) => [named('GEMINI_CLI_HOME', '.gemini'), home('.gemini')],
  opencode: ({ home, named }) => [named('XDG_DATA_HOME', 'opencode'), home('.local', 'share', 'opencode')],
  copilot: ({ home, named }) => [named('COPILOT_HOME'), home('.copilot')],
  qwen: ({ home, named }) => [named('QWEN_HOME'), named('QWEN_RUNTIME_DIR'), home('.qwen')],
  cline: (at) => [at.named('CLINE_DIR'), at.named('CLINE_DATA_DIR'), at.home('.cline'), ...extensionFolders('saoudrizwan.claude-dev', at)],
  roo: (at) => extensionFolders('rooveterinaryinc.roo-cline', at),
  kilo: (at) => {
    const database = at.named('KILO_DB');
    return [
      database && at.dirname(database),
      at.named('XDG_DATA_HOME', 'kilo'),
      at.home('.local', 'share', 'kilo'),
      ...extensionFolders('kilocode.kilo-code', at),
    ];
  },
  openclaw: ({ home, named }) => [named('OPENCLAW_STATE_DIR'), home('.openclaw')],
  cursor: ({ home, editor }) => [editor('Cursor'), home('.cursor')],
  vscode: (at) => userFolders(at),
  droid: ({ home }) => [home('.factory')],
  goose: ({ home, named, below, isWindows, settings }) => [
    named('GOOSE_PATH_ROOT', 'data'),
    isWindows ? below(settings, 'Block', 'goose', 'data') : (named('XDG_DATA_HOME', 'goose') ?? home('.local', 'share', 'goose')),
  ],
  openhands: ({ home }) => [home('.openhands')],
  kimi: ({ home }) => [home('.kimi-code')],
  antigravity: ({ home }) => [home('.gemini', 'antigravity'), home('.gemini', 'antigravity-cli')],
  pi: ({ home, named }) => [named('PI_CODING_AGENT_DIR'), home('.pi', 'agent')],
  amp: ({ home, named }) => [named('XDG_DATA_HOME', 'amp'), home('.local', 'share', 'amp')],
  continue: ({ home, named }) => [named('CONTINUE_GLOBAL_DIR'), home('.continue')],
  // Kiro's command line, and Amazon Q before it.
  kiro: (at) => [at.data('kiro-cli'), at.data('amazon-q')],
  zed: (at) => [at.data(at.isLinux ? 'zed' : 'Zed')],
  // Each repository has a database of its own; this one is for all others.
  crush: ({ home, named, below, isWindows, local }) => [
    isWindows ? below(local, 'crush') : (named('XDG_DATA_HOME', 'crush') ?? home('.local', 'share', 'crush')),
  ],
  // Each repository has a history of its own.
  aider: () => [],
};

/** Editors of the VS Code family with their own chats. */
const editors = ['Code', 'Code - Insiders', 'VSCodium'] as const;
/** Further editors that run extensions. */
const forks = ['Cursor', 'Windsurf'] as const;

const userFolders = ({ home, editor }: Around): string[] => [...editors.map(editor), home('.vscode-server', 'data', 'User')];

/** The folders of an extension's files, one for each editor of the VS Code family. */
const extensionFolders = (name: string, at: Around): string[] =>
  [...userFolders(at), ...forks.map(at.editor)].map((folder) => at.below(folder, 'globalStorage', name));

/** The folders of all agents for one home folder. */
export function agentRootsAt({ paths, ...person }: Home): AgentRoot[] {
  const { env, system } = person;
  const { join, resolve, dirname } = paths;
  const folders = foldersOf(person);
  const named = (variable: string, ...below: string[]): string | undefined => {
    const value = variableOf(env, variable, system);
    return value ? join(resolve(value), ...below) : undefined;
  };
  const at: Around = {
    home: (...below) => join(person.home, ...below),
    named,
    editor: (name) => join(folders.settings, name, 'User'),
    below: join,
    data: (name) => join(folders.data, name),
    isWindows: system === 'windows',
    isLinux: system === 'linux',
    settings: folders.settings,
    local: folders.data,
    dirname,
  };
  const usual = Object.entries(agentFolders).flatMap(([agent, foldersAt]) =>
    [...new Set(foldersAt(at).flatMap((folder) => (folder ? [resolve(folder)] : [])))].map((root) => ({ agent: agent as SourceAgent, root })),
  );
  const sessions = named('CLINE_SESSION_DATA_DIR');
  return sessions ? [...usual, { agent: 'cline', root: sessions, holdsSessions: true }] : usual;
}
