import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import { type ContextDiff, type ContextId, type Entry, type InputOf, runtimes } from '../../core/contract/index.js';
import { dim, green, indent, join, line, printExact, printJson, printText, red, say } from '../terminal/index.js';
import { addCall } from './call.js';
import type { CliConnection } from './client.js';
import { addProjectCommand, asOption, commitName, type ProjectOptions, pathOption, rawOption, stopOption, withProject } from './command.js';
import { describeCommit, describeEntry } from './describe.js';
import { UsageError } from './errors.js';
import { logQuery, printGraph } from './log.js';
import { counted, size } from './numbers.js';
import { wholeNumber } from './option-values.js';
import { windowLine } from './usage.js';

/** Adds `stemma log`, `show`, `materialize`, `fork`, `diff` and `resume`, which work on commits and their contexts. */
export function addContextCommands(program: Command): void {
  addProjectCommand(program, 'log [commit]', 'draw the graph of commits, or list the history of one commit')
    .option('-n, --limit <count>', 'largest number of commits', wholeNumber, 200)
    .action(showLog);

  addProjectCommand(program, 'show <commit>', 'show a commit and the entries that it added')
    .option('--all', 'show every entry of its context')
    .addOption(stopOption())
    .action(showCommit);

  addProjectCommand(program, 'materialize <commit>', 'print a context as the model saw it')
    .option('--format <name>', 'format of the result (default: the format of the commit)')
    .addOption(stopOption())
    .addOption(rawOption())
    .action(materialize);

  addCall(program, 'fork <commit>', 'start a branch from a commit, cut after an entry or edited', 'context.fork', (commit) =>
    printText(describeCommit(commit)),
  )
    .option('--at <key>', 'cut after the entry with this key')
    .option('--edits <json>', '[{"op":"drop"|"replace"|"insert"|"append", "key"?, "entry"?}] as JSON text, @file or -')
    .option('--summary <text>', 'what the fork is for')
    .option('--template <name>', 'template of the agent')
    .addOption(asOption());

  addProjectCommand(program, 'diff <a> <b> [more...]', 'compare contexts')
    .option('--markdown', 'print a document for people; it can compare more than two contexts')
    .option('-o, --output <file>', 'write the document to a new file')
    .option('--redact', 'with --markdown or -o: replace secrets of known patterns, home folders and e-mail addresses')
    .option('--redact-ips', 'replace IP addresses too (implies --redact)')
    .addOption(stopOption())
    .addOption(rawOption())
    .action(compare);

  addCall(
    program,
    'resume <commit>',
    'write a session that an agent can continue, and print the command for it',
    'export.resume',
    ({ path, command }) => printText(line`Wrote ${path}\nContinue with:\n  ${command}`),
  )
    .addOption(new Option('--agent <name>', 'the agent (default: the one that wrote the context)').choices([...runtimes]))
    .option('--cwd <dir>', 'working directory of the session (default: the recorded one)', pathOption);
}

function showLog(id: string | undefined, options: ProjectOptions & { limit: number }): Promise<void> {
  return withProject(options, async ({ client }) => {
    if (id !== undefined) {
      const commits = await client.context.history({ id: commitName(id), depth: options.limit });
      return options.json ? printJson(commits) : printText(join(commits.map(describeCommit), '\n\n'));
    }
    printGraph(await client.context.graph(logQuery(options.limit)), options.json);
  });
}

function showCommit(id: string, options: ProjectOptions & { all?: boolean; stop?: string }): Promise<void> {
  return withProject(options, async ({ client }) => {
    const commit = await client.context.show({ id: commitName(id) });
    const stop = options.stop ?? (options.all ? undefined : commit.id);
    const { entries } = await client.context.entries({ id: commit.id, stop });
    if (options.json) return printJson({ ...commit, entries });
    const context = windowLine(await client.usage.context({ id: commit.id }));
    printText(join([describeCommit({ ...commit, context }), ...entries.map(describeEntry)], '\n\n'));
  });
}

