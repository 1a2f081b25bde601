// Opens a terminal window that runs one command. Stemma itself builds this command, which resumes an agent's session.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** A terminal program, and its arguments to run a shell with one script. */
interface Terminal {
  readonly program: string;
  args(script: readonly string[]): readonly string[];
}

const dashE = (script: readonly string[]): readonly string[] => ['-e', ...script];
const afterDashes = (script: readonly string[]): readonly string[] => ['--', ...script];

/** Terminal programs of Linux and BSD, the person's choice first. */
const terminals: readonly Terminal[] = [
  { program: 'x-terminal-emulator', args: dashE },
  { program: 'gnome-terminal', args: afterDashes },
  { program: 'konsole', args: dashE },
  { program: 'xfce4-terminal', args: (script) => ['-x', ...script] },
  { program: 'kitty', args: (script) => script },
  { program: 'alacritty', args: dashE },
  { program: 'wezterm', args: (script) => ['start', '--', ...script] },
  { program: 'foot', args: (script) => script },
  { program: 'xterm', args: dashE },
];

const isOnPath = (program: string, env: Environment): boolean =>
  program.includes('/')
    ? existsSync(program)
    : (env.PATH ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)));

/** The program and arguments that open a terminal with a command; undefined if this machine has no terminal window. */
export function terminalFor(
  command: string,
  { env, platform }: { readonly env: Environment; readonly platform: string },
): { readonly program: string; readonly args: readonly string[] } | undefined {
  if (platform === 'darwin') {
    const quoted = command.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    return {
      program: 'osascript',
      args: ['-e', `tell application "Terminal" to do script "${quoted}"`, '-e', 'tell application "Terminal" to activate'],
    };
  }
  // No shell of Windows understands the command. The window shows it so that a person can run it in WSL or Git Bash.
  if (platform === 'win32' || (!env.DISPLAY && !env.WAYLAND_DISPLAY)) return undefined;
  // The shell stays open after the agent has ended, so that its last output can be read.
  const script = [env.SHELL || '/bin/sh', '-c', `${command}; exec "\${SHELL:-/bin/sh}"`];
  const chosen = env.TERMINAL ? [{ program: env.TERMINAL, args: dashE }] : [];
  const found = [...chosen, ...terminals].find(({ program }) => isOnPath(program, env));
  return found && { program: found.program, args: found.args(script) };
}

/** Opens a terminal that runs a command in a folder. Returns its name; undefined if the machine has no terminal or it does not start. */
export async function openTerminal(
  cwd: string,
  command: string,
  env: Environment = process.env,
  platform: string = process.platform,
): Promise<string | undefined> {
  const found = terminalFor(command, { env, platform });
  if (!found) return undefined;
  const child = spawn(found.program, found.args, { cwd, env, detached: true, stdio: 'ignore' });
  return (await hasStarted(child)) ? found.program : undefined;
}

function hasStarted(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
