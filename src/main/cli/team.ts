import { basename, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ORPCError } from '@orpc/client';
import { type Command, Option } from 'commander';
import { type HubPlace, hubPlaceOf, type InputOf } from '../../core/contract/index.js';
import type { startHub } from '../hub/index.js';
import { type ContractClient, findDataDir } from '../launch/index.js';
import { dim, line, printJson, printText, red, say } from '../terminal/index.js';
import { addProjectCommand, jsonOption, type ProjectOptions, untilStopped, withEngine, withProject, withStoppableProject } from './command.js';
import { UsageError } from './errors.js';
import { counted, size } from './numbers.js';
import { portNumber } from './option-values.js';

interface HubOptions extends ProjectOptions {
  readonly hub?: string;
  readonly token?: string;
}

type Push = InputOf<'team.push'>;

const tokenOption = [
  '--token <token>',
  'the token for the hub (default: STEMMA_TOKEN, else the one that was given last, else your `stemma login`)',
] as const;

/** Adds `stemma hub`, `clone`, `push`, `pull` and `status`, which share projects within a team. */
export function addTeamCommands(program: Command): void {
  program
    .command('hub')
    .description('serve a hub, where a team shares projects')
    .option('--port <number>', 'the port; 0 takes any free port', portNumber, 0)
    .option('--host <address>', 'the address to listen on; put a proxy with TLS before any address other than loopback', '127.0.0.1')
    .option('--data <dir>', 'folder for the built-in database and for objects', 'stemma-hub')
    .addOption(
      new Option('--database <url>', 'a PostgreSQL database, such as postgres://user:password@host/stemma (without it: one in --data)').env(
        'STEMMA_DATABASE',
      ),
    )
    .addOption(
      new Option(
        '--objects <url>',
        's3://bucket/prefix?region=…&endpoint=…, with the credentials of the environment, or a folder (without it: in --data)',
      ).env('STEMMA_OBJECTS'),
    )
    .option(
      '--metrics-port <number>',
      'a port on loopback that answers GET /metrics without a token (without it: with the token of a hub admin)',
      portNumber,
    )
    .option('--tls-cert <file>', 'the certificate chain as PEM, to serve TLS; changed files are read again automatically and on SIGHUP')
    .option('--tls-key <file>', 'the private key of the certificate as PEM')
    .option('--oidc-issuer <url>', 'also accept people who signed in at this OpenID Connect issuer')
    .option('--oidc-audience <id>', 'the audience for which their tokens must be issued')
    .option('--oidc-client <id>', 'the client id for `stemma login`, if it is not the audience')
    .action(serve);

  program
    .command('facts <address>')
    .description('write the usage facts of a hub project as Parquet files, one per table and month; existing files are replaced')
    .requiredOption('--to <place>', 'a folder, or s3://bucket/prefix?region=…&endpoint=…, with the credentials of the environment')
    .option('--data <dir>', 'folder of the records and counts, for the next run', 'stemma-facts')
    .option(...tokenOption)
    .addOption(jsonOption())
    .action(writeFacts);

  program.command('login <hub>').description('sign in at the issuer of a hub, with a code that you enter in a browser').action(signIn);

  program.command('logout <hub>').description('forget the sign-in at a hub').action(signOut);

  program
    .command('clone <address> <dir>')
    .description('copy a project of a hub, or a shared commit, into a new project; the address is HUB/PROJECT or a share link')
    .option(...tokenOption)
    .addOption(jsonOption())
    .action(clone);

  addHubCommand(program, 'push', 'send what the hub lacks')
    .option('--repository <dir>', 'only sessions of this repository')
    .option('--tag <tag>', 'only commits and sessions with this tag')
    .option('--branch <commit>', 'only the branch that ends at this commit')
    .option('--sources', 'also the imported files, with the model calls that they record')
    .option('--redact', 'replace secrets of known patterns in copies of the commits, and send only these copies')
    .option('--watch', 'keep running and send new items until Ctrl+C: for build machines and the hosts of agents')
    .option('--preview', 'send nothing; only list the items that would leave')
    .action(pushProject);

  addHubCommand(program, 'pull', 'take over what the hub has').action(pullProject);
  addHubCommand(program, 'status', 'show the hub of the project, what a push would send and a pull would read').action(showStatus);
}

const addHubCommand = (program: Command, name: string, description: string): Command =>
  addProjectCommand(program, name, description)
    .option('--hub <hub/project>', 'the hub and the project on it, such as https://hub.example/web-shop (remembered on this machine)')
    .option(...tokenOption);

