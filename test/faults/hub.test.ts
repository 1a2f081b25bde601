import { type ChildProcess, spawn } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { blake3OfParts, refOfHash } from '../../src/core/artifacts/index.js';
import { addCard } from '../../src/core/cards/index.js';
import { type Chain, checkpoint, tips } from '../../src/core/chain/index.js';
import { type Hub, pull, push } from '../../src/core/sync/index.js';
import { createTicket, listTickets } from '../../src/core/tickets/index.js';
import { firstToken, openHubDatabase, startEmbedded } from '../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../src/main/team/index.js';
import { commitText, digestsOf } from '../support/hub.js';
import { root } from '../support/machine.js';
import { emptyChain, scratch } from '../support/project.js';

const isShort = process.env.STEMMA_FAULTS === 'short';
const cli = join(root, 'out/cli/stemma.js');

interface HubProcess {
  readonly address: string;
  readonly process: ChildProcess;
  /** Answered requests, from the hub's own log. */
  readonly requests: { readonly path: string; readonly status: number; readonly ms: number }[];
}

/** Starts `stemma hub` as a process of its own. */
async function hubProcess(database: string, objects: string, port = 0): Promise<HubProcess> {
  const child = spawn(process.execPath, [cli, 'hub', '--port', String(port), '--database', database, '--objects', objects], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const requests: HubProcess['requests'] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('{')) requests.push(JSON.parse(line));
  });
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('The hub answers at ')) return { address: line.slice('The hub answers at '.length), process: child, requests };
  throw new Error('The hub ended before it answered.');
}

/** PostgreSQL, a folder of objects, and a project. */
async function team(project: string) {
  const dir = scratch();
  const postgres = await startEmbedded(dir);
  const objects = join(dir, 'objects');
  mkdirSync(objects);
  const database = await openHubDatabase(postgres.url);
  const token = (await firstToken(database)) ?? '';
  await database.close();
  onTestFinished(() => postgres.stop());
  const start = (port?: number) => hubProcess(postgres.url, objects, port);
  const create = (hub: HubProcess) => hubClient({ hub: hub.address, token }).projects.create({ project });
  const at = (hub: HubProcess): Hub => hubAt({ hub: hub.address, project, token });
  const items = async (hub: HubProcess) => (await hubClient({ hub: hub.address, token }).projects.list({}))[0]?.items;
  return { start, create, at, items };
}

