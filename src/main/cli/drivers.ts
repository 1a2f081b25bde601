import { basename } from 'node:path';
import { type Runtime, runtimes } from '../../core/contract/index.js';
import { claudeStream, type StreamReader } from './stream.js';

/** What `stemma run` knows of an agent: how its command is recognized. Where it writes, `launch` knows for all. */
export interface Driver {
  readonly agent: Runtime;
  /** Names of its command, and of the packages that bring it. */
  readonly commands: readonly string[];
  readonly packages: readonly string[];
  /** How its output is read, where the command's words make it write no transcript and tell all on standard output. */
  readonly stream?: (words: readonly string[], cwd: string) => StreamReader | undefined;
}

export const drivers: Readonly<Record<Runtime, Driver>> = {
  'claude-code': { agent: 'claude-code', commands: ['claude'], packages: ['@anthropic-ai/claude-code'], stream: claudeStream },
  codex: { agent: 'codex', commands: ['codex'], packages: ['@openai/codex'] },
  gemini: { agent: 'gemini', commands: ['gemini'], packages: ['@google/gemini-cli'] },
  opencode: { agent: 'opencode', commands: ['opencode'], packages: ['opencode-ai'] },
  pi: { agent: 'pi', commands: ['pi'], packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'] },
};

/** Commands that run another: the agent is named by their first word that is no option. */
const runners = new Set(['npx', 'bunx', 'pnpx', 'node', 'bun', 'deno', 'env', 'nice', 'time', 'stdbuf', 'exec', 'dlx', 'x', 'pnpm', 'yarn', 'npm']);

/** The agent that a command starts; undefined where it is none that is known: then all of them are followed. */
export function driverOf([word, ...rest]: readonly string[]): Driver | undefined {
  if (word === undefined) return undefined;
  const name = basename(word).replace(/\.(exe|cmd|js|mjs|cjs)$/i, '');
  const plain = word.replace(/(?<=.)@[^@/]*$/, '');
  const found = runtimes
    .map((agent) => drivers[agent])
    .find((driver) => driver.commands.includes(name) || driver.packages.some((one) => one === plain || word.includes(`node_modules/${one}/`)));
  if (found) return found;
  // Of `env`, variables stand before the command.
  const next = rest.findIndex((each) => !each.startsWith('-') && !/^[A-Za-z_]\w*=/.test(each));
  return runners.has(name) && next >= 0 ? driverOf(rest.slice(next)) : undefined;
}
