import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { finished } from '../../core/base/index.js';
import {
  type AgentPerformer,
  type Job,
  type JobEvent,
  type JobStatus,
  jobStatuses,
  type Performer,
  permissionModes,
  type Received,
  type RunLimits,
  runtimes,
  type Work,
} from '../../core/contract/index.js';
import { quoted, shellOf, thisSystem } from '../../core/system/index.js';
import { block, dim, green, line, printJson, printPart, printText, red, say, type Text, yellow } from '../terminal/index.js';
import { addCall } from './call.js';
import { addProjectCommand, commitName, type ProjectOptions, withProject, withStoppableProject } from './command.js';
import { UsageError } from './errors.js';
import { counted, firstLine } from './numbers.js';
import { wholeNumber } from './option-values.js';

/** Adds `stemma job …`: work that models and command-line agents carry out. */
export function addJobCommands(program: Command): void {
  const job = program.command('job').description('carry out turns, runs, tickets and contexts, with a model or a command-line agent');
  addCall(job, 'list', 'list the newest jobs', 'runner.list', (jobs) => {
    for (const each of jobs) printText(describeJob(each));
    if (jobs.length === 0) say('No jobs yet. `stemma job start` starts one.');
  }).addOption(new Option('--status <status>', 'only jobs with this status').choices(jobStatuses));
  addProjectCommand(job, 'start [turn]', 'carry out a dispatched turn, or answer a context, and print what happens')
    .option('--run <run>', 'carry out a run of an agent in a space')
    .option('--event <number>', 'carry out a start that a ticket requests', wholeNumber)
    .option('--commit <commit>', 'answer this context', commitName)
    .option('--provider <id>', 'the provider whose model answers; `stemma call turn.providers` lists them')
    .addOption(new Option('--agent <name>', 'the command-line agent that does the work; `stemma call runner.agents` lists them').choices(runtimes))
    .option('--folder <dir>', 'the folder in which the agent works (default: this folder)')
    .addOption(new Option('--permissions <mode>', 'what the agent may do without asking (default: default)').choices(permissionModes))
    .option('--model <name>', 'the model (default: the model of the profile or the agent)')
    .option('--calls <count>', 'at most this many model calls (default: 50)', positive)
    .option('--tokens <count>', 'at most this many tokens', positive)
    .option('--cost <dollars>', 'at most this cost in US dollars', positive)
    .option('--minutes <count>', 'at most this many minutes (default: 30)', positive)
    .option('--times <count>', 'with --commit: the number of tries, each in its own folder and branch', positive)
    .option('--check <command>', 'with --times: a command whose exit code 0 means that a try passed')
    .action(startJob);
  addProjectCommand(job, 'received', 'list the work that other machines sent, with who sent it').action(listReceived);
  addProjectCommand(job, 'allow [turn]', 'allow work that another machine sent, so that a rule may start it')
    .option('--event <number>', 'a start that a ticket requests', wholeNumber)
    .action(allowWork);
  addCall(job, 'stop <job>', 'stop a job; what was finished stays', 'runner.stop', (stopped) => printText(describeJob(stopped)));
  addCall(job, 'log <job>', 'print what happened in a job', 'runner.log', ({ events, job: of }) => {
    for (const event of events) printEvent(event);
    printText(describeJob(of));
  });
}

function positive(text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError(`It must be a number above 0, not ${JSON.stringify(text)}.`);
}

const senderOf = ({ name, isLink, hub, allowedAt }: Received): string =>
  `${name ?? 'unknown sender'}${isLink ? ' (share link)' : ''} through ${hub}${allowedAt === null ? ', waits for you' : ', allowed'}`;

function listReceived(options: ProjectOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    const events = (await client.ticket.events({ state: ['waiting', 'taken'] })).filter(({ received }) => received);
    const turns = (await client.handover.map({})).turns.filter(({ received, status }) => received && openTurns.has(status));
    if (options.json) return printJson({ events, turns });
    for (const { event, task, title, received } of events)
      if (received) printText(line`--event ${event}  ${task}: ${firstLine(title, 80)}  ${dim(senderOf(received))}`);
    for (const { agentTurnId, instruction = '', received } of turns)
      if (received) printText(line`${agentTurnId}  ${firstLine(instruction, 80)}  ${dim(senderOf(received))}`);
    if (events.length + turns.length === 0) printText(line`No work of another machine waits.`);
  });
}

const openTurns: ReadonlySet<string> = new Set(['queued', 'dispatched', 'running', 'suspended']);

function allowWork(turn: string | undefined, options: ProjectOptions & { event?: number }): Promise<void> {
  return withProject(options, async ({ client }) => {
    if ((turn === undefined) === (options.event === undefined)) throw new UsageError('Name a turn or --event, as `stemma job received` lists them.');
    const { received } = await client.runner.allow({ what: turn === undefined ? { eventId: options.event ?? 0 } : { turnId: turn } });
    if (options.json) return printJson({ received });
    printText(line`${received === null ? 'This machine recorded it, so it needs no permission.' : `Allowed. Sent by ${senderOf(received)}.`}`);
  });
}

