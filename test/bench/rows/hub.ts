import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRouterClient, type RouterClient } from '@orpc/server';
import { sql } from 'kysely';
import type { ContextId } from '../../../src/core/base/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { push } from '../../../src/core/sync/index.js';
import { loadPrices } from '../../../src/core/usage/prices.js';
import { openHubDatabase } from '../../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../../src/main/team/index.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import type { Part, Row } from '../measure.js';

await loadPrices();

type Client = RouterClient<typeof router>;

const megabyte = 1024 * 1024;
const rounds = 3;
/** First screens of each side: they are short, so that a few would be chance. */
const screens = 9;

/** T31: a first push of imported sessions, files included, over `git push` of the same files to a git daemon. */
async function pushOverGit(folder: string, { quick }: { readonly quick: boolean }): Promise<Row[]> {
  const at = mkdtempSync(join(folder, 'hub-'));
  const [count, size] = quick ? [2, 2 * megabyte] : [6, 7 * megabyte];
  const files = Array.from({ length: count }, (_, n) => join(at, `session-${n}.jsonl`));
  for (const [n, file] of files.entries()) writeFileSync(file, sessionFile(size, 51 + n));
  const engine = openEngine(join(at, 'p'));
  importAll(engine.chain, files);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await pushTime(join(at, `hub-${round}`), engine.chain));
    theirs.push(await gitTime(join(at, `git-${round}`), files));
  }
  engine.close();
  rmSync(at, { recursive: true, force: true });
  const [oursMs, gitMs] = [median(ours), median(theirs)];
  const what = `push of ${(count * size) / megabyte} MB to a hub over git push of the same files`;
  return [{ id: 'T31', what, ratio: oursMs / gitMs, must: 1.5, stretch: 0.8, better: 'less', figures: { oursMs, gitMs } }];
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function pushTime(dir: string, chain: WriteChain): Promise<number> {
  const hub = await startHub(dir);
  const began = performance.now();
  await push(chain, hub.remote);
  const ms = performance.now() - began;
  await hub.close();
  return ms;
}

/** A hub in its own process, as for a team: what it does is not time of the engine. */
async function startHub(dir: string) {
  const child = fork(join(dirname(fileURLToPath(import.meta.url)), 'hub.js'), [dir]);
  const [{ url, address: hub, token }] = (await once(child, 'message')) as [{ url: string; address: string; token: string }];
  await hubClient({ hub, token }).projects.create({ project: 'bench' });
  return {
    place: { hub, project: 'bench', token },
    remote: hubAt({ hub, project: 'bench', token }),
    /** Bytes of the database, after its free space is given back. */
    databaseBytes: async (): Promise<number> => {
      const database = await openHubDatabase(url);
      await sql`VACUUM FULL`.execute(database.all);
      const { rows } = await sql<{
        bytes: string;
      }>`SELECT pg_database_size(current_database()) - (SELECT pg_database_size('template1')) AS bytes`.execute(database.all);
      await database.close();
      return Number(rows[0]?.bytes ?? 0);
    },
    objectBytes: () => bytesBelow(join(dir, 'objects')),
    close: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

const bytesBelow = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0);

/** T32: the first screen of a session on a hub, open without a clone, over the same session in a local project. Nothing is cached. */
async function firstScreens(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [id, megabytes] of [
    ['T32', 2],
    ['T32 large', 18],
  ] as const) {
    const at = mkdtempSync(join(folder, 'screen-'));
    const file = join(at, 'session.jsonl');
    writeFileSync(file, sessionFile(megabytes * megabyte, 61));
    const local = openEngine(join(at, 'local'));
    const tip = importAll(local.chain, [file]).tips.at(-1);
    const hub = await startHub(join(at, 'hub'));
    await push(local.chain, hub.remote, { leaves: ({ kind }) => kind !== 'source' });
    local.close();
    const screen = async (open: (client: Client) => Promise<unknown>): Promise<number> => {
      const engine = createEngine({
        dataDir: mkdtempSync(join(at, 'data-')),
        agentRoots: [],
        sampleDir: '',
        startup: { paths: [], project: null },
        platform: 'linux',
        reachHub: (address) => hubAt(address),
      });
      const client = createRouterClient(router, { context: contextOf(createSession(engine)) });
      await open(client);
      const began = performance.now();
      await client.context.outline({ id: tip as ContextId });
      await client.context.entries({ id: tip as ContextId, offset: 0, limit: 60 });
      const ms = performance.now() - began;
      engine.close();
      return ms;
    };
    const times = { local: [] as number[], hub: [] as number[] };
    for (let round = -1; round < screens; round++) {
      const localMs = await screen((client) => client.project.open({ dir: local.dir }));
      const hubMs = await screen((client) => client.team.open(hub.place));
      if (round >= 0) times.local.push(localMs);
      if (round >= 0) times.hub.push(hubMs);
    }
    await hub.close();
    rmSync(at, { recursive: true, force: true });
    const [localMs, hubMs] = [median(times.local), median(times.hub)];
    const what = `first screen of a session of ${megabytes} MB on a hub over the same locally`;
    rows.push({ id, what, ratio: hubMs / localMs, must: 3, stretch: 1.5, better: 'less', figures: { localMs, hubMs } });
  }
  return rows;
}

