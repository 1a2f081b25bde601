import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/core/replicas/index.js';
import { pull, push } from '../../../src/core/sync/index.js';
import { openHubDatabase, openHubObjects, serveHub, startEmbedded } from '../../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../../src/main/team/index.js';
import { commitText, digestsOf, startTestHub, type TestHub } from '../../support/hub.js';
import { importInto } from '../../support/imports.js';
import { peer } from '../../support/peers.js';
import { emptyChain, scratch } from '../../support/project.js';

const S3rver = peer('s3rver') as typeof import('s3rver').default;

const fixtures = join(import.meta.dirname, '../../fixtures');
let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** Another hub process on the same database, with its own connections and cache. */
async function second(databaseUrl: string, place: Parameters<typeof openStore>[1], keys?: { accessKeyId: string; secretAccessKey: string }) {
  const database = await openHubDatabase(databaseUrl);
  const objects = openHubObjects(openStore('hub', place, keys && { from: 'keys', keys }));
  const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1' });
  onTestFinished(async () => {
    await running.close();
    await database.close();
  });
  return `http://127.0.0.1:${running.port}`;
}

describe('running a hub', () => {
  test('[E15] many clients push through two hubs at once: nothing is lost or doubled', { tags: 'long' }, async () => {
    await hub.project('soak');
    const addresses = [hub.address, await second(hub.databaseUrl, { kind: 'folder', dir: hub.objectsDir })];
    const clones = Array.from({ length: 12 }, () => emptyChain());
    const made = new Set<string>();
    await Promise.all(
      clones.map(async (chain, who) => {
        for (let round = 0; round < 4; round++) {
          commitText(chain, `${who} ${round}`);
          // Both sides of a race: what every clone makes is one commit.
          commitText(chain, `all ${round}`);
          await push(chain, hubAt({ hub: addresses[(who + round) % 2] as string, project: 'soak', token: hub.admin }));
        }
        for (const digest of digestsOf(chain)) made.add(digest);
      }),
    );
    const all = emptyChain();
    expect((await pull(all, hubAt({ hub: addresses[1] as string, project: 'soak', token: hub.admin }))).refused).toEqual([]);
    expect(digestsOf(all)).toEqual([...made].sort());
    expect(made.size).toBe(12 * 4 + 4);
    expect((await hub.client().sync.hello({ project: 'soak' })).seq).toBe(made.size);
  });

  test('[E15] objects lie in an S3 bucket as well as in a folder', { tags: 'long' }, async () => {
    const server = new S3rver({
      address: '127.0.0.1',
      port: 0,
      silent: true,
      directory: scratch(),
      configureBuckets: [{ name: 'hub', configs: [] }],
    });
    const { port } = await server.run();
    onTestFinished(() => server.close());
    const address = await second(
      hub.databaseUrl,
      { kind: 's3', endpoint: `http://127.0.0.1:${port}`, bucket: 'hub', prefix: 'team/' },
      { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    );
    await hubClient({ hub: address, token: hub.admin }).projects.create({ project: 'bucket' });
    const remote = hubAt({ hub: address, project: 'bucket', token: hub.admin });
    const [mine, theirs] = [emptyChain(), emptyChain()];
    importInto(mine, join(fixtures, 'pi'));
    await push(mine, remote);
    await pull(theirs, remote);
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
  });

  test('[E16] a hub restored from its backup gives the same digests', async () => {
    const mine = emptyChain();
    importInto(mine, join(fixtures, 'codex'));
    await push(mine, await hub.project('backup'));
    const objectsDir = join(scratch(), 'objects');
    mkdirSync(objectsDir);
    // A backup is a copy of the bucket and, after it, of the database: nothing in the bucket is ever overwritten.
    const restored = hub.databaseUrl.replace(/[^/]*$/, 'restored');
    await onServer(`CREATE DATABASE restored TEMPLATE ${hub.databaseUrl.split('/').at(-1)}`);
    cpSync(hub.objectsDir, objectsDir, { recursive: true });
    const address = await second(restored, { kind: 'folder', dir: objectsDir });
    const theirs = emptyChain();
    await pull(theirs, hubAt({ hub: address, project: 'backup', token: hub.admin }));
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
  });

  test('[E16] a hub that was restored from an older backup gets again what it lost', { tags: 'long' }, async () => {
    const mine = emptyChain();
    commitText(mine, 'before the backup');
    const remote = await hub.project('older');
    await push(mine, remote);
    const others = emptyChain();
    await pull(others, remote);
    commitText(mine, 'after the backup');
    await push(mine, remote);
    await pull(others, remote);
    await onServer("DELETE FROM item i USING project p WHERE p.no = i.project AND p.name = 'older' AND i.seq > 1", hub.databaseUrl);
    await push(others, remote);
    const fresh = emptyChain();
    await pull(fresh, remote);
    expect(digestsOf(fresh)).toEqual(digestsOf(mine));
  });

  test('[E16] a restored hub that others have pushed to since gets again what it lost', async () => {
    const mine = emptyChain();
    commitText(mine, 'before the backup');
    await push(mine, await hub.project('since'));
    const restored = hub.databaseUrl.replace(/[^/]*$/, 'since');
    await onServer(`CREATE DATABASE since TEMPLATE ${hub.databaseUrl.split('/').at(-1)}`);
    commitText(mine, 'after the backup');
    await push(mine, await hub.project('since'));
    const remote = hubAt({ hub: await second(restored, { kind: 'folder', dir: hub.objectsDir }), project: 'since', token: hub.admin });
    const others = emptyChain();
    commitText(others, 'after the restore');
    await push(others, remote);
    await push(mine, remote);
    await pull(mine, remote);
    await pull(others, remote);
    expect(digestsOf(mine)).toHaveLength(3);
    expect(digestsOf(others)).toEqual(digestsOf(mine));
  });
});

test('[E25] a built-in database that does not start says why', { tags: 'long' }, async () => {
  const dir = scratch();
  const first = await startEmbedded(dir);
  await first.stop();
  const places = [join(dir, 'postgres'), join('/var/lib/stemma-hub', createHash('sha256').update(dir).digest('hex').slice(0, 16), 'postgres')];
  const database = places.find((place) => existsSync(join(place, 'PG_VERSION'))) ?? '';
  writeFileSync(join(database, 'PG_VERSION'), '9.1\n');
  await expect(startEmbedded(dir)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^The built-in PostgreSQL does not start in .*: .*(?:version|incompatible)/),
  });
});

/** Runs a statement as the owner. A database that is copied must have no other connection, so the others are ended first. */
async function onServer(statement: string, url = hub.superuserUrl.replace(/[^/]*$/, 'postgres')): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    if (url.endsWith('/postgres'))
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'stemma' AND pid <> pg_backend_pid()");
    await client.query(statement);
  } finally {
    await client.end();
  }
}
