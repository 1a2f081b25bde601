import type { Command } from 'commander';
import { dim, line, printJson, printText } from '../terminal/index.js';
import { addProjectCommand, type ProjectOptions, withProject } from './command.js';

interface RepairOptions extends ProjectOptions {
  dryRun?: boolean;
}

/** Adds `stemma diagnose` and `stemma repair-session`, for sessions that their agents can no longer continue. */
export function addRepairCommands(program: Command): void {
  addProjectCommand(program, 'diagnose <session>', 'say what a model would refuse in a session').action(
    (sessionId: string, options: ProjectOptions) =>
      withProject(options, async ({ client }) => {
        const { problems } = await client.session.diagnose({ sessionId });
        if (options.json) return printJson({ problems });
        for (const { kind, message, fix } of problems) printText(line`${kind}: ${message} ${fix ?? ''}`);
        if (problems.length === 0) printText('Nothing in this session would be refused.');
      }),
  );
  addProjectCommand(program, 'repair-session <session>', 'fork a session without what a model would refuse')
    .option('--dry-run', 'show the changes and make no fork')
    .action((sessionId: string, options: RepairOptions) =>
      withProject(options, async ({ client }) => {
        const result = await client.session.repair({ sessionId, ...(options.dryRun && { dryRun: true }) });
        if (options.json) return printJson(result);
        for (const { kind, before, after } of result.changes) printText(line`${kind}: ${before} -> ${after ?? 'left out'}`);
        if (result.changes.length === 0) printText('Nothing in this session needs a repair.');
        if (result.commit) printText(line`Repaired as ${result.commit.id}. The original is unchanged. ${dim('stemma resume continues it.')}`);
      }),
    );
}
