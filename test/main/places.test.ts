import { describe, expect, test } from 'vitest';
import { agentRootsOf, dataDirOf, engineNode, engineOptions } from '../../src/main/launch/index.js';

describe('places', () => {
  test("Stemma's folder is STEMMA_HOME, or the platform's folder for application data", () => {
    expect(dataDirOf({ STEMMA_HOME: '/data', XDG_DATA_HOME: '/xdg' }, 'linux', '/home/me')).toBe('/data');
    expect(dataDirOf({ XDG_DATA_HOME: '/xdg' }, 'linux', '/home/me')).toBe('/xdg/stemma');
    expect(dataDirOf({}, 'linux', '/home/me')).toBe('/home/me/.local/share/stemma');
    expect(dataDirOf({}, 'darwin', '/Users/me')).toBe('/Users/me/Library/Application Support/Stemma');
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

  test('[F44] knows where editors keep chats on each system', () => {
    const roots = (platform: string, env: Record<string, string>, home: string) =>
      agentRootsOf(env, home, platform).flatMap(({ agent, root }) => (agent === 'vscode' || agent === 'cursor' ? [root] : []));
    expect(roots('linux', {}, '/home/me')).toEqual(
      expect.arrayContaining(['/home/me/.config/Code/User', '/home/me/.config/Cursor/User', '/home/me/.cursor', '/home/me/.vscode-server/data/User']),
    );
    expect(roots('darwin', {}, '/Users/me')).toEqual(
      expect.arrayContaining(['/Users/me/Library/Application Support/Code/User', '/Users/me/Library/Application Support/Cursor/User']),
    );
    expect(roots('win32', { APPDATA: '/roaming' }, '/home/me')).toEqual(expect.arrayContaining(['/roaming/Code/User', '/roaming/Cursor/User']));
  });

  test('[F44] knows where seven more agents keep their sessions', () => {
    const roots = (agent: string, platform: string, env: Record<string, string> = {}) =>
      agentRootsOf(env, '/me', platform).flatMap((place) => (place.agent === agent ? [place.root] : []));
    expect(roots('goose', 'linux')).toEqual(['/me/.local/share/goose']);
    expect(roots('goose', 'darwin', { GOOSE_PATH_ROOT: '/g' })).toEqual(['/g/data', '/me/.local/share/goose']);
    expect(roots('goose', 'win32', { APPDATA: '/roaming' })).toEqual(['/roaming/Block/goose/data']);
    expect(roots('kimi', 'linux')).toEqual(['/me/.kimi-code']);
    expect(roots('openhands', 'win32')).toEqual(['/me/.openhands']);
    expect(roots('antigravity', 'darwin')).toEqual(['/me/.gemini/antigravity', '/me/.gemini/antigravity-cli']);
    expect(roots('kilo', 'linux', { XDG_DATA_HOME: '/xdg' })).toEqual(['/xdg/kilo', '/me/.local/share/kilo']);
    expect(roots('openclaw', 'linux', { OPENCLAW_STATE_DIR: '/claw' })).toEqual(['/claw', '/me/.openclaw']);
    expect(roots('roo', 'win32', { APPDATA: '/roaming' })).toContain('/roaming/Code/User/globalStorage/rooveterinaryinc.roo-cline');
  });

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
});