interface StartOptions extends ProjectOptions, RunLimits, Partial<AgentPerformer> {
  readonly commit?: string;
  readonly run?: string;
  readonly event?: number;
  readonly provider?: string;
  readonly times?: number;
  readonly check?: string;
}

/** The work of a command. @throws UsageError unless exactly one is named */
function workOf(turn: string | undefined, { run, event, commit }: StartOptions): Work {
  const named = Object.entries({ turnId: turn, runId: run, eventId: event, commit }).filter(([, value]) => value !== undefined);
  if (named.length !== 1) throw new UsageError('Name a turn, or one of --run, --event and --commit.');
  return Object.fromEntries(named) as Work;
}

/** The performer of a command. @throws UsageError unless exactly one is named */
function performerIn({ provider, agent, folder, permissions, model }: StartOptions): Performer {
  if ((provider === undefined) === (agent === undefined)) throw new UsageError('Name a performer: --provider or --agent.');
  return agent === undefined ? { provider: provider ?? '', model } : { agent, folder: resolve(folder ?? '.'), permissions, model };
}

async function startJob(turn: string | undefined, options: StartOptions): Promise<void> {
  const { calls, tokens, cost, minutes } = options;
  const [what, performer] = [workOf(turn, options), performerIn(options)];
  if (options.times !== undefined || options.check !== undefined) return repeatJob(what, performer, options);
  await withStoppableProject(options, async ({ client, signal }) => {
    const stream = await client.runner.start({ what, performer, limits: { calls, tokens, cost, minutes } });
    let jobId = '';
    signal.addEventListener('abort', () => void client.runner.stop({ jobId }));
    const result = await finished(stream, (event) => {
      jobId = event.jobId;
      if (!options.json) printEvent(event);
    });
    if (result.status !== 'success') process.exitCode = 1;
    if (options.json) return printJson(result);
    printText(line`${result.jobId}  ${colored(result.status)}  ${result.commits.join(' ')}`);
  });
}

function repeatJob(what: Work, performer: Performer, { times = 1, check, calls, tokens, cost, minutes, ...options }: StartOptions): Promise<void> {
  if (!('commit' in what)) throw new UsageError('--times and --check need --commit.');
  return withStoppableProject(options, async ({ client }) => {
    const stream = await client.runner.repeat({ commit: what.commit, times, performer, limits: { calls, tokens, cost, minutes }, check });
    const { tries } = await finished(stream);
    if (tries.some(({ status, score }) => status !== 'success' || score === 0)) process.exitCode = 1;
    if (options.json) return printJson({ tries });
    for (const { jobId, status, commit, folder, score } of tries)
      printText(line`${jobId}  ${colored(status)}  ${score === null ? '' : score === 1 ? 'pass  ' : 'fail  '}${commit ?? ''}  ${folder ?? ''}`);
  });
}

const colored = (status: JobStatus): Text => (status === 'success' ? green(status) : status === 'running' ? yellow(status) : red(status));

function describeJob({ jobId, what, performer, status, used, error, title }: Job): Text {
  const target = title === '' ? JSON.stringify(what) : title;
  const tokens = used.tokens === null ? 'tokens not recorded' : counted(used.tokens, 'token');
  const counts = dim(`${counted(used.calls, 'call')}, ${tokens}`);
  const named = 'agent' in performer ? performer.agent : performer.provider;
  const by = performer.model === undefined ? named : `${named} (${performer.model})`;
  return line`${yellow(jobId)}  ${colored(status)}  ${target} by ${by}  ${counts}${error === null ? '' : line`  ${error}`}`;
}

/** A person may copy the line, and a model chose the id of the request. */
const inShell = (text: string): string => quoted(text, shellOf(thisSystem));

const printCall = ({ text, toolName = 'tool' }: JobEvent): void => say(line`\n${yellow(toolName)} ${dim(firstLine(text, 200))}`);
const printDim = ({ text }: JobEvent): void => say(dim(block(text)));

/** How an event is printed, by its kind: the words of the model on standard output, everything else on standard error. */
const printers: Readonly<Record<JobEvent['kind'], ((event: JobEvent) => void) | null>> = {
  text: ({ text }) => printPart(text),
  call: printCall,
  question: (event) => {
    const { jobId, requestId } = event;
    printCall(event);
    say('It waits for your answer, under Agents, Jobs in the window, or by:');
    say(line`stemma call runner.answer --input ${inShell(JSON.stringify({ jobId, requestId, allow: true }))}`);
  },
  result: ({ text }) => say(dim(firstLine(text, 200))),
  waiting: printDim,
  notice: printDim,
  ended: ({ text }) => {
    printPart('\n');
    if (text !== '') say(red(block(text)));
  },
  began: null,
  thinking: null,
  usage: null,
};

const printEvent = (event: JobEvent): void => printers[event.kind]?.(event);