const share = (sorted: readonly number[], part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

describe.skipIf(!existsSync(cli))('hub processes', () => {
  test('[E15] clients of two hub processes lose and double nothing', async () => {
    const [seconds, clients, pauseMs] = isShort ? [5, 8, 200] : [Number(process.env.STEMMA_SOAK_SECONDS ?? 600), 50, 8_000];
    const { start, create, at, items } = await team('soak');
    const hubs = [await start(), await start()] as const;
    await create(hubs[0]);
    const end = Date.now() + seconds * 1_000;
    const made = new Set<string>();
    const times: number[] = [];
    await Promise.all(
      Array.from({ length: clients }, async (_, who) => {
        const chain = emptyChain();
        await sleep((who * pauseMs) / clients);
        for (let round = 0; Date.now() < end; round++) {
          commitText(chain, `${who} ${round} ${'what an agent wrote '.repeat(50)}`, tips(chain, {})[0]?.id ?? null);
          // A race that both sides win: every client makes the same commit.
          commitText(chain, `all ${round}`);
          const began = performance.now();
          await push(chain, at(hubs[(who + round) % 2] as HubProcess));
          times.push(performance.now() - began);
          await sleep(pauseMs);
        }
        for (const digest of digestsOf(chain)) made.add(digest);
      }),
    );
    const all = emptyChain();
    expect((await pull(all, at(hubs[1]))).refused).toEqual([]);
    expect(digestsOf(all)).toEqual([...made].sort());
    expect(await items(hubs[0])).toBe(made.size);
    const refused = hubs.flatMap(({ requests }) => requests.filter(({ status }) => status !== 200));
    expect(refused).toEqual([]);
    times.sort((a, b) => a - b);
    const [half, most, nearly] = [0.5, 0.95, 0.99].map((part) => Math.round(share(times, part)));
    console.log(
      `${clients} clients, 2 hubs, ${seconds} s: ${times.length} pushes, ${made.size} commits; a push took ${half} ms (median), ${most} ms (95 %), ${nearly} ms (99 %), ${Math.round(times.at(-1) ?? 0)} ms (slowest)`,
    );
  });

  test.runIf(process.env.STEMMA_LARGE_OBJECT)('[E41] an object of 600 MB travels, with a part of it in memory', { timeout: 500_000 }, async () => {
    const { start, create, at } = await team('large');
    const hub = await start();
    await create(hub);
    const [mine, theirs] = [emptyChain(), emptyChain()];
    const [count, partBytes] = [150, 4_000_000];
    // Bytes that do not compress, the same each time.
    const part = (n: number): Buffer => createCipheriv('aes-128-ctr', Buffer.alloc(16, n), Buffer.alloc(16)).update(Buffer.alloc(partBytes));
    const parts = function* () {
      for (let n = 0; n < count; n++) yield part(n);
    };
    const ref = refOfHash(blake3OfParts(parts()));
    mine.artifacts.putInParts(ref, parts(), { contentType: 'text/plain' });
    commitRef(mine, ref);
    const before = process.memoryUsage.rss();
    const memoryOf = async (work: () => Promise<unknown>): Promise<number> => {
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage.rss());
      }, 20);
      await work().finally(() => clearInterval(watch));
      return Math.round((most - before) / 1_000_000);
    };
    const pushed = await memoryOf(() => push(mine, at(hub)));
    const pulled = await memoryOf(() => pull(theirs, at(hub)));
    const no = theirs.artifacts.find(ref);
    expect(theirs.artifacts.stat(no).size).toBe(count * partBytes);
    expect(refOfHash(blake3OfParts(theirs.artifacts.readParts(no)))).toBe(ref);
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
    console.log(`an object of ${(count * partBytes) / 1_000_000} MB: memory grew by ${pushed} MB in a push, ${pulled} MB in a pull`);
    expect(Math.max(pushed, pulled)).toBeLessThan(400);
  });

  test('[E6] three clones and hubs that are killed at any moment end up equal', async () => {
    const seed = Number(process.env.STEMMA_SEED ?? (process.env.STEMMA_FAULTS === 'short' ? 20260101 : Date.now() % 1_000_000));
    const next = chance(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
    const { start, create, at } = await team('killed');
    const hubs = [await start(), await start()];
    await create(hubs[0] as HubProcess);
    const clones = [emptyChain(), emptyChain(), emptyChain()];
    const made = new Set<string>();
    const steps = isShort ? 40 : 600;
    let kills = 0;
    for (let step = 0; step < steps; step++) {
      const chain = pick(clones);
      const what = pick(['commit', 'commit', 'card', 'ticket', 'push', 'push', 'pull', 'kill'] as const);
      if (what === 'commit') commitText(chain, `${step} ${pick(['a', 'b'])}`, tips(chain, {})[0]?.id ?? null);
      if (what === 'card') addCard(chain, cardOf(`card-${Math.floor(next() * 9)}-${clones.indexOf(chain)}`, `${step}`));
      if (what === 'ticket') createTicket(chain, { title: `ticket ${step}`, type: 'task', body: '' });
      if (what === 'push' || what === 'pull') await (what === 'push' ? push : pull)(chain, at(pick(hubs))).catch(() => {});
      if (what === 'kill') {
        const place = Math.floor(next() * hubs.length);
        const work = clones.map((each) => push(each, at(hubs[place] as HubProcess)).catch(() => {}));
        await sleep(next() * 60);
        hubs[place]?.process.kill('SIGKILL');
        await Promise.all(work);
        hubs[place] = await start();
        kills++;
      }
      for (const each of clones) for (const digest of digestsOf(each)) made.add(digest);
    }
    const hub = at(hubs[0] as HubProcess);
    for (let round = 0; round < 2; round++) for (const chain of clones) await push(chain, hub).then(() => pull(chain, hub));
    for (const chain of clones) await pull(chain, hub);
    const stateOf = (chain: Chain) => [
      digestsOf(chain),
      cardsOf(chain),
      listTickets(chain, { limit: 1_000, offset: 0 })
        .map(({ title }) => title)
        .sort(),
    ];
    const [first, ...others] = clones.map(stateOf);
    for (const other of others) expect(other, `seed ${seed}`).toEqual(first);
    expect(first?.[0], `seed ${seed}`).toEqual([...made].sort());
    const fresh = emptyChain();
    expect((await pull(fresh, hub)).refused).toEqual([]);
    expect(stateOf(fresh), `seed ${seed}`).toEqual(first);
    console.log(`seed ${seed}: ${steps} steps, ${kills} killed hubs, ${made.size} commits`);
  });
});

const commitRef = (chain: Chain, artifactRef: string) =>
  checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'raw-text',
    template: 'test',
    checkpoint: 'turn_boundary',
    artifactRef,
    messageCount: 1,
    tokenCount: 1,
  });

const cardsOf = ({ db }: Chain): unknown[] => db.all('SELECT cardId, content FROM card ORDER BY cardId');

const cardOf = (cardId: string, text: string) => ({
  cardId,
  content: { kind: 'text', text } as const,
  metadata: { role: 'user', type: 'user.text' } as const,
  authorId: 'me',
});

/** A seeded random generator, so that a failed run can be repeated. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}
