import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { attempt } from '../../core/base/index.js';
import { type Environment, pathRules, type System, thisSystem } from '../../core/system/index.js';
import { systemProgram } from './programs.js';

/** What is asked about the Linux systems inside Windows. Tests give recorded answers. */
export interface Wsl {
  /** The output of `wsl.exe`; undefined if it fails or does not exist. */
  ask(program: string, args: readonly string[]): Buffer | undefined;
  /** The names in a folder; none if it cannot be read. */
  list(folder: string): readonly string[];
}

/** The time limit of a question to WSL, in milliseconds. */
const askMs = 3_000;

const thisWsl = (env: Environment): Wsl => ({
  ask: (program, args) =>
    attempt(() =>
      execFileSync(program, args, { timeout: askMs, stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true, env: { ...env, WSL_UTF8: '1' } }),
    ),
  list: (folder) => attempt(() => readdirSync(folder)) ?? [],
});

/** Systems of Docker Desktop and others that have no persons. */
const withoutPersons = /^(?:docker-desktop(?:-data)?|rancher-desktop(?:-data)?|podman-.*)$/;

/** The names in an answer of `wsl.exe --list --quiet`: UTF-16 without a mark, or UTF-8 from newer versions that were asked for it. */
export function distributionsIn(answer: Buffer): string[] {
  const text = answer.includes(0) ? answer.toString('utf16le') : answer.toString('utf8');
  return (
    text
      .replace(/^\ufeff/, '')
      .split(/\r?\n/)
      .map((name) => name.trim())
      // The name becomes part of a path.
      .filter((name) => /^[\w.-]+$/.test(name) && !/^\.+$/.test(name) && !withoutPersons.test(name))
  );
}

/** The home folders of Linux systems that run inside Windows now, as paths of Windows. It leaves others alone: looking into one would start it. */
export function wslHomes(env: Environment = process.env, system: System = thisSystem, wsl: Wsl = thisWsl(env)): string[] {
  if (system !== 'windows') return [];
  const { join } = pathRules(system);
  const answer = wsl.ask(systemProgram(env, 'wsl.exe'), ['--list', '--running', '--quiet']);
  return (answer ? distributionsIn(answer) : []).flatMap((name) => {
    const root = `\\\\wsl.localhost\\${name}`;
    const people = wsl.list(join(root, 'home')).filter((person) => /^[\w.-]+$/.test(person) && !/^\.+$/.test(person));
    return [...people.map((person) => join(root, 'home', person)), join(root, 'root')];
  });
}