function materialize(id: string, options: ProjectOptions & { format?: string; stop?: string; raw?: true }): Promise<void> {
  return withProject(options, async ({ client }) => {
    const result = await client.context.materialize({ id: commitName(id), format: options.format, stop: options.stop });
    if (options.json) return printJson(result);
    const { data } = await client.artifact.get({ ref: result.artifactRef });
    printExact(Buffer.from(data, 'base64'), options);
    const { messageCount, tokenCount, format, tier, commits } = result;
    say(dim(`${counted(messageCount, 'message')}, ≈${counted(tokenCount, 'token')}, ${format} (${tier}), ${counted(commits.length, 'commit')}`));
  });
}

interface DiffOptions extends ProjectOptions, Pick<InputOf<'export.comparison'>, 'stop' | 'redact' | 'redactIps'> {
  markdown?: true;
  output?: string;
  raw?: true;
}

function compare(a: string, b: string, more: string[], options: DiffOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    const [idA, idB] = [commitName(a), commitName(b)];
    const { stop } = options;
    if (options.markdown || options.output !== undefined || more.length > 0) {
      const ids = [idA, idB, ...more.map(commitName)];
      const { redact, redactIps } = options;
      const document = await client.export.comparison({ ids, stop, path: pathOption(options.output), redact, redactIps });
      if (options.json) return printJson(document);
      if (document.path !== undefined) printText(`Wrote ${document.path} (${size(document.bytes)}).`);
      else printExact(document.text ?? '', options);
      return reportRedactions(document.redactions);
    }
    const diff = await client.context.diff({ a: idA, b: idB, stop });
    if (options.json) return printJson(diff);
    const [left, right] = await Promise.all([client.context.entries({ id: idA, stop }), client.context.entries({ id: idB, stop })]);
    printDiff(diff, left.entries, right.entries);
  });
}

function printDiff(diff: ContextDiff, left: readonly Entry[], right: readonly Entry[]): void {
  const moved = diff.moved.reduce((sum, run) => sum + run.count, 0);
  const counts = `${counted(diff.same, 'entry', 'entries')} the same, ${diff.added} added, ${diff.removed} removed, ${diff.changed} changed`;
  printText(line`${dim('common ancestor')} ${diff.base ?? 'none'}`);
  printText(`${counts}${moved ? `; ${moved} of these moved` : ''}; ${sizeOf(diff, 'a')} and ${sizeOf(diff, 'b')} tokens`);
  for (const { op, aStart, aCount, bStart, bCount } of diff.hunks) {
    if (op === 'same') printText(dim(`  … ${counted(aCount, 'entry', 'entries')} the same`));
    else {
      for (const entry of left.slice(aStart, aStart + aCount)) printText(red(indent(describeEntry(entry), '- ')));
      for (const entry of right.slice(bStart, bStart + bCount)) printText(green(indent(describeEntry(entry), '+ ')));
    }
  }
}

/** The tokens of a side: the provider's count, else the estimate. */
function sizeOf({ tokens, counted: exact }: ContextDiff, side: 'a' | 'b'): string {
  const size = exact[side];
  return size === null ? `≈${tokens[side].toLocaleString('en-US')}` : `${size.toLocaleString('en-US')} counted`;
}

/** Adds `stemma diagnose` and `stemma repair-session`, for sessions that their agents can no longer continue. */
export function addRepairCommands(program: Command): void {
  addCall(program, 'diagnose <session>', 'say what a model would refuse in a session', 'session.diagnose', ({ problems }) => {
    for (const { kind, message, fix } of problems) printText(line`${kind}: ${message} ${fix ?? ''}`);
    if (problems.length === 0) printText('Nothing in this session would be refused.');
  });

  addCall(program, 'repair-session <session>', 'fork a session without what a model would refuse', 'session.repair', ({ changes, commit }) => {
    for (const { kind, before, after } of changes) printText(line`${kind}: ${before} -> ${after ?? 'left out'}`);
    if (changes.length === 0) printText('Nothing in this session needs a repair.');
    if (commit) printText(line`Repaired as ${commit.id}. The original is unchanged. ${dim('stemma resume continues it.')}`);
  }).option('--dry-run', 'show the changes and make no fork');
}

interface ExportOptions extends ProjectOptions, Pick<InputOf<'export.context'>, 'stop' | 'redact' | 'redactIps' | 'dryRun'> {
  to?: string;
  output?: string;
  collector?: string;
  formats?: true;
  raw?: true;
}

