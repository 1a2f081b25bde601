import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listInside, privateFolder } from '../../core/files/index.js';
import type { Git, Workshop } from '../../core/project/index.js';
import { comparable } from '../../core/system/index.js';
import { isRunning, programOutput, runShell } from '../system/index.js';
import { allowedEnvironment } from './environment.js';
import type { Machine } from './machine.js';

/** The number of characters to keep of the end of a check's output. */
const keptOutput = 4_000;
const checkMs = 10 * 60_000;

/** Makes and removes the folders of tries, which are below the data folder of this machine. A check sees no key of a provider. */
export function openWorkshop(machine: Machine, dataDir: string): Workshop {
  const root = join(dataDir, 'tries');
  const git = openGit(machine, dataDir);
  return {
    async make(folder, name) {
      // While the process whose id is in the name lives, a folder without a job still belongs to it.
      const made = join(root, `${name}.${process.pid}`);
      await mkdir(root, { recursive: true, mode: privateFolder });
      try {
        await git(folder, ['worktree', 'add', '--detach', made]);
      } catch {
        // The folder is not a Git repository, or has no commit yet.
        await cp(folder, made, { recursive: true, verbatimSymlinks: true });
      }
      return made;
    },
    async made(beginning) {
      if (!existsSync(root)) return [];
      return listInside(root, root).flatMap(({ name }) => {
        const [, maker] = name.startsWith(beginning) ? (/\.(\d+)$/.exec(name) ?? []) : [];
        return maker === undefined ? [] : [{ folder: join(root, name), isHeld: isRunning(Number(maker)) }];
      });
    },
    check: (command, folder, input, added) => runCheck(command, folder ?? dataDir, input, allowedEnvironment(machine.env, 'none', added).env),
    async remove(folder) {
      if (dirname(folder) !== root) return;
      try {
        const answer = await git(folder, ['rev-parse', '--path-format=absolute', '--git-common-dir', '--show-toplevel']);
        const [common = '', top] = answer.trim().split(/\r?\n/);
        const isWorktree = top !== undefined && comparable(top) === comparable(folder);
        if (isWorktree) await git(common, ['--git-dir', common, 'worktree', 'remove', '--force', folder]);
      } catch {
        // The folder is a copy, not a worktree.
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a command of a person with the shell: exit code 0 passes. After ten minutes, it and all that it started are killed. */
function runCheck(command: string, cwd: string, input: string, env: Record<string, string>): Promise<{ passed: boolean; output: string }> {
  return new Promise((resolve) => {
    const { child, kill } = runShell(command, { cwd, env });
    let output = '';
    const keep = (text: string): void => {
      output = (output + text).slice(-keptOutput);
    };
    const timer = setTimeout(() => {
      keep('\nThe check took longer than 10 minutes.');
      kill();
    }, checkMs);
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', (error) => keep(error.message));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ passed: code === 0, output: output.trim() });
    });
  });
}

/** The most bytes that git may print: a file of a repository. */
const mostOutput = 64 * 1024 * 1024;

/** Makes git fetch nothing. To fetch a missing object, it would run programs that the repository's settings name. */
const offline = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' } as const;

/** Runs git without hooks, and without the keys of this process: a repository may come from anywhere. */
export const openGit =
  (machine: Pick<Machine, 'env'>, dataDir: string, { isOffline = false } = {}): Git =>
  async (folder, args, input) => {
    const hooks = join(dataDir, 'no-hooks');
    await mkdir(hooks, { recursive: true, mode: privateFolder });
    const words = ['-C', folder, '-c', `core.hooksPath=${hooks}`, '-c', 'core.fsmonitor=false', ...args];
    const env = { ...allowedEnvironment(machine.env, 'none').env, ...(isOffline && offline) };
    return programOutput('git', words, { env, maxBuffer: mostOutput, input });
  };
