import { connect, createServer, type Socket } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkpoint, materializedBytes } from '../../../src/core/chain/index.js';
import { fetchFromHub, type Hub, heldByHub, keyOf, pull, push, unpackParcel } from '../../../src/core/sync/index.js';
import { hubAt } from '../../../src/main/team/index.js';
import { commitText, digestsOf, startTestHub, type TestHub } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** A line to the hub that counts what goes through, and breaks after some bytes from the client. */
async function lineTo(address: string, breaksAfter = Number.POSITIVE_INFINITY) {
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
    client.on('data', (bytes) => {
      counted.up += bytes.length;
      const over = counted.up - breaksAfter;
      if (over <= 0) return void target.write(bytes);
      // The bytes up to the cut still arrive.
      target.write(bytes.subarray(0, Math.max(0, bytes.length - over)), end);
    });
    target.on('data', (bytes) => {
      counted.down += bytes.length;
      client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { counted, address: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

/** A chain of commits with text that compresses like what agents write. */
function history(commits: number) {
  const chain = emptyChain();
  let [parent, state] = [null as string | null, 7];
  const word = (): string => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state % 5_000).toString(36);
  };
  for (let n = 0; n < commits; n++) {
    const text = Array.from({ length: 1_200 }, word).join(' ');
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
  test('[E42] a push sends at most 1.1 of the compressed bytes that the hub lacks', async () => {
    const mine = history(400);
    const line = await lineTo(hub.address);
    await hub.project('narrow');
    const remote = hubAt({ hub: line.address, project: 'narrow', token: hub.admin });
    await push(mine, remote);
    const { artifacts, db } = mine;
    const objects = db.all<{ no: number }>('SELECT no FROM artifact').map(({ no }) => artifacts.read(no as never));
    const bodies = await hub.query<{ body: Buffer }>(
      "SELECT body FROM item i JOIN project p ON p.no = i.project WHERE p.name = 'narrow' ORDER BY seq",
    );
    const least = zstdCompressSync(Buffer.concat([...objects, ...bodies.map(({ body }) => body)])).length;
    expect(line.counted.up).toBeGreaterThan(least / 2);
    expect(line.counted.up / least).toBeLessThan(1.1);
    const before = line.counted.up;
    await push(mine, remote);
    expect(line.counted.up - before).toBeLessThan(2_000);
  });

  test('[E41] a large object travels in parts, and both sides prove them and the whole', async () => {
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
        arrived.push(...unpackParcel(packed, keyOf).objects.map(({ hash }) => hash));
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

  test('[E6] a push that is cut at any byte goes on where it was', async () => {
    const mine = history(60);
    const whole = await lineTo(hub.address);
    await hub.project('uncut');
    await push(mine, hubAt({ hub: whole.address, project: 'uncut', token: hub.admin }));
    const { up } = whole.counted;
    for (const [n, part] of [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97].entries()) {
      const theirs = history(60);
      const name = `cut-${n}`;
      const remote = await hub.project(name);
      const broken = await lineTo(hub.address, Math.floor(up * part));
      await expect(push(theirs, hubAt({ hub: broken.address, project: name, token: hub.admin })), name).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      await push(theirs, remote);
      const clone = emptyChain();
      expect((await pull(clone, remote)).refused).toEqual([]);
      expect(digestsOf(clone)).toEqual(digestsOf(theirs));
      const [counts] = await hub.query<{ items: string; names: string }>(
        `SELECT count(*) AS items, count(DISTINCT i.name) AS names FROM item i JOIN project p ON p.no = i.project WHERE p.name = '${name}'`,
      );
      expect(counts?.items).toBe(counts?.names);
    }
  });
});
