import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { attempt } from '../../core/base/index.js';
import { batchLine, type Environment, pathRules, type System, thisSystem, variableOf } from '../../core/system/index.js';

/** What is known about the disk when a program is looked for. Tests give their own. */
export interface Disk {
  /** Whether a path is a file that this user may run. */
  isProgram(path: string): boolean;
  /** The beginning of a file; undefined if it cannot be read. */
  beginning(path: string): string | undefined;
}

export interface ProgramSearch {
  readonly env: Environment;
  readonly system?: System;
  readonly disk?: Disk;
}

const maxShimBytes = 16 * 1024;

const thisDisk: Disk = {
  isProgram: (path) =>
    attempt(() => {
      // Windows has no permission to run; every file that can be read passes.
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    }) ?? false,
  beginning: (path) =>
    attempt(() => {
      const file = openSync(path, 'r');
      try {
        const bytes = Buffer.alloc(maxShimBytes);
        return bytes.toString('utf8', 0, readSync(file, bytes, 0, maxShimBytes, 0));
      } finally {
        closeSync(file);
      }
    }),
};

/** Endings of programs that Windows starts, in the order in which it looks for them. Scripts of other languages are not started. */
const startable = ['.com', '.exe', '.bat', '.cmd'];

function endingsOf(name: string, env: Environment, system: System): readonly string[] {
  if (system !== 'windows') return [''];
  if (startable.includes(pathRules(system).extname(name).toLowerCase())) return [''];
  const named = (variableOf(env, 'PATHEXT', system) ?? '').toLowerCase().split(';');
  const known = named.filter((ending) => startable.includes(ending));
  return known.length > 0 ? known : startable;
}

/**
 * The absolute path of a program: of a name on the search path, or of a path. Undefined if this user has no such program. Folders of the search path
 * that are relative are ignored, and so is the working folder, where Windows would look first: it may belong to a stranger's project.
 */
export function findProgram(name: string, { env, system = thisSystem, disk = thisDisk }: ProgramSearch): string | undefined {
  const { delimiter, isAbsolute, join, resolve } = pathRules(system);
  const isPath = (system === 'windows' ? /[/\\:]/ : /\//).test(name);
  const folders = isPath
    ? ['']
    : (variableOf(env, 'PATH', system) ?? '')
        .split(delimiter)
        .map((folder) => (system === 'windows' ? folder.replaceAll('"', '') : folder))
        .filter(isAbsolute);
  const endings = endingsOf(name, env, system);
  for (const folder of folders)
    for (const ending of endings) {
      const path = isPath ? resolve(`${name}${ending}`) : join(folder, `${name}${ending}`);
      if (disk.isProgram(path)) return path;
    }
  return undefined;
}

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are already a command line of Windows: nothing may quote them again. */
  readonly isVerbatim: boolean;
}

/**
 * How to start a program by its absolute path. On Windows, a batch file that npm wrote is replaced by the program that it starts, so that arguments
 * arrive whole and signals reach the program. Any other batch file gets a command line in which no argument can become a command.
 * @throws TypeError if a batch file cannot receive an argument.
 */
export function launchOf(path: string, args: readonly string[], { env, system = thisSystem, disk = thisDisk }: ProgramSearch): Launch {
  if (system !== 'windows' || !/\.(?:cmd|bat)$/i.test(path)) return { file: path, args, isVerbatim: false };
  const started = startedBy(path, { env, system, disk });
  if (started) return { file: started.file, args: [...started.args, ...args], isVerbatim: false };
  return { file: commandShell(env), args: ['/e:ON', '/v:OFF', '/d', '/s', '/c', batchLine(path, args)], isVerbatim: true };
}

/** The last line of a batch file that npm wrote (cmd-shim, all versions): a program in its folder, or Node with options and a script there. */
const shimLine =
  /(?:^|[&(]|\|\|)[ \t]*(?:title %COMSPEC% & )?(?:"%_prog%"|"%~dp0\\node\.exe"|node(?:\.exe)?)?[ \t]*((?:--?[^\s"%^&|<>]+[ \t]+)*)"%(?:~dp0|dp0%)\\([^"%]+)"[ \t]+%\*/m;

/** The program that a batch file of npm starts; undefined for any other batch file, and for one that also sets variables. */
function startedBy(path: string, { env, system, disk }: Required<ProgramSearch>): Omit<Launch, 'isVerbatim'> | undefined {
  const { dirname, extname, join } = pathRules(system);
  const text = disk.beginning(path);
  if (text === undefined || /NODE_PATH/i.test(text)) return undefined;
  const [, options = '', below = ''] = shimLine.exec(text.replaceAll('\r', '')) ?? [];
  if (below === '') return undefined;
  const target = join(dirname(path), below);
  if (!disk.isProgram(target)) return undefined;
  if (extname(target).toLowerCase() === '.exe') return options === '' ? { file: target, args: [] } : undefined;
  if (!/\.[cm]?js$/i.test(target) && !(disk.beginning(target) ?? '').startsWith('#!/usr/bin/env node')) return undefined;
  const beside = join(dirname(path), 'node.exe');
  const node = disk.isProgram(beside) ? beside : findProgram('node.exe', { env, system, disk });
  return node === undefined ? undefined : { file: node, args: [...options.split(/\s+/).filter((word) => word !== ''), target] };
}

/** A program that comes with Windows, by its place: a program of the same name elsewhere is not started (O1). */
export const systemProgram = (env: Environment, ...below: string[]): string =>
  pathRules('windows').join(variableOf(env, 'SystemRoot', 'windows') || 'C:\\Windows', 'System32', ...below);

/** The command shell of Windows. */
export const commandShell = (env: Environment): string => systemProgram(env, 'cmd.exe');
