import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { finished } from '../../core/base/index.js';
import { type CaptureStatus, type Commit, runtimes } from '../../core/contract/index.js';
import { findDataDir } from '../launch/index.js';
import { defaultUpstreams, parseUpstream, type Upstreams } from '../proxy/index.js';
import { endLike } from '../system/index.js';
import { dim, line, magenta, printJson, printText, red, say, type Text, yellow } from '../terminal/index.js';
import {
  addProjectChoice,
  addProjectCommand,
  addSignedOptions,
  granularityOption,
  openTarget,
  type ProjectChoice,
  type ProjectOptions,
  pathOption,
  type SignedOptions,
  type Stoppable,
  signedOf,
  untilAborted,
  untilStopped,
  withStoppableEngine,
} from './command.js';
import { counted, firstLine, writeTime } from './numbers.js';
import { portNumber } from './option-values.js';
import type { CliRunOptions } from './run.js';

/** Adds `stemma capture`, `run`, `proxy` and `otlp`, which record transcripts, model calls and spans while agents work. */
export function addLiveCommands(program: Command): void {
  const capturing = addProjectCommand(
    program,
    'capture [path...]',
    'follow agents while they work; each finished turn becomes a commit and a line here',
  ).addOption(granularityOption());
  addSignedOptions(capturing)
    .addHelpText(
      'after',
      '\nWithout paths, it follows the agents of this machine from now on. Existing content of named files and folders is read first.',
    )
    .action((paths: string[], options: CaptureOptions) => withStoppableEngine((running) => capture(running, paths, options)));

  const running = addProjectChoice(program.command('run'))
    .description('run an agent and record its session: stemma run -- claude')
    .passThroughOptions()
    .argument('<command...>', 'the command and its arguments')
    .addOption(new Option('--agent <name>', 'the agent that the command starts (default: detected from its name)').choices([...runtimes]))
    .addOption(granularityOption());
  addSignedOptions(running)
    .option('--record', 'record its model calls too, if it takes the address of the provider from its environment')
    .action(async (command: string[], options: CliRunOptions) => {
      const { runRecorded } = await import('./run.js');
      endLike(await runRecorded(command, options));
    });

  addProjectChoice(program.command('proxy'))
    .description('record model calls of agents and forward them unchanged; point the base URLs of the agents at it')
    .option('--port <number>', 'the port; 0 takes any free port', portNumber, 0)
    .option('--upstream <provider=url>', 'forward the calls of a provider to this address', addUpstream, {})
    .action((options: ProxyOptions) => withStoppableEngine((running) => proxy(running, options)));

  addProjectChoice(program.command('otlp'))
    .description('receive OpenTelemetry spans of tools (GenAI conventions) and import them; set the variables that it prints')
    .option('--port <number>', 'the port; 0 takes any free port', portNumber, 0)
    .option('--bearer-file <path>', 'write the token into this new file, which only you can read, instead of printing it')
    .action((options: OtlpOptions) => withStoppableEngine((running) => receive(running, options)));
}

interface ProxyOptions extends ProjectChoice {
  readonly port: number;
  readonly upstream: Partial<Upstreams>;
}

function addUpstream(text: string, earlier: Partial<Upstreams>): Partial<Upstreams> {
  const upstream = parseUpstream(text);
  if (typeof upstream === 'string') throw new InvalidArgumentError(upstream);
  return { ...earlier, [upstream.provider]: upstream.url };
}

/** Runs until the person ends it. Standard output has one line for each provider: the variable that an agent's environment needs. */
async function proxy({ client, signal }: Stoppable, options: ProxyOptions): Promise<void> {
  const { port, upstream } = options;
  const { addressesOf, startRecorder } = await import('./record.js');
  const { dir } = await openTarget(client, options);
  const recorder = await startRecorder(client, { ...defaultUpstreams, ...upstream }, port);
  for (const [name, url] of Object.entries(addressesOf(recorder))) printText(`${name}=${url}`);
  say(dim(`Recording into ${dir}. Ctrl+C ends it.`));
  await untilAborted(signal);
  await recorder.close();
}

interface CaptureOptions extends ProjectOptions, SignedOptions {
  granularity?: 'turn_boundary' | 'tool_call';
}

/** Runs until the person ends it. The next capture or import stores a turn that is unfinished at that time. */
async function capture({ client, signal }: Stoppable, paths: readonly string[], options: CaptureOptions): Promise<void> {
  const { dir } = await openTarget(client, options);
  const changes = await client.project.changes({}, { signal });
  const status = await client.capture.watch({
    ...(paths.length > 0 && { paths: paths.map((path) => resolve(path)) }),
    granularity: options.granularity,
    ...signedOf(options),
  });
  say(dim(`${describePlaces(status)} into ${dir}. Ctrl+C ends it.`));
  for await (const { commits } of untilStopped(changes, signal))
    for (const commit of commits) options.json ? printJson(commit) : printText(commitLine(commit));
  const { checkpoints, problems } = await client.capture.stop({});
  for (const { path, line: number, reason } of problems) say(line`${red('problem')} ${path}:${number}: ${reason}`);
  say(dim(counted(checkpoints, 'checkpoint')));
}

function describePlaces({ places }: CaptureStatus): string {
  const found = places.filter((place) => place.there).map((place) => place.path);
  const missing = places.length - found.length;
  const following = ['Following', found.join(', ')].filter(Boolean).join(' ');
  return missing > 0 ? `${following} (and ${counted(missing, 'place')} that will be followed once created)` : following;
}

const checkpointWords: Readonly<Record<Commit['checkpoint'], string>> = {
  turn_boundary: 'turn',
  tool_call: 'tools',
  compaction: 'compaction',
  session_end: 'end',
  explicit: 'explicit',
  assistant_message: 'message',
  every_n_turns: 'turns',
  event: 'event',
};

function commitLine({ id, type, checkpoint, createdAt, summary, template, tokenCount }: Commit): Text {
  const paint = type === 'compaction' || checkpoint !== 'turn_boundary' ? magenta : dim;
  const kind = paint(checkpointWords[checkpoint].padEnd(10));
  const tokens = dim(`≈${counted(tokenCount, 'token')}`);
  return line`${dim(writeTime(createdAt, new Date()))}  ${yellow(id)}  ${kind}  ${firstLine(summary ?? template, 80)} ${tokens}`;
}

interface OtlpOptions extends ProjectChoice {
  readonly port: number;
  readonly bearerFile?: string;
}

/** Runs until the person ends it. Standard output has the variables that an exporter needs. */
async function receive({ client, signal }: Stoppable, options: OtlpOptions): Promise<void> {
  const { startOtlp } = await import('../otlp/index.js');
  const { writeBearerFile } = await import('../web/index.js');
  const { dir } = await openTarget(client, options);
  const token = randomBytes(24).toString('base64url');
  const server = await startOtlp({
    port: options.port,
    token,
    folder: join(findDataDir(), 'received', (await client.project.info({})).projectId),
    importFile: async (path) => finished(await client.import.run({ paths: [path] })),
    problem: (error) => say(line`stemma: spans were not stored: ${error.message}`),
  });
  const path = pathOption(options.bearerFile);
  const file = path === undefined ? undefined : writeBearerFile(path, token);
  printText(`OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${server.port}`);
  printText('OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf');
  if (!file) printText(`OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20${token}`);
  say(dim(`Receiving into ${dir}. Ctrl+C ends it.`));
  await untilAborted(signal);
  await server.close();
  file?.remove();
}
