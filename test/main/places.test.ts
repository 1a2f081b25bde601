import { describe, expect, test } from 'vitest';
import type { SourceAgent } from '../../src/core/contract/index.js';
import type { System } from '../../src/core/system/index.js';
import { agentRootsOf, commandIn, engineNode, engineOptions, findDataDir, ownCommand, shellCommand } from '../../src/main/launch/index.js';

describe('places', () => {
  test("Stemma's folder is STEMMA_HOME, or the platform's folder for application data", () => {
    expect(findDataDir({ STEMMA_HOME: '/data', XDG_DATA_HOME: '/xdg' }, 'linux', '/home/me')).toBe('/data');
    expect(findDataDir({ XDG_DATA_HOME: '/xdg' }, 'linux', '/home/me')).toBe('/xdg/stemma');
    expect(findDataDir({}, 'linux', '/home/me')).toBe('/home/me/.local/share/stemma');
    expect(findDataDir({}, 'macos', '/Users/me')).toBe('/Users/me/Library/Application Support/Stemma');
    expect(findDataDir({ LocalAppData: 'D:\\Local' }, 'windows', 'C:\\Users\\me')).toBe('D:\\Local\\Stemma');
    expect(findDataDir({}, 'windows', 'C:\\Users\\me')).toBe('C:\\Users\\me\\AppData\\Local\\Stemma');
  });

  test("looks for Claude Code's histories in CLAUDE_CONFIG_DIR and at home, once each", () => {
    const claude = (env: Record<string, string>) =>
      agentRootsOf(env, '/home/me')
        .filter(({ agent }) => agent === 'claude-code')
        .map(({ root }) => root);
    expect(claude({ CLAUDE_CONFIG_DIR: '/claude' })).toEqual(['/claude', '/home/me/.claude']);
    expect(claude({ CLAUDE_CONFIG_DIR: '/home/me/.claude/' })).toEqual(['/home/me/.claude']);
    expect(claude({})).toEqual(['/home/me/.claude']);
  });

  /** The folders of each agent on Linux, macOS and Windows, and those that its variables name. `~` is the home folder. */
  const editorsOn = (path: string): Record<string, string[]> => ({
    linux: [
      `~/.config/Code/User${path}`,
      `~/.config/Code - Insiders/User${path}`,
      `~/.config/VSCodium/User${path}`,
      `~/.vscode-server/data/User${path}`,
    ],
    macos: ['Code', 'Code - Insiders', 'VSCodium'].map((name) => `~/Library/Application Support/${name}/User${path}`),
    windows: ['Code', 'Code - Insiders', 'VSCodium'].map((name) => `~/AppData/Roaming/${name}/User${path}`),
  });
  const forksOn = (path: string): Record<string, string[]> => ({
    linux: [`~/.config/Cursor/User${path}`, `~/.config/Windsurf/User${path}`],
    macos: [`~/Library/Application Support/Cursor/User${path}`, `~/Library/Application Support/Windsurf/User${path}`],
    windows: [`~/AppData/Roaming/Cursor/User${path}`, `~/AppData/Roaming/Windsurf/User${path}`],
  });
  const on = (systems: Record<string, string[]>, platform: string): string[] => systems[platform] ?? [];
  const everywhere =
    (...folders: string[]) =>
    (): string[] =>
      folders;
  const dataOn = (name: string, platform: string): string[] => [
    platform === 'windows' ? `~/AppData/Local/${name}` : platform === 'macos' ? `~/Library/Application Support/${name}` : `~/.local/share/${name}`,
  ];
  const agents: Readonly<Record<SourceAgent, { readonly folders: (platform: string) => string[]; readonly named?: Record<string, string> }>> = {
    'claude-code': { folders: everywhere('~/.claude'), named: { CLAUDE_CONFIG_DIR: '/x' } },
    codex: { folders: everywhere('~/.codex'), named: { CODEX_HOME: '/x' } },
    gemini: { folders: everywhere('~/.gemini'), named: { GEMINI_CLI_HOME: '/x/.gemini' } },
    opencode: { folders: everywhere('~/.local/share/opencode'), named: { XDG_DATA_HOME: '/x/opencode' } },
    pi: { folders: everywhere('~/.pi/agent'), named: { PI_CODING_AGENT_DIR: '/x' } },
    copilot: { folders: everywhere('~/.copilot'), named: { COPILOT_HOME: '/x' } },
    qwen: { folders: everywhere('~/.qwen'), named: { QWEN_HOME: '/x', QWEN_RUNTIME_DIR: '/x' } },
    cline: {
      folders: (platform) => [
        '~/.cline',
        ...on(editorsOn('/globalStorage/saoudrizwan.claude-dev'), platform),
        ...on(forksOn('/globalStorage/saoudrizwan.claude-dev'), platform),
      ],
      named: { CLINE_DIR: '/x', CLINE_DATA_DIR: '/x', CLINE_SESSION_DATA_DIR: '/x' },
    },
    roo: {
      folders: (platform) => [
        ...on(editorsOn('/globalStorage/rooveterinaryinc.roo-cline'), platform),
        ...on(forksOn('/globalStorage/rooveterinaryinc.roo-cline'), platform),
      ],
    },
    kilo: {
      folders: (platform) => [
        '~/.local/share/kilo',
        ...on(editorsOn('/globalStorage/kilocode.kilo-code'), platform),
        ...on(forksOn('/globalStorage/kilocode.kilo-code'), platform),
      ],
      named: { XDG_DATA_HOME: '/x/kilo', KILO_DB: '/' },
    },
    openclaw: { folders: everywhere('~/.openclaw'), named: { OPENCLAW_STATE_DIR: '/x' } },
    cursor: { folders: (platform) => [...on(forksOn(''), platform).slice(0, 1), '~/.cursor'] },
    vscode: { folders: (platform) => on(editorsOn(''), platform) },
    droid: { folders: everywhere('~/.factory') },
    goose: {
      folders: (platform) => [platform === 'windows' ? '~/AppData/Roaming/Block/goose/data' : '~/.local/share/goose'],
      named: { GOOSE_PATH_ROOT: '/x/data' },
    },
    openhands: { folders: everywhere('~/.openhands') },
    kimi: { folders: everywhere('~/.kimi-code') },
    antigravity: { folders: everywhere('~/.gemini/antigravity', '~/.gemini/antigravity-cli') },
    amp: { folders: everywhere('~/.local/share/amp'), named: { XDG_DATA_HOME: '/x/amp' } },
    continue: { folders: everywhere('~/.continue'), named: { CONTINUE_GLOBAL_DIR: '/x' } },
    kiro: { folders: (platform) => dataOn('kiro-cli', platform), named: { XDG_DATA_HOME: '/x/kiro-cli' } },
    zed: { folders: (platform) => dataOn(platform === 'linux' ? 'zed' : 'Zed', platform), named: { XDG_DATA_HOME: '/x/zed' } },
    crush: {
      folders: (platform) => [platform === 'windows' ? '~/AppData/Local/crush' : '~/.local/share/crush'],
      named: { XDG_DATA_HOME: '/x/crush' },
    },
    // Its histories lie in the repositories of a project.
    aider: { folders: everywhere() },
  };

  test.each(Object.entries(agents))(
    '[F44, O8] knows the folders of %s on each system, and those that its variables name',
    (agent, { folders, named }) => {
      const homes = { linux: '/home/me', macos: '/Users/me', windows: 'C:\\Users\\me' } as const;
      const roots = (system: System, env: Record<string, string> = {}, linux: string[] = []): string[] =>
        agentRootsOf(env, homes[system], system, linux).flatMap((place) => (place.agent === agent ? [place.root] : []));
      const asWindows = (path: string, home: string): string => path.replace('~', home).replaceAll('/', '\\');
      for (const system of ['linux', 'macos'] as const)
        expect(roots(system)).toEqual(expect.arrayContaining(folders(system).map((folder) => folder.replace('~', homes[system]))));
      expect(roots('windows')).toEqual(expect.arrayContaining(folders('windows').map((folder) => asWindows(folder, homes.windows))));
      // Those of a Linux inside Windows, by paths of Windows.
      const inside = '\\\\wsl.localhost\\Ubuntu\\home\\me';
      expect(roots('windows', {}, [inside])).toEqual(expect.arrayContaining(folders('linux').map((folder) => asWindows(folder, inside))));
      for (const [variable, folder] of Object.entries(named ?? {})) expect(roots('linux', { [variable]: '/x' })).toContain(folder);
    },
  );

  test('opens a project among the paths and offers the others for import', () => {
    expect(engineOptions(['a.jsonl', 'work.stemma', '/abs/b'], '/here', {}).startup).toEqual({
      paths: ['/here/a.jsonl', '/abs/b'],
      project: '/here/work.stemma',
    });
  });

  test('[T54] a package ignores STEMMA_ENGINE_NODE; a checkout runs the engine with it', () => {
    const env = { STEMMA_ENGINE_NODE: '/usr/bin/node' };
    expect(engineNode(true, env)).toBeUndefined();
    expect(engineNode(false, env)).toBe('/usr/bin/node');
    expect(engineNode(false, { STEMMA_ENGINE_NODE: '' })).toBeUndefined();
  });

  test('[D3] a command is run by Node and the script, or by the packaged app without a window', () => {
    const node = ownCommand({ execPath: '/bin/node', versions: { node: '24.0.0' }, env: {} });
    expect(node[0]).toBe('/bin/node');
    expect(node[1]).toMatch(/out[/\\]cli[/\\]stemma\.js$/);
    const versions = { node: '24.0.0', electron: '45.0.0' };
    const [program, ...switches] = ownCommand({ execPath: '/opt/Stemma/stemma-app', versions, env: {} });
    expect(program).toBe('/opt/Stemma/stemma-app');
    expect(commandIn([program, ...switches, 'mcp', '--project', 'a.stemma'])).toEqual(['mcp', '--project', 'a.stemma']);
    expect(shellCommand(false, '/electron')[1]).toMatch(/stemma\.js$/);
  });

  test('[D3] an AppImage is named by its file, and only if the program lies in it', () => {
    const versions = { electron: '45.0.0' };
    const env = { APPIMAGE: '/home/me/Stemma.AppImage', APPDIR: '/tmp/.mount_x' };
    expect(ownCommand({ execPath: '/tmp/.mount_x/stemma-app', versions, env })[0]).toBe('/home/me/Stemma.AppImage');
    expect(ownCommand({ execPath: '/opt/Stemma/stemma-app', versions, env })[0]).toBe('/opt/Stemma/stemma-app');
  });

  test('[D3] words of the command line are a command; paths, links and switches open the window', () => {
    const words = (...argv: string[]) => commandIn(['/app', ...argv], (path) => path === 'history');
    expect(words('--no-sandbox', 'mcp', '--project', 'x')).toEqual(['mcp', '--project', 'x']);
    expect(words('--stemma-command', '--', '--help')).toEqual(['--help']);
    expect(words('--stemma-command', '--')).toEqual([]);
    for (const path of ['/abs/a.jsonl', 'a.stemma', './log', 'history', 'stemma://commit/ctx-1', '--version']) expect(words(path)).toBeUndefined();
    expect(words()).toBeUndefined();
  });
});
