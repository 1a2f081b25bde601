import { processesIn } from '../system/index.js';

/** For each format, a pattern of the command line of its agent. */
const commandOf = (format: string): RegExp => new RegExp(`(^|[/\\\\\\s\\0])${format.replace(/(-code|-cli)?-v\d+$/, '')}\\b`);

/** Whether an agent that writes the format works in the directory, as a process of this user. Undefined where the system does not say. */
export function agentIsRunning(format: string, cwd: string): boolean | undefined {
  const command = commandOf(format);
  return processesIn(cwd)?.some((words) => command.test(words));
}
