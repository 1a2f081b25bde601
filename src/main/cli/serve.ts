import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import type { RunPolicy } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { say } from '../terminal/index.js';
import { addProjectChoice, type ProjectOptions, untilAborted, withStoppableProject } from './command.js';
import { refusalOf, UsageError } from './errors.js';
import { counted } from './numbers.js';

/** Adds `stemma mcp` and `stemma serve`. Their servers are loaded only when they run, because other commands must start fast. */
export function addServeCommands(program: Command): void {
  addProjectChoice(program.command('mcp'))
    .description('serve tools to an agent (Model Context Protocol) on standard input and output')
    .option('--tools <names>', 'only these groups of tools and single tools, separated by commas (default: all)')
    .option('--permitted <names>', 'of these, only the named tools, which the profile of the agent permits')
    .option('--as <name>', 'act for this agent only')
    .option('--run <run>', 'act in this run of the agent only')
    .action((options: ProjectOptions & { tools?: string; permitted?: string; as?: string; run?: string }) =>
      withStoppableProject(options, async ({ client, signal }) => {
        const { serveTools, toolNames } = await import('../mcp/index.js');
        const names = options.tools?.split(',').filter((each) => each !== '');
        const unknown = names?.find((each) => !toolNames.includes(each));
        if (unknown !== undefined) throw new UsageError(`--tools ${unknown} is neither a group nor a tool. Known are ${toolNames.join(', ')}.`);
        const caller = { as: options.as, run: options.run, permitted: options.permitted?.split(',').filter((each) => each !== '') };
        await serveTools({ client, version: manifest.version, names, caller, signal, refusalOf });
      }),
    );

  addProjectChoice(program.command('serve'))
    .description('run due work that the policy of this machine allows, until it is stopped')
    .option('--policy <file>', 'set the policy first: a JSON file as `runner.setPolicy` takes it')
    .action((options: ProjectOptions & { policy?: string }) =>
      withStoppableProject(
        options,
        async ({ client, signal }) => {
          if (options.policy !== undefined) await setPolicyOf(client, options.policy);
          const { rules } = await client.runner.getPolicy({});
          const { dir } = await client.project.info({});
          say(`Serving ${dir}: ${counted(rules.length, 'rule')}. Stop it with Ctrl+C.`);
          await untilAborted(signal);
        },
        true,
      ),
    );
}

/** Reads a policy. The contract checks it. @throws UsageError if the file cannot be read or is not JSON */
function policyIn(file: string): RunPolicy {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunPolicy;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new UsageError(`cannot read the policy ${file}: the file does not exist.`);
    throw new UsageError(`cannot read the policy ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Sets the policy from a file. @throws UsageError with the field and its value if the contract refuses the policy */
export async function setPolicyOf(client: ContractClient, file: string): Promise<void> {
  const policy = policyIn(file);
  try {
    await client.runner.setPolicy(policy);
  } catch (error) {
    const { code, message } = refusalOf(error);
    throw code === 'BAD_REQUEST' ? new UsageError(`the policy ${file} is not valid. ${message}`) : error;
  }
}
