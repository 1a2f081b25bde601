import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { StemmaError } from '../../src/core/base/index.js';
import type { WriteChain } from '../../src/core/chain/index.js';
import { type Hub, pull, push } from '../../src/core/sync/index.js';
import { firstToken, openHubDatabase, startEmbedded } from '../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../src/main/team/index.js';
import { commitText, digestsOf } from '../support/hub.js';
import { cli } from '../support/hub-processes.js';
import { emptyChain, scratch } from '../support/project.js';
import { type FaultyBucket, startFaultyBucket } from './bucket.js';

const minutes = Number(process.env.STEMMA_SOAK_MINUTES ?? 10);
const clients = 30;
/** The most milliseconds of one call, whatever happens meanwhile: the time limit of a client. */
const answerMs = 125_000;
/** Milliseconds between two faults. */
const betweenFaults = 12_000;
/** Refusals that a client meets while a fault lasts. It tries again. Any other error fails the soak. */
const passing = new Set(['UNAVAILABLE']);

/** A hub process that is started again whenever the soak kills it. */
interface KeptHub {
  readonly address: string;
  /** Unexpected ends, with the last words of the process. */
  readonly ends: string[];
  kill(): Promise<void>;
  stop(): void;
}

async function keepHub(database: string, objects: string): Promise<KeptHub> {
  const ends: string[] = [];
  let [port, isKilled, isStopped] = [0, false, false];
  let child: ChildProcess | undefined;
  const start = async (): Promise<string> => {
    const env = { ...process.env, AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
    const words = ['hub', '--port', String(port), '--database', database, '--objects', objects];
    const started = spawn(process.execPath, [cli, ...words], { stdio: ['ignore', 'pipe', 'pipe'], env });
    child = started;
    let last = '';
    createInterface({ input: started.stderr }).on('line', (line) => {
      if (!line.startsWith('{"at"') || line.includes('problem')) last = line;
    });
    started.once('exit', (code, signal) => {
      if (!isKilled && !isStopped) ends.push(`code ${code}, signal ${signal}: ${last}`);
    });
    for await (const line of createInterface({ input: started.stdout }))
      if (line.startsWith('The hub answers at ')) return line.slice('The hub answers at '.length);
    throw new Error(`The hub did not start: ${last}`);
  };
  const address = await start();
  port = Number(new URL(address).port);
  return {
    address,
    ends,
    kill: async () => {
      isKilled = true;
      child?.kill('SIGKILL');
      await wait(500);
      // While the database is away, a hub does not start.
      for (let left = 20; left > 0 && !isStopped; left--) {
        isKilled = true;
        const isUp = await start().then(
          () => true,
          () => false,
        );
        if (isUp) break;
        await wait(2_000);
      }
      isKilled = false;
    },
    stop: () => {
      isStopped = true;
      child?.kill('SIGKILL');
    },
  };
}

/** What the clients did. */
interface Tally {
  /** Digests whose push was acknowledged. */
  readonly acknowledged: Set<string>;
  readonly times: number[];
  readonly failures: string[];
  retries: number;
}

/** Commits, pushes and now and then pulls until the time is over. Then pushes once more what no push has acknowledged. */
async function work(who: number, chain: WriteChain, hubs: readonly Hub[], tally: Tally, bucket: FaultyBucket, isOver: () => boolean): Promise<void> {
  const call = async (doing: string, action: (hub: Hub) => Promise<unknown>): Promise<boolean> => {
    const started = performance.now();
    try {
      await action(hubs[Math.floor(Math.random() * hubs.length)] as Hub);
      return true;
    } catch (error) {
      const code = error instanceof StemmaError ? error.code : '';
      // What a bucket that lies returns is never handed out: it is CORRUPT.
      if (!passing.has(code) && !(code === 'CORRUPT' && bucket.liedAt >= started)) tally.failures.push(`client ${who}, ${doing}: ${String(error)}`);
      tally.retries += 1;
      return false;
    } finally {
      tally.times.push(performance.now() - started);
    }
  };
  let [round, parent] = [0, null as string | null];
  const pushed = async (): Promise<boolean> => {
    const digests = digestsOf(chain);
    const ok = await call('push', async (hub) => {
      const { refused } = await push(chain, hub);
      if (refused.length > 0) tally.failures.push(`client ${who}: the hub refused ${JSON.stringify(refused[0])}`);
    });
    if (ok) for (const digest of digests) tally.acknowledged.add(digest);
    return ok;
  };
  while (!isOver()) {
    parent = commitText(chain, `${who} ${round} ${'x'.repeat(Math.floor(Math.random() * 20_000))}`, round % 10 === 0 ? null : parent).id;
    await pushed();
    if (round % 7 === who % 7) await call('pull', (hub) => pull(chain, hub));
    round += 1;
    await wait(Math.random() * 500);
  }
  for (let left = 20; left > 0 && !(await pushed()); left--) await wait(3_000);
}

/** Restarts the database, breaks the bucket and kills hubs, one after the other. Returns the number of faults. */
async function breakThings(
  bucket: FaultyBucket,
  hubs: readonly KeptHub[],
  databaseDir: string,
  isOver: () => boolean,
): Promise<Record<string, number>> {
  const done: Record<string, number> = {};
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'database killed': async () => process.kill(Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL') as never,
    'database restarted': async () =>
      process.kill(Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGINT') as never,
    'bucket hangs': async () => {
      bucket.fault = 'hangs';
    },
    'bucket lies': async () => {
      bucket.fault = 'lies';
    },
    'bucket fails': async () => {
      bucket.fault = 'fails';
    },
    'hub killed': async () => void (await hubs[Math.floor(Math.random() * hubs.length)]?.kill()),
  };
  for (let n = 0; !isOver(); n++) {
    const [name, start] = Object.entries(faults)[n % Object.keys(faults).length] as [string, () => Promise<void>];
    if (!name.startsWith('database') || existsSync(join(databaseDir, 'postmaster.pid'))) {
      await start().catch(() => {});
      done[name] = (done[name] ?? 0) + 1;
    }
    await wait(betweenFaults / 2);
    bucket.fault = 'none';
    await wait(betweenFaults / 2);
  }
  return done;
}

test(`the hub loses nothing in ${minutes} minutes of faults with ${clients} clients`, async () => {
  if (!existsSync(cli)) throw new Error('Run `npm run build` first: the soak kills built hubs.');
  const dir = scratch();
  const problems: string[] = [];
  const postgres = await startEmbedded(dir, (problem) => void problems.push(problem));
  onTestFinished(() => postgres.stop());
  const database = await openHubDatabase(postgres.url);
  const admin = (await firstToken(database)) ?? '';
  await database.close();
  const bucket = await startFaultyBucket(join(dir, 'bucket'));
  onTestFinished(() => bucket.close());
  const objects = `s3://hub/soak?endpoint=${encodeURIComponent(`http://127.0.0.1:${bucket.port}`)}`;
  const hubs = await Promise.all([keepHub(postgres.url, objects), keepHub(postgres.url, objects)]);
  onTestFinished(() => {
    for (const hub of hubs) hub.stop();
  });
  await hubClient({ hub: hubs[0]?.address ?? '', token: admin }).projects.create({ project: 'soak' });
  const tokens: string[] = [];
  for (let who = 0; who < clients; who++)
    tokens.push(
      (await hubClient({ hub: hubs[0]?.address ?? '', token: admin }).members.add({ project: 'soak', name: `client ${who}`, role: 'writer' })).token,
    );
  const at = (token: string): Hub[] => hubs.map(({ address }) => hubAt({ hub: address, project: 'soak', token }));

  const end = Date.now() + minutes * 60_000;
  const isOver = (): boolean => Date.now() >= end;
  const tally: Tally = { acknowledged: new Set(), times: [], failures: [], retries: 0 };
  const faults = breakThings(bucket, hubs, join(dir, 'postgres'), isOver);
  await Promise.all(tokens.map((token, who) => work(who, emptyChain(), at(token), tally, bucket, isOver)));
  const done = await faults;

  const theirs = emptyChain();
  const { refused } = await pull(theirs, at(admin)[0] as Hub);
  const held = new Set(digestsOf(theirs));
  const lost = [...tally.acknowledged].filter((digest) => !held.has(digest));
  // Every content is there, and has its hash.
  const { n: gone = -1 } = theirs.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM artifact WHERE gone IS NOT NULL') ?? {};
  const times = tally.times.sort((a, b) => a - b);
  const atPart = (part: number): number => Math.round(times[Math.floor((times.length - 1) * part)] ?? 0);
  console.log(
    JSON.stringify({
      minutes,
      clients,
      calls: times.length,
      retries: tally.retries,
      acknowledged: tally.acknowledged.size,
      held: held.size,
      lost: lost.length,
      faults: done,
      ms: { median: atPart(0.5), p99: atPart(0.99), longest: atPart(1) },
      ends: hubs.flatMap(({ ends }) => ends),
      problems,
    }),
  );
  expect(tally.failures.slice(0, 5)).toEqual([]);
  expect([lost.length, gone, refused]).toEqual([0, 0, []]);
  expect(hubs.flatMap(({ ends }) => ends)).toEqual([]);
  expect(problems).toEqual([]);
  expect(tally.acknowledged.size).toBeGreaterThan(clients);
  // A push is several calls, and each has its own limit.
  expect(atPart(1)).toBeLessThan(3 * answerMs);
});
