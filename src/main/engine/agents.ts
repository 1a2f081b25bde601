import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** For each format, a pattern of the command line of its agent. */
const commandOf = (format: string): RegExp => new RegExp(`(^|[/\\\\\\s\\0])${format.replace(/(-code|-cli)?-v\d+$/, '')}\\b`);

/**
 * Whether an agent that writes the format is running in the directory: a process of this user that has the directory as its working directory.
 * Undefined on systems other than Linux, which have no /proc.
 */
export function agentIsRunning(format: string, cwd: string): boolean | undefined {
  const command = commandOf(format);
  try {
    return readdirSync('/proc').some((id) => /^\d+$/.test(id) && cwdOf(id) === cwd && command.test(read(`/proc/${id}/cmdline`)));
  } catch {
    return undefined;
  }
}

/** The working directory of a process; undefined if the process has ended or belongs to another user. */
function cwdOf(id: string): string | undefined {
  try {
    return readlinkSync(`/proc/${id}/cwd`);
  } catch {
    return undefined;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
