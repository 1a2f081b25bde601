import { resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { type ImportProgress, type ImportResult, type Runtime, runtimes } from '../../core/contract/index.js';
import { findProject } from '../launch/index.js';
import { call, drain, needsNoProject, procedureNames, readInput } from './call.js';
import { type Connection, connect, openWhereItGoes } from './client.js';
import { entryText, facts } from './describe.js';
import { addExportCommand } from './export.js';
import { addHookCommand } from './hooks.js';
import { addLiveCommands } from './live.js';
import { drawGraph } from './log.js';
import { portNumber, wholeNumber } from './numbers.js';
import { counted, dim, green, printable, printJson, printText, red, refusalOf, say, size, UsageError } from './output.js';
import { addReplayCommands } from './replay.js';
import { addRequestCommands } from './requests.js';
import { addTicketCommands } from './tickets.js';

interface Common {
  project?: string;
  json?: boolean;
}

/** Runs the command line and sets the exit code: 0 done, 1 refused, 2 wrong usage. */
export async function run(argv: readonly string[]): Promise<void> {
  // A reader that has seen enough (`stemma log | head`) ends us quietly.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const program = build();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error, argv);
  }
}

function exitCodeOf(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    say(`stemma: ${error.message}`);
    return 2;
  }
  const refusal = refusalOf(error);
  if (argv.includes('--json') || argv[2] === 'call') process.stderr.write(`${JSON.stringify(refusal)}\n`);
  else say(`stemma: ${printable(refusal.message)}`);
  if (refusal.code === 'INTERNAL_SERVER_ERROR' && process.env.STEMMA_DEBUG) console.error(error);
  return 1;
}

/** Opens the project of a command, does its work, and closes everything whatever happens. */
async function within<T>(options: Common & { repair?: boolean }, work: (connection: Connection & { signal: AbortSignal }) => Promise<T>): Promise<T> {
  const dir = findProject(options.project);
  if (!dir) throw new UsageError('no project here. Name one with --project DIR or STEMMA_PROJECT, or make one with `stemma init NAME.stemma`.');
  return withEngine(async (connection) => {
    await connection.client.project.open({ dir, ...(options.repair && { repair: true }) });
    return work(connection);
  });
}

async function withEngine<T>(work: (connection: Connection & { signal: AbortSignal }) => Promise<T>): Promise<T> {
  const connection = connect();
  const stopper = new AbortController();
  const stop = (): void => stopper.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  try {
    return await work({ ...connection, signal: stopper.signal });
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop);
    connection.close();
  }
}

/** `3f9a12c4` is as good as `ctx-3f9a12c4` for a person. */
const commitName = (text: string): string => (/^[0-9a-f]{1,64}$/.test(text) ? `ctx-${text}` : text);
const stopName = (text: string): string => (text === 'compaction' || text === 'root' ? text : commitName(text));

const projectOption = (): Option =>
  new Option('-p, --project <dir>', 'the project folder (else STEMMA_PROJECT, else the nearest *.stemma here or above)');
const jsonOption = (): Option => new Option('--json', 'print the result as one JSON document');
const stopOption = (): Option =>
  new Option('--stop <where>', 'where the walk towards the root ends: compaction, root, or a commit').argParser(stopName);

