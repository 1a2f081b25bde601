import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { OutputOf, ProjectInfo } from '../../core/contract/index.js';
import { untrusted } from '../../core/trust/index.js';
import { type ChosenProject, type ContractClient, damageSentence, findProject, hearing } from '../launch/index.js';
import { endBySignal, onEndSignal } from '../system/index.js';
import { endProgress, isWatched, line, say, showProgress } from '../terminal/index.js';
import { type CliConnection, connect, connectThread } from './client.js';
import { UsageError } from './errors.js';

export interface ProjectChoice {
  readonly project?: string | undefined;
  readonly trust?: boolean | undefined;
}

export interface ProjectOptions extends ProjectChoice {
  json?: boolean;
}

/** A connection whose calls are canceled when a signal asks the command to end. */
export interface Stoppable extends CliConnection {
  readonly signal: AbortSignal;
}

/** Adds `--project` and `--trust`, which choose the project of a command. */
export const addProjectChoice = (command: Command): Command =>
  command
    .option('-p, --project <dir>', 'project folder (default: STEMMA_PROJECT, else the nearest *.stemma in this folder or above it)')
    .option('--trust', 'trust the project, if this machine did not create it: see `stemma trust`');
/** `--json`: the result as one JSON document. */
export const jsonOption = (): Option => new Option('--json', 'print the result as one JSON document');
/** `--raw`: writes the exact bytes even to a terminal. */
export const rawOption = (): Option => new Option('--raw', 'write the exact bytes to a terminal too, control characters included');
/** `--stop`: where the walk to the root ends. */
export const stopOption = (): Option => new Option('--stop <where>', 'where the context begins: compaction, root, or a commit').argParser(stopName);
/** The principal, ticket and machine that the command line names. */
export interface SignedOptions {
  readonly principal?: string;
  readonly ticket?: string;
  readonly machine?: string;
}

/** The options of a recording, with the field names of the contract. */
export const signedOf = ({ principal, ticket, machine }: SignedOptions) => ({ principal, ticketId: ticket, machine });

/** `--as`: the principal of a new branch. */
export const asOption = (): Option => new Option('--as <name>', 'who the branch belongs to (default: you on this machine)');
/** Adds `--principal`, `--ticket` and `--machine`, which say what the commits of a session belong to. */
export const addSignedOptions = (command: Command): Command =>
  command
    .option('--principal <name>', "the person or agent that the commits belong to (default: the agent's session)")
    .option('--ticket <id>', 'the ticket that the session works on')
    .option('--machine <name>', 'the machine of the session (default: the name of this machine)');

/** `--granularity`: a commit for each turn or for each round of tool calls. */
export const granularityOption = (): Option =>
  new Option('--granularity <unit>', 'what becomes a commit (default: turn_boundary)').choices(['turn_boundary', 'tool_call']);

/** Adds a command that works on a project to a program or a group of commands. */
export const addProjectCommand = (parent: Command, usage: string, description: string): Command =>
  addProjectChoice(parent.command(usage).description(description)).addOption(jsonOption());

/** The id of a commit as a person types it: `3f9a12c4` means `ctx-3f9a12c4`. */
export const commitName = (text: string): string => (/^[0-9a-f]{1,64}$/.test(text) ? `ctx-${text}` : text);
const stopName = (text: string): string => (text === 'compaction' || text === 'root' ? text : commitName(text));

/** The absolute path of an option's file or folder; undefined if the option is absent. */
export const pathOption = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(path));

interface OpenOptions extends ProjectOptions {
  readonly repair?: boolean;
}

/** Opens the project, runs the command and closes everything. A signal ends the process at once. @throws UsageError without a project. */
export function withProject<T>(options: OpenOptions, work: (connection: CliConnection) => Promise<T>): Promise<T> {
  return withEngine(opening(options, work));
}

/** As {@link withProject}, for commands that take long: a signal stops their calls. */
export function withStoppableProject<T>(options: OpenOptions, work: (stoppable: Stoppable) => Promise<T>, performs = false): Promise<T> {
  return withStoppableEngine(opening(options, work), performs);
}

/** Wraps a command so that it opens the project first. */
function opening<C extends CliConnection, T>(options: OpenOptions, work: (connection: C) => Promise<T>): (connection: C) => Promise<T> {
  const chosen = findChosen(options);
  if (!chosen)
    throw new UsageError('no project found here. Name one with --project DIR or STEMMA_PROJECT, or create one with `stemma init NAME.stemma`.');
  return async (connection) => {
    if (connection.needsConversion?.(chosen.dir)) await convertFirst((client) => openChosen(client, chosen.dir, options), chosen.dir);
    await openChosen(connection.client, chosen.dir, options);
    return work(connection);
  };
}

