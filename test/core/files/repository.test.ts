import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryOf } from '../../../src/core/base/index.js';
import { repositoryAt } from '../../../src/core/files/index.js';
import { scratch } from '../../support/project.js';

test.each([
  ['/home/dev/app', '/home/dev/app'],
  ['/home/dev/app/', '/home/dev/app'],
  ['/', '/'],
  ['/home/dev/app/.claude/worktrees/feat-x', '/home/dev/app'],
  ['/home/dev/app/.claude/worktrees/feat-x/packages/y', '/home/dev/app'],
  ['/home/dev/.claude-worktrees/app/feat', '/home/dev/.claude-worktrees/app'],
  ['/Users/a/conductor/workspaces/app/lima', '/Users/a/conductor/workspaces/app'],
  ['C:\\Users\\dev\\src\\app', 'C:\\Users\\dev\\src\\app'],
  ['c:/Users/dev/src/app/', 'C:\\Users\\dev\\src\\app'],
  ['\\\\?\\C:\\Users\\dev\\src\\app', 'C:\\Users\\dev\\src\\app'],
  ['/mnt/c/Users/dev/src/app', 'C:\\Users\\dev\\src\\app'],
  ['/cygdrive/c/Users/dev', 'C:\\Users\\dev'],
  ['/mnt/c', 'C:\\'],
  ['C:\\', 'C:\\'],
  ['/mnt/data/app', '/mnt/data/app'],
  ['C:\\Users\\dev\\src\\app\\.claude\\worktrees\\x', 'C:\\Users\\dev\\src\\app'],
  ['\\\\wsl$\\Ubuntu\\home\\dev\\app', '/home/dev/app'],
  ['\\\\wsl.localhost\\Ubuntu\\home\\dev\\app\\.claude\\worktrees\\x', '/home/dev/app'],
  ['//wsl.localhost/Ubuntu/home/dev/app', '/home/dev/app'],
  ['\\\\wsl$\\Ubuntu', '/'],
  ['\\\\wsl$\\Ubuntu\\mnt\\c\\Users\\dev\\app', 'C:\\Users\\dev\\app'],
  ['\\\\server\\share\\app', '\\\\server\\share\\app'],
  ['\\\\?\\UNC\\server\\share\\app\\', '\\\\server\\share\\app'],
  ['/home//dev/app//', '/home/dev/app'],
  ['vscode-remote://wsl/home/dev', 'vscode-remote://wsl/home/dev'],
  ['', ''],
])('[N5] the repository of %s is %s', (folder, repository) => {
  expect(repositoryOf(folder)).toBe(repository);
});

test('[N5] a worktree of git and its folders belong to the repository that its file names', () => {
  const home = scratch();
  const place = (path: string, mark: string): string => {
    mkdirSync(join(home, path), { recursive: true });
    writeFileSync(join(home, path, '.git'), mark);
    return join(home, path);
  };
  mkdirSync(join(home, 'app/.git/worktrees/feat'), { recursive: true });
  mkdirSync(join(home, 'app/src'), { recursive: true });
  const feat = place('elsewhere/feat', `gitdir: ${home}/app/.git/worktrees/feat\n`);
  const near = place('near', 'gitdir: ../app/.git/worktrees/near\n');
  mkdirSync(join(feat, 'packages/a'), { recursive: true });
  expect(repositoryAt(feat)).toBe(join(home, 'app'));
  expect(repositoryAt(join(feat, 'packages/a'))).toBe(join(home, 'app'));
  expect(repositoryAt(near)).toBe(join(home, 'app'));
  expect(repositoryAt(`${feat}/`)).toBe(join(home, 'app'));
  expect(repositoryAt(place('of-windows', 'gitdir: c:/src/app/.git/worktrees/x'))).toBe('C:\\src\\app');
  expect(repositoryAt(place('bare-tree', `gitdir: ${home}/app.git/worktrees/x`))).toBe(join(home, 'app.git'));
  // A submodule, a file of other content, a checkout itself, and a folder that is gone.
  expect(repositoryAt(place('sub', `gitdir: ${home}/app/.git/modules/sub`))).toBe(join(home, 'sub'));
  expect(repositoryAt(place('odd', 'x'.repeat(10_000)))).toBe(join(home, 'odd'));
  expect(repositoryAt(join(home, 'app/src'))).toBe(join(home, 'app/src'));
  expect(repositoryAt(join(home, 'gone/away'))).toBe(join(home, 'gone/away'));
});