function build(): Command {
  const program = new Command('stemma')
    .description('See, prove and change what an agent understood: agent histories as branching chains of context.')
    .version(manifest.version)
    .exitOverride()
    // What follows the command of `stemma run` is the command's own.
    .enablePositionalOptions()
    .showHelpAfterError('(--help says how it is used)')
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
From a history to a fork:
  stemma init work.stemma                          make a project here
  stemma import ~/.claude/projects/*/*.jsonl       read histories into it
  stemma capture                                   follow the agents of this machine
  stemma run -- claude                             or one, while it runs
  stemma log                                       see its branches
  stemma show ctx-3f9a12c4                         read what a turn added
  stemma fork ctx-3f9a12c4 --at KEY                go on from there differently
  stemma resume ctx-77e0aa10                       hand it back to the agent

Exit codes: 0 done, 1 refused, 2 wrong usage.`,
    );
  const command = (name: string, description: string): Command => program.command(name).description(description).exitOverride();
  const projectCommand = (name: string, description: string): Command =>
    command(name, description).addOption(projectOption()).addOption(jsonOption());

  command('init <dir>', 'make a project folder (NAME.stemma)')
    .option('--name <name>', "the project's name; else the folder's")
    .addOption(jsonOption())
    .action((dir: string, options: Common & { name?: string }) =>
      withEngine(async ({ client }) => {
        const info = await client.project.create({ dir: resolve(dir), name: options.name });
        options.json ? printJson(info) : printText(`Made ${info.dir} (project ${info.projectId}).`);
      }),
    );

  projectCommand('import <path...>', 'read histories of agents: files or folders')
    .option('--format <name>', 'what the files are, where it is not to be found out')
    .addOption(new Option('--granularity <unit>', 'one commit per').choices(['turn_boundary', 'tool_call']))
    .action(importPaths);

  projectCommand('log [commit]', 'draw the chain; with a commit, its history back to the root')
    .option('-n, --limit <count>', 'at most so many commits', wholeNumber, 200)
    .action((id: string | undefined, options: Common & { limit: number }) =>
      within(options, async ({ client }) => {
        if (id !== undefined) {
          const commits = await client.context.history({ id: commitName(id), depth: options.limit });
          return options.json ? printJson(commits) : printText(commits.map((commit) => facts(commit).join('\n')).join('\n\n'));
        }
        const graph = await client.context.graph({ offset: 0, limit: Math.min(5_000, Math.max(1, options.limit)) });
        if (options.json) return printJson(graph);
        printText(drawGraph(graph.rows, process.stdout.columns).join('\n'));
        if (graph.total === 0) say('The project is empty; `stemma import PATH…` reads a history into it.');
        else if (graph.total > graph.rows.length) say(dim(`… ${counted(graph.total - graph.rows.length, 'commit')} more; --limit shows them.`));
      }),
    );

  projectCommand('show <commit>', 'a commit, and the entries that it added')
    .option('--all', 'every entry that the model saw at it')
    .addOption(stopOption())
    .action((id: string, options: Common & { all?: boolean; stop?: string }) =>
      within(options, async ({ client }) => {
        const commit = await client.context.show({ id: commitName(id) });
        const stop = options.stop ?? (options.all ? undefined : commit.id);
        const { entries } = await client.context.entries({ id: commit.id, stop });
        if (options.json) return printJson({ ...commit, entries });
        printText([facts(commit).join('\n'), ...entries.map(entryText)].join('\n\n'));
      }),
    );

  projectCommand('materialize <commit>', 'put a context together as its model saw it, and print it')
    .option('--format <name>', 'as this format')
    .addOption(stopOption())
    .action((id: string, options: Common & { format?: string; stop?: string }) =>
      within(options, async ({ client }) => {
        const result = await client.context.materialize({ id: commitName(id), format: options.format, stop: options.stop });
        if (options.json) return printJson(result);
        const { data } = await client.artifact.get({ ref: result.artifactRef });
        process.stdout.write(Buffer.from(data, 'base64'));
        say(
          dim(
            `${counted(result.messageCount, 'message')}, ≈${result.tokenCount} tokens, ${result.format} (${result.tier}), ${counted(result.commits.length, 'commit')}`,
          ),
        );
      }),
    );

  projectCommand('fork <commit>', 'a branch from a commit, from the middle of one, or with edits')
    .option('--at <key>', 'cut after the entry with this key')
    .option('--edits <json>', 'what to change: [{"op":"drop"|"replace"|"insert"|"append", "key"?, "entry"?}] as JSON, @file or -')
    .option('--summary <text>', 'what the fork is for')
    .option('--template <name>', "the agent's template")
    .option('--principal <name>', 'whose branch it is')
    .action((id: string, options: Common & { at?: string; edits?: string; summary?: string; template?: string; principal?: string }) =>
      within(options, async ({ client }) => {
        const { at, summary, template, principal } = options;
        const edits = options.edits === undefined ? undefined : (readInput(options.edits) as never);
        const commit = await client.context.fork({ id: commitName(id), at, edits, summary, template, principal });
        options.json ? printJson(commit) : printText(facts(commit).join('\n'));
      }),
    );

  projectCommand('diff <a> <b> [more...]', 'what contexts have in common, and where they differ')
    .option('--markdown', 'as a document for people; more than two are compared in one')
    .option('-o, --output <file>', 'the document as a file; never over one that is there')
    .addOption(stopOption())
    .action((a: string, b: string, more: string[], options: Common & { stop?: string; markdown?: true; output?: string }) =>
      within(options, async ({ client }) => {
        const [idA, idB] = [commitName(a), commitName(b)];
        if (options.markdown || options.output !== undefined || more.length) {
          const path = options.output === undefined ? undefined : resolve(options.output);
          const made = await client.export.comparison({ ids: [idA, idB, ...more.map(commitName)], stop: options.stop, path });
          if (options.json) return printJson(made);
          if (made.path !== undefined) return printText(`Wrote ${made.path} (${size(made.bytes)}).`);
          process.stdout.write(made.text ?? '');
          return;
        }
        const diff = await client.context.diff({ a: idA, b: idB, stop: options.stop });
        if (options.json) return printJson(diff);
        const moved = diff.moved.reduce((sum, run) => sum + run.count, 0);
        const [left, right] = await Promise.all([
          client.context.entries({ id: idA, stop: options.stop }),
          client.context.entries({ id: idB, stop: options.stop }),
        ]);
        printText(
          `${dim('common ancestor')} ${diff.base ?? 'none'}\n${counted(diff.same, 'entry', 'entries')} the same, ${diff.added} added, ${diff.removed} removed, ${diff.changed} changed${moved ? `; ${moved} of these moved` : ''}; ≈${diff.tokens.a} and ≈${diff.tokens.b} tokens`,
        );
        for (const hunk of diff.hunks) {
          if (hunk.op === 'same') printText(dim(`  … ${counted(hunk.aCount, 'entry', 'entries')} the same`));
          else {
            for (const entry of left.entries.slice(hunk.aStart, hunk.aStart + hunk.aCount)) printText(red(entryText(entry).replace(/^/gm, '- ')));
            for (const entry of right.entries.slice(hunk.bStart, hunk.bStart + hunk.bCount)) printText(green(entryText(entry).replace(/^/gm, '+ ')));
          }
        }
      }),
    );

  projectCommand('resume <commit>', 'put a context where an agent looks for its sessions, and say the command that goes on from it')
    .addOption(new Option('--agent <name>', 'the agent; else the one that wrote the context').choices([...runtimes]))
    .option('--cwd <dir>', "the session's working directory; else the one that it had")
    .action((id: string, options: Common & { agent?: Runtime; cwd?: string }) =>
      within(options, async ({ client }) => {
        const result = await client.export.resume({ id: commitName(id), agent: options.agent, cwd: options.cwd && resolve(options.cwd) });
        options.json ? printJson(result) : printText(`Wrote ${result.path}\nGo on with:\n  ${printable(result.command)}`);
      }),
    );

  addLiveCommands(program, (each) => each.exitOverride().addOption(projectOption()).addOption(jsonOption()), withEngine);
  addHookCommand(program);
  addRequestCommands(program, (each) => each.exitOverride().addOption(projectOption()).addOption(jsonOption()), within);
  addExportCommand(
    program,
    (each) => each.exitOverride().addOption(projectOption()).addOption(jsonOption()).addOption(stopOption()),
    commitName,
    within,
  );
  addReplayCommands(program, (each) => each.exitOverride().addOption(projectOption()).addOption(jsonOption()), commitName, within);
  addTicketCommands(program, (each) => each.exitOverride().addOption(projectOption()).addOption(jsonOption()), within);

  projectCommand('fsck', 'check everything that the project stores')
    .option('--repair', 'mend what can be mended, set the rest apart, and say what is lost')
    .action((options: Common & { repair?: boolean }) =>
      within(options, async ({ client }) => {
        const result = await client.project.check({ repair: options.repair });
        if (!result.ok) process.exitCode = 1;
        if (options.json) return printJson(result);
        for (const problem of result.problems) printText(`${red(problem.kind)} ${problem.id}: ${printable(problem.message)}`);
        const checked = Object.entries(result.checked).map(([kind, count]) => `${count.toLocaleString('en-US')} ${kind}`);
        printText(`${result.ok ? 'Sound' : counted(result.problems.length, 'problem')}: checked ${checked.join(', ')}.`);
      }),
    );

  command('library', 'histories found on this machine, and recent projects')
    .addOption(jsonOption())
    .action((options: Common) =>
      withEngine(async ({ client }) => {
        const [sources, recent] = [await client.library.sources({}), await client.library.recent({})];
        if (options.json) return printJson({ sources, recent });
        for (const source of sources)
          printText(
            source.problem
              ? `${source.root}: ${source.problem}`
              : `${source.root}: ${counted(source.sessions, 'session')}${source.projects === undefined ? '' : ` in ${counted(source.projects, 'folder')}`}, ${size(source.bytes)}`,
          );
        if (sources.length === 0) printText('No histories found in the usual places.');
        for (const project of recent) printText(`${project.dir}${project.missing ? red(' (missing)') : ''} ${dim(project.openedAt)}`);
      }),
    );

  command('call <procedure>', 'any procedure of the contract, by its name')
    .addOption(projectOption())
    .option('-i, --input <json>', 'the input: JSON text, @file, or - for standard input')
    .option('--stream', 'print one JSON document per event of a procedure that streams, then its result')
    .addHelpText('after', `\nProcedures:\n  ${procedureNames().join('\n  ')}`)
    .action(callProcedure);

  command('mcp', 'tools for an agent (Model Context Protocol) on standard input and output')
    .addOption(projectOption())
    .action((options: Common) =>
      within(options, async ({ client, signal }) => {
        // Loaded for this command alone, as `web` is.
        const { serveTools } = await import('../mcp/index.js');
        await serveTools({ client, version: manifest.version, signal, refusalOf });
      }),
    );

  command('web [path...]', 'serve the window for a browser, on loopback only')
    .option('--port <number>', 'the port; 0 takes any free one', portNumber, 0)
    .option('--host <address>', 'the loopback address to listen on', '127.0.0.1')
    .option('--no-open', 'do not open a browser')
    .action(async (paths: string[], options: { port: number; host: string; open: boolean }) => {
      // Loaded for this command alone: the others run in hooks, many times a day.
      const { isLoopback, serveWindow } = await import('../web/index.js');
      if (!isLoopback(options.host))
        throw new UsageError(`--host ${options.host} is not a loopback address; Stemma serves on 127.0.0.1, ::1 or localhost only.`);
      await serveWindow({ paths, version: manifest.version, port: options.port, address: options.host, open: options.open });
    });

  return program;
}

async function callProcedure(procedure: string, options: Common & { input?: string; stream?: boolean }): Promise<void> {
  if (!procedureNames().includes(procedure))
    throw new UsageError(`there is no procedure ${JSON.stringify(procedure)}; \`stemma call --help\` lists them.`);
  const input = readInput(options.input);
  const dir = needsNoProject(procedure) ? options.project && resolve(options.project) : findProject(options.project);
  await withEngine(async ({ client, signal }) => {
    if (dir && !/^project\.(create|open)$/.test(procedure)) await client.project.open({ dir });
    printJson(await call(client, procedure, input, (event) => options.stream && printJson(event), signal));
  });
}

/** Imports into the project that is there, makes the one that is named, or goes to the person's home project. */
async function importPaths(paths: string[], options: Common & { format?: string; granularity?: 'turn_boundary' | 'tool_call' }): Promise<void> {
  await withEngine(async ({ client, signal }) => {
    const { dir, made } = await openWhereItGoes(client, options.project);
    say(dim(`${made ? 'Made' : 'Into'} ${dir}`));
    const { format, granularity } = options;
    const stream = await client.import.run({ paths: paths.map((path) => resolve(path)), format, granularity }, { signal });
    const result = (await drain(stream, (event) => showProgress(event as ImportProgress))) as ImportResult;
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    if (options.json) return printJson(result);
    printText(
      `${counted(result.sessions, 'session')}, ${counted(result.commits, 'new commit')}, ${counted(result.entries, 'entry', 'entries')}, ${size(result.bytes)} in ${(result.ms / 1000).toFixed(1)} s`,
    );
    for (const { path, line, reason } of result.notes) printText(dim(`note: ${path}:${line}: ${printable(reason)}`));
    for (const { path, line, reason } of result.skipped) printText(`${red('skipped')} ${path}:${line}: ${printable(reason)}`);
  });
}

function showProgress({ phase, done, total, bytes }: ImportProgress): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${phase} ${done} of ${total}, ${size(bytes)}`);
}
