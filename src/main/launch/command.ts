import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { attempt } from '../../core/base/index.js';
import { thisSystem } from '../../core/system/index.js';
import { built, outsideArchive } from './places.js';

/** Tells the packaged app to run a command of `stemma`, which follows `--`, and to open no window. */
export const commandSwitch = '--stemma-command';

/**
 * The switches of a command in the packaged app. A command opens no window, so it needs none of Chromium's processes and runs where their sandbox
 * cannot, such as in a container. `--` keeps Chromium from reading options of the command as its own switches.
 */
export const commandSwitches: readonly string[] = [commandSwitch, '--no-sandbox', '--no-zygote', '--log-level=3', '--'];

/** The words of a command that the packaged app was started with; undefined if it is to open a window. Paths and links are no commands. */
export function commandIn([, ...words]: readonly string[], exists: (path: string) => boolean = existsSync): readonly string[] | undefined {
  const end = words.indexOf('--');
  if (end >= 0 && words.slice(0, end).includes(commandSwitch)) return words.slice(end + 1);
  const first = words.findIndex((word) => !word.startsWith('-'));
  const name = words[first] ?? '';
  return /^[a-z][a-z-]*$/.test(name) && !exists(name) ? words.slice(first) : undefined;
}

/** What `ownCommand` depends on in a process of Electron. */
interface Place {
  readonly execPath: string;
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The program and arguments that run `stemma` from here. An AppImage is named by its file: its mounted folder goes when the app ends. */
export function ownCommand({ execPath, versions, env }: Place = process): readonly [program: string, ...args: string[]] {
  if (versions.electron === undefined) return [execPath, built('cli', 'stemma.js')];
  const image = env.APPIMAGE && env.APPDIR && execPath.startsWith(env.APPDIR) ? env.APPIMAGE : undefined;
  return [image ?? execPath, ...commandSwitches];
}

/** The command line of `stemma` for the engine of the desktop app. A checkout has no packaged app, so the Node of the project runs it. */
export const shellCommand = (isPackaged: boolean, execPath: string): readonly [program: string, ...args: string[]] =>
  isPackaged ? ownCommand({ execPath, versions: process.versions, env: process.env }) : [projectNode() ?? 'node', built('cli', 'stemma.js')];

/** A newer Node, for processes whose own cannot load better-sqlite3: that of packages for tests, else the one in node_modules. */
export const projectNode = (): string | undefined =>
  attempt(() => {
    const system = { linux: 'linux', macos: 'darwin', windows: 'win' }[thisSystem];
    return packagedNode() ?? createRequire(import.meta.url).resolve(`node-${system}-${process.arch}/bin/node${system === 'win' ? '.exe' : ''}`);
  });

/** The Node that the manifest of this package names. Nobody can change it without changing the program. */
function packagedNode(): string | undefined {
  const manifest = built('..', 'package.json');
  // The sources, which tests run, have none where the build has it.
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly engineNode?: string }).engineNode : undefined;
}

/**
 * The Node that runs the engine in place of Electron's utility process: in a checkout from `STEMMA_ENGINE_NODE`, in a package only from its own
 * manifest. A package ignores the variable; otherwise, a program that can set environment variables could run any program with the permissions of
 * the app.
 */
export const engineNode = (isPackaged: boolean, env: Readonly<Record<string, string | undefined>> = process.env): string | undefined =>
  isPackaged ? packagedNode() : env.STEMMA_ENGINE_NODE || undefined;

/** Start options for an engine in plain Node, which reads no files inside of Electron's archive. */
export const forNode = <Options extends { readonly sampleDir: string; readonly worker?: string | undefined }>(options: Options): Options => ({
  ...options,
  sampleDir: outsideArchive(options.sampleDir),
  worker: options.worker && outsideArchive(options.worker),
});
