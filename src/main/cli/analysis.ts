import { readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type AnalysisAnswer, type AnalysisFormat, analysisFormats, type BlameSpan, type InputOf, type OutputOf } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { bold, dim, line, printJson, printText, red, yellow } from '../terminal/index.js';
import { addProjectCommand, type ProjectOptions, pathOption, withProject } from './command.js';
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

interface BlameOptions extends ProjectOptions, Omit<InputOf<'blame.notes'>, 'path'> {
  trace?: boolean;
  notes?: boolean;
}

/** Adds `stemma blame`, which names the turn that wrote each line of a file, and `stemma findings`, which lists what rules find in all sessions. */
export function addFindingCommands(program: Command): void {
  addProjectCommand(program, 'blame <path>', 'name the turn that wrote each line of a file, where recorded edits prove it')
    .option('--repository <dir>', 'the folder of the repository (default: the one that contains the file)')
    .option('--trace', 'print an Agent Trace record')
    .option('--notes', 'print the note of the commit of git with that record; with --write, git writes it to refs/notes/stemma')
    .option('--commit <commit>', 'with --notes: the commit of git (default: the one that is checked out)')
    .option('--write', 'with --notes: let git write the note')
    .action((path: string, { repository, trace, notes, commit, write, ...options }: BlameOptions) =>
      withProject(options, async ({ client }) => {
        const input = { path: resolve(path), repository: pathOption(repository) };
        if ((commit !== undefined || write) && !notes) throw new UsageError('--commit and --write belong to --notes.');
        if (notes) return printNote(await client.blame.notes({ ...input, commit, write }), options);
        if (trace) return printJson((await client.blame.trace(input)).record);
        const spans = await client.blame.file(input);
        if (options.json) return printJson(spans);
        printBlame(spans, readFileSync(input.path, 'utf8').split('\n'));
      }),
    );
  addProjectCommand(program, 'findings', 'list what rules find in all sessions, such as errors that were retried and commands that destroy')
    .option('--rule <name>', 'only findings of this rule')
    .option('--session <id>', 'only findings in this session')
    .option('--rules', 'list the rules, and the folder for your own')
    .action(showFindings);
}

function printNote(result: OutputOf<'blame.notes'>, { json }: ProjectOptions): void {
  const { ref, commit, note, before, written } = result;
  if (json || note !== null) printJson(json || note === null ? result : JSON.parse(note));
  if (json) return;
  if (note === null) printText('No line of the file has a known turn, so there is no note.');
  else if (written) printText(dim(line`Git wrote this note of ${commit} to ${ref}.`));
  else if (note === before) printText(dim(line`${ref} has this note of ${commit} already.`));
  else printText(dim(line`Nothing is written. With --write, git writes this note of ${commit} to ${ref}.`));
}

function printBlame(spans: readonly BlameSpan[], lines: readonly string[]): void {
  const width = String(spans.at(-1)?.end ?? 1).length;
  for (const { start, end, turnId, agent = '' } of spans)
    for (let at = start; at <= end; at++)
      printText(
        line`${dim(turnId === null ? 'unknown'.padEnd(28) : `${turnId} ${agent}`.padEnd(28))} ${dim(String(at).padStart(width))} ${lines[at - 1] ?? ''}`,
      );
}

function showFindings({ rule, session, rules, ...options }: ProjectOptions & { rule?: string; session?: string; rules?: boolean }): Promise<void> {
  return withProject(options, async ({ client }) => {
    if (rules) {
      const listed = await client.finding.rules({});
      if (options.json) return printJson(listed);
      for (const one of listed.rules) {
        printText(line`${one.rule.padEnd(24)}${String(one.found).padStart(6)}  ${one.title}. ${one.what}`);
        if (one.problem !== undefined) printText(red(line`  ${one.problem}`));
      }
      printUnchecked(listed);
      return printText(dim(line`Your own rules: ${listed.folder ?? ''}`));
    }
    const found = await client.finding.list({ rule, sessionId: session });
    if (options.json) return printJson(found);
    for (const { title, detail, sessionTitle, sessionId, commit } of found.findings)
      printText(line`${yellow(title)}: ${detail}  ${dim(`${sessionTitle ?? sessionId ?? ''} ${commit ?? ''}`)}`);
    for (const { rule: name, message } of found.problems) printText(red(line`${name}: ${message}`));
    printUnchecked(found);
    printText(dim(counted(found.total, 'finding')));
  });
}

function printUnchecked({ unchecked = 0 }: { readonly unchecked?: number | undefined }): void {
  if (unchecked > 0) printText(yellow(line`${counted(unchecked, 'session')} not checked yet. Ask again to go on.`));
}
