import { type Command, InvalidArgumentError } from 'commander';
import type { PriceTable } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { dim, line, printJson, printText } from '../terminal/index.js';
import { addProjectCommand, type ProjectOptions, withProject } from './command.js';
import { UsageError } from './errors.js';

interface PriceOptions extends ProjectOptions {
  set?: string;
  from?: string;
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  remove?: string;
}

/** Adds `stemma prices`, which prints the prices and windows of the project's models, and takes a person's own. */
export function addPriceCommands(program: Command): void {
  addProjectCommand(program, 'prices', 'list the prices and context windows of the models in the project, and set your own')
    .option('--set <model>', 'set your own prices of a model, with --input and --output')
    .option('--from <date>', 'the first day of your prices (default: 2020-01-01)')
    .option('--input <price>', 'dollars for a million input tokens', price)
    .option('--output <price>', 'dollars for a million output tokens', price)
    .option('--cache-read <price>', 'dollars for a million tokens read from the cache', price)
    .option('--cache-write <price>', 'dollars for a million tokens written to the cache', price)
    .option('--remove <model>', 'remove your own prices of a model')
    .action((options: PriceOptions) => {
      refuseUnused(options);
      return withProject(options, async ({ client }) => {
        const table = await changed(client, options);
        if (options.json) printJson(table);
        else printTable(table);
      });
    });
}

/** @throws UsageError for options that would change nothing. */
function refuseUnused({ set, from, input, output, cacheRead, cacheWrite, remove }: PriceOptions): void {
  const isPriced = [input, output, cacheRead, cacheWrite].some((one) => one !== undefined);
  if (remove !== undefined && (set !== undefined || isPriced)) throw new UsageError('--remove stands without --set and without prices.');
  if (set === undefined && isPriced) throw new UsageError('Prices need --set MODEL: the model that they are of.');
  if (set === undefined && remove === undefined && from !== undefined) throw new UsageError('--from needs --set or --remove.');
}

function price(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0)) throw new InvalidArgumentError(`${JSON.stringify(value)} is no price: a number of 0 or more is right.`);
  return number;
}

function changed(client: ContractClient, { set, from, input, output, cacheRead, cacheWrite, remove }: PriceOptions): Promise<PriceTable> {
  if (remove !== undefined) return client.price.remove({ model: remove, from });
  if (set === undefined) return client.price.list({});
  if (input === undefined || output === undefined) throw new UsageError('--set needs --input and --output: the dollars for a million tokens.');
  return client.price.set({ model: set, from: from ?? '2020-01-01', rows: [{ input, output, cacheRead, cacheWrite }] });
}

const sources = { own: 'your own', list: 'built in', unknown: 'no price' } as const;

function printTable({ models, own, list, asOf, factors, tools }: PriceTable): void {
  const width = Math.max(8, ...models.map(({ model }) => model.length));
  printText(
    dim(
      `${'model'.padEnd(width)} ${['above', 'input', 'output', 'read', 'write', 'write 1h', 'window'].map((head) => head.padStart(10)).join('')}  from`,
    ),
  );
  for (const { model, rows, limit, source } of models)
    for (const [at, row] of (rows.length > 0 ? rows : [undefined]).entries()) {
      const { above = 0, input, output, cacheRead, cacheWrite, cacheWrite1h } = row ?? {};
      const numbers = [above, input, output, cacheRead, cacheWrite, cacheWrite1h, at === 0 ? limit : undefined];
      const columns = numbers.map((one) => (one === undefined || one === null ? '-' : one.toLocaleString('en-US')).padStart(10)).join('');
      printText(line`${(at === 0 ? model : '').padEnd(width)} ${columns}  ${at === 0 ? sources[source] : ''}`);
    }
  if (models.length === 0) printText('This project has no calls of a named model.');
  for (const { model, from, rows } of own)
    printText(line`Your own: ${model} from ${from}: ${rows.map(({ input, output }) => `${input} in, ${output} out`).join('; ')}`);
  for (const { models: of, speed, tier, geo, factor, source } of factors) {
    const what = speed !== undefined ? `the speed ${speed}` : tier !== undefined ? `the tier ${tier}` : `inference in ${geo}`;
    printText(dim(`${factor} × for ${what} of ${of}: ${source}`));
  }
  for (const { models: of, tool, price: fee, source } of tools) printText(dim(`$${fee} for each ${tool} of ${of}: ${source}`));
  printText(dim(`Dollars for a million tokens, by ${list.name} of ${list.date} and Stemma's own table of ${asOf}.`));
}
