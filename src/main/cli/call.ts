import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type ContractClient, readStandardInput } from '../launch/index.js';
import { printJson } from '../terminal/index.js';
import { addProjectChoice, findChosen, openChosen, type ProjectOptions, withEngine } from './command.js';
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
export async function drain(answer: unknown, onEvent: (event: unknown) => void): Promise<unknown> {
  if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  const stream = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await stream.next();
    if (done) return value;
    onEvent(value);
  }
}
