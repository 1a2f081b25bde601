// Opens a terminal window that runs commands in a folder. Stemma itself builds the commands, which resume an agent's session, but a prompt in them
// may come from a stranger's history. So no terminal is told to type them: each starts a program with a script.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../core/base/index.js';
import { makeTemporary, privateProgram } from '../../core/files/index.js';
import { commandLine, type Environment, quoted, type System, thisSystem, windowsArgument } from '../../core/system/index.js';
import { type Disk, findProgram, launchOf, systemProgram } from './programs.js';

/** Commands that run one after the other in a folder. Each is a program and its arguments. */
export interface Commands {
  readonly folder: string;
  readonly commands: readonly (readonly string[])[];
}

export interface Terminal {
  /** The name that a person reads. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Variables for the terminal, besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** A script that the terminal runs. Its path is the last argument. It removes itself. */
  readonly script?: string;
}

interface Around {
  readonly env: Environment;
  readonly system: System;
  readonly disk?: Disk;
}

/** Terminal programs of Linux and BSD, the system's choice first, each with its words before a program to run. */
const emulators: readonly (readonly [program: string, ...before: string[]])[] = [
  ['x-terminal-emulator', '-e'],
  ['gnome-terminal', '--'],
  ['konsole', '-e'],
  ['xfce4-terminal', '-x'],
  ['kitty'],
  ['alacritty', '-e'],
  ['wezterm', 'start', '--'],
  ['foot'],
  ['xterm', '-e'],
];

/** How a terminal with the commands is opened; undefined if this machine has no terminal window, or cannot start one of the commands. */
export function terminalFor(work: Commands, around: Around): Terminal | undefined {
  if (around.system === 'windows') return windowsTerminal(work, around);
  // The shell stays open after the agent has ended, so that its last output can be read.
  const script = `${commandLine('sh', work.folder, work.commands)}; exec "\${SHELL:-/bin/sh}"`;
  if (around.system === 'macos')
    // What is typed into a terminal is limited to 1,024 characters, and control characters in it are keys.
    return { name: 'Terminal', program: '/usr/bin/open', args: ['-a', 'Terminal'], script: `#!/bin/sh\nrm -f -- "$0"\n${script}\n` };
  const { env, disk } = around;
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return undefined;
  const chosen = env.TERMINAL ? [[env.TERMINAL, '-e'] as const] : [];
  for (const [program, ...before] of [...chosen, ...emulators]) {
    const path = findProgram(program, { ...around, ...(disk && { disk }) });
    // The person's own shell may have other rules for quotes.
    if (path !== undefined) return { name: program, program: path, args: [...before, '/bin/sh', '-c', script] };
  }
  return undefined;
}

/** The variable that carries the script of a terminal of Windows: a command line of `start` is limited to 8,191 characters. */
const scriptVariable = 'STEMMA_TERMINAL_SCRIPT';
/** The longest value of a variable on Windows, in characters. */
const longestVariable = 32_000;

/**
 * A console with PowerShell, in the program that the person chose for consoles. The script starts each program by its path with a finished command
 * line, because PowerShell changes quotes on the way to a program.
 */
function windowsTerminal({ folder, commands }: Commands, around: Around): Terminal | undefined {
  const steps = commands.map(([program = '', ...args]) => windowsStep(program, args, around));
  if (steps.includes(undefined)) return undefined;
  const script = [
    `$folder = ${quoted(folder, 'powershell')}`,
    'Set-Location -LiteralPath $folder',
    'function Start-Step([string]$file, [string]$words) {',
    '  $start = New-Object System.Diagnostics.ProcessStartInfo',
    '  $start.FileName = $file; $start.Arguments = $words; $start.WorkingDirectory = $folder; $start.UseShellExecute = $false',
    '  $started = [System.Diagnostics.Process]::Start($start); $started.WaitForExit(); $started.ExitCode',
    '}',
    steps.reduceRight<string>((after, step) => (after === '' ? `[void](${step})` : `if ((${step}) -eq 0) { ${after} }`), ''),
  ].join('\n');
  if (script.length > longestVariable) return undefined;
  const shell = systemProgram(around.env, 'WindowsPowerShell', 'v1.0', 'powershell.exe');
  const begin = `$script = $env:${scriptVariable}; $env:${scriptVariable} = $null; Invoke-Expression $script`;
  return {
    name: 'PowerShell',
    program: systemProgram(around.env, 'cmd.exe'),
    // `start` opens a new console; only fixed words are in this command line.
    args: ['/d', '/s', '/c', `"start "Stemma" "${shell}" -NoLogo -NoExit -Command "${begin}""`],
    env: { [scriptVariable]: script },
  };
}

/** One call of the script's function. Undefined if the program is not on this machine, or cannot receive an argument. */
function windowsStep(program: string, args: readonly string[], around: Around): string | undefined {
  const path = findProgram(program, around);
  if (path === undefined) return undefined;
  return attempt(() => {
    const launch = launchOf(path, args, around);
    const words = launch.isVerbatim ? launch.args.join(' ') : launch.args.map(windowsArgument).join(' ');
    return `Start-Step ${text(launch.file)} ${text(words)}`;
  });
}

/** A text of PowerShell, always in quotes. */
const text = (value: string): string => `'${value.replaceAll(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;

/** Opens a terminal that runs commands in a folder. Returns its name; undefined if the machine has no terminal or it does not start. */
export async function openTerminal(work: Commands, env: Environment = process.env, system: System = thisSystem): Promise<string | undefined> {
  const found = terminalFor(work, { env, system });
  if (!found) return undefined;
  const args = found.script === undefined ? found.args : [...found.args, scriptFile(found.script)];
  const child = spawn(found.program, args, {
    cwd: work.folder,
    env: { ...env, ...found.env },
    detached: true,
    stdio: 'ignore',
    windowsVerbatimArguments: system === 'windows',
  });
  const isStarted = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false)).once('spawn', () => resolve(true));
  });
  child.unref();
  return isStarted ? found.name : undefined;
}

/** Writes a script that only this user can read, into a folder of its own. */
function scriptFile(script: string): string {
  const path = join(makeTemporary('read'), 'stemma.command');
  writeFileSync(path, script, { mode: privateProgram });
  return path;
}