const spanFormat = 'otlp-v1';

const formatsByExtension: Readonly<Record<string, string>> = { '.html': 'html', '.md': 'markdown' };

/** Adds `stemma export`. */
export function addExportCommand(program: Command): void {
  addProjectCommand(program, 'export <commit>', 'write a context as a file for people or for an agent')
    .addOption(stopOption())
    .option('-t, --to <format>', "html, markdown, claude-code-v1, … (default: by the file's extension; --formats lists all)")
    .option('-o, --output <file>', 'write to a new file (default: standard output)')
    .option('--collector <address>', 'send the context as spans (otlp-v1) to a collector, such as http://127.0.0.1:4318/v1/traces')
    .addOption(rawOption())
    .option('--redact', 'replace secrets of known patterns, home folders and e-mail addresses')
    .option('--redact-ips', 'replace IP addresses too (implies --redact)')
    .option('--dry-run', 'write nothing; print what would be written, replaced and lost')
    .option('--formats', 'list the formats for this context, and what each cannot hold')
    .action((id: string, options: ExportOptions) =>
      withProject(options, (connection) => (options.formats ? listFormats : exportContext)(connection, commitName(id) as ContextId, options)),
    );
}

async function listFormats({ client }: CliConnection, id: ContextId, { stop, json }: ExportOptions): Promise<void> {
  const formats = await client.export.formats({ id, stop });
  if (json) return printJson(formats);
  for (const { format, tier, what, lossCounts } of formats) {
    printText(line`${format.padEnd(22)} ${dim(tier.padEnd(10))} ${what}`);
    if (lossCounts.length > 0) printText(dim(`${' '.repeat(34)}without ${describeCounts(lossCounts)}`));
  }
}

async function exportContext(connection: CliConnection, id: ContextId, options: ExportOptions): Promise<void> {
  const { to, output, collector, redact, redactIps, dryRun, stop, json } = options;
  if (collector !== undefined && ((to ?? spanFormat) !== spanFormat || output !== undefined))
    throw new UsageError(`--collector sends ${spanFormat}: leave out --to and --output`);
  if (collector !== undefined && !dryRun) return await sendContext(connection, id, collector, options);
  const format = to ?? (collector === undefined ? (formatsByExtension[extname(output ?? '')] ?? 'claude-code-v1') : spanFormat);
  const result = await connection.client.export.context({ id, format, stop, path: pathOption(output), redact, redactIps, dryRun });
  if (json) return printJson(result);
  if (result.text !== undefined) printExact(result.text, options);
  if (result.data !== undefined) printExact(Buffer.from(result.data, 'base64'), options);
  const facts = `(${size(result.bytes)}, ${result.format}, ${result.tier})`;
  if (dryRun) printText(`Would write ${facts}`);
  else if (result.path !== undefined) printText(`Wrote ${result.path} ${facts}`);
  if (result.lossCounts.length > 0) say(dim(`without ${describeCounts(result.lossCounts)}`));
  reportRedactions(result.redactions);
}

async function sendContext({ client }: CliConnection, id: ContextId, address: string, options: ExportOptions): Promise<void> {
  const { redact, redactIps, stop, json } = options;
  const sent = await client.export.spans({ id, address, stop, redact, redactIps });
  if (json) return printJson(sent);
  printText(`Sent to ${address} (${size(sent.bytes)}, ${spanFormat}, ${sent.tier})`);
  if (sent.lossCounts.length > 0) say(dim(`without ${describeCounts(sent.lossCounts)}`));
  reportRedactions(sent.redactions);
}

/** Prints the replacements of an export on standard error, with a warning that some secrets may remain. */
function reportRedactions(redactions: readonly { placeholder: string; kind: string; count: number }[] | undefined): void {
  if (!redactions) return;
  for (const { placeholder, kind, count } of redactions) say(dim(`replaced: ${placeholder}, ${kind}, ${counted(count, 'time')}`));
  say(dim('Only known patterns are replaced. Read the export before you share it.'));
}

const describeCounts = (counts: readonly { what: string; count: number }[]): string =>
  counts.map(({ what, count }) => `${what} (${count})`).join(', ');
