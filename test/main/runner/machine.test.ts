import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allowedEnvironment, noticeOf, type Own } from '../../../src/main/runner/environment.js';
import { mcpServer } from '../../../src/main/runner/machine.js';
import { openWorkshop } from '../../../src/main/runner/workshop.js';
import { isInstalled } from '../../support/machine.js';
import { scratch } from '../../support/project.js';

const env = {
  PATH: process.env.PATH,
  ANTHROPIC_API_KEY: 'a',
  OPENAI_API_KEY: 'o',
  GEMINI_API_KEY: 'g',
  STEMMA_HOME: '/data',
  STEMMA_TOKEN: 't',
  LANG: 'C',
};
const machine = { env, stemma: ['node', 'stemma.js'] } as const;

test('[U3] an agent and a check see no key of another provider and nothing of Stemma', () => {
  expect(Object.keys(allowedEnvironment(machine.env, 'anthropic').env)).toEqual(['PATH', 'ANTHROPIC_API_KEY', 'LANG']);
  expect(Object.keys(allowedEnvironment(machine.env, 'openai').env)).toEqual(['PATH', 'OPENAI_API_KEY', 'LANG']);
  expect(Object.keys(allowedEnvironment(machine.env, 'none').env)).toEqual(['PATH', 'LANG']);
});

test('[U9] only allowed names reach an agent, Git and checks, and the others are named', () => {
  const secrets = [
    'AZURE_CLIENT_SECRET',
    'GITHUB_TOKEN',
    'NPM_TOKEN',
    'CEREBRAS_API_KEY',
    'MY_DB_PASSWORD',
    'REPLICATE_API_TOKEN',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'BASH_ENV',
    'MCP_GITHUB_TOKEN',
  ];
  const system = [
    'PATH',
    'HOME',
    'LANG',
    'LC_ALL',
    'https_proxy',
    'NO_PROXY',
    'SSH_AUTH_SOCK',
    'NODE_EXTRA_CA_CERTS',
    'XDG_CONFIG_HOME',
    'SystemRoot',
  ];
  const claude = [
    'BASH_DEFAULT_TIMEOUT_MS',
    'MCP_TIMEOUT',
    'MCP_CONNECTION_NONBLOCKING',
    'ANTHROPIC_API_KEY',
    'CLAUDE_CODE_USE_BEDROCK',
    'AWS_PROFILE',
    'AWS_SECRET_ACCESS_KEY',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'CLOUD_ML_REGION',
  ];
  const given = Object.fromEntries([...secrets, ...system, ...claude, 'STEMMA_TOKEN', 'OPENAI_API_KEY'].map((name) => [name, 'x']));
  const names = (own: Own, added: string[] = []) => Object.keys(allowedEnvironment(given, own, added).env).sort();
  expect(names('none')).toEqual(system.toSorted());
  expect(names('anthropic')).toEqual([...system, ...claude].sort());
  expect(names('openai')).toEqual([...system, 'OPENAI_API_KEY'].sort());
  expect(names('none', ['MY_DB_PASSWORD', 'STEMMA_TOKEN', 'LD_PRELOAD'])).toEqual([...system, 'MY_DB_PASSWORD'].sort());
  expect(allowedEnvironment(given, 'anthropic').withheld).toEqual([...secrets, 'STEMMA_TOKEN', 'OPENAI_API_KEY'].sort());
  expect([...noticeOf('Claude Code', allowedEnvironment(given, 'anthropic'))]).toEqual([
    { kind: 'notice', text: expect.stringContaining('GITHUB_TOKEN') },
  ]);
});

const hasGit = isInstalled('git');

test.skipIf(!hasGit)('[U9] Git of Stemma runs no hook of a repository and sees no key (needs git)', async () => {
  const at = scratch();
  const folder = join(at, 'app');
  mkdirSync(folder);
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  writeFileSync(join(folder, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch "${join(at, 'ran')}"\n`, { mode: 0o755 });
  const workshop = openWorkshop(machine, join(at, 'data'));
  await workshop.remove(await workshop.make(folder, 'one'));
  expect(existsSync(join(at, 'ran'))).toBe(false);
});

test('[U6] the server of a job acts for its agent, with the chosen tools', () => {
  expect(mcpServer(machine, { project: '/p', tools: ['runs', 'search'], as: 'bot', runId: 'run-1' })).toEqual({
    command: 'node',
    args: ['stemma.js', 'mcp', '--project', '/p', '--tools', 'runs,search', '--as=bot', '--run=run-1'],
    env: { STEMMA_HOME: '/data' },
  });
  const { args } = mcpServer(machine, { project: '/p', tools: [], permitted: ['search', 'card_get', '--as=ada', 'a,b'], as: 'bot', runId: null });
  expect(args.slice(4)).toEqual(['--permitted', 'search,card_get', '--as=bot']);
  expect(mcpServer({ ...machine, env: {} }, { project: '/p', tools: [], as: null, runId: null })).toEqual({
    command: 'node',
    args: ['stemma.js', 'mcp', '--project', '/p'],
    env: {},
  });
});

test.skipIf(!hasGit)('[U7] a try has a worktree or a copy, and a score by its check, and is removed (needs git)', { tags: 'long' }, async () => {
  const at = scratch();
  const workshop = openWorkshop(machine, join(at, 'data'));
  const [folder, plain] = [join(at, 'app'), join(at, 'plain')];
  for (const each of [folder, plain]) mkdirSync(each, { recursive: true });
  writeFileSync(join(plain, 'a.txt'), 'copied');
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
  git('init', '-q');
  writeFileSync(join(folder, 'a.txt'), 'committed');
  git('add', '.');
  git('commit', '-qm', 'first');

  const [worktree, copy] = [await workshop.make(folder, 'one'), await workshop.make(plain, 'two')];
  expect([worktree, copy].map((each) => readFileSync(join(each, 'a.txt'), 'utf8'))).toEqual(['committed', 'copied']);
  expect(git('worktree', 'list')).toContain(worktree);
  expect(await workshop.check('cat && pwd && echo "$OPENAI_API_KEY."', worktree, 'said ')).toEqual({ passed: true, output: `said ${worktree}\n.` });
  expect(await workshop.check('exit 3', copy, '')).toEqual({ passed: false, output: '' });

  expect(await workshop.made('on')).toEqual([{ folder: worktree, isHeld: true }]);
  const died = copy.replace(/\d+$/, '4194305');
  renameSync(copy, died);
  expect(await workshop.made('tw')).toEqual([{ folder: died, isHeld: false }]);
  renameSync(died, copy);

  for (const each of [worktree, copy, folder]) await workshop.remove(each);
  expect([worktree, copy, folder].map((each) => existsSync(each))).toEqual([false, false, true]);
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
});
