import { Command, CommanderError } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { block, line, printPart, say, sayError, sayJson } from '../terminal/index.js';
import { refusalOf, UsageError } from './errors.js';

/** Runs a command line; without words, it opens the window on the histories of this machine. Sets the exit code: 0 for success, 1 for a refused call, 2 for wrong usage. */
export async function runProgram(build: () => Command | Promise<Command>, argv: readonly string[]): Promise<void> {
  try {
    const [node = '', script = '', ...words] = argv;
    const program = await build();
    await program.parseAsync([node, script, ...(words.length > 0 ? words : ['web'])]);
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

/** A command line without commands. */
export const newProgram = (): Command =>
  new Command('stemma')
    .description('See, prove and change what an agent understood: agent histories as branching chains of context.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({ writeOut: printPart, writeErr: (text) => say(block(text.replace(/\n$/, ''))) })
    // In `stemma run COMMAND …`, options after COMMAND belong to COMMAND.
    .enablePositionalOptions()
    .showHelpAfterError('(--help explains the usage)')
    .showSuggestionAfterError()
    .addHelpText('after', examples);

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
