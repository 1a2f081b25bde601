import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BackingStore, openStore } from '../../src/core/replicas/index.js';
import { pull, push } from '../../src/core/sync/index.js';
import { openHubDatabase, openHubObjects, serveHub } from '../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../src/main/team/index.js';
import { chainWith, commitText, digestsOf, startTestHub, type TestHub } from '../support/hub.js';
import { emptyChain } from '../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** Another hub process with a store of its own. */
async function over(store: BackingStore, limits: Parameters<typeof openHubObjects>[1] = {}) {
  const database = await openHubDatabase(hub.databaseUrl, { connections: 4 });
  const running = await serveHub({ database, objects: openHubObjects(store, limits), port: 0, host: '127.0.0.1' });
  onTestFinished(() => running.close().then(database.close));
  return `http://127.0.0.1:${running.port}`;
}

const folder = () => openStore('hub', { kind: 'folder', dir: hub.objectsDir });
const hashesOf = (chain: ReturnType<typeof emptyChain>): string[] =>
  chain.db.all<{ hash: Buffer }>('SELECT hash FROM artifact').map(({ hash }) => hash.toString('hex'));

/** An S3 server that answers as the listener does. */
async function bucketWith(listener: RequestListener): Promise<BackingStore> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return openStore(
    'hub',
    { kind: 's3', endpoint: `http://127.0.0.1:${port}`, bucket: 'hub' },
    { from: 'keys', keys: { accessKeyId: 'a', secretAccessKey: 'b' } },
  );
}

