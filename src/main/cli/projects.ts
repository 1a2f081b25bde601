import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { finished } from '../../core/base/index.js';
import type { ImportProgress, ImportResult, Mapping, MappingPreview } from '../../core/contract/index.js';
import { dim, endProgress, line, type Printable, printJson, printText, red, say, showProgress } from '../terminal/index.js';
import {
  addProjectCommand,
  backUpDaily,
  granularityOption,
  jsonOption,
  openTarget,
  type ProjectOptions,
  withEngine,
  withProject,
  withStoppableEngine,
} from './command.js';
import { UsageError } from './errors.js';
import { counted, firstLine, size } from './numbers.js';

/** Adds `stemma init`, `import`, `fsck`, `backup`, `trust` and `library`, which work on whole projects. */
export function addProjectCommands(program: Command): void {
  program
    .command('init <dir>')
    .description('create a project folder (NAME.stemma)')
    .option('--name <name>', 'name of the project (default: the name of the folder)')
    .addOption(jsonOption())
    .action(createProject);

  addProjectCommand(program, 'import <path...>', 'import histories of agents from files or folders')
    .option('--format <name>', 'format of the files (default: detected from their content)')
    .option('--mapping <file>', 'read JSON or JSONL of a tool that Stemma does not know, by this mapping (docs/mappings.md)')
    .option('--preview', 'show what the mapping makes of each file, and import nothing')
    .addOption(granularityOption())
    .action(importPaths);

  addProjectCommand(program, 'fsck', 'check everything that the project stores')
    .option('--repair', 'repair damaged content and list the content that is lost')
    .action(checkProject);

  addProjectCommand(program, 'backup', 'list the backups of the project, make one now, or turn them on or off')
    .option('--now', 'make a backup now')
    .option('--on', 'back up whenever the project is idle and has changed (default)')
    .option('--off', 'make no more automatic backups; existing backups stay')
    .action(showBackups);

  program
    .command('trust <dir>')
    .description('trust a project that this machine did not create, so that it can be changed and recorded into')
    .addOption(jsonOption())
    .action(trustProject);

  program
    .command('library')
    .description('list the histories found on this machine and the recent projects')
    .addOption(jsonOption())
    .action(showLibrary);
}

async function createProject(dir: string, options: ProjectOptions & { name?: string }): Promise<void> {
  await withEngine(async ({ client }) => {
    const info = await client.project.create({ dir: resolve(dir), name: options.name });
    options.json ? printJson(info) : printText(line`Created ${info.dir} (project ${info.projectId}).`);
  });
}

async function trustProject(dir: string, options: ProjectOptions): Promise<void> {
  await withEngine(async ({ client }) => {
    const trusted = await client.project.trust({ dir: resolve(dir) });
    options.json
      ? printJson(trusted)
      : printText(line`Trusted ${trusted.dir} (project ${trusted.projectId}). If it moves, it must be trusted again.`);
  });
}

/** Imports into the project of the command, which it creates if necessary, or into the person's own project. */
async function importPaths(
  paths: string[],
  options: ProjectOptions & { format?: string; granularity?: 'turn_boundary' | 'tool_call'; mapping?: string; preview?: boolean },
): Promise<void> {
  if (options.preview && options.mapping === undefined) throw new UsageError('--preview shows what a mapping makes of files. Add --mapping FILE.');
  const mapping = options.mapping === undefined ? undefined : readMapping(options.mapping);
  if (mapping && options.preview) return previewFiles(paths, mapping, options);
  await withStoppableEngine(async ({ client, signal }) => {
    const { dir, made } = await openTarget(client, options);
    say(dim(line`${made ? 'Created' : 'Importing into'} ${dir}`));
    const { format, granularity } = options;
    const stream = await client.import.run({ paths: paths.map((path) => resolve(path)), format, granularity, mapping }, { signal });
    const result = await finished(stream, showImport).finally(endProgress);
    await backUpDaily(client);
    if (options.json) return printJson(result);
    const counts = [counted(result.sessions, 'session'), counted(result.commits, 'new commit'), counted(result.entries, 'entry', 'entries')];
    printRemarks(result.notes, dim('note'));
    printRemarks(result.skipped, red('skipped'));
    printText(`${counts.join(', ')}, ${size(result.bytes)} in ${(result.ms / 1000).toFixed(1)} s`);
  });
}

/** Reads a mapping file. The engine validates the mapping when it uses it. */
function readMapping(path: string): Mapping {
  try {
    return JSON.parse(readFileSync(resolve(path), 'utf8')) as Mapping;
  } catch (error) {
    throw new UsageError(`Cannot read the mapping ${path}: ${(error as Error).message}`);
  }
}

