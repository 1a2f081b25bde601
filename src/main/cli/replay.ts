import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import {
  type ContextId,
  type DivergenceLimit,
  divergenceLimits,
  type ExperimentResult,
  type ReplyPart,
  type RequestEdits,
  type WhatIfPart,
  type WhatIfResult,
} from '../../core/contract/index.js';
import { drain, readInput } from './call.js';
import type { Connection } from './client.js';
import { wholeNumber } from './numbers.js';
import { counted, dim, firstLine, green, printable, printJson, printText, red, say, size, yellow } from './output.js';

interface Common {
  project?: string;
  json?: boolean;
}
type Within = (options: Common, work: (connection: Connection & { signal: AbortSignal }) => Promise<void>) => Promise<void>;
/** Adds the options that every command of a project has. */
type OfProject = (command: Command) => Command;

interface Asked extends Common {
  provider: string;
  model?: string;
}

const providerOption = (): Option =>
  new Option('--provider <name>', 'who answers: recorded, anthropic, openai, ollama, … (`stemma call turn.providers`)').default('recorded');
const modelOption = (): Option => new Option('--model <name>', 'the model; else the one on record');

/** `stemma rerun`, `stemma whatif`, `stemma experiment`: what else could have happened. Nothing of a transcript is run. */
export function addReplayCommands(program: Command, ofProject: OfProject, commitName: (text: string) => string, within: Within): void {
  const id = (text: string): ContextId => commitName(text) as ContextId;
  ofProject(program.command('rerun <commit>').description('ask a turn again: each reply becomes a branch'))
    .addOption(providerOption())
    .addOption(modelOption())
    .option('--samples <count>', 'so many replies', wholeNumber, 1)
    .option('--edits <json>', 'entries to change, as `stemma fork` takes them')
    .option('--request <json>', 'what else is other: {"system"?, "tools"?, "settings"?} as JSON, @file or -')
    .action((commit: string, options: Asked & { samples: number; edits?: string; request?: string }) =>
      within(options, async ({ client, signal }) => {
        const { provider, model, samples, json } = options;
        const edits = options.edits === undefined ? undefined : (readInput(options.edits) as never);
        const request = options.request === undefined ? undefined : (readInput(options.request) as RequestEdits);
        const stream = await client.turn.rerun({ turnId: id(commit), provider, model, samples, edits, request }, { signal });
        const done = (await drain(stream, (part) => json || showPart(part as ReplyPart))) as { commits: ContextId[] };
        json ? printJson(done) : printText(done.commits.map((each) => `${green('branch')} ${each}`).join('\n'));
      }),
    );

  ofProject(program.command('whatif <commit>').description("say the original's next turns on top of a branch, one by one, and have each answered"))
    .addOption(providerOption())
    .addOption(modelOption())
    .option('--of <commit>', 'the branch whose turns are followed; else the likeliest')
    .addOption(new Option('--stop-at <divergence>', 'where it ends by itself').choices([...divergenceLimits]).default('calls'))
    .option('--turns <count>', 'at most so many', wholeNumber)
    .option('--dry-run', 'only say what would be followed')
    .action((commit: string, options: Asked & { of?: string; stopAt: DivergenceLimit; turns?: number; dryRun?: true }) =>
      within(options, async ({ client, signal }) => {
        const { provider, model, stopAt, turns, json } = options;
        const original = options.of === undefined ? undefined : id(options.of);
        if (options.dryRun) {
          const following = await client.turn.following({ id: id(commit), original });
          if (json) return printJson(following);
          if (following.original === null) return say('No other branch goes on from where this one comes from.');
          if (following.answersFirst) printText(dim('first, the last words of the branch are answered'));
          return printText(following.turns.map((turn) => `${yellow(turn.turnId)}  ${firstLine(turn.trigger.text ?? '', 100)}`).join('\n'));
        }
        const stream = await client.turn.whatIf({ id: id(commit), original, provider, model, stopAt, turns }, { signal });
        const done = (await drain(stream, (part) => json || showWhatIf(part as WhatIfPart))) as WhatIfResult;
        if (json) return printJson(done);
        if (done.stopped) say(`${yellow(done.stopped.why)} at turn ${done.stopped.turn}: ${printable(done.stopped.what)}`);
        printText(`${green('branch')} ${done.tip} ${dim(`${counted(done.commits.length, 'turn')} done, ${done.left} left`)}`);
      }),
    );

  addExperimentCommands(program, ofProject, within);
}

