import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { listInside } from '../../core/files/index.js';
import type { Workshop } from '../../core/project/index.js';
import { environmentFor, type Machine } from './machine.js';

const run = promisify(execFile);
/** The most characters of a check's output that are kept: its end. */
const keptOutput = 4_000;
const checkMs = 10 * 60_000;

/** Opens the place where tries work: folders below the data folder of this machine. A check sees no key of a provider. */
export function openWorkshop(machine: Machine, dataDir: string): Workshop {
  const root = join(dataDir, 'tries');
  return {
    async make(folder, name) {
      // A folder without a job belongs to the process in its name, as long as that lives.
      const made = join(root, `${name}.${process.pid}`);
      await mkdir(root, { recursive: true, mode: 0o700 });
      try {
        await run('git', ['-C', folder, 'worktree', 'add', '--detach', made]);
      } catch {
        // It is no Git repository, or one without a commit.
        await cp(folder, made, { recursive: true, verbatimSymlinks: true });
      }
      return made;
    },
    async made(beginning) {
      if (!existsSync(root)) return [];
      return listInside(root, root).flatMap(({ name }) => {
        const [, maker] = name.startsWith(beginning) ? (/\.(\d+)$/.exec(name) ?? []) : [];
        return maker === undefined ? [] : [{ folder: join(root, name), isHeld: lives(Number(maker)) }];
      });
    },
    check: (command, folder, input) => runCheck(command, folder ?? dataDir, input, environmentFor(machine, 'none')),
    async remove(folder) {
      if (dirname(folder) !== root) return;
      try {
        const { stdout } = await run('git', ['-C', folder, 'rev-parse', '--path-format=absolute', '--git-common-dir', '--show-toplevel']);
        const [common = '', top] = stdout.trim().split('\n');
        if (top === folder) await run('git', ['--git-dir', common, 'worktree', 'remove', '--force', folder]);
      } catch {
        // It is a copy.
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether a process of this machine lives. */
function lives(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Runs a command of a person with the shell. Its exit code 0 is a pass. It ends with everything that it started after ten minutes. */
function runCheck(command: string, cwd: string, input: string, env: Record<string, string>): Promise<{ passed: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, { cwd, env, shell: true, stdio: ['pipe', 'pipe', 'pipe'], detached: process.platform !== 'win32' });
    let output = '';
    const keep = (text: string): void => {
      output = (output + text).slice(-keptOutput);
    };
    const timer = setTimeout(() => {
      keep('\nThe check took longer than 10 minutes.');
      if (child.pid !== undefined) process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL');
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
