import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { homeFolder, restrictWith } from '../../core/files/index.js';
import { type Environment, isWithin, type System, thisSystem, variableOf } from '../../core/system/index.js';
import { systemProgram } from './programs.js';

/** The system itself and its administrators, who can read every file anyway; without them, backups and virus scanners fail. */
const always = ['*S-1-5-18', '*S-1-5-32-544'];

/** The time limit of a change of an access list, in milliseconds. */
const changeMs = 10_000;

/** The program that gives a file or folder to one person of Windows, the system and its administrators, without inherited rights. */
export function accessList(path: string, isFolder: boolean, env: Environment): readonly [program: string, ...args: string[]] {
  const name = variableOf(env, 'USERNAME', 'windows') ?? '';
  const domain = variableOf(env, 'USERDOMAIN', 'windows');
  const rights = isFolder ? ':(OI)(CI)F' : ':F';
  const people = [domain ? `${domain}\\${name}` : name, ...always];
  return [systemProgram(env, 'icacls.exe'), path, '/inheritance:r', '/grant:r', ...people.map((one) => `${one}${rights}`), '/q'];
}

/** Makes new files of this thread private on Windows, where a mode does not. Each thread calls it before it writes. FAT keeps no lists. */
export function protectFiles(env: Environment = process.env, system: System = thisSystem, ownHome?: string): void {
  if (system !== 'windows') return;
  const home = ownHome ?? homeFolder();
  restrictWith((path) => {
    // Windows keeps a person's home folder from other users.
    if (isWithin(path, home, system)) return;
    const [program, ...args] = accessList(path, statSync(path).isDirectory(), env);
    spawnSync(program, args, { stdio: 'ignore', timeout: changeMs, windowsHide: true });
  });
}
