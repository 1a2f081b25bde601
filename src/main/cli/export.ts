import { extname, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ContextId } from '../../core/contract/index.js';
import type { Connection } from './client.js';
import { counted, dim, printJson, printText, say, size } from './output.js';

interface Common {
  project?: string;
  json?: boolean;
}
type Within = (options: Common, work: (connection: Connection) => Promise<void>) => Promise<void>;
/** Adds the options that every command of a project has, and the one that says how far back a context goes. */
type OfContext = (command: Command) => Command;

interface Options extends Common {
  to?: string;
  output?: string;
  redact?: true;
  dryRun?: true;
  formats?: true;
  stop?: string;
}

/** What a file's name asks for, where nothing else does. */
const formatsByEnding: Readonly<Record<string, string>> = { '.html': 'html', '.md': 'markdown' };

/** `stemma export`: a context as a file, and what it can leave as. */
export function addExportCommand(program: Command, ofContext: OfContext, commitName: (text: string) => string, within: Within): void {
  ofContext(program.command('export <commit>').description('write a context as a file for people or for an agent'))
    .option('-t, --to <format>', "html, markdown, claude-code-v1 … (--formats lists them); else by the file's name")
    .option('-o, --output <file>', 'where to; never over a file that is there (else standard output)')
    .option('--redact', 'without secrets, home folders and e-mail addresses')
    .option('--dry-run', 'write nothing: say what would be written, taken out and lost')
    .option('--formats', 'list what this context can leave as, and what each has no place for')
    .action((id: string, options: Options) =>
      within(options, (connection) => (options.formats ? list : write)(connection, commitName(id) as ContextId, options)),
    );
}

async function list({ client }: Connection, id: ContextId, { stop, json }: Options): Promise<void> {
  const formats = await client.export.formats({ id, stop });
  if (json) return printJson(formats);
  for (const { format, tier, what, lossCounts } of formats) {
    printText(`${format.padEnd(22)} ${dim(tier.padEnd(10))} ${what}`);
    if (lossCounts.length > 0) printText(dim(`${' '.repeat(34)}without ${inWords(lossCounts)}`));
  }
}

async function write({ client }: Connection, id: ContextId, { to, output, redact, dryRun, stop, json }: Options): Promise<void> {
  const format = to ?? formatsByEnding[extname(output ?? '')] ?? 'claude-code-v1';
  const path = output === undefined ? undefined : resolve(output);
  const result = await client.export.context({ id, format, stop, path, redact, dryRun });
  if (json) return printJson(result);
  if (result.text !== undefined) process.stdout.write(result.text);
  if (result.data !== undefined) process.stdout.write(Buffer.from(result.data, 'base64'));
  const facts = `(${size(result.bytes)}, ${result.format}, ${result.tier})`;
  if (dryRun) printText(`Would write ${facts}`);
  else if (result.path !== undefined) printText(`Wrote ${result.path} ${facts}`);
  if (result.lossCounts.length > 0) say(dim(`without ${inWords(result.lossCounts)}`));
  for (const { placeholder, kind, count } of result.redactions ?? []) say(dim(`taken out: ${placeholder}, ${kind}, ${counted(count, 'time')}`));
}

const inWords = (counts: readonly { what: string; count: number }[]): string => counts.map(({ what, count }) => `${what} (${count})`).join(', ');
