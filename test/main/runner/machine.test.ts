import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentFor, mcpServer } from '../../../src/main/runner/machine.js';
import { openWorkshop } from '../../../src/main/runner/workshop.js';
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
  expect(Object.keys(environmentFor(machine, 'anthropic'))).toEqual(['PATH', 'ANTHROPIC_API_KEY', 'LANG']);
  expect(Object.keys(environmentFor(machine, 'openai'))).toEqual(['PATH', 'OPENAI_API_KEY', 'LANG']);
  expect(Object.keys(environmentFor(machine, 'none'))).toEqual(['PATH', 'LANG']);
});

test('[U6] the server of a job acts for its agent, with the chosen tools', () => {
  expect(mcpServer(machine, { project: '/p', tools: ['runs', 'search'], as: 'bot', runId: 'run-1' })).toEqual({
    command: 'node',
    args: ['stemma.js', 'mcp', '--project', '/p', '--tools', 'runs,search', '--as=bot', '--run=run-1'],
    env: { STEMMA_HOME: '/data' },
  });
  expect(mcpServer({ ...machine, env: {} }, { project: '/p', tools: [], as: null, runId: null })).toEqual({
    command: 'node',
    args: ['stemma.js', 'mcp', '--project', '/p'],
    env: {},
  });
});

test('[U7] a try has a worktree or a copy, the check gives its score, and the folder is removed', async () => {
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
