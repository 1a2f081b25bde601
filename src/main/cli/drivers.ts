import { basename } from 'node:path';
import { type Runtime, runtimes } from '../../core/contract/index.js';
import { claudeStream, type StreamReader } from './stream.js';

/** How `stemma run` recognizes the command of an agent. `launch` knows where each agent writes its sessions. */
export interface AgentDriver {
  readonly agent: Runtime;
  readonly commands: readonly string[];
  readonly packages: readonly string[];
  /** Returns a reader of the agent's output if the arguments make it write no transcript; otherwise undefined. */
  readonly stream?: (args: readonly string[], cwd: string) => StreamReader | undefined;
}

export const drivers: Readonly<Record<Runtime, AgentDriver>> = {
  'claude-code': { agent: 'claude-code', commands: ['claude'], packages: ['@anthropic-ai/claude-code'], stream: claudeStream },
  codex: { agent: 'codex', commands: ['codex'], packages: ['@openai/codex'] },
  gemini: { agent: 'gemini', commands: ['gemini'], packages: ['@google/gemini-cli'] },
  opencode: { agent: 'opencode', commands: ['opencode'], packages: ['opencode-ai'] },
  copilot: { agent: 'copilot', commands: ['copilot'], packages: ['@github/copilot'] },
  qwen: { agent: 'qwen', commands: ['qwen'], packages: ['@qwen-code/qwen-code'] },
  pi: { agent: 'pi', commands: ['pi'], packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'] },
};

/** Commands that start another command: the agent is their first argument that is not an option. */
const launchers = new Set(['npx', 'bunx', 'pnpx', 'node', 'bun', 'deno', 'env', 'nice', 'time', 'stdbuf', 'exec', 'dlx', 'x', 'pnpm', 'yarn', 'npm']);

/** The agent that a command starts. If it is undefined, Stemma follows every agent. */
export function driverOf([command, ...args]: readonly string[]): AgentDriver | undefined {
  if (command === undefined) return undefined;
  const name = basename(command).replace(/\.(exe|cmd|js|mjs|cjs)$/i, '');
  const withoutVersion = command.replace(/(?<=.)@[^@/]*$/, '');
  const found = runtimes
    .map((agent) => drivers[agent])
    .find(
      ({ commands, packages }) =>
        commands.includes(name) || packages.some((one) => one === withoutVersion || command.includes(`node_modules/${one}/`)),
    );
  if (found) return found;
  // `env` accepts variables before the command.
  const next = args.findIndex((each) => !each.startsWith('-') && !/^[A-Za-z_]\w*=/.test(each));
  return launchers.has(name) && next >= 0 ? driverOf(args.slice(next)) : undefined;
}
