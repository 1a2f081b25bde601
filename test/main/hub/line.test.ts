import { connect, createServer, type Socket } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkpoint, materializedBytes } from '../../../src/core/chain/index.js';
import { fetchFromHub, type Hub, heldByHub, itemKey, pull, push, unpackParcel } from '../../../src/core/sync/index.js';
import { hubAt } from '../../../src/main/team/index.js';
import { commitText, digestsOf, startTestHub, type TestHub } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** A line to the hub that counts what goes through, and breaks after some bytes from the client (`up`) or to it (`down`). */
async function lineTo(address: string, { up = Number.POSITIVE_INFINITY, down = Number.POSITIVE_INFINITY } = {}) {
  const counted = { up: 0, down: 0 };
  const sockets = new Set<Socket>();
  const port = Number(new URL(address).port);
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    const end = (): void => {
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
    }
    // The bytes up to the cut still arrive.
    const pass = (to: Socket, bytes: Buffer, over: number): void =>
      void (over <= 0 ? to.write(bytes) : to.write(bytes.subarray(0, Math.max(0, bytes.length - over)), end));
    client.on('data', (bytes) => {
      counted.up += bytes.length;
      pass(target, bytes, counted.up - up);
    });
    target.on('data', (bytes) => {
      counted.down += bytes.length;
      pass(client, bytes, counted.down - down);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { counted, address: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

/** A chain of commits with text that compresses like what agents write. `filling`: bytes more that compress to nothing. */
function history(commits: number, { words = 1_200, filling = 0 } = {}) {
  const chain = emptyChain();
  let [parent, state] = [null as string | null, 7];
  const word = (): string => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state % 5_000).toString(36);
  };
  for (let n = 0; n < commits; n++) {
    const text = Array.from({ length: words }, word).join(' ') + '.'.repeat(filling);
    const counts = { messageCount: 1, tokenCount: 1 };
    parent = checkpoint(chain, {
      parent: parent as never,
      type: 'delta',
      format: 'raw-text',
      template: 'test',
      checkpoint: 'explicit',
      text,
      ...counts,
    }).id;
  }
  return chain;
}

/** What a call throws. */
function readError(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('the line to a hub', () => {
  test('[E42] a push sends at most 1.1 of the compressed bytes that the hub lacks', { tags: 'long' }, async () => {
    const mine = history(400);
    const line = await lineTo(hub.address);
    await hub.project('narrow');
    const remote = hubAt({ hub: line.address, project: 'narrow', token: hub.admin });
    const objects = await objectsOf(mine, remote);
    const least = packed([...objects.values()], await bodiesOf('narrow'));
    expect(line.counted.up).toBeGreaterThan(least / 2);
    expect(line.counted.up / least).toBeLessThan(1.1);
    const before = line.counted.up;
    await push(mine, remote);
    expect(line.counted.up - before).toBeLessThan(2_000);
  });

  test('[E41] a large object travels in parts, and both sides prove them and the whole', { tags: 'long' }, async () => {
    const mine = emptyChain();
    const text = Array.from({ length: 400_000 }, (_, n) => n.toString(36)).join(' ');
    const big = commitText(mine, text);
    commitText(mine, 'small', big.id);
    const remote = await hub.project('parts');
    let cut = 3;
    const breaking: Hub = { ...remote, send: async (parcel) => (cut-- > 0 ? remote.send(parcel) : Promise.reject(new Error('the line broke'))) };
    await expect(push(mine, breaking, { partSize: 300_000 })).rejects.toThrow('the line broke');
    const parcels: number[] = [];
    const counting: Hub = { ...remote, send: (parcel) => remote.send(parcel).finally(() => parcels.push(parcel.length)) };
    await push(mine, counting, { partSize: 300_000 });
    // The hub has three parts already, so only the rest and the items are sent.
    expect(parcels.length).toBe(Math.ceil(text.length / 300_000) - 3 + 1);
    const theirs = emptyChain();
    // A pull that is cut goes on with the part that it lacks.
    const arrived: string[] = [];
    let line = 5;
    const fetching: Hub = {
      ...remote,
      objects: async (hashes) => {
        if (--line === 0) throw new Error('cut');
        const packed = await remote.objects(hashes);
        arrived.push(...unpackParcel(packed, itemKey).objects.map(({ hash }) => hash));
        return packed;
      },
    };
    await expect(pull(theirs, fetching)).rejects.toThrow('cut');
    expect(arrived).toHaveLength(1 + 2);
    expect((await pull(theirs, fetching)).refused).toEqual([]);
    expect(arrived).toHaveLength(1 + Math.ceil(text.length / 300_000));
    expect(new Set(arrived).size).toBe(arrived.length);
    expect(Buffer.from(materializedBytes(theirs, { id: big.id }).bytes).toString()).toBe(text);
    expect(await push(theirs, remote)).toMatchObject({ items: {}, sent: 0 });
    const direct = emptyChain();
    await pull(direct, remote, { onDemand: true });
    const refusal = readError(() => materializedBytes(direct, { id: big.id }));
    await fetchFromHub(direct, remote, heldByHub(direct, refusal) as never);
    expect(Buffer.from(materializedBytes(direct, { id: big.id }).bytes).toString()).toBe(text);
    // Parts that are not the object are refused.
    const [, other] = await hub.query<{ hash: string }>(
      "SELECT encode(hash, 'hex') AS hash FROM object o JOIN project p ON p.no = o.project WHERE p.name = 'parts'",
    );
    const false1 = { hash: 'f'.repeat(64), contentType: 'text/plain', size: 300_000, parts: [other?.hash ?? ''] };
    await expect(remote.join(false1)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(remote.join({ ...false1, parts: ['e'.repeat(64)] })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  // Several parcels, and several answers of the hub: it sends at most 16 MB at a time.
  const [commits, large] = [20, { words: 4_000, filling: 1_000_000 }];
  const cuts = [0.01, 0.6, 0.95];

  test('[E6, E42] a push that is cut at any byte sends only what the hub lacks', { tags: 'long' }, async () => {
    const whole = await lineTo(hub.address);
    await hub.project('uncut');
    const mine = history(commits, large);
    const all = await objectsOf(mine, hubAt({ hub: whole.address, project: 'uncut', token: hub.admin }));
    const lackedAfter: number[] = [];
    for (const [n, part] of cuts.entries()) {
      const name = `cut-push-${n}`;
      const remote = await hub.project(name);
      const broken = await lineTo(hub.address, { up: Math.floor(whole.counted.up * part) });
      await expect(push(mine, hubAt({ hub: broken.address, project: name, token: hub.admin })), name).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      const lacked = new Set((await remote.lack([], [...all.keys()])).objects.map((place) => [...all.keys()][place]));
      const before = (await bodiesOf(name)).length;
      lackedAfter.push(lacked.size);
      const line = await lineTo(hub.address);
      await push(mine, hubAt({ hub: line.address, project: name, token: hub.admin }));
      const least = packed(
        [...all].filter(([hash]) => lacked.has(hash)).map(([, bytes]) => bytes),
        (await bodiesOf(name)).slice(before),
      );
      expect(line.counted.up, name).toBeLessThan(1.1 * least + overhead);
      // The hub holds the same as after a push that nothing cut: nothing is lost, nothing is there twice.
      expect(await bodiesOf(name)).toEqual(await bodiesOf('uncut'));
      expect((await remote.lack([], [...all.keys()])).objects).toEqual([]);
    }
    // A later cut leaves less to send.
    expect(lackedAfter[0]).toBe(commits);
    expect(lackedAfter.at(-1)).toBeLessThan(commits / 2);
  });

  test('[E6, E42] a pull that is cut at any byte fetches only what is missing', { tags: 'long' }, async () => {
    const mine = history(commits, large);
    const all = await objectsOf(mine, await hub.project('cut-pull'));
    const at = (address: string): Hub => hubAt({ hub: address, project: 'cut-pull', token: hub.admin });
    const whole = await lineTo(hub.address);
    await pull(emptyChain(), at(whole.address));
    expect(whole.counted.down).toBeLessThan(1.1 * packed([...all.values()], await bodiesOf('cut-pull')) + overhead);
    const missingAfter: number[] = [];
    for (const part of cuts) {
      const theirs = emptyChain();
      const broken = await lineTo(hub.address, { down: Math.floor(whole.counted.down * part) });
      await expect(pull(theirs, at(broken.address)), `${part}`).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      const held = new Set(heldBy(theirs));
      const missing = [...all].filter(([hash]) => !held.has(hash)).map(([, bytes]) => bytes);
      missingAfter.push(missing.length);
      const line = await lineTo(hub.address);
      expect((await pull(theirs, at(line.address))).refused).toEqual([]);
      expect(line.counted.down, `${part}`).toBeLessThan(1.1 * packed(missing, await bodiesOf('cut-pull')) + overhead);
      expect(digestsOf(theirs)).toEqual(digestsOf(mine));
      expect(heldBy(theirs).sort()).toEqual([...all.keys()].sort());
    }
    expect(missingAfter[0]).toBe(commits);
    expect(missingAfter.at(-1)).toBeLessThan(commits / 2);
  });
});

/** Bytes of headers and questions of an exchange, beside what travels. */
const overhead = 4_000;

/** Bytes of objects and items, compressed. */
const packed = (objects: readonly Uint8Array[], bodies: readonly string[]): number =>
  zstdCompressSync(Buffer.concat([...objects, ...bodies.map((body) => Buffer.from(body))])).length;

const heldBy = ({ db }: ReturnType<typeof emptyChain>): string[] =>
  db.all<{ hash: Buffer }>('SELECT hash FROM artifact').map(({ hash }) => hash.toString('hex'));

/** Pushes a chain. Returns its objects by hash. */
async function objectsOf(chain: ReturnType<typeof emptyChain>, remote: Hub): Promise<ReadonlyMap<string, Uint8Array>> {
  await push(chain, remote);
  const { artifacts, db } = chain;
  const rows = db.all<{ no: number; hash: Buffer }>('SELECT no, hash FROM artifact');
  return new Map(rows.map(({ no, hash }) => [hash.toString('hex'), artifacts.read(no as never)]));
}

/** The items of a project of the hub, in the order in which they arrived. */
const bodiesOf = async (project: string): Promise<string[]> =>
  (await hub.query<{ body: Buffer }>(`SELECT body FROM item i JOIN project p ON p.no = i.project WHERE p.name = '${project}' ORDER BY seq`)).map(
    ({ body }) => body.toString(),
  );
