import { extname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type AnalysisAnswer, type AnalysisFormat, analysisFormats } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { bold, dim, line, printJson, printText } from '../terminal/index.js';
import { addProjectCommand, type ProjectOptions, withProject } from './command.js';
import { UsageError } from './errors.js';
import { counted, size } from './numbers.js';
import { wholeNumber } from './option-values.js';

interface SqlOptions extends ProjectOptions {
  limit?: number;
  out?: string;
  format?: AnalysisFormat;
  dataset?: string;
}

/** Adds `stemma sql`, which answers SELECT statements over the sessions of a project and writes what they return to files. */
export function addAnalysisCommands(program: Command): void {
  addProjectCommand(program, 'sql [statement]', 'answer a SELECT statement over all sessions; without a statement, list the views and their columns')
    .addOption(new Option('--limit <count>', 'largest number of rows (default: 10000)').argParser(wholeNumber))
    .option('-o, --out <file>', 'write all rows to a new file: .parquet, .csv or .jsonl')
    .addOption(new Option('--format <format>', 'the format of the file (default: by its ending)').choices([...analysisFormats]))
    .option('--dataset <folder>', 'write all views as Parquet files by month, with a page about their columns')
    .action((statement: string | undefined, options: SqlOptions) => withProject(options, ({ client }) => runSql(client, statement, options)));
}

async function runSql(client: ContractClient, sql: string | undefined, options: SqlOptions): Promise<void> {
  if (options.dataset !== undefined) {
    if (sql !== undefined) throw new UsageError('--dataset writes all views, so it takes no statement.');
    return reportFile(await client.analysis.export({ dataset: true, format: 'parquet', path: resolve(options.dataset) }), options);
  }
  if (sql === undefined) return await showViews(client, options);
  if (options.out !== undefined)
    return reportFile(await client.analysis.export({ sql, format: formatOf(options), path: resolve(options.out) }), options);
  const answer = await client.analysis.sql({ sql, limit: options.limit });
  if (options.json) printJson(answer);
  else showRows(answer);
}

/** The format of `--format`, else of the ending of the file. @throws UsageError */
function formatOf({ format, out = '' }: SqlOptions): AnalysisFormat {
  const ending = extname(out).slice(1).toLowerCase();
  const found = format ?? analysisFormats.find((one) => one === ending);
  if (!found)
    throw new UsageError(
      `the name ${JSON.stringify(out)} does not say the format. End it with ${analysisFormats.map((one) => `.${one}`).join(', ')}, or name one with --format.`,
    );
  return found;
}

function reportFile(written: { readonly path: string; readonly rows: number; readonly bytes: number }, { json }: SqlOptions): void {
  if (json) printJson(written);
  else printText(line`Wrote ${written.path} (${counted(written.rows, 'row')}, ${size(written.bytes)})`);
}

async function showViews(client: ContractClient, { json }: SqlOptions): Promise<void> {
  const schema = await client.analysis.schema({});
  if (json) return printJson(schema);
  for (const { name, what, columns } of schema.views) {
    printText(line`${bold(name)}  ${what}`);
    for (const column of columns) printText(line`  ${column.name.padEnd(24)}${dim(column.kind.padEnd(8))}${column.what}`);
  }
}

const widest = 48;

/** Prints rows in columns. Numbers stand at the right. */
function showRows({ columns, rows, truncated }: AnalysisAnswer): void {
  const cells = rows.map((row) => row.map((value) => (value === null ? '' : String(value).replaceAll(/\s+/g, ' '))));
  const widths = columns.map((name, at) => Math.min(widest, Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0))));
  const isNumber = columns.map((_, at) => rows.every((row) => row[at] === null || typeof row[at] === 'number'));
  const laid = (row: readonly string[]): string =>
    row
      .map((text, at) => {
        const width = widths[at] ?? 0;
        const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text;
        return isNumber[at] ? cut.padStart(width) : cut.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  printText(dim(laid(columns)));
  for (const row of cells) printText(laid(row));
  printText(dim(`${counted(rows.length, 'row')}${truncated ? ', and more: --limit, or -o FILE for all' : ''}`));
}
