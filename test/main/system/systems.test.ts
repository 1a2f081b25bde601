import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createPrivate, makeFolders, restrictWith } from '../../../src/core/files/index.js';
import { isWithin } from '../../../src/core/system/index.js';
import { accessList } from '../../../src/main/system/access.js';
import { endTree, isRunning, processesIn, treeEnder } from '../../../src/main/system/processes.js';
import { forwardSignals, onReload } from '../../../src/main/system/signals.js';
import { startPiped } from '../../../src/main/system/start.js';
import { distributionsIn, wslHomes } from '../../../src/main/system/wsl.js';
import { scratch } from '../../support/project.js';

const env = { SystemRoot: 'C:\\Windows', USERNAME: 'jörg', USERDOMAIN: 'OFFICE' };

afterEach(() => restrictWith(undefined));

describe('processes', () => {
  test('[O4] what a process runs and where is read from /proc, without another program', async () => {
    const folder = scratch();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'marked words'], { cwd: folder, stdio: 'ignore' });
    const path = process.env.PATH;
    try {
      process.env.PATH = '';
      expect(await until(() => processesIn(folder)?.some((words) => words.includes('marked words')))).toBe(true);
      expect(isRunning(child.pid ?? 0)).toBe(true);
    } finally {
      process.env.PATH = path;
      child.kill('SIGKILL');
    }
    await until(() => !isRunning(child.pid ?? 0));
    expect([await until(() => processesIn(folder)?.length === 0), isRunning(4_194_305)]).toEqual([true, false]);
  });

  test('[O4] ending a program ends what it started, also what left its shell', async () => {
    const folder = scratch();
    const pids = join(folder, 'pids');
    const script = `sleep 60 & echo $! >> ${pids}; (sleep 60 & echo $! >> ${pids}); wait`;
    const { child, kill } = startPiped('sh', ['-c', script], { cwd: folder, env: { PATH: process.env.PATH ?? '' } });
    const started = (): number[] => (existsSync(pids) ? readIds(pids) : []);
    expect(await until(() => started().length === 2)).toBe(true);
    kill();
    expect(await until(() => processesIn(folder)?.some((words) => words.includes('sleep')) === false)).toBe(true);
    await until(() => child.exitCode !== null || child.signalCode !== null);
    expect(child.signalCode).toBe('SIGKILL');
    expect(() => endTree(child.pid ?? 0)).not.toThrow();
  });

  test('[O4] Windows ends a program by one of its own, and only Linux says what runs where', () => {
    expect(treeEnder(7, { SYSTEMROOT: 'D:\\Win' })).toEqual(['D:\\Win\\System32\\taskkill.exe', '/pid', '7', '/t', '/f']);
    expect([processesIn('/x', 'macos'), processesIn('C:\\x', 'windows')]).toEqual([undefined, undefined]);
  });

  test('[O4] only signals that a system has are watched and passed on', () => {
    const sent: unknown[] = [];
    const child = { kill: (signal?: unknown) => sent.push(signal) > 0 };
    // Other test files of this process may watch the same signals, and would end it.
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      const others = process.listeners(signal);
      process.removeAllListeners(signal);
      onTestFinished(() => {
        for (const other of others) process.on(signal, other);
      });
    }
    for (const [system, expected] of [
      ['linux', ['SIGTERM', 'SIGHUP']],
      ['windows', [undefined]],
    ] as const) {
      sent.length = 0;
      const stop = forwardSignals(child, system);
      process.emit('SIGTERM', 'SIGTERM');
      process.emit('SIGHUP', 'SIGHUP');
      stop();
      expect(sent).toEqual(expected);
    }
    const before = process.listenerCount('SIGHUP');
    const end = onReload(() => {}, 'windows');
    expect(process.listenerCount('SIGHUP')).toBe(before);
    end();
  });
});

describe('private files', () => {
  test('[O5] a new folder is private before anything is in it, and once for the folders in it', () => {
    const dir = scratch();
    const seen: string[] = [];
    restrictWith((path) => seen.push(path));
    makeFolders(join(dir, 'a', 'b', 'c'));
    expect(seen).toEqual([join(dir, 'a')]);
    expect(statSync(join(dir, 'a', 'b')).mode & 0o777).toBe(0o700);
    createPrivate(join(dir, 'secret'));
    expect(seen).toEqual([join(dir, 'a'), join(dir, 'secret')]);
    expect(statSync(join(dir, 'secret')).mode & 0o777).toBe(0o600);
    mkdirSync(join(dir, 'there'));
    makeFolders(join(dir, 'there'));
    expect(seen).toHaveLength(2);
  });

  test('[O5] Windows gives a folder to its person, the system and administrators, and nobody else', () => {
    expect(accessList('D:\\work\\x.stemma', true, env)).toEqual([
      'C:\\Windows\\System32\\icacls.exe',
      'D:\\work\\x.stemma',
      '/inheritance:r',
      '/grant:r',
      'OFFICE\\jörg:(OI)(CI)F',
      '*S-1-5-18:(OI)(CI)F',
      '*S-1-5-32-544:(OI)(CI)F',
      '/q',
    ]);
    expect(accessList('D:\\token', false, { USERNAME: 'me' })).toContain('me:F');
    expect(isWithin('c:\\users\\ME\\x', 'C:\\Users\\me', 'windows')).toBe(true);
    expect(isWithin('C:\\Users\\media', 'C:\\Users\\me', 'windows')).toBe(false);
  });
});

describe('Linux inside Windows', () => {
  const answer = 'Ubuntu-24.04\r\ndocker-desktop\r\n..\r\na\\b\r\nDebian\r\n';

  test.each([
    ['UTF-16, as older versions answer', Buffer.from(answer, 'utf16le')],
    ['UTF-8, as newer versions answer when asked', Buffer.from(answer)],
  ])('[O8] the names of running systems are read from %s', (_, bytes) => {
    expect(distributionsIn(bytes)).toEqual(['Ubuntu-24.04', 'Debian']);
  });

  test('[O8] their home folders are found, without starting a system', () => {
    const asked: unknown[] = [];
    const wsl = {
      ask: (program: string, args: readonly string[]) => {
        asked.push([program, ...args]);
        return Buffer.from('Ubuntu\r\n', 'utf16le');
      },
      list: (folder: string) => (folder === '\\\\wsl.localhost\\Ubuntu\\home' ? ['me', '..', 'x y'] : []),
    };
    expect(wslHomes(env, 'windows', wsl)).toEqual(['\\\\wsl.localhost\\Ubuntu\\home\\me', '\\\\wsl.localhost\\Ubuntu\\root']);
    expect(asked).toEqual([['C:\\Windows\\System32\\wsl.exe', '--list', '--running', '--quiet']]);
    expect(wslHomes(env, 'linux', wsl)).toEqual([]);
    expect(wslHomes(env, 'windows', { ...wsl, ask: () => undefined })).toEqual([]);
    expect(asked).toHaveLength(1);
  });
});

const readIds = (path: string): number[] => readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number);

async function until(done: () => boolean | undefined): Promise<boolean> {
  for (let i = 0; i < 500; i++) {
    if (done()) return true;
    await sleep(20);
  }
  return false;
}