async function writeFacts(from: string, { to, data, ...options }: HubOptions & { readonly to: string; readonly data: string }): Promise<void> {
  const { token = tokenOf(options), hub, project } = parseAddress(from);
  const { exportFacts } = await import('../hub/index.js');
  const written = await exportFacts({ hub, project, token, to, data: resolve(data), dataDir: findDataDir() });
  if (options.json) return printJson(written);
  for (const [table, { files, rows }] of Object.entries(written)) printText(line`${table}: ${counted(rows, 'row')} in ${counted(files, 'file')}`);
}

/** @throws UsageError for an invalid address. */
function parseAddress(text: string): HubPlace {
  const place = hubPlaceOf(text);
  if (!place) throw new UsageError(`${text} is not a hub and a project, such as https://hub.example/web-shop.`);
  return place;
}

const tokenOf = ({ token }: HubOptions): string | undefined => token ?? process.env.STEMMA_TOKEN;

async function connectTo(client: ContractClient, options: HubOptions): Promise<void> {
  const token = tokenOf(options);
  if (options.hub === undefined && token === undefined) return;
  const known = await client.team.status({});
  const { hub, project } = options.hub === undefined ? known : parseAddress(options.hub);
  if (hub === null || project === null) {
    if (options.token === undefined) return;
    throw new UsageError('Give --hub with the token: this project is not connected to a hub.');
  }
  if (token === undefined && known.hub === hub && known.project === project) return;
  await client.team.connect({ hub, project, token });
}

const kindWords: Readonly<Record<string, string>> = { context: 'commit', started: 'start of a subagent', source: 'imported file' };

const wordOf = (kind: string): string => kindWords[kind] ?? kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const numbers = (items: Readonly<Record<string, number>>): string =>
  Object.entries(items)
    .map(([kind, count]) => counted(count, wordOf(kind), manyOf(wordOf(kind))))
    .join(', ') || 'nothing';

const manyOf = (word: string): string =>
  word.startsWith('start ') ? word.replace('start', 'starts') : /[xh]$/.test(word) ? `${word}es` : `${word}s`;

async function clone(from: string, dir: string, options: HubOptions): Promise<void> {
  const { token = tokenOf(options), ...place } = parseAddress(from);
  await withEngine(async ({ client }) => {
    const name = basename(resolve(dir)).replace(/\.stemma$/, '');
    const info = await client.project.create({ dir: resolve(dir), name });
    await client.project.open({ dir: info.dir });
    await client.team.connect({ ...place, token });
    const pulled = await client.team.pull({}).catch((error: unknown) => {
      say(line`The clone in ${info.dir} is not complete. Go on with: stemma pull --project ${info.dir}`);
      throw error;
    });
    if (options.json) return printJson({ dir: info.dir, ...pulled });
    printText(line`Cloned ${place.project} into ${info.dir}: ${numbers(pulled.items)}, ${counted(pulled.objects, 'object')}.`);
    printRefused(pulled.refused);
  });
}

function printRefused(refused: readonly { readonly kind: string; readonly key: string; readonly reason: string }[], what = 'not taken over'): void {
  if (refused.length > 0) process.exitCode = 1;
  for (const { kind, key, reason } of refused) printText(line`${red(what)} ${kind} ${key}: ${reason}`);
}

async function pushProject(options: HubOptions & Omit<Push, 'select'> & NonNullable<Push['select']> & { readonly watch?: boolean }): Promise<void> {
  const { repository, tag, branch, sources, preview, redact, watch } = options;
  const hasSelection = [repository, tag, branch].some((each) => each !== undefined);
  const input = { ...(hasSelection && { select: { repository, tag, branch } }), sources, preview, redact };
  if (watch && preview) throw new UsageError('--watch sends and --preview does not: give only one of them.');
  const push = async (client: ContractClient): Promise<void> => {
    const pushed = await client.team.push(input);
    // With --watch, prints a line only if something was sent.
    if (watch && Object.keys(pushed.items).length === 0) return;
    if (options.json) return printJson(pushed);
    const objects = `${counted(pushed.objects, 'object')} of ${size(pushed.bytes)}`;
    printText(
      preview ? `Would send ${numbers(pushed.items)}, at most ${objects}.` : `Sent ${numbers(pushed.items)}, ${objects} as ${size(pushed.sent)}.`,
    );
    printRefused(pushed.refused, 'refused by the hub');
    if (pushed.redactions)
      printText(dim(`Replaced: ${counted(pushed.redactions.length, 'secret, path or address', 'secrets, paths and addresses')}.`));
  };
  if (!watch)
    return withProject(options, async ({ client }) => {
      await connectTo(client, options);
      await push(client);
    });
  return withStoppableProject(options, async ({ client, signal }) => {
    await connectTo(client, options);
    say(dim('Sending what is new. Ctrl+C ends it.'));
    for await (const _ of untilStopped(await client.project.changes({}, { signal }), signal)) await pushWithRetries(() => push(client), signal);
  });
}

