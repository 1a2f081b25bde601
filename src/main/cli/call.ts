import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { finished } from '../../core/base/index.js';
import type { OutputOf, ProcedureName } from '../../core/contract/index.js';
import { type ContractClient, readStandardInput } from '../launch/index.js';
import { printJson } from '../terminal/index.js';
import { addProjectChoice, addProjectCommand, commitName, findChosen, openChosen, type ProjectOptions, withEngine, withProject } from './command.js';
import { UsageError } from './errors.js';

/** The help of the procedures, once {@link loadProcedures} has loaded the contract. */
let helpOf: ((procedure: string) => string) | undefined;

/** Loads the contract, which `stemma call --help` describes. Other commands start without it. */
export async function loadProcedures(): Promise<void> {
  const { procedureHelp, procedureList } = await import('./procedure-help.js');
  helpOf = (procedure) => procedureHelp(procedure) ?? procedureList();
}

/** Adds `stemma call`: every procedure of the contract by its name. */
export function addCallCommand(program: Command): void {
  addProjectChoice(program.command('call <procedure>'))
    .description('call a procedure of the contract by its name')
    .option('-i, --input <json>', 'the input: JSON text, @file, or - for standard input')
    .option('--stream', 'print one JSON document for each event of a procedure that streams, then its result')
    .addHelpText('after', ({ command: { args } }) => `\n${helpOf?.(args[0] ?? '') ?? ''}`)
    .action(callProcedure);
}

/** Procedures that need no project, but follow the switches of the chosen one. */
const usesSwitch: readonly string[] = ['compose.messages', 'compose.collect'];

async function callProcedure(procedure: string, options: ProjectOptions & { input?: string; stream?: boolean }): Promise<void> {
  const [{ contract, procedureNames }, { kindOf }] = await Promise.all([
    import('../../core/contract/index.js'),
    import('../../core/router/index.js'),
  ]);
  if (!procedureNames(contract).includes(procedure))
    throw new UsageError(`unknown procedure ${JSON.stringify(procedure)}. \`stemma call --help\` lists the procedures.`);
  const input = await readInput(options.input);
  const needsProject = !['machine', 'scans'].includes(kindOf(procedure.split('.'))) || usesSwitch.includes(procedure);
  const dir = needsProject ? findChosen(options)?.dir : options.project && resolve(options.project);
  await withEngine(async ({ client }) => {
    if (dir && !/^project\.(create|open|trust)$/.test(procedure)) await openChosen(client, dir, options);
    const method = procedureAt(client, procedure);
    printJson(await drain(await method(input), (event) => options.stream && printJson(event)));
  });
}

type Method = (input: unknown) => Promise<unknown>;

const procedureAt = (client: ContractClient, procedure: string): Method =>
  procedure.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], client) as Method;

/** The field of an input for a word or an option of a command, and how its text is read. */
export type CallField = string | readonly [field: string, read: (given: never) => unknown];

const callFields: Readonly<Record<string, CallField>> = {
  commit: ['id', commitName],
  experiment: 'experimentId',
  job: 'jobId',
  result: 'resultId',
  session: 'sessionId',
  source: 'sourceId',
  as: 'principal',
  edits: ['edits', readInput],
};

/** Adds a command that passes words and options to a procedure, by their names or by `fields`. `show` prints the answer without `--json`. */
export function addCall<Name extends ProcedureName>(
  parent: Command,
  usage: string,
  description: string,
  procedure: Name,
  show: (answer: OutputOf<Name>) => unknown,
  fields: Readonly<Record<string, CallField>> = {},
): Command {
  const command = addProjectCommand(parent, usage, description);
  return command.action(async () => {
    const { project, trust, json, ...options } = command.opts();
    const words = command.registeredArguments.map((argument, place) => [argument.name(), command.processedArgs[place]] as const);
    const input: Record<string, unknown> = {};
    for (const [name, given] of [...words, ...Object.entries(options)]) {
      const named = fields[name] ?? callFields[name] ?? name;
      const [field, read] = typeof named === 'string' ? [named] : named;
      if (given !== undefined) input[field] = read ? await readWord(name, given, read) : given;
    }
    await withProject({ project, trust }, async ({ client }) => {
      const answer = (await procedureAt(client, procedure)(input)) as OutputOf<Name>;
      if (json) printJson(answer);
      else show(answer);
    });
  });
}

/** @throws UsageError for an argument that cannot be parsed: Commander prints its errors only while it parses. */
async function readWord(name: string, given: unknown, read: (given: never) => unknown): Promise<unknown> {
  try {
    return await read(given as never);
  } catch (error) {
    throw error instanceof InvalidArgumentError ? new UsageError(`${name} is ${JSON.stringify(given)}: ${error.message}`) : error;
  }
}

/** Reads `--input`: JSON text, `@file`, or `-` for standard input. Without it, the input is `{}`. @throws UsageError */
export async function readInput(input: string | undefined): Promise<unknown> {
  if (input === undefined) return {};
  const text = await inputText(input);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--input is not JSON: ${(error as Error).message}`);
  }
}

async function inputText(input: string): Promise<string> {
  try {
    if (input === '-') return await readStandardInput();
    return input.startsWith('@') ? readFileSync(input.slice(1), 'utf8') : input;
  } catch (error) {
    throw new UsageError(`cannot read --input ${input}: ${(error as Error).message}`);
  }
}

/** The result of a procedure. If the procedure streams, each event goes to `onEvent`, and the result is the stream's return value. */
async function drain(answer: unknown, onEvent: (event: unknown) => void): Promise<unknown> {
  if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  return finished((answer as AsyncIterable<unknown>)[Symbol.asyncIterator](), onEvent);
}
