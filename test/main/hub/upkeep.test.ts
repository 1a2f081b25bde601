import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DummyDriver, Kysely, PostgresAdapter, PostgresDialect, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { openStore } from '../../../src/core/replicas/index.js';
import { pull, push } from '../../../src/core/sync/index.js';
import { firstToken, migrate, migrations, openHubDatabase, openHubObjects, serveHub } from '../../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../../src/main/team/index.js';
import { chainWith, commitText, digestsOf, startTestHub, type TestHub } from '../../support/hub.js';
import { isInstalled } from '../../support/machine.js';
import { emptyChain, scratch } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** The folder of Debian's PostgreSQL programs. Undefined where it is not installed: then its test is skipped. */
const debian = [18, 17, 16, 15, 14]
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((dir) => existsSync(join(dir, 'initdb')) && existsSync(join(dir, 'pg_dump')));

/**
 * Starts Debian's PostgreSQL, as the user `postgres` where this process is root, which the server refuses. Its user `stemma` is no superuser:
 * it owns the database `first`, and may create databases and roles. `forget` removes that database and the role that a hub makes.
 */
async function startDebian(): Promise<{ url(database: string): string; forget(): void }> {
  const dir = mkdtempSync('/tmp/stemma-debian-');
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const owner = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  if (owner.uid !== undefined) chownSync(dir, owner.uid, owner.gid);
  const [data, port] = [join(dir, 'data'), await freePort()];
  execFileSync(join(debian ?? '', 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'], { stdio: 'ignore', cwd: dir, ...owner });
  const words = ['-D', data, '-p', String(port), '-k', dir, '-c', 'listen_addresses=127.0.0.1', '-F'];
  const server = spawn(join(debian ?? '', 'postgres'), words, { cwd: dir, ...owner });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGINT');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.once('exit', () => reject(new Error(log)));
    server.stderr.on('data', (text: Buffer) => {
      log += text.toString();
      if (log.includes('ready to accept connections')) resolve();
    });
  });
  const asOwner = (...statements: string[]): void =>
    void execFileSync('psql', [`postgres://postgres@127.0.0.1:${port}/postgres`, ...statements.flatMap((each) => ['-c', each])], { stdio: 'ignore' });
  asOwner('CREATE ROLE stemma LOGIN CREATEDB CREATEROLE', 'CREATE DATABASE first OWNER stemma');
  return {
    url: (database) => `postgres://stemma@127.0.0.1:${port}/${database}`,
    forget: () => asOwner('DROP DATABASE first', 'DROP ROLE stemma_project'),
  };
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

describe('keeping a hub running', () => {
  test('[E30] an older hub works beside a newer schema, and steps run whatever their number', { tags: 'long' }, async () => {
    const all = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: hub.databaseUrl, max: 2 }) }) });
    onTestFinished(() => all.destroy());
    const add = (statement: string) => ({ up: async (db: Kysely<unknown>) => void (await sql.raw(statement).execute(db)) });
    await migrate(all, { ...migrations, '999-newer': add('ALTER TABLE item ADD COLUMN newer text; CREATE TABLE newer (no integer)') });
    await migrate(all, { ...migrations, '998-between': add('CREATE TABLE between_both (no integer)') });
    expect((await sql<{ n: string }>`SELECT to_regclass('between_both') AS n`.execute(all)).rows[0]?.n).toBe('between_both');
    // This version knows neither step. The hub that ran before them goes on, and a new process of it starts.
    const again = await openHubDatabase(hub.databaseUrl);
    await again.close();
    const [mine, theirs] = [emptyChain(), emptyChain()];
    commitText(mine, 'beside a newer schema');
    await push(mine, await hub.project('newer'));
    await pull(theirs, await hub.project('newer'));
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
  });

  test('[E30] no step removes, renames or tightens what an older hub uses', async () => {
    const statements: string[] = [];
    const db = new Kysely<unknown>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (each) => new PostgresIntrospector(each),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
      log: ({ query }) => void statements.push(query.sql),
    });
    for (const { up } of Object.values(migrations)) await up(db);
    const breaks = /\b(DROP|RENAME|TRUNCATE|DELETE FROM|SET NOT NULL|REVOKE)\b|ALTER COLUMN .* TYPE|ADD COLUMN (?!.*DEFAULT)[^,;]*NOT NULL/i;
    expect(statements.length).toBeGreaterThan(10);
    // Older hubs read the number and the name of a token only, which they still may.
    const hidesHashes = 'REVOKE SELECT ON token FROM stemma_project';
    expect(statements.filter((each) => breaks.test(each) && each !== hidesHashes)).toEqual([]);
    expect(statements).toContain('GRANT SELECT (no, name, project, shared) ON token TO stemma_project');
    expect(breaks.test('ALTER TABLE item ADD COLUMN size bigint NOT NULL')).toBe(true);
  });

  test.skipIf(!isInstalled('openssl'))('[E33] certificate files are read again; what does not fit changes nothing (needs openssl)', async () => {
    const dir = scratch();
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    certify(dir, 'one');
    certify(dir, 'two');
    copyFileSync(join(dir, 'one.pem'), cert);
    copyFileSync(join(dir, 'one.key'), key);
    const database = await openHubDatabase(hub.databaseUrl);
    const told: (string | undefined)[] = [];
    const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: hub.objectsDir }));
    const options = { database, objects, port: 0, host: '127.0.0.1', onCertificate: (problem: string | undefined) => void told.push(problem) };
    const running = await serveHub({ ...options, tls: { cert, key } });
    onTestFinished(() => running.close().then(database.close));
    expect(await nameOfCertificate(running.port)).toBe('one');
    copyFileSync(join(dir, 'two.pem'), cert);
    hangUp();
    expect(told[0]).toContain(cert);
    expect(told[0]).not.toContain('PRIVATE');
    expect(await nameOfCertificate(running.port)).toBe('one');
    copyFileSync(join(dir, 'two.key'), key);
    hangUp();
    expect(told[1]).toBeUndefined();
    expect(await nameOfCertificate(running.port)).toBe('two');
    await expect(serveHub({ ...options, tls: { cert, key: join(dir, 'none') } })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  test('[E34] metrics count calls by result, answer admins of the hub only, and name nobody', async () => {
    await hub.client().projects.create({ project: 'measured-project' });
    const mine = emptyChain();
    commitText(mine, 'measured');
    await push(mine, await hub.project('measured-project'));
    await expect(hub.client('stm_false').projects.list({})).rejects.toThrow();
    const asAdmin = { authorization: `Bearer ${hub.admin}` };
    const text = await (await fetch(`${hub.address}/metrics`, { headers: asAdmin })).text();
    expect(text).toMatch(/stemma_hub_requests_total\{procedure="sync\.send",code="ok"[^}]*\} [1-9]/);
    expect(text).toMatch(/stemma_hub_requests_total\{procedure="projects\.list",code="UNAUTHORIZED"[^}]*\} [1-9]/);
    expect(text).toMatch(/stemma_hub_request_seconds_bucket\{procedure="sync\.send"/);
    expect(text).toMatch(/stemma_hub_stored_objects_total(\{[^}]*\})? [1-9]/);
    expect(text).toMatch(/stemma_hub_database_connections\{state="idle"/);
    expect(text).not.toContain('measured-project');
    const { token } = await hub.client().members.add({ project: 'measured-project', name: 'a', role: 'admin' });
    const status = async (headers: Record<string, string>) => (await fetch(`${hub.address}/metrics`, { headers })).status;
    // A proxy on this machine that adds no header must not open them to everyone.
    expect(await status({})).toBe(403);
    expect(await status({ authorization: `Bearer ${token}` })).toBe(403);
    expect(await status(asAdmin)).toBe(200);
  });

  test('[E34] metrics have a socket of their own on loopback, if the operator asks for one', async () => {
    const database = await openHubDatabase(hub.databaseUrl);
    const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: hub.objectsDir }));
    const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1', metricsPort: 0 });
    onTestFinished(() => running.close().then(database.close));
    const scraped = await fetch(`http://127.0.0.1:${running.metricsPort}/metrics`);
    expect([scraped.status, await scraped.text()]).toEqual([200, expect.stringContaining('stemma_hub_database_connections')]);
    expect((await fetch(`http://127.0.0.1:${running.port}/metrics`)).status).toBe(403);
  });

  test('[E47] health tells whether a hub can answer; one without rights does not start', async () => {
    const health = async (): Promise<number> => (await fetch(`${hub.address}/health`)).status;
    // The health check of the compose file.
    const file = parse(readFileSync(join(import.meta.dirname, '../../../docs/hub/compose.yaml'), 'utf8')) as {
      services: { hub: { healthcheck: { test: string[] } } };
    };
    const [, , ...check] = file.services.hub.healthcheck.test.map((word) => word.replace('http://127.0.0.1:8080', hub.address));
    const runsCheck = () => new Promise<boolean>((resolve) => execFile(process.execPath, check, (error) => resolve(error === null)));
    expect([await health(), await runsCheck()]).toEqual([200, true]);
    await hub.query('REVOKE SELECT ON item FROM stemma_project');
    expect([await health(), await runsCheck()]).toEqual([503, false]);
    await expect(openHubDatabase(hub.databaseUrl)).rejects.toThrow(/^The hub's database cannot be used: permission denied for table item\. Check/);
    await hub.query('GRANT SELECT ON item TO stemma_project');
    expect(await health()).toBe(200);
  });

  test('[E48] the log holds paths, results and codes of faults, no secrets or content', async () => {
    const database = await openHubDatabase(hub.databaseUrl);
    const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: hub.objectsDir }));
    const lines: string[] = [];
    const log = (entry: unknown): void => void lines.push(JSON.stringify(entry));
    const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1', onRequest: log, onProblem: log });
    onTestFinished(() => running.close().then(database.close));
    const place = { hub: `http://127.0.0.1:${running.port}`, token: hub.admin };
    await hubClient(place).projects.create({ project: 'logged-project' });
    const mine = chainWith('private words');
    await push(mine, hubAt({ ...place, project: 'logged-project' }));
    await hubClient(place).members.add({ project: 'logged-project', name: 'Sarah', role: 'reader' });
    const commit = digestsOf(mine)[0] ?? '';
    const { token } = await hubClient(place).members.share({ project: 'logged-project', commit, name: 'a link', role: 'reader' });
    expect((await fetch(`${place.hub}/share/logged-project/${token}?q=private`)).status).toBe(200);
    await hub.query('REVOKE SELECT ON item FROM stemma_project');
    await expect(hubClient(place).sync.hello({ project: 'logged-project' })).rejects.toThrow('Internal server error');
    await hub.query('GRANT SELECT ON item TO stemma_project');
    await vi.waitFor(() => expect(lines.join()).toContain('"status":500'));
    const text = lines.join('\n');
    expect(text).toContain('"sync.hello failed: 42501"');
    expect(text).toContain('"path":"/share/logged-project/…"');
    for (const secret of [token, hub.admin, 'private', 'Sarah', commit]) expect(text).not.toContain(secret);
  });

  test.skipIf(!debian)('[E16] the documented backup and restore give the same digests (needs PostgreSQL of Debian)', { tags: 'long' }, async () => {
    const server = await startDebian();
    const dir = scratch();
    const env = {
      ...process.env,
      STEMMA_DATABASE: server.url('first'),
      STEMMA_OBJECTS: join(dir, 'bucket'),
      NEW_SERVER: server.url('postgres'),
      NEW_DATABASE: server.url('stemma'),
    };
    const serve = async (url: string, objectsDir: string) => {
      const database = await openHubDatabase(url);
      const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: objectsDir }));
      const first = await firstToken(database);
      const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1' });
      return { hub: `http://127.0.0.1:${running.port}`, first, close: () => running.close().then(database.close) };
    };
    mkdirSync(env.STEMMA_OBJECTS);
    const before = await serve(env.STEMMA_DATABASE, env.STEMMA_OBJECTS);
    const token = before.first ?? '';
    await hubClient({ hub: before.hub, token }).projects.create({ project: 'backup' });
    const mine = emptyChain();
    commitText(mine, 'one');
    commitText(mine, 'two');
    await push(mine, hubAt({ hub: before.hub, project: 'backup', token }));
    await before.close();
    // The commands of the documentation as they stand there, but for the last one, which starts the hub.
    const docs = readFileSync(join(import.meta.dirname, '../../../docs/hub.md'), 'utf8').split('### Back up and restore')[1] ?? '';
    const commands = [...docs.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.trim().split('\n'));
    expect(commands.pop()).toBe('stemma hub --port 8080 --database "$NEW_DATABASE" --objects objects');
    expect(commands).toHaveLength(4);
    const run = (command: string): unknown => execFileSync('sh', ['-c', command], { cwd: dir, env, stdio: ['ignore', 'ignore', 'pipe'] });
    commands.slice(0, 2).forEach(run);
    // As on a new server, neither the database nor its role exists.
    server.forget();
    commands.slice(2).forEach(run);
    const after = await serve(env.NEW_DATABASE, join(dir, 'objects'));
    expect(after.first).toBeUndefined();
    const theirs = emptyChain();
    await pull(theirs, hubAt({ hub: after.hub, project: 'backup', token }));
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
    await push(chainWith('after the restore'), hubAt({ hub: after.hub, project: 'backup', token }));
    await after.close();
  });
});

/** Calls the newest listener only: the embedded PostgreSQL has one that ends the process. */
const hangUp = (): void => process.listeners('SIGHUP').at(-1)?.('SIGHUP');

/** Makes a certificate that signs itself, as NAME.pem and NAME.key. */
function certify(dir: string, name: string): void {
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', `/CN=${name}`];
  execFileSync('openssl', [...words, '-keyout', join(dir, `${name}.key`), '-out', join(dir, `${name}.pem`)], { stdio: 'ignore' });
}

const nameOfCertificate = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: '/health', rejectUnauthorized: false, agent: false }, (response) => {
      const { subject } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate();
      response.resume().on('end', () => resolve(String(subject.CN)));
    });
    request.on('error', reject);
  });