describe('the bucket of a hub', () => {
  test('[E67] a bucket that hangs ends its calls in time and stops no other call', { tags: 'long', timeout: 60_000 }, async () => {
    const mine = chainWith('in a bucket that hangs');
    await push(mine, await hub.project('hanging'));
    const never = new Promise<never>(() => {});
    const store: BackingStore = { ...folder(), get: () => never, put: () => never };
    const address = await over(store, { answerMs: 8_000, running: 4 });
    const { sync } = hubClient({ hub: address, token: hub.admin });
    const ask = { project: 'hanging', hashes: hashesOf(mine) };
    const contents = ask.hashes.map((hash): [string, string] => [hash, 'raw-text']);
    let settled = 0;
    const hanging = [
      ...Array.from({ length: 12 }, () => sync.objects(ask)),
      ...Array.from({ length: 6 }, () => sync.outlines({ project: 'hanging', contents })),
      push(chainWith('more'), hubAt({ hub: address, project: 'hanging', token: hub.admin })),
    ].map((call) =>
      call
        .then(() => 'ok')
        .catch(({ code }: { code: string }) => code)
        .finally(() => {
          settled += 1;
        }),
    );
    // The database has four connections, and none of them waits for the bucket.
    const { token } = await hub.client().members.add({ project: 'hanging', name: 'other', role: 'reader' });
    const other = hubClient({ hub: address, token }).sync;
    for (let i = 0; i < 10; i++) expect((await other.hello({ project: 'hanging' })).seq).toBe(1);
    expect((await other.items({ project: 'hanging', after: 0 })).seq).toBe(1);
    expect(settled).toBe(0);
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['UNAVAILABLE']));
  });

  test('[E68] a bucket that answers 200 without storing anything makes a push fail', { tags: 'long' }, async () => {
    const page = '<html>Welcome to the wireless network</html>';
    const lying: [string, RequestListener][] = [
      [
        'a page for everything',
        (request, response) => void request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/html' }).end(page)),
      ],
      [
        'a wrong ETag',
        (request, response) =>
          void request
            .resume()
            .on('end', () => response.writeHead(200, { etag: '"00000000000000000000000000000000"' }).end(request.method === 'GET' ? page : '')),
      ],
      [
        'nothing there',
        (request, response) =>
          void request
            .resume()
            .on('end', () =>
              request.method === 'GET' ? response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>') : response.writeHead(200).end(),
            ),
      ],
    ];
    for (const [name, listener] of lying) {
      const address = await over(await bucketWith(listener));
      const project = name.replaceAll(' ', '-').toLowerCase();
      await hub.project(project);
      const mine = chainWith(`lost in ${name}`);
      await expect(push(mine, hubAt({ hub: address, project, token: hub.admin })), name).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      const { seq } = await hub.client().sync.hello({ project });
      expect((await hub.client().sync.lack({ project, items: [], objects: hashesOf(mine) })).objects, name).toEqual([0]);
      expect(seq, name).toBe(0);
      // The next push, to a bucket that stores, sends everything again.
      await push(mine, await hub.project(project));
      const theirs = emptyChain();
      await pull(theirs, await hub.project(project));
      expect(digestsOf(theirs)).toEqual(digestsOf(mine));
    }
  });

  test('[E68] a bucket whose ETag is no digest is read back, and then believed', async () => {
    const files = new Map<string, Buffer>();
    const reads: string[] = [];
    const store = await bucketWith((request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method === 'PUT') {
          files.set(path, Buffer.concat(chunks));
          return void response.writeHead(200, { etag: '"kms-encrypted"' }).end();
        }
        reads.push(path);
        response.writeHead(200).end(files.get(path));
      });
    });
    const bytes = Buffer.from('content');
    const name = createHash('sha256').update(bytes).digest('hex');
    await store.put(name, bytes);
    expect(reads).toHaveLength(1);
    expect(Buffer.from((await store.get(name)) ?? [])).toEqual(bytes);
  });

  // The ETags of S3 are no digest for parts and for keys of the server; a proxy makes weak ones, and a cache answers with what it had.
  const digestOf = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
  const lies: [string, (bytes: Buffer) => string, (bytes: Buffer) => Buffer][] = [
    ['an ETag of parts, and half of the bytes', (bytes) => `"${digestOf(bytes)}-2"`, (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['a weak ETag, and an older version', (bytes) => `W/"${digestOf(bytes)}"`, (bytes) => Buffer.from(bytes).reverse()],
    ['the ETag of no bytes, and none', () => '"d41d8cd98f00b204e9800998ecf8427e"', () => Buffer.alloc(0)],
    ['the digest of other bytes, and one byte more', () => `"${digestOf(Buffer.from('x'))}"`, (bytes) => Buffer.concat([bytes, Buffer.from('x')])],
    ['an ETag of another case, and one flipped bit', () => '"ABC"', (bytes) => Buffer.from(bytes.map((byte, at) => (at === 3 ? byte ^ 1 : byte)))],
  ];
  test.each(lies)('[E68] a bucket with %s is not believed', async (_, etag, stored) => {
    const files = new Map<string, Buffer>();
    const store = await bucketWith((request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method !== 'PUT') return void response.writeHead(200).end(files.get(path));
        files.set(path, stored(Buffer.concat(chunks)));
        response.writeHead(200, { etag: etag(Buffer.concat(chunks)) }).end();
      });
    });
    await expect(store.put('ab'.repeat(32), Buffer.from('acknowledged'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('[E68] a bucket that answers without end is read no further than what was sent', async () => {
    let written = 0;
    const store = await bucketWith((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200);
        if (request.method === 'PUT') return void response.end();
        const part = Buffer.alloc(1024 * 1024);
        const more = (): void => {
          while (!response.destroyed && written < 512 * part.length) {
            written += part.length;
            if (!response.write(part)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      });
    });
    await expect(store.put('ab'.repeat(32), Buffer.from('acknowledged'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // What waits in the buffers of the connection was sent as well.
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  test('[E13] [E68] a file that the bucket cuts, empties or mixes up is CORRUPT and reaches nobody', { tags: 'long', timeout: 60_000 }, async () => {
    const mine = chainWith('stored as it is');
    await push(mine, await hub.project('altered'));
    const ask = { project: 'altered', hashes: hashesOf(mine) };
    const other = Buffer.from('the bytes of another file');
    const reads: ((bytes: Uint8Array) => Uint8Array | undefined)[] = [
      (bytes) => bytes.subarray(0, bytes.length - 1),
      () => new Uint8Array(),
      () => other,
      (bytes) => Buffer.concat([bytes, other]),
      () => undefined,
    ];
    for (const [at, altered] of reads.entries()) {
      const inner = folder();
      const address = await over({
        ...inner,
        get: async (hash) => {
          const bytes = await inner.get(hash);
          return bytes && altered(bytes);
        },
      });
      const { sync } = hubClient({ hub: address, token: hub.admin });
      await expect(sync.objects(ask), String(at)).rejects.toMatchObject({ code: 'CORRUPT' });
      const theirs = emptyChain();
      await pull(theirs, hubAt({ hub: address, project: 'altered', token: hub.admin })).catch(() => {});
      expect(hashesOf(theirs), String(at)).toEqual([]);
    }
  });

  test('[E67] an object named twice in a parcel, or a part named often, costs no more than once', async () => {
    const mine = chainWith('x'.repeat(100_000));
    await push(mine, await hub.project('often'));
    const [hash = ''] = hashesOf(mine);
    const { sync } = hub.client();
    const many = { project: 'often', hash: 'f'.repeat(64), contentType: 'text/plain', size: 5, parts: Array.from({ length: 1_000 }, () => hash) };
    const started = performance.now();
    await expect(sync.join(many)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(sync.join({ ...many, size: 2 ** 40 })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(performance.now() - started).toBeLessThan(2_000);
    // A content in a format that does not exist is neither parsed nor stored.
    await expect(sync.outlines({ project: 'often', contents: [[hash, 'no-such-format']] })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    commitText(mine, 'y');
  });
});
