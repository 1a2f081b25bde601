import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { agentRootsOf, built } from '../launch/index.js';
import { commandIn, hookEvents, withHooks, withoutHooks } from './hook-settings.js';
import { dim, green, printText, red, UsageError } from './output.js';

interface HookOptions {
  readonly install?: boolean;
  readonly uninstall?: boolean;
  readonly project?: string;
  readonly settings?: string;
  readonly yes?: boolean;
}

/** `stemma hook --install` and `--uninstall`; without them, `stemma hook` answers an event and never comes here (stemma.ts). */
export function addHookCommand(program: Command): void {
  program
    .command('hook')
    .description("checkpoint at Claude Code's own events: it runs this with the event on standard input")
    .exitOverride()
    .addOption(new Option('--install', "put it into Claude Code's settings, after showing the change").conflicts('uninstall'))
    .option('--uninstall', 'take it out again')
    .addOption(
      new Option('-p, --project <dir>', 'the project that it checkpoints into (else STEMMA_PROJECT, else the nearest *.stemma of the session)'),
    )
    .option('--settings <file>', "the settings file; else the person's own, settings.json in Claude Code's folder")
    .option('-y, --yes', 'write without asking')
    .addHelpText(
      'after',
      `
Installed for ${hookEvents.join(', ')}. Everything else in the settings stays as it is; a copy is kept beside them.
What goes wrong in a hook never holds the agent up: it is written to hook.log in Stemma's own folder.`,
    )
    .action((options: HookOptions) => changeSettings(options));
}

async function changeSettings({ install, uninstall, project, settings, yes }: HookOptions): Promise<void> {
  if (!install && !uninstall)
    throw new UsageError('it answers an event of an agent, whose JSON comes on standard input; `stemma hook --install` makes Claude Code run it.');
  const named = settings === undefined ? join(claudeFolder(), 'settings.json') : resolve(settings);
  const path = existsSync(named) ? realpathSync(named) : named;
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const backup = `${path}.before-stemma`;
  const after = refusing(path, () => (install ? withHooks(before ?? '', commandFor(project)) : takenBack(before, backup)));
  if (after === before) return printText(install ? `${path} runs Stemma's hooks already.` : `${path} has none of Stemma's hooks.`);
  printText(shown(path, before ?? '', after ?? ''));
  if (!yes && !(await agreed(after === undefined ? `Delete ${path}?` : `Write ${path}?`))) return printText('Nothing was changed.');
  if (install) {
    // Over an earlier installation, the copy from before it stays.
    if (before !== undefined && commandIn(before) === undefined) writeWhole(backup, before, path);
    writeWhole(path, after ?? '', path);
    return printText(`Written.${before === undefined ? '' : ` What was there is kept in ${backup}.`} Sessions that start from now on run the hooks.`);
  }
  if (after === undefined) rmSync(path);
  else writeWhole(path, after, path);
  if (after === undefined || (existsSync(backup) && readFileSync(backup, 'utf8') === after)) rmSync(backup, { force: true });
  printText('Taken out.');
}

/**
 * The settings as they were: byte for byte where nobody has changed them since, else without our hooks. Undefined where there were none.
 */
function takenBack(now: string | undefined, backup: string): string | undefined {
  if (now === undefined) return undefined;
  const then = existsSync(backup) ? readFileSync(backup, 'utf8') : '';
  const command = commandIn(now);
  if (command === undefined) return now;
  if (withHooks(then, command) !== now) return withoutHooks(now);
  return existsSync(backup) ? then : undefined;
}

function refusing<T>(path: string, change: () => T): T {
  try {
    return change();
  } catch (error) {
    throw new UsageError(`the settings ${path} are left as they are: ${(error as Error).message}`);
  }
}

const claudeFolder = (): string => agentRootsOf().find(({ agent }) => agent === 'claude-code')?.root as string;

/** How the agent calls this very program: by its name where the search path leads here, else by the whole path. */
function commandFor(project: string | undefined): string {
  const program = built('cli', 'stemma.js');
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'stemma'))
    .find(existsSync);
  const words = found !== undefined && realpathSync(found) === realpathSync(program) ? ['stemma'] : [process.execPath, program];
  return [...words, 'hook', ...(project === undefined ? [] : ['--project', resolve(project)])].map(quoted).join(' ');
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return process.platform === 'win32' ? `"${word.replaceAll('"', '\\"')}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

function shown(path: string, before: string, after: string): string {
  const patch = createTwoFilesPatch(path, path, before, after, 'as it is', 'as it would be', { context: 3 });
  return patch
    .split('\n')
    .slice(1)
    .map((line) => (line.startsWith('+') ? green(line) : line.startsWith('-') ? red(line) : line.startsWith('@') ? dim(line) : line))
    .join('\n');
}

async function agreed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('nobody is there to ask: --yes writes it without asking.');
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asked.question(`${question} [y/N] `)).trim());
  } finally {
    asked.close();
  }
}

/** All of it or nothing, with the rights of the file that it is made from, private where there is none. */
function writeWhole(path: string, text: string, like: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const beside = `${path}.${randomUUID()}`;
  const fd = openSync(beside, 'wx', existsSync(like) ? statSync(like).mode : 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, path);
}
