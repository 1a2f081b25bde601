import { type Command, Option } from 'commander';
import { finished } from '../../core/base/index.js';
import type { ExperimentResult, OutputOf } from '../../core/contract/index.js';
import { dim, green, line, printExact, printJson, printText, red, say, type Text, yellow } from '../terminal/index.js';
import { addCall, readInput } from './call.js';
import { addProjectCommand, type ProjectOptions, pathOption, rawOption, withProject, withStoppableProject } from './command.js';
import { counted, firstLine, size } from './numbers.js';

/** Adds `stemma experiment …`, which runs turns again in several ways and tabulates the replies. */
export function addExperimentCommands(program: Command): void {
  const experiment = program.command('experiment').description('run turns again in several ways and compare the replies');
  addCall(experiment, 'list', 'list the experiments, most recently saved first', 'experiment.list', printExperiments);
  addProjectCommand(experiment, 'save', 'save a new experiment or a new version of one')
    .requiredOption('--input <json>', '{"title", "cases": [{"title", "turnId", "provider", …}], "checks"?, "experimentId"?} as JSON text, @file or -')
    .action(saveExperiment);
  addProjectCommand(experiment, 'run <experiment>', 'run its cases; each reply becomes a branch and a row')
    .option('--case <id...>', 'only these cases')
    .action(runExperiment);
  addCall(
    experiment,
    'judge <result> <verdict>',
    'judge a reply: pass, fail, or none to remove the verdict',
    'experiment.judge',
    (judged) => printText(describeResult(judged)),
    { verdict: ['verdict', (given: string) => (given === 'none' ? null : given)] },
  ).option('--note <text>', 'the reason');
  addProjectCommand(experiment, 'show <experiment>', 'print its table')
    .addOption(new Option('-f, --format <name>', 'format of the table').choices(['csv', 'markdown']).default('markdown'))
    .option('-o, --output <file>', 'write the table to a new file')
    .addOption(rawOption())
    .action(showExperiment);
}

function printExperiments(rows: OutputOf<'experiment.list'>): void {
  for (const { experimentId, title, cases, results, passed, failed } of rows) {
    const counts = dim(`${counted(cases, 'case')}, ${counted(results, 'reply', 'replies')}`);
    printText(line`${yellow(experimentId)}  ${title}  ${counts}  ${green(`${passed} pass`)}  ${red(`${failed} fail`)}`);
  }
  if (rows.length === 0) say('No experiments yet. `stemma experiment save` makes one.');
}

function saveExperiment(options: ProjectOptions & { input: string }): Promise<void> {
  return withProject(options, async ({ client }) => {
    const saved = await client.experiment.save((await readInput(options.input)) as never);
    options.json ? printJson(saved) : printText(saved.experimentId);
  });
}

function runExperiment(experimentId: string, options: ProjectOptions & { case?: string[] }): Promise<void> {
  return withStoppableProject(options, async ({ client, signal }) => {
    const stream = await client.experiment.run({ experimentId, caseIds: options.case }, { signal });
    const round = await finished(stream);
    if (options.json) return printJson(round);
    for (const result of round.results) printText(describeResult(result));
  });
}

function showExperiment(experimentId: string, options: ProjectOptions & { format: 'csv' | 'markdown'; output?: string; raw?: true }): Promise<void> {
  return withProject(options, async ({ client }) => {
    if (options.json) return printJson(await client.experiment.get({ experimentId }));
    const table = await client.experiment.export({ experimentId, format: options.format, path: pathOption(options.output) });
    if (table.path === undefined) printExact(table.text ?? '', options);
    else printText(`Wrote ${table.path} (${size(table.bytes)}).`);
  });
}

const outcomePaints = { pass: green, fail: red, problem: red, unjudged: dim } as const;

function describeResult(result: ExperimentResult): Text {
  const outcome = outcomePaints[result.outcome](result.outcome.padEnd(8));
  const reply = result.problem ?? firstLine(result.head, 80);
  return line`${outcome} ${result.resultId}  ${result.title}  ${dim(result.model ?? result.provider)}  ${reply}`;
}