function addExperimentCommands(program: Command, ofProject: OfProject, within: Within): void {
  const experiment = program.command('experiment').description('turns run again in several ways, as a table').exitOverride();
  ofProject(experiment.command('list').description('those of the project, the last saved first')).action((options: Common) =>
    within(options, async ({ client }) => {
      const rows = await client.experiment.list({});
      if (options.json) return printJson(rows);
      for (const row of rows)
        printText(
          `${yellow(row.experimentId)}  ${printable(row.title)}  ${dim(`${counted(row.cases, 'case')}, ${counted(row.results, 'reply', 'replies')}`)}  ${green(`${row.passed} pass`)}  ${red(`${row.failed} fail`)}`,
        );
      if (rows.length === 0) say('No experiments yet: `stemma experiment save` makes one.');
    }),
  );
  ofProject(experiment.command('save').description('make one, or save it anew'))
    .requiredOption('--input <json>', '{"title", "cases": [{"title", "turnId", "provider", …}], "checks"?, "experimentId"?} as JSON, @file or -')
    .action((options: Common & { input: string }) =>
      within(options, async ({ client }) => {
        const saved = await client.experiment.save(readInput(options.input) as never);
        options.json ? printJson(saved) : printText(saved.experimentId);
      }),
    );
  ofProject(experiment.command('run <experiment>').description('run its cases: each reply is a branch and a row'))
    .option('--case <id...>', 'only these')
    .action((experimentId: string, options: Common & { case?: string[] }) =>
      within(options, async ({ client, signal }) => {
        const stream = await client.experiment.run({ experimentId, caseIds: options.case }, { signal });
        const done = (await drain(stream, () => undefined)) as { round: number; results: ExperimentResult[] };
        if (options.json) return printJson(done);
        for (const result of done.results) printText(resultLine(result));
      }),
    );
  ofProject(experiment.command('judge <result> <verdict>').description('what you say of a reply: pass, fail, or none to take it back'))
    .option('--note <text>', 'why')
    .action((resultId: string, verdict: string, options: Common & { note?: string }) =>
      within(options, async ({ client }) => {
        const judged = await client.experiment.judge({ resultId, verdict: verdict === 'none' ? null : (verdict as 'pass'), note: options.note });
        options.json ? printJson(judged) : printText(resultLine(judged));
      }),
    );
  ofProject(experiment.command('show <experiment>').description('its table'))
    .addOption(new Option('-f, --format <name>', 'as').choices(['csv', 'markdown']).default('markdown'))
    .option('-o, --output <file>', 'as a file; never over one that is there')
    .action((experimentId: string, options: Common & { format: 'csv' | 'markdown'; output?: string }) =>
      within(options, async ({ client }) => {
        if (options.json) return printJson(await client.experiment.get({ experimentId }));
        const path = options.output === undefined ? undefined : resolve(options.output);
        const made = await client.experiment.export({ experimentId, format: options.format, path });
        printText(made.path === undefined ? (made.text ?? '') : `Wrote ${made.path} (${size(made.bytes)}).`);
      }),
    );
}

/** What arrives of a reply, as it comes: words to standard output, all else beside them. */
function showPart(part: ReplyPart): void {
  switch (part.kind) {
    case 'text':
      process.stdout.write(printable(part.delta));
      return;
    case 'tool_call':
      printText(`\n${yellow(part.toolName ?? 'tool')} ${dim(printable(part.delta))}`);
      return;
    case 'tool_result':
      say(dim(firstLine(part.delta, 120)));
      return;
    case 'waiting':
    case 'notice':
      say(dim(printable(part.delta)));
      return;
    case 'failed':
      say(red(printable(part.delta)));
      return;
    case 'commit':
      process.stdout.write('\n');
      return;
    case 'thinking':
    case 'question':
    case 'usage':
      return;
  }
}

function showWhatIf({ kind, turn, text, part, commit, divergence }: WhatIfPart): void {
  if (part) showPart(part);
  if (kind === 'begin') printText(`\n${green(`turn ${turn}`)} ${firstLine(text, 100)}`);
  if (kind === 'end') printText(`\n${dim(commit ?? '')} ${wayOf(divergence)}`);
}

const wayOf = (divergence: WhatIfPart['divergence']): string =>
  divergence ? `${divergence.kind === 'calls' ? yellow('another way') : dim('other words')}: ${printable(divergence.what)}` : 'as recorded';

const outcomeColors = { pass: green, fail: red, problem: red, unjudged: dim } as const;

const resultLine = (result: ExperimentResult): string =>
  `${outcomeColors[result.outcome](result.outcome.padEnd(8))} ${result.resultId}  ${printable(result.title)}  ${dim(result.model ?? result.provider)}  ${printable(result.problem ?? firstLine(result.head, 80))}`;
