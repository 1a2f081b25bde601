import { Command, CommanderError } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { block, line, printPart, say, sayError, sayJson } from '../terminal/index.js';
import { addAnalysisCommands } from './analysis.js';
import { addCallCommand, loadProcedures } from './call.js';
import { addCompactionCommand } from './compaction.js';
import { addContextCommands } from './contexts.js';
import { refusalOf, UsageError } from './errors.js';
import { addEvidenceCommands } from './evidence.js';
import { addExperimentCommands } from './experiments.js';
import { addExportCommand } from './export.js';
import { addFindingCommands } from './findings.js';
import { addHookCommand } from './hooks.js';
import { addJobCommands } from './jobs.js';
import { addLiveCommands } from './live.js';
import { addOtlpCommand } from './otlp.js';
import { addPriceCommands } from './prices.js';
import { addProjectCommands } from './projects.js';
import { addRepairCommands } from './repair.js';
import { addReplayCommands } from './replay.js';
import { addRequestCommands } from './requests.js';
import { addServeCommands } from './serve.js';
import { addTeamCommands } from './team.js';
import { addTicketCommands } from './tickets.js';
import { addUsageCommands } from './usage.js';

/** Runs the command line; without words, it opens the window on the histories of this machine. Sets the exit code: 0 for success, 1 for a refused call, 2 for wrong usage. */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    const [node = '', script = '', ...words] = argv;
    if (words.includes('call')) await loadProcedures();
    await buildProgram().parseAsync([node, script, ...(words.length > 0 ? words : ['web'])]);
  } catch (error) {
    process.exitCode = reportError(error, argv);
  }
}

/** Prints an error as text, or as JSON if the result would be JSON. Returns the exit code. */
function reportError(error: unknown, argv: readonly string[]): number {
  // Commander has printed its own errors and help texts already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    say(line`stemma: ${error.message}`);
    return 2;
  }
  const refusal = refusalOf(error);
  if (argv.includes('--json') || argv[2] === 'call') sayJson(refusal);
  else say(line`stemma: ${refusal.message}`);
  if (refusal.code === 'INTERNAL_SERVER_ERROR' && process.env.STEMMA_DEBUG) sayError(error);
  return 1;
}

/** The whole command line: every command with its options and its help. */
export function buildProgram(): Command {
  const program = new Command('stemma')
    .description('See, prove and change what an agent understood: agent histories as branching chains of context.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({ writeOut: printPart, writeErr: (text) => say(block(text.replace(/\n$/, ''))) })
    // In `stemma run COMMAND …`, options after COMMAND belong to COMMAND.
    .enablePositionalOptions()
    .showHelpAfterError('(--help explains the usage)')
    .showSuggestionAfterError()
    .addHelpText('after', examples);
  addProjectCommands(program);
  addContextCommands(program);
  addLiveCommands(program);
  addOtlpCommand(program);
  addHookCommand(program);
  addRequestCommands(program);
  addUsageCommands(program);
  addAnalysisCommands(program);
  addEvidenceCommands(program);
  addFindingCommands(program);
  addPriceCommands(program);
  addRepairCommands(program);
  addCompactionCommand(program);
  addExportCommand(program);
  addReplayCommands(program);
  addExperimentCommands(program);
  addJobCommands(program);
  addTicketCommands(program);
  addTeamCommands(program);
  addCallCommand(program);
  addServeCommands(program);
  return program;
}

const examples = `
Without a command, stemma opens the window on the histories of this machine, as \`stemma web\` does.

From a history to a fork:
  stemma init work.stemma                          create a project here
  stemma import ~/.claude/projects/*/*.jsonl       import histories into it
  stemma capture                                   record the agents of this machine while they work
  stemma run -- claude                             or run one agent and record it
  stemma log                                       show the branches
  stemma show ctx-3f9a12c4                         show what a turn added
  stemma fork ctx-3f9a12c4 --at KEY                start a branch in the middle of it
  stemma resume ctx-77e0aa10                       hand the branch back to the agent

Exit codes: 0 success, 1 refused, 2 wrong usage.`;
