import { createCipheriv } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { blake3OfParts, refOfHash } from '../../src/core/artifacts/index.js';
import { checkpoint, tips, type WriteChain } from '../../src/core/chain/index.js';
import { pull, push } from '../../src/core/sync/index.js';
import { commitText, digestsOf } from '../support/hub.js';
import { cli, type HubProcess, team } from '../support/hub-processes.js';
import { kill, machine } from '../support/machine.js';
import { emptyChain } from '../support/project.js';

const isShort = process.env.STEMMA_FAULTS === 'short';

const share = (sorted: readonly number[], part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

describe.skipIf(!existsSync(cli))('hub processes', () => {
  test('[E15] clients of two hub processes lose and double nothing', { tags: 'long' }, async () => {
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

  // The short form kills the hub in a clone and the client in a pull.
  for (const words of ['clone', 'pull'] as const)
    for (const victim of ['hub', 'client'] as const)
      test.skipIf(isShort && (words === 'clone' || victim === 'hub'))(
        `[E6] a ${words} goes on after its ${victim} was killed, without loss`,
        async () => {
          const { start, create, at, token } = await team('killed');
          const hub = await start();
          await create(hub);
          const mine = emptyChain();
          await using user = machine();
          const place = [`${hub.address}/killed`, 'copy.stemma', '--token', token];
          if (words === 'pull') {
            commitText(mine, 'before');
            await push(mine, at(hub));
            expect((await user.ask('clone', ...place)).code).toBe(0);
          }
          // A hub sends at most 16 MB at a time, so that each of these is an answer of its own.
          for (const word of ['first', 'second']) commitText(mine, `${word} `.repeat(1_500_000));
          await push(mine, at(hub));
          const killing = await openLine(hub, 2, () => kill(victim === 'hub' ? hub.process : client.process));
          place[0] = `${killing.address}/killed`;
          const project = ['--project', 'copy.stemma'];
          const client = user.follow(words, ...(words === 'clone' ? place : [...project, '--hub', place[0], '--token', token]));
          const complaints = text(client.process.stderr as NodeJS.ReadableStream);
          await new Promise((resolve) => client.process.once('close', resolve));
          if (victim === 'hub') {
            expect(client.process.exitCode).toBe(1);
            expect(await complaints).toContain(
              `The hub ${killing.address} ended the connection before it answered. Try again: what has arrived stays.`,
            );
            if (words === 'clone') expect(await complaints).toContain('is not complete. Go on with: stemma pull --project');
            await start(Number(new URL(hub.address).port));
          } else expect(client.process.signalCode).toBe('SIGKILL');
          const before = killing.asked();
          const pulled = JSON.parse((await user.ask('pull', ...project, '--json')).out);
          expect(pulled).toMatchObject({ items: { context: 2 }, objects: 1, kept: 0, refused: [] });
          expect(killing.asked() - before).toBe(1);
          expect(JSON.parse((await user.ask('pull', ...project, '--json')).out)).toMatchObject({ items: {}, objects: 0 });
          expect((await user.ask('fsck', ...project)).code).toBe(0);
        },
      );

  test.runIf(process.env.STEMMA_LARGE_OBJECT)('[E41] an object of 600 MB travels, with a part of it in memory', { timeout: 1_500_000 }, async () => {
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
});

/** A line to a hub that calls `end` when objects are asked for the n-th time, instead of passing the question on. */
async function openLine(hub: HubProcess, deadly: number, end: () => Promise<void>) {
  let asked = 0;
  let isEnded = false;
  const port = Number(new URL(hub.address).port);
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    client.on('data', (bytes) => {
      if (bytes.includes('/rpc/sync/objects')) asked += 1;
      if (asked !== deadly || isEnded) return void target.write(bytes);
      isEnded = true;
      void end().then(() => client.destroy());
    });
    target.on('data', (bytes) => client.write(bytes));
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

const commitRef = (chain: WriteChain, artifactRef: string) =>
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
