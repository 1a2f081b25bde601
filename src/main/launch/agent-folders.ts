import type { PlatformPath } from 'node:path';
import type { SourceAgent } from '../../core/contract/index.js';
import type { AgentRoot } from '../../core/project/index.js';
import { type FolderOwner, foldersOf, variableOf } from '../../core/system/index.js';

/** A person, and the paths of the system that reads the person's files: Windows reads the files of a Linux inside it by paths of its own. */
export interface Home extends FolderOwner {
  readonly paths: PlatformPath;
}

/** Editors of the VS Code family with their own chats. */
const editors = ['Code', 'Code - Insiders', 'VSCodium'] as const;
/** Further editors that run extensions. */
const forks = ['Cursor', 'Windsurf'] as const;

/** The folders of all agents for one home folder. */
export function agentRootsAt({ paths, ...person }: Home): AgentRoot[] {
  const { env, system } = person;
  const { join, resolve, dirname } = paths;
  const folders = foldersOf(person);
  /** A path below the home folder. */
  const home = (...below: string[]): string => join(person.home, ...below);
  /** A path below the folder that a variable of the agent names; undefined if it is not set. */
  const named = (variable: string, ...below: string[]): string | undefined => {
    const value = variableOf(env, variable, system);
    return value ? join(resolve(value), ...below) : undefined;
  };
  /** The folder in which an editor of the VS Code family stores a person's data. */
  const editor = (name: string): string => join(folders.settings, name, 'User');
  const users = [...editors.map(editor), home('.vscode-server', 'data', 'User')];
  /** The folders of an extension's files, one for each editor of the VS Code family. */
  const extension = (name: string): string[] => [...users, ...forks.map(editor)].map((folder) => join(folder, 'globalStorage', name));
  const data = (name: string): string => join(folders.data, name);
  /** What programs for Linux keep in `XDG_DATA_HOME`. */
  const shared = (name: string): string => named('XDG_DATA_HOME', name) ?? home('.local', 'share', name);
  const kilo = named('KILO_DB');
  /** The folders of each agent: the folder that its environment variable names, and the folder in the home folder. */
  const usual: Readonly<Record<SourceAgent, readonly (string | undefined)[]>> = {
    'claude-code': [named('CLAUDE_CONFIG_DIR'), home('.claude')],
    codex: [named('CODEX_HOME'), home('.codex')],
    gemini: [named('GEMINI_CLI_HOME', '.gemini'), home('.gemini')],
    opencode: [named('XDG_DATA_HOME', 'opencode'), home('.local', 'share', 'opencode')],
    copilot: [named('COPILOT_HOME'), home('.copilot')],
    qwen: [named('QWEN_HOME'), named('QWEN_RUNTIME_DIR'), home('.qwen')],
    cline: [named('CLINE_DIR'), named('CLINE_DATA_DIR'), home('.cline'), ...extension('saoudrizwan.claude-dev')],
    roo: extension('rooveterinaryinc.roo-cline'),
    kilo: [kilo && dirname(kilo), named('XDG_DATA_HOME', 'kilo'), home('.local', 'share', 'kilo'), ...extension('kilocode.kilo-code')],
    openclaw: [named('OPENCLAW_STATE_DIR'), home('.openclaw')],
    cursor: [editor('Cursor'), home('.cursor')],
    vscode: users,
    droid: [home('.factory')],
    goose: [named('GOOSE_PATH_ROOT', 'data'), system === 'windows' ? join(folders.settings, 'Block', 'goose', 'data') : shared('goose')],
    openhands: [home('.openhands')],
    kimi: [home('.kimi-code')],
    antigravity: [home('.gemini', 'antigravity'), home('.gemini', 'antigravity-cli')],
    pi: [named('PI_CODING_AGENT_DIR'), home('.pi', 'agent')],
    amp: [named('XDG_DATA_HOME', 'amp'), home('.local', 'share', 'amp')],
    continue: [named('CONTINUE_GLOBAL_DIR'), home('.continue')],
    // Kiro's command line, and Amazon Q before it.
    kiro: [data('kiro-cli'), data('amazon-q')],
    zed: [data(system === 'linux' ? 'zed' : 'Zed')],
    // Each repository has a database of its own; this one is for all others.
    crush: [system === 'windows' ? data('crush') : shared('crush')],
    // Each repository has a history of its own.
    aider: [],
  };
  const roots = Object.entries(usual).flatMap(([agent, all]) =>
    [...new Set(all.flatMap((folder) => (folder ? [resolve(folder)] : [])))].map((root) => ({ agent: agent as SourceAgent, root })),
  );
  const sessions = named('CLINE_SESSION_DATA_DIR');
  return sessions ? [...roots, { agent: 'cline', root: sessions, holdsSessions: true }] : roots;
}
