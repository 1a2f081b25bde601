import { once } from 'node:events';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CaptureStatus, type Commit, runtimes } from '../../core/contract/index.js';
import { defaultUpstreams, type Upstreams, upstreamOf } from '../proxy/index.js';
import { type Connection, openWhereItGoes } from './client.js';
import { timeOf } from './log.js';
import { portNumber } from './numbers.js';
import { counted, dim, firstLine, magenta, printable, printJson, printText, red, say, yellow } from './output.js';
import { addressesOf, startRecorder } from './record.js';
import { endLike, type RunOptions, runCaptured } from './run.js';

interface Common {
  project?: string;
  json?: boolean;
}
interface CaptureOptions extends Common {
  granularity?: 'turn_boundary' | 'tool_call';
}
type WithEngine = (work: (connection: Connection & { signal: AbortSignal }) => Promise<void>) => Promise<void>;
/** Adds the options that every command of a project has. */
type OfProject = (command: Command) => Command;

const granularityOption = (): Option => new Option('--granularity <unit>', 'one commit per').choices(['turn_boundary', 'tool_call']);

/** `stemma capture`, `stemma run`, `stemma proxy`: what agents write and send is taken in while they work. */
export function addLiveCommands(program: Command, ofProject: OfProject, withEngine: WithEngine): void {
  ofProject(program.command('capture [path...]').description('follow agents at work: each turn that is over becomes a commit, and a line here'))
    .addOption(granularityOption())
    .addHelpText('after', '\nWithout paths, the agents of this machine are followed from now on. Named files and folders are read first.')
    .action((paths: string[], options: CaptureOptions) => withEngine((connection) => capture(connection, paths, options)));

  program
    .command('run')
    .description('run an agent, and take in what it writes while it runs: stemma run -- claude')
    .exitOverride()
    .passThroughOptions()
    .argument('<command...>', 'the command and its words')
    .addOption(new Option('-p, --project <dir>', 'the project folder (else STEMMA_PROJECT, else the nearest *.stemma here or above)'))
    .addOption(new Option('--agent <name>', 'which agent the command starts, where its name does not say it').choices([...runtimes]))
    .addOption(granularityOption())
    .option('--record', 'record its calls to models too, where it asks for them at the address that its environment names')
    .action(async (command: string[], options: RunOptions) => endLike(await runCaptured(command, options)));

  program
    .command('proxy')
    .description("record agents' calls to models, passed on as they are: point their base URLs at it")
    .exitOverride()
    .addOption(new Option('-p, --project <dir>', 'the project folder (else STEMMA_PROJECT, else the nearest *.stemma here or above)'))
    .option('--port <number>', 'else any free one', portNumber, 0)
    .option('--upstream <provider=url>', "where a provider's calls go on to, instead of its own address", upstreamWord, {})
    .action((options: ProxyOptions) => withEngine((connection) => proxy(connection, options)));
}

interface ProxyOptions {
  readonly project?: string;
  readonly port: number;
  readonly upstream: Partial<Upstreams>;
}

function upstreamWord(text: string, before: Partial<Upstreams>): Partial<Upstreams> {
  const read = upstreamOf(text);
  if (typeof read === 'string') throw new InvalidArgumentError(read);
  return { ...before, [read.provider]: read.url };
}

/** Goes on until it is ended. Its one line on standard output for each provider is what an agent's environment needs. */
async function proxy({ client, signal }: Parameters<Parameters<WithEngine>[0]>[0], { project, port, upstream }: ProxyOptions): Promise<void> {
  const { dir } = await openWhereItGoes(client, project);
  const running = await startRecorder(client, { ...defaultUpstreams, ...upstream }, port);
  for (const [name, url] of Object.entries(addressesOf(running))) printText(`${name}=${url}`);
  say(dim(`Recording into ${dir}. Ctrl+C ends it.`));
  if (!signal.aborted) await once(signal, 'abort');
  await running.close();
}

/** Goes on until it is ended; what stands there of turns that go on is left for the next time. */
async function capture(
  { client, signal }: Parameters<Parameters<WithEngine>[0]>[0],
  paths: readonly string[],
  options: CaptureOptions,
): Promise<void> {
  const { dir } = await openWhereItGoes(client, options.project);
  const changes = await client.project.changes({}, { signal });
  const status = await client.capture.watch({
    ...(paths.length > 0 && { paths: paths.map((path) => resolve(path)) }),
    granularity: options.granularity,
  });
  say(dim(`${placesIn(status)} into ${dir}. Ctrl+C ends it.`));
  for await (const { commits } of changes) for (const commit of commits) options.json ? printJson(commit) : printText(commitLine(commit));
  const { checkpoints, problems } = await client.capture.stop({});
  for (const { path, line, reason } of problems) say(`${red('problem')} ${printable(path)}:${line}: ${printable(reason)}`);
  say(dim(counted(checkpoints, 'checkpoint')));
}

function placesIn({ places }: CaptureStatus): string {
  const there = places.filter((place) => place.there);
  const later = places.length - there.length;
  const now = there.length > 0 ? `Following ${there.map((place) => place.path).join(', ')}` : 'Following';
  return later > 0 ? `${now} (and ${counted(later, 'place')} not there yet)` : now;
}

const words: Readonly<Record<Commit['checkpoint'], string>> = {
  turn_boundary: 'turn',
  tool_call: 'tools',
  compaction: 'compaction',
  session_end: 'end',
  explicit: 'explicit',
};

function commitLine(commit: Commit): string {
  const kind =
    commit.type === 'compaction' || commit.checkpoint !== 'turn_boundary' ? magenta(words[commit.checkpoint].padEnd(10)) : dim('turn      ');
  return `${dim(timeOf(commit.createdAt, new Date()))}  ${yellow(commit.id)}  ${kind}  ${firstLine(commit.summary ?? commit.template, 80)} ${dim(`≈${commit.tokenCount.toLocaleString('en-US')} tok`)}`;
}