async function previewFiles(paths: readonly string[], mapping: Mapping, options: ProjectOptions): Promise<void> {
  await withEngine(async ({ client }) => {
    for (const path of paths) {
      const preview = await client.import.preview({ path: resolve(path), mapping });
      if (preview.problem !== undefined) process.exitCode = 1;
      if (options.json) printJson(preview);
      else printPreview(path, preview);
    }
  });
}

function printPreview(path: string, { sessions, entries, unread, broken, problem }: MappingPreview): void {
  if (problem !== undefined) printText(line`${red('problem')} ${path}: ${problem}`);
  for (const { id, title, records, entries: count } of sessions)
    printText(line`${path} ${dim(id)} ${title ?? ''}: ${counted(records, 'record')}, ${counted(count, 'entry', 'entries')}`);
  for (const { role, kind, toolName, text } of entries.slice(0, PREVIEWED))
    printText(line`  ${role.padEnd(9)} ${kind.padEnd(11)} ${toolName ?? ''} ${firstLine(text ?? '', 80)}`);
  if (unread > 0) printText(line`${dim('note')} ${counted(unread, 'record')} without an entry`);
  if (broken.length > 0) printText(line`${red('skipped')} ${path}: not JSON: ${lineNumbers(broken)}`);
}

/** Lines by number: the first few, then how many more. */
const lineNumbers = (numbers: readonly number[]): string =>
  `line ${numbers.slice(0, REMARKS_PER_FILE).join(', ')}${numbers.length > REMARKS_PER_FILE ? ` and ${numbers.length - REMARKS_PER_FILE} more` : ''}`;

const PREVIEWED = 20;

const REMARKS_PER_FILE = 3;

/** Prints an import's notes about lines of files: the first notes of each file, then the number of further notes. */
function printRemarks(remarks: ImportResult['skipped'], label: Printable): void {
  for (const [path, ofFile] of Map.groupBy(remarks, (remark) => remark.path)) {
    // A remark about the whole file names no line.
    for (const { line: number, reason } of ofFile.slice(0, REMARKS_PER_FILE))
      printText(line`${label} ${number > 0 ? `${path}:${number}` : path}: ${reason}`);
    const more = ofFile.length - REMARKS_PER_FILE;
    if (more > 0) printText(line`${label} ${path}: ${counted(more, 'more line')}; --json lists every line.`);
  }
}

const showImport = ({ phase, done, total, bytes }: ImportProgress): void => showProgress(`${phase} ${done} of ${total}, ${size(bytes)}`);

async function checkProject(options: ProjectOptions & { repair?: boolean }): Promise<void> {
  await withProject(options, async ({ client }) => {
    const result = await client.project.check({ repair: options.repair });
    if (!result.ok) process.exitCode = 1;
    if (options.json) return printJson(result);
    for (const problem of result.problems) printText(line`${red(problem.kind)} ${problem.id}: ${problem.message}`);
    const checked = Object.entries(result.checked).map(([kind, count]) => `${count.toLocaleString('en-US')} ${kind}`);
    printText(`${result.ok ? 'Sound' : counted(result.problems.length, 'problem')}: checked ${checked.join(', ')}.`);
  });
}

async function showBackups(options: ProjectOptions & { now?: boolean; on?: boolean; off?: boolean }): Promise<void> {
  if (options.on && options.off) throw new UsageError('Give --on or --off, not both.');
  await withProject(options, async ({ client }) => {
    let report = options.on || options.off ? await client.project.setBackups({ on: options.on === true }) : await client.project.backups({});
    if (options.now) report = await client.project.backUp({});
    if (report.problem !== undefined) process.exitCode = 1;
    if (options.json) return printJson(report);
    for (const { at, bytes } of report.backups) printText(`${at}  ${size(bytes)}`);
    printText(`${counted(report.backups.length, 'backup')}, ${size(report.bytes)}. Automatic backups are ${report.on ? 'on' : 'off'}.`);
    if (report.problem !== undefined) printText(line`${red('not kept')}: ${report.problem}`);
  });
}

async function showLibrary(options: ProjectOptions): Promise<void> {
  await withEngine(async ({ client }) => {
    const [sources, recent] = [await client.library.sources({}), await client.library.recent({})];
    if (options.json) return printJson({ sources, recent });
    for (const { root, problem, sessions, projects, bytes, deletes } of sources) {
      const folders = projects === undefined ? '' : ` in ${counted(projects, 'folder')}`;
      const kept = deletes && sessions > 0 ? `; deleted after ${counted(deletes.days, 'day')}, imported ones are kept` : '';
      printText(`${root}: ${problem ?? `${counted(sessions, 'session')}${folders}, ${size(bytes)}${kept}`}`);
    }
    if (sources.length === 0) printText('No histories found in the usual places.');
    for (const { dir, missing, openedAt } of recent) printText(line`${dir}${missing ? red(' (missing)') : ''} ${dim(openedAt)}`);
  });
}