/** What one hub process takes in, and what the hub stores over what the project stores. */
async function capacity(folder: string, { quick }: { readonly quick: boolean }): Promise<Row[]> {
  const at = mkdtempSync(join(folder, 'capacity-'));
  const [count, size] = quick ? [4, megabyte / 2] : [60, megabyte];
  const files = Array.from({ length: count }, (_, n) => join(at, `session-${n}.jsonl`));
  for (const [n, file] of files.entries()) writeFileSync(file, sessionFile(size, 71 + n));
  const engine = openEngine(join(at, 'p'));
  importAll(engine.chain, files);
  const { db, artifacts } = engine.chain;
  const commits = db.one<{ n: number }>('SELECT count(*) AS n FROM commits')?.n ?? 0;
  const hub = await startHub(join(at, 'hub'));
  const before = await hub.databaseBytes();
  const began = performance.now();
  const pushed = await push(engine.chain, hub.remote);
  const seconds = (performance.now() - began) / 1_000;
  const databaseBytes = (await hub.databaseBytes()) - before;
  const objectBytes = hub.objectBytes();
  for (const _ of artifacts.repack({ shrink: true }));
  engine.close();
  const localBytes = bytesBelow(engine.dir);
  await hub.close();
  rmSync(at, { recursive: true, force: true });
  const items = Object.values(pushed.items).reduce((sum, each) => sum + each, 0);
  const figures = { items, commits, itemsPerSecond: items / seconds, megabytesPerSecond: pushed.bytes / megabyte / seconds };
  return [
    {
      id: 'hub-ingest',
      what: 'MB/s that one hub process takes in',
      ratio: figures.megabytesPerSecond,
      must: 5,
      stretch: 20,
      better: 'more',
      figures,
    },
    {
      id: 'hub-size',
      what: 'bytes in PostgreSQL and the bucket over bytes of the project, repacked',
      ratio: (databaseBytes + objectBytes) / localBytes,
      must: 2,
      stretch: 1,
      better: 'less',
      figures: { databaseBytes, objectBytes, localBytes, databaseBytesPerItem: databaseBytes / items, sentBytes: pushed.sent },
    },
  ];
}

async function gitTime(dir: string, files: readonly string[]): Promise<number> {
  const git = (cwd: string, ...words: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid', ...words], { cwd, stdio: 'ignore' });
  const [bare, work] = [join(dir, 'bare.git'), join(dir, 'work')];
  for (const each of [bare, work]) mkdirSync(each, { recursive: true });
  git(bare, 'init', '--bare', '.');
  git(work, 'init', '.');
  git(work, '--work-tree', join(dir, '..'), 'add', '-f', ...files);
  git(work, '--work-tree', join(dir, '..'), 'commit', '-m', 'sessions');
  const port = await freePort();
  const daemon = spawn(
    'git',
    ['daemon', '--export-all', '--enable=receive-pack', `--base-path=${dir}`, `--port=${port}`, '--listen=127.0.0.1', '--reuseaddr'],
    {
      stdio: 'ignore',
      detached: true,
    },
  );
  await answering(port);
  const began = performance.now();
  git(work, 'push', `git://127.0.0.1:${port}/bare.git`, 'HEAD:refs/heads/main');
  const ms = performance.now() - began;
  if (daemon.pid !== undefined) process.kill(-daemon.pid);
  return ms;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** Waits until a server answers on a port. */
async function answering(port: number): Promise<void> {
  const { connect } = await import('node:net');
  const isUp = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(Boolean(socket.end())));
      socket.once('error', () => resolve(false));
    });
  while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export const hubParts: readonly Part[] = [
  { rows: ['T31'], run: pushOverGit },
  { rows: ['T32', 'T32 large'], run: firstScreens },
  { rows: ['hub-ingest', 'hub-size'], run: capacity },
];