/** The project that the options of a command choose. Undefined if no project is found. */
export const findChosen = ({ project, trust }: ProjectChoice): ChosenProject | undefined => findProject(project, { trusts: trust });

/** Opens the chosen project of a command. `--trust` trusts it first. */
export async function openChosen(
  client: ContractClient,
  dir: string,
  { trust, repair }: ProjectChoice & { readonly repair?: boolean | undefined },
): Promise<ProjectInfo> {
  if (trust) await client.project.trust({ dir });
  return client.project.open({ dir, ...(repair && { repair }) });
}

/** Starts an engine on this thread, runs a command with it, and closes the engine. A signal ends the process at once. */
export async function withEngine<T>(work: (connection: CliConnection) => Promise<T>): Promise<T> {
  const connection = await connect();
  try {
    return await withWarning(() => work(connection));
  } finally {
    await connection.close();
  }
}

/** Runs a command, and says in one line if the answers that it got may come from damaged rows. */
async function withWarning<T>(work: () => Promise<T>): Promise<T> {
  const rows = new Map<string, number>();
  try {
    return await hearing(rows, work);
  } finally {
    if (rows.size > 0) say(line`stemma: ${damageSentence(rows)}`);
  }
}

/** As {@link withEngine}, on a thread. Signals abort the command; if it then fails or does not end in time, the process ends by the signal. */
export async function withStoppableEngine<T>(work: (stoppable: Stoppable) => Promise<T>, performs = false): Promise<T> {
  const stopper = new AbortController();
  const signals = onEndSignal(() => stopper.abort());
  const connection = await connectThread(performs);
  let isDone = false;
  try {
    const result = await withWarning(() => work({ ...connection, signal: stopper.signal }));
    isDone = true;
    return result;
  } finally {
    await connection.close();
    const came = signals.came();
    signals.close();
    if (came !== undefined && !isDone) endBySignal(came);
  }
}

/** Resolves when a signal stops the command. */
export const untilAborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
};

/** The events of a stream until a signal stops the command. */
export async function* untilStopped<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* stream;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * Opens the project that recorded histories go to: the project of the command, else the person's own project for histories.
 * Creates it when it does not exist; `made` says so.
 * @throws UNAUTHORIZED if nobody trusts the project here.
 */
export async function openTarget(client: ContractClient, choice: ProjectChoice): Promise<{ dir: string; made: boolean }> {
  const dir = findChosen(choice)?.dir ?? (await client.library.home({})).dir;
  const created = existsSync(dir) ? undefined : await createUnlessMade(client, dir);
  const { trusted } = created ?? (await openChosen(client, dir, choice));
  if (!trusted) throw untrusted(dir, 'Nothing was recorded');
  return { dir, made: created !== undefined };
}

/** Creates a project. Undefined if another command created it at the same moment. */
async function createUnlessMade(client: ContractClient, dir: string): Promise<{ readonly trusted: boolean } | undefined> {
  try {
    return await client.project.create({ dir });
  } catch (error) {
    if (existsSync(dir) && (error as { readonly code?: unknown }).code === 'CONFLICT') return undefined;
    throw error;
  }
}

const lookMs = 300;

/** Converts a project of an earlier format on another thread, where `open` opens it, and says so on standard error. */
async function convertFirst(open: (client: ContractClient) => Promise<unknown>, dir: string): Promise<void> {
  const begun = line`Converting ${dir} from an earlier format. A copy of it stays until the first check.`;
  if (isWatched()) showProgress(begun);
  else say(begun);
  const { conversionOf } = await import('../../core/project/index.js');
  const timer = setInterval(() => {
    const step = conversionOf(dir);
    if (step) showProgress(describeStep(step));
  }, lookMs);
  const thread = await connectThread();
  try {
    await open(thread.client);
  } finally {
    clearInterval(timer);
    endProgress();
    await thread.close();
  }
}

const describeStep = ({ from, to, isCopied, copied, bytes }: NonNullable<OutputOf<'project.conversion'>>) =>
  isCopied
    ? line`Converting the rows from format ${from} to ${to}.`
    : line`Copying the project before its conversion to format ${to}: ${Math.round((100 * copied) / Math.max(1, bytes))} %`;

/** Makes the daily backup at the end of a command that wrote. A backup that fails is only reported: the result of the command stays. */
export async function backUpDaily(client: ContractClient): Promise<void> {
  const problem = await client.project.backUp({ ifDue: true }).then(
    (report) => report.problem,
    (error: Error) => error.message,
  );
  if (problem !== undefined) say(line`stemma: no backup was made: ${problem}`);
}
