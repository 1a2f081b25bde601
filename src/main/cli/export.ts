import { extname } from 'node:path';
import type { Command } from 'commander';
import type { ContextId, InputOf } from '../../core/contract/index.js';
import { dim, line, printExact, printJson, printText, say } from '../terminal/index.js';
import type { CliConnection } from './client.js';
import { addProjectCommand, commitName, type ProjectOptions, pathOption, rawOption, stopOption, withProject } from './command.js';
import { UsageError } from './errors.js';
import { counted, size } from './numbers.js';

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
export function reportRedactions(redactions: readonly { placeholder: string; kind: string; count: number }[] | undefined): void {
  if (!redactions) return;
  for (const { placeholder, kind, count } of redactions) say(dim(`replaced: ${placeholder}, ${kind}, ${counted(count, 'time')}`));
  say(dim('Only known patterns are replaced. Read the export before you share it.'));
}

const describeCounts = (counts: readonly { what: string; count: number }[]): string =>
  counts.map(({ what, count }) => `${what} (${count})`).join(', ');
