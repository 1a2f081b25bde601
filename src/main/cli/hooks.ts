import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import { makeFolders, permissionsOf, realPath, replaceFile } from '../../core/files/index.js';
import { quoted } from '../../core/system/index.js';
import { agentRootsOf, built, ownCommand } from '../launch/index.js';
import { findProgram } from '../system/index.js';
import { dim, green, join as joinTexts, line, printText, prompt, red, type Text } from '../terminal/index.js';
import { addSignedOptions, type SignedOptions } from './command.js';
import { UsageError } from './errors.js';
import { hookCommandIn, hookEvents, withHooks, withoutHooks } from './hook-settings.js';

interface HookOptions extends SignedOptions {
  readonly install?: boolean;
  readonly uninstall?: boolean;
  readonly project?: string;
  readonly settings?: string;
  readonly yes?: boolean;
}

/** Adds `stemma hook --install` and `--uninstall`. Without them, it answers an event, which stemma.ts handles before it gets here. */
export function addHookCommand(program: Command): void {
  const hook = program
    .command('hook')
    .description("commit at Claude Code's own events; Claude Code runs this command with the event on standard input")
    .addOption(new Option('--install', "add the hooks to Claude Code's settings, after showing the change").conflicts('uninstall'))
    .option('--uninstall', 'remove the hooks again')
    .addOption(new Option('-p, --project <dir>', 'project folder (default: STEMMA_PROJECT, else the nearest *.stemma of the session)'));
  addSignedOptions(hook)
    .option('--settings <file>', "the settings file (default: settings.json in Claude Code's folder)")
    .option('-y, --yes', 'write without asking')
    .addHelpText(
      'after',
      `
Hooks are installed for ${hookEvents.join(', ')}. Everything else in the settings stays as it is, and a copy is kept beside them.
A hook that fails never stops the agent: it writes the problem to hook.log in Stemma's own folder.`,
    )
    .action((options: HookOptions) => changeSettings(options));
}

async function changeSettings({ install, uninstall, project, settings, yes, ...signed }: HookOptions): Promise<void> {
  if (!install && !uninstall)
    throw new UsageError('`stemma hook` answers an event of an agent, in JSON on standard input. `stemma hook --install` makes Claude Code run it.');
  const named = settings === undefined ? join(claudeFolder(), 'settings.json') : resolve(settings);
  const path = existsSync(named) ? realPath(named) : named;
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const backup = `${path}.before-stemma`;
  const after = orUsageError(path, () => (install ? withHooks(before ?? '', commandFor(project, signed)) : restored(before, backup)));
  if (after === before) return printText(install ? `${path} already has Stemma's hooks.` : `${path} has no hooks of Stemma.`);
  printText(await describeChange(path, before ?? '', after ?? ''));
  if (!yes && !(await confirmed(after === undefined ? `Delete ${path}?` : `Write ${path}?`))) return printText('Nothing was changed.');
  if (install) {
    // A second installation keeps the backup that the first one made.
    if (before !== undefined && hookCommandIn(before) === undefined) writeWhole(backup, before, path);
    writeWhole(path, after ?? '', path);
    return printText(
      `Installed.${before === undefined ? '' : ` The earlier settings are in ${backup}.`} Sessions that start from now on run the hooks.`,
    );
  }
  if (after === undefined) rmSync(path);
  else writeWhole(path, after, path);
  if (after === undefined || (existsSync(backup) && readFileSync(backup, 'utf8') === after)) rmSync(backup, { force: true });
  printText('Removed.');
}

/** The settings without the hooks: the exact earlier bytes if nothing else was edited since. Undefined when no settings existed. */
function restored(now: string | undefined, backup: string): string | undefined {
  if (now === undefined) return undefined;
  const then = existsSync(backup) ? readFileSync(backup, 'utf8') : '';
  const command = hookCommandIn(now);
  if (command === undefined) return now;
  if (withHooks(then, command) !== now) return withoutHooks(now);
  return existsSync(backup) ? then : undefined;
}

function orUsageError<T>(path: string, change: () => T): T {
  try {
    return change();
  } catch (error) {
    throw new UsageError(`cannot change the settings ${path}: ${(error as Error).message}`);
  }
}

const claudeFolder = (): string => agentRootsOf().find(({ agent }) => agent === 'claude-code')?.root as string;

/** The command line of a hook: `stemma` if the search path leads to this program, else the absolute path of this program. */
function commandFor(project: string | undefined, { principal, ticket, machine }: SignedOptions): string {
  const program = built('cli', 'stemma.js');
  const found = findProgram('stemma', { env: process.env });
  const words = found !== undefined && realPath(found) === realPath(program) ? ['stemma'] : ownCommand();
  // Claude Code runs hooks with a POSIX shell on every system: on Windows with that of Git.
  const all = [...words, 'hook', ...named({ project: project && resolve(project), principal, ticket, machine })];
  return all.map((word) => quoted(word, 'sh')).join(' ');
}

const named = (options: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));

async function describeChange(path: string, before: string, after: string): Promise<Text> {
  const { createTwoFilesPatch } = await import('diff');
  const patch = createTwoFilesPatch(path, path, before, after, 'now', 'after the change', { context: 3 });
  const paintOf = (text: string) => (text.startsWith('+') ? green : text.startsWith('-') ? red : text.startsWith('@') ? dim : undefined);
  return joinTexts(
    patch
      .split('\n')
      .slice(1)
      .map((text) => paintOf(text)?.(text) ?? text),
  );
}

async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('standard input is not a terminal, so nobody can confirm. --yes writes without asking.');
  prompt(line`${question} [y/N]`);
  const input = createInterface({ input: process.stdin });
  try {
    return /^y(es)?$/i.test((await input.question('')).trim());
  } finally {
    input.close();
  }
}

/** Writes the file atomically, with the permissions of the file `like`; if that file does not exist, only the owner can read the new file. */
function writeWhole(path: string, text: string, like: string): void {
  makeFolders(dirname(path));
  replaceFile(path, text, existsSync(like) ? permissionsOf(statSync(like)) : undefined);
}
