import type { AgentProgram } from '../../core/project/index.js';
import type { Environment } from '../../core/system/index.js';
import { findProgram } from '../system/index.js';

/** The facts about this machine that an agent's program needs. */
export interface Machine {
  readonly env: Environment;
  /** The command line that serves Stemma's tools: program and first arguments. */
  readonly stemma: readonly [program: string, ...args: string[]];
}

/** Finds a program: at the path in its environment variable, else on the search path. */
export const findAgent = ({ env }: Machine, name: string, variable: string): string | undefined => findProgram(env[variable] || name, { env });

/** Why an agent cannot run here; null if it can. */
export const missing = (machine: Machine, title: string, name: string, variable: string): string | null =>
  findAgent(machine, name, variable) === undefined
    ? `${title} is not installed: install the command ${name}, or name its path in ${variable}.`
    : null;

/** The environment variables with keys of model providers, by the agent that may see them. */
const keys: Readonly<Record<'anthropic' | 'openai' | 'others', RegExp>> = {
  anthropic: /^(ANTHROPIC_|CLAUDE_CODE_OAUTH)/,
  openai: /^(OPENAI_|CODEX_|AZURE_OPENAI_)/,
  others:
    /^(GEMINI_API_KEY|GOOGLE_API_KEY|GOOGLE_GENAI_|MISTRAL_|GROQ_|DEEPSEEK_|OPENROUTER_|XAI_|COHERE_|TOGETHER_|FIREWORKS_|PERPLEXITY_|DASHSCOPE_|HF_TOKEN)/,
};

/** The environment of an agent: the environment of this process without the keys of other providers and without Stemma's own variables. */
export function environmentFor({ env }: Machine, own: 'anthropic' | 'openai' | 'none'): Record<string, string> {
  const refused = [keys.others, /^STEMMA_/, ...(own === 'openai' ? [] : [keys.openai]), ...(own === 'anthropic' ? [] : [keys.anthropic])];
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || refused.some((pattern) => pattern.test(name)) ? [] : [[name, value]])),
  );
}

type Mcp = NonNullable<Parameters<AgentProgram['run']>[0]['mcp']>;

/** The command of Stemma's MCP server on the project of a job. It acts for the agent of the job only. */
export const mcpServer = ({ env, stemma: [command, ...first] }: Machine, { project, tools, as, runId }: Mcp) => ({
  command,
  args: [
    ...[...first, 'mcp', '--project', project],
    ...(tools.length === 0 ? [] : ['--tools', tools.join(',')]),
    ...(as === null ? [] : [`--as=${as}`]),
    ...(runId === null ? [] : [`--run=${runId}`]),
  ],
  // The agent sees no variables of Stemma, but the MCP server must use the same data folder.
  env: env.STEMMA_HOME === undefined ? {} : { STEMMA_HOME: env.STEMMA_HOME },
});
