import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** How an agent's process is known by its command line, by the name of the format that it writes. */
const commandOf = (format: string): RegExp => new RegExp(`(^|[/\\\\\\s\\0])${format.replace(/(-code)?-v\d+$/, '')}\\b`);

/**
 * Whether an agent that writes the format is at work in the directory: one of this person's processes has it as its working
 * directory. Undefined where the system does not tell of processes (only Linux does, under /proc).
 */
export function agentIsRunning(format: string, cwd: string): boolean | undefined {
  const command = commandOf(format);
  try {
    return readdirSync('/proc').some((id) => /^\d+$/.test(id) && cwdOf(id) === cwd && command.test(read(`/proc/${id}/cmdline`)));
  } catch {
    return undefined;
  }
}

/** Of a process that ended meanwhile, or of another person, nothing is known. */
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