/** Seconds between two pushes, and between two attempts while the hub does not answer. */
const betweenPushes = 5;
const betweenAttempts = 30;

/** Pushes, and tries again while the hub does not answer. Any other error ends the command. */
async function pushWithRetries(push: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const wait = (seconds: number): Promise<unknown> => sleep(seconds * 1_000, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    const problem = await push().catch((error: unknown) => {
      if (!(error instanceof ORPCError) || error.code !== 'UNAVAILABLE') throw error;
      return error.message;
    });
    await wait(problem === undefined ? betweenPushes : betweenAttempts);
    if (problem === undefined) return;
    say(line`${red('problem')}: ${problem}`);
  }
}

async function pullProject(options: HubOptions): Promise<void> {
  await withProject(options, async ({ client }) => {
    await connectTo(client, options);
    const pulled = await client.team.pull({});
    if (options.json) return printJson(pulled);
    printText(`Took over ${numbers(pulled.items)}, ${counted(pulled.objects, 'object')}.`);
    if (pulled.kept > 0) printText(dim(`${counted(pulled.kept, 'change')} of this machine stayed. Push to send them.`));
    printRefused(pulled.refused);
  });
}

async function showStatus(options: HubOptions): Promise<void> {
  await withProject(options, async ({ client }) => {
    await connectTo(client, options);
    const status = await client.team.status({});
    if (status.problem !== undefined) process.exitCode = 1;
    if (options.json) return printJson(status);
    if (status.hub === null) return printText('Not connected to a hub. Connect with `stemma push --hub HUB/PROJECT --token TOKEN`.');
    printText(line`${status.hub}/${status.project ?? ''}${status.role === null ? '' : line`: ${status.name ?? ''}, ${status.role}`}`);
    if (status.problem !== undefined) return printText(line`${red('problem')}: ${status.problem}`);
    printText(`To push: ${numbers(status.toPush)}. To pull: ${counted(status.toPull ?? 0, 'item')}.`);
  });
}

interface ServeOptions extends Omit<Parameters<typeof startHub>[0], 'oidc' | 'tls'> {
  oidcIssuer?: string;
  oidcAudience?: string;
  oidcClient?: string;
  tlsCert?: string;
  tlsKey?: string;
}

async function serve({ oidcIssuer, oidcAudience, oidcClient, tlsCert, tlsKey, ...options }: ServeOptions): Promise<void> {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) throw new UsageError('Give --tls-cert and --tls-key together.');
  const tls = tlsCert === undefined ? undefined : { cert: resolve(tlsCert), key: resolve(tlsKey ?? '') };
  if ((oidcIssuer === undefined) !== (oidcAudience === undefined)) throw new UsageError('Give --oidc-issuer and --oidc-audience together.');
  const oidc = oidcIssuer === undefined ? undefined : { issuer: oidcIssuer, audience: oidcAudience ?? '', client: oidcClient };
  const hubs = await import('../hub/index.js');
  const log = (entry: object): void => say(JSON.stringify(entry));
  const onCertificate = (problem: string | undefined): void => log({ at: new Date().toISOString(), certificate: problem ?? 'read again' });
  const onProblem = (problem: string): void => log({ at: new Date().toISOString(), problem });
  const hub = await hubs.startHub({ ...options, oidc, tls, data: resolve(options.data), onRequest: log, onCertificate, onProblem });
  printText(`The hub answers at ${hub.address}`);
  if (hub.token !== undefined) printText(`Admin token, shown once: ${hub.token}`);
  await hub.ended;
}

async function signIn(hub: string): Promise<void> {
  const { openLogins } = await import('../team/index.js');
  const { issuer, address, code, entered } = await openLogins(findDataDir()).signIn(hubUrl(hub));
  printText(line`The hub asks you to sign in at ${issuer}.`);
  printText(line`Open ${address} in any browser and enter the code ${code}.`);
  await entered();
  printText(line`Signed in at ${hub}. Push, pull and clone need no token now.`);
}

async function signOut(hub: string): Promise<void> {
  const { openLogins } = await import('../team/index.js');
  openLogins(findDataDir()).signOut(hubUrl(hub));
  printText(line`The sign-in at ${hub} is forgotten on this machine.`);
}

function hubUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new UsageError(`${text} is not the address of a hub, such as https://hub.example.`);
  return url.href.replace(/\/+$/, '');
}
