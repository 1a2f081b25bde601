import { type Command, Option } from 'commander';
import { finished } from '../../core/base/index.js';
import { type DivergenceLimit, divergenceLimits, type ReplyPart, type RequestEdits, type WhatIfPart } from '../../core/contract/index.js';
import { block, dim, green, line, printJson, printPart, printText, red, say, type Text, yellow } from '../terminal/index.js';
import { readInput } from './call.js';
import { addProjectCommand, asOption, commitName, type ProjectOptions, withStoppableProject } from './command.js';
import { counted, firstLine } from './numbers.js';
import { wholeNumber } from './option-values.js';

const providerOption = (): Option =>
  new Option('--provider <name>', 'the provider: recorded, anthropic, openai, ollama, … (`stemma call turn.providers` lists them)').default(
    'recorded',
  );
const modelOption = (): Option => new Option('--model <name>', 'the model (default: the recorded one)');

/** Adds `stemma rerun` and `stemma whatif`, which let a model answer turns again. Neither runs a command that a transcript contains. */
export function addReplayCommands(program: Command): void {
  addProjectCommand(program, 'rerun <commit>', 'run a turn again; each reply becomes a branch')
    .addOption(providerOption())
    .addOption(modelOption())
    .addOption(asOption())
    .option('--samples <count>', 'number of replies', wholeNumber, 1)
    .option('--edits <json>', 'entries to change, as `stemma fork` takes them')
    .option('--request <json>', 'changes to the request: {"system"?, "tools"?, "settings"?} as JSON text, @file or -')
    .action(rerun);

  addProjectCommand(program, 'whatif <commit>', "repeat the original's next turns on top of a branch, one by one")
    .addOption(providerOption())
    .addOption(modelOption())
    .addOption(asOption())
    .option('--of <commit>', 'the original branch (default: the most likely one)')
    .addOption(new Option('--stop-at <divergence>', 'the difference at which the run stops').choices([...divergenceLimits]).default('calls'))
    .option('--turns <count>', 'largest number of turns', wholeNumber)
    .option('--dry-run', 'only list the turns')
    .action(whatIf);
}

interface ProviderOptions extends ProjectOptions {
  provider: string;
  model?: string;
  /** The principal of the new branch. */
  as?: string;
}

function rerun(commit: string, options: ProviderOptions & { samples: number; edits?: string; request?: string }): Promise<void> {
  return withStoppableProject(options, async ({ client, signal }) => {
    const { provider, model, samples, as: principal, json } = options;
    const edits = options.edits === undefined ? undefined : ((await readInput(options.edits)) as never);
    const request = options.request === undefined ? undefined : ((await readInput(options.request)) as RequestEdits);
    const stream = await client.turn.rerun({ turnId: commitName(commit), provider, model, samples, edits, request, principal }, { signal });
    const { commits } = await finished(stream, (part) => json || printReply(part));
    if (json) return printJson({ commits });
    for (const each of commits) printText(line`${green('branch')} ${each}`);
  });
}

function whatIf(commit: string, options: ProviderOptions & { of?: string; stopAt: DivergenceLimit; turns?: number; dryRun?: true }): Promise<void> {
  return withStoppableProject(options, async ({ client, signal }) => {
    const { provider, model, stopAt, turns, as: principal, json } = options;
    const id = commitName(commit);
    const original = options.of === undefined ? undefined : commitName(options.of);
    if (options.dryRun) {
      const following = await client.turn.following({ id, original });
      if (json) return printJson(following);
      if (following.original === null) return say('No other branch continues from the start of this one.');
      if (following.answersFirst) printText(dim('first, the last message of the branch is answered'));
      for (const turn of following.turns) printText(line`${yellow(turn.turnId)}  ${firstLine(turn.trigger.text ?? '', 100)}`);
      return;
    }
    const stream = await client.turn.whatIf({ id, original, provider, model, stopAt, turns, principal }, { signal });
    const result = await finished(stream, (part) => json || printWhatIf(part));
    if (json) return printJson(result);
    if (result.stopped) say(line`${yellow(result.stopped.why)} at turn ${result.stopped.turn}: ${result.stopped.what}`);
    printText(line`${green('branch')} ${result.tip ?? 'none'} ${dim(`${counted(result.commits.length, 'turn')} done, ${result.left} left`)}`);
  });
}

const printDim = ({ delta }: ReplyPart): void => say(dim(block(delta)));

/** How a part of a reply is printed as it arrives, by its kind: the text on standard output, everything else on standard error. */
const printers: Readonly<Record<ReplyPart['kind'], ((part: ReplyPart) => void) | null>> = {
  text: ({ delta }) => printPart(delta),
  tool_call: ({ delta, toolName = 'tool' }) => printText(line`\n${yellow(toolName)} ${dim(block(delta))}`),
  tool_result: ({ delta }) => say(dim(firstLine(delta, 120))),
  waiting: printDim,
  notice: printDim,
  failed: ({ delta }) => say(red(block(delta))),
  commit: () => printPart('\n'),
  thinking: null,
  question: null,
  usage: null,
};

const printReply = (part: ReplyPart): void => printers[part.kind]?.(part);

function printWhatIf({ kind, turn, text, part, commit, divergence }: WhatIfPart): void {
  if (part) printReply(part);
  if (kind === 'begin') printText(line`\n${green(`turn ${turn}`)} ${firstLine(text, 100)}`);
  if (kind === 'end') printText(line`\n${dim(commit ?? '')} ${describeDivergence(divergence)}`);
}

function describeDivergence(divergence: WhatIfPart['divergence']): Text {
  if (!divergence) return line`as recorded`;
  return line`${divergence.kind === 'calls' ? yellow('different calls') : dim('different words')}: ${divergence.what}`;
}
