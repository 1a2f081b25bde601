import type { AgentProgram } from '../../core/project/index.js';
import type { Environment } from '../../core/system/index.js';
import { findProgram } from '../system/index.js';

export interface Machine {
  readonly env: Environment;
  /** The command line that serves Stemma's tools: program and first arguments. */
  readonly stemma: readonly [program: string, ...args: string[]];
}

/** Finds a program: at the path in its environment variable, else on the search path. */
export const findAgent = ({ env }: Machine, name: string, variable: string): string | undefined => findProgram(env[variable] || name, { env });

/** An agent that resumes contexts, asks for permissions and takes Stemma's tools. */
export const abilities = (machine: Machine, title: string, name: string, variable: string) => ({
  title,
  resume: true,
  permissions: true,
  mcp: true,
  /** Why it cannot run here; null if it can. */
  problem: (): string | null =>
    findAgent(machine, name, variable) === undefined
      ? `${title} is not installed: install the command ${name}, or name its path in ${variable}.`
      : null,
});

type Mcp = NonNullable<Parameters<AgentProgram['run']>[0]['mcp']>;

/** The command of Stemma's MCP server on the project of a job. It acts for the agent of the job only. */
export const mcpServer = ({ env, stemma: [command, ...first] }: Machine, { project, tools, permitted, as, runId }: Mcp) => ({
  command,
  args: [
    ...[...first, 'mcp', '--project', project],
    ...(tools.length === 0 ? [] : ['--tools', tools.join(',')]),
    ...(permitted === undefined ? [] : ['--permitted', permitted.filter((name) => /^\w+$/.test(name)).join(',')]),
    ...(as === null ? [] : [`--as=${as}`]),
    ...(runId === null ? [] : [`--run=${runId}`]),
  ],
  // The agent sees no variables of Stemma, but the MCP server must use the same data folder.
  env: env.STEMMA_HOME === undefined ? {} : { STEMMA_HOME: env.STEMMA_HOME },
});
