import { describe, expect, test } from 'vitest';
import { agentRootsOf, dataDirOf, engineOptions } from '../../src/main/launch/index.js';

describe('places', () => {
  test("Stemma's data lies where it is told, else where the platform keeps such data", () => {
    expect(dataDirOf({ STEMMA_HOME: '/data', XDG_DATA_HOME: '/xdg' }, 'linux', '/home/me')).toBe('/data');
    expect(dataDirOf({ XDG_DATA_HOME: '/xdg' }, 'linux', '/home/me')).toBe('/xdg/stemma');
    expect(dataDirOf({}, 'linux', '/home/me')).toBe('/home/me/.local/share/stemma');
    expect(dataDirOf({}, 'darwin', '/Users/me')).toBe('/Users/me/Library/Application Support/Stemma');
  });

  test("Claude Code's histories are looked for where it is told to keep them, and at home, once each", () => {
    const claude = (env: Record<string, string>) =>
      agentRootsOf(env, '/home/me')
        .filter(({ agent }) => agent === 'claude-code')
        .map(({ root }) => root);
    expect(claude({ CLAUDE_CONFIG_DIR: '/claude' })).toEqual(['/claude', '/home/me/.claude']);
    expect(claude({ CLAUDE_CONFIG_DIR: '/home/me/.claude/' })).toEqual(['/home/me/.claude']);
    expect(claude({})).toEqual(['/home/me/.claude']);
  });

  test('a project among the paths is opened, the others are offered', () => {
    expect(engineOptions(['a.jsonl', 'work.stemma', '/abs/b'], '/here', {}).startup).toEqual({
      paths: ['/here/a.jsonl', '/abs/b'],
      project: '/here/work.stemma',
    });
  });
});
