import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createEngine, createSession, type Engine, type Vault } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { peer } from '../../support/peers.js';
import { type HeldClock, heldClock, scratch } from '../../support/project.js';

const S3rver = peer('s3rver') as typeof import('s3rver').default;

const text = (seed: number): string => `${'words that repeat '.repeat(50)}${seed}\n`;

interface Desk {
  readonly call: ReturnType<typeof client>;
  readonly engine: Engine;
  readonly clock: HeldClock;
  readonly dir: string;
}
const client = (engine: Engine) => createRouterClient(router, { context: contextOf(createSession(engine)) });

async function desk(vault?: Vault): Promise<Desk> {
  const home = scratch();
  const clock = heldClock();
  const engine = createEngine({
    dataDir: join(home, 'data'),
    agentRoots: [],
    sampleDir: home,
    startup: { paths: [], project: null },
    platform: 'linux',
    clock,
    vault,
  });
  onTestFinished(() => engine.close());
  const call = client(engine);
  const { dir } = await call.project.create({ dir: join(home, 'p') });
  return { call, engine, clock, dir };
}

interface Bucket {
  readonly place: { kind: 's3'; endpoint: string; bucket: string };
  readonly credentials: { accessKeyId: string; secretAccessKey: string };
  /** Where the server keeps its data. */
  readonly directory: string;
  stop(): Promise<void>;
}

/** A server that speaks S3, on this machine. */
async function bucketServer(): Promise<Bucket> {
  const directory = scratch();
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: 'stemma', configs: [] }] });
  const { port } = await server.run();
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await server.close();
    isStopped = true;
  };
  onTestFinished(stop);
  return {
    place: { kind: 's3', endpoint: `http://127.0.0.1:${port}`, bucket: 'stemma' },
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    directory,
    stop,
  };
}

const files = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : []));

test.runIf(process.platform === 'linux')('a folder that no folder can be made in is refused at once', async () => {
  const { call } = await desk();
  const nowhere = { takes: 'all', place: { kind: 'folder', dir: '/proc/nowhere/at/all' } } as const;
  await expect(call.replica.set({ name: 'nowhere', ...nowhere })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'place' } });
  await expect(call.project.create({ dir: '/proc/nowhere' })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'dir' } });
});

test('[S11] a folder in a shorter form is kept as the same folder for every process', async () => {
  const { call } = await desk();
  const home = scratch();
  vi.stubEnv('HOME', home);
  vi.stubEnv('USERPROFILE', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  await call.replica.set({ name: 'far', place: { kind: 'folder', dir: relative(process.cwd(), join(home, 'one')) } });
  await call.replica.set({ name: 'other', place: { kind: 'folder', dir: '~/other' } });
  const places = (await call.replica.list({})).map(({ place }) => place);
  expect(places).toEqual([join(home, 'one'), join(home, 'other')].map((dir) => ({ kind: 'folder', dir })));
  expect(readdirSync(home)).toEqual(['one', 'other']);
});

describe.each(['folder', 's3'] as const)('a backing store: %s', (kind) => {
  async function backed(takes: 'replicate' | 'all'): Promise<Desk & { place: string; stop: () => Promise<void> }> {
    const made = await desk();
    if (kind === 'folder') {
      const place = join(scratch(), 'copies');
      mkdirSync(place);
      await made.call.replica.set({ name: 'far', place: { kind, dir: place }, takes });
      return { ...made, place, stop: async () => rmSync(place, { recursive: true }) };
    }
    const server = await bucketServer();
    await made.call.replica.set({ name: 'far', place: server.place, takes, credentials: server.credentials });
    return { ...made, place: server.directory, stop: server.stop };
  }

  test('[S11] stores the chosen objects, evicts only those, and returns them when they are read', async () => {
    const { call, clock } = await backed('replicate');
    const kept = await call.artifact.put({ text: text(1), contentType: 'text/plain', policy: 'replicate' });
    const own = await call.artifact.put({ text: text(2), contentType: 'text/plain', labels: ['mine'] });
    expect(await call.replica.replicate({})).toEqual({ copied: 1, bytes: Buffer.byteLength(text(1)), problems: [] });
    expect(await call.replica.list({})).toMatchObject([{ name: 'far', held: 1, waiting: 0 }]);
    await call.artifact.setPolicy({ ref: kept.ref, policy: 'default' });
    clock.at += 1_000;
    const collected = await call.artifact.gc({ budgetBytes: 0 });
    expect(collected.removed).toBe(0);
    expect(await call.artifact.stat({ ref: kept.ref })).toMatchObject({ gone: 'evicted', storedBytes: 0 });
    expect((await call.artifact.stat({ ref: own.ref })).gone).toBeUndefined();
    const read = await call.artifact.get({ ref: kept.ref });
    expect(Buffer.from(read.data, 'base64').toString()).toBe(text(1));
    expect((await call.artifact.stat({ ref: kept.ref })).gone).toBeUndefined();
  });

  test('[S11] whole chains come back, and commits stay here all the time', { tags: 'long' }, async () => {
    const { call } = await backed('all');
    let parent: string | null = null;
    for (let turn = 0; turn < 40; turn++) {
      const line = `{"type":"user","uuid":"u${turn}","parentUuid":${turn ? `"u${turn - 1}"` : null},"message":{"role":"user","content":"${turn}"},"timestamp":"2026-01-01T00:00:00.000Z"}\n`;
      const made: { id: string } = await call.context.checkpoint({
        parent: parent as never,
        type: 'delta',
        format: 'claude-code-v1',
        text: line,
        template: 't',
        checkpoint: 'turn_boundary',
      });
      parent = made.id;
    }
    const before = await call.context.materialize({ id: parent as never });
    await call.artifact.repack({});
    expect((await call.replica.replicate({})).copied).toBe(40);
    await call.artifact.gc({ budgetBytes: 0 });
    expect((await call.project.check({})).ok).toBe(true);
    const again = await call.context.materialize({ id: parent as never, stop: 'root' });
    expect(again.artifactRef).toBe(before.artifactRef);
    expect((await call.context.history({ id: parent as never })).length).toBe(40);
  });

  test('[S11] out of reach: UNAVAILABLE for what only it holds, and nothing else stops', async () => {
    const { call, clock, stop } = await backed('all');
    const far = await call.artifact.put({ text: text(1), contentType: 'text/plain' });
    await call.replica.replicate({});
    await call.artifact.gc({ budgetBytes: 0 });
    await stop();
    await expect(call.artifact.get({ ref: far.ref })).rejects.toMatchObject({ code: 'UNAVAILABLE', data: { id: far.ref, replica: 'far' } });
    const near = await call.artifact.put({ text: text(2), contentType: 'text/plain' });
    expect((await call.artifact.get({ ref: near.ref })).size).toBe(text(2).length);
    expect((await call.replica.replicate({})).problems).toMatchObject([{ replica: 'far' }]);
    expect(await call.replica.list({})).toMatchObject([{ held: 1, waiting: 1, problem: expect.stringContaining('does not answer') }]);
    clock.at += 1_000;
    expect((await call.artifact.gc({ budgetBytes: 0 })).removed).toBe(0);
    expect((await call.artifact.stat({ ref: near.ref })).gone).toBeUndefined();
    await expect(call.replica.remove({ name: 'far' })).rejects.toMatchObject({ code: 'CONFLICT', data: { only: 1 } });
  });

  test('[S2] verifies what it returns: other bytes are CORRUPT and never used', async () => {
    const { call, place } = await backed('all');
    const { ref } = await call.artifact.put({ text: text(1), contentType: 'text/plain' });
    await call.replica.replicate({});
    await call.artifact.gc({ budgetBytes: 0 });
    for (const file of readdirSync(place, { recursive: true, encoding: 'utf8' }).map((name) => join(place, name)))
      if (statSync(file).isFile() && readFileSync(file).equals(Buffer.from(text(1)))) writeFileSync(file, text(9));
    await expect(call.artifact.get({ ref })).rejects.toMatchObject({ code: 'CORRUPT', data: { id: ref } });
    const again = await call.artifact.put({ text: text(1), contentType: 'text/plain' });
    expect(again.existed).toBe(false);
    expect((await call.artifact.get({ ref })).size).toBe(text(1).length);
  });

  test('[S13] a repair leaves damaged objects to it', async () => {
    const { call, engine, dir } = await backed('all');
    const { ref } = await call.artifact.put({ text: text(1), contentType: 'text/plain', labels: ['x'] });
    await call.replica.replicate({});
    engine.open(dir).db.run("UPDATE artifact SET data = CAST('damaged' AS BLOB)");
    expect((await call.project.check({})).problems).toMatchObject([{ kind: 'artifact', id: ref }]);
    expect(await call.project.check({ repair: true })).toMatchObject({ ok: true, problems: [{ id: ref, repaired: true }] });
    expect(Buffer.from((await call.artifact.get({ ref })).data, 'base64').toString()).toBe(text(1));
  });
});

test('copies are made in the background, and secrets stay out of the project', async () => {
  const { call, dir, engine } = await desk();
  const server = await bucketServer();
  await call.replica.set({ name: 'far', place: server.place, credentials: server.credentials });
  await call.artifact.put({ text: text(1), contentType: 'text/plain', policy: 'replicate' });
  await expect.poll(async () => (await call.replica.list({}))[0]?.held).toBe(1);
  expect(files(server.directory).length).toBeGreaterThan(0);
  for (const file of files(dir)) if (existsSync(join(dir, file))) expect(readFileSync(join(dir, file)).includes('S3RVER')).toBe(false);
  expect(statSync(join(engine.options.dataDir, 'replicas', files(join(engine.options.dataDir, 'replicas'))[0] ?? '')).mode & 0o077).toBe(0);
});

test.skipIf(process.getuid?.() === 0)('a folder that may not be written is told by name', async () => {
  const { call } = await desk();
  const place = join(scratch(), 'copies');
  mkdirSync(place);
  chmodSync(place, 0o500);
  await call.replica.set({ name: 'far', place: { kind: 'folder', dir: place }, takes: 'all' });
  await call.artifact.put({ text: text(1), contentType: 'text/plain' });
  expect((await call.replica.replicate({})).problems).toMatchObject([{ replica: 'far', message: expect.stringContaining('EACCES') }]);
});

test('a copy that another machine recorded is no reason to evict an object', async () => {
  const { call, dir, engine } = await desk();
  const { ref } = await call.artifact.put({ text: text(1), contentType: 'text/plain', labels: ['kept'] });
  // The project arrives with rows that say that a replica holds everything.
  engine.open(dir).db.run("INSERT INTO replicaCopy (artifact, replica, project, at) SELECT no, 'far', project, 0 FROM artifact");
  await call.artifact.gc({ budgetBytes: 0 });
  expect((await call.artifact.stat({ ref })).gone).toBeUndefined();
  await call.replica.set({ name: 'far', place: { kind: 'folder', dir: join(scratch(), 'copies') }, takes: 'all' });
  await call.artifact.gc({ budgetBytes: 0 });
  expect((await call.artifact.stat({ ref })).gone).toBeUndefined();
  expect(await call.replica.replicate({})).toMatchObject({ copied: 1 });
  await call.artifact.gc({ budgetBytes: 0 });
  expect((await call.artifact.stat({ ref })).gone).toBe('evicted');
});

test('a replica that is not set on this machine is listed, and reading from it is UNAVAILABLE', async () => {
  const { call, dir, engine } = await desk();
  const place = { kind: 'folder', dir: join(scratch(), 'copies') } as const;
  await call.replica.set({ name: 'far', place, takes: 'all' });
  const { ref } = await call.artifact.put({ text: text(1), contentType: 'text/plain', labels: ['kept'] });
  await call.replica.replicate({});
  await call.artifact.gc({ budgetBytes: 0 });
  rmSync(join(engine.options.dataDir, 'replicas'), { recursive: true });
  expect(await call.replica.list({})).toMatchObject([{ name: 'far', place: null, held: 1, waiting: 0 }]);
  await expect(call.artifact.get({ ref })).rejects.toMatchObject({ code: 'UNAVAILABLE', data: { id: ref, replica: 'far' } });
  await call.replica.set({ name: 'far', place, takes: 'all' });
  expect((await call.artifact.get({ ref })).size).toBe(text(1).length);
  expect(readdirSync(dir)).not.toContain('replicas');
});

test('fetch asks every replica, returns intact bytes only, and names those that do not answer', async () => {
  const { call, dir, engine } = await desk();
  const [near, gone] = [join(scratch(), 'near'), join(scratch(), 'gone')];
  await call.replica.set({ name: 'gone', place: { kind: 'folder', dir: gone }, takes: 'all' });
  rmSync(gone, { recursive: true });
  await call.replica.set({ name: 'near', place: { kind: 'folder', dir: near }, takes: 'all' });
  const refs = await Promise.all([1, 2].map(async (seed) => (await call.artifact.put({ text: text(seed), contentType: 'text/plain' })).ref));
  await call.replica.replicate({});
  const { replicas, db } = engine.open(dir);
  db.run('DELETE FROM replicaCopy');
  const [first = '', second = ''] = refs.map((ref) => ref.slice('blake3:'.length));
  writeFileSync(join(near, 'blake3', second.slice(0, 2), second), 'other bytes');
  const found = new Map<string, string>();
  const result = await replicas.fetch(refs, (ref, bytes) => found.set(ref, Buffer.from(bytes).toString()));
  expect([...found]).toEqual([[`blake3:${first}`, text(1)]]);
  expect(result).toEqual({ missing: [`blake3:${second}`], problems: [{ replica: 'gone', message: expect.stringContaining('ENOENT') }] });
});

describe('keys of an S3 replica', () => {
  const flipped = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
  const vault: Vault = {
    seal: async (plain) => flipped(Buffer.from(plain)).toString('base64'),
    unseal: async (sealed) => flipped(Buffer.from(sealed, 'base64')).toString(),
  };
  const settingsOf = (engine: Engine): string => {
    const folder = join(engine.options.dataDir, 'replicas');
    return files(folder)
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('');
  };

  test('[T7] are sealed by the operating system, and work', async () => {
    const { call, engine } = await desk(vault);
    const { place, credentials } = await bucketServer();
    await call.replica.set({ name: 'far', place, credentials, takes: 'all' });
    expect(await call.replica.list({})).toMatchObject([{ credentials: 'sealed' }]);
    expect(settingsOf(engine)).not.toContain('S3RVER');
    await call.artifact.put({ text: text(1), contentType: 'text/plain' });
    expect(await call.replica.replicate({})).toMatchObject({ copied: 1, problems: [] });
  });

  test('that are sealed cannot be used by a process without the operating system behind it', async () => {
    const { call, engine, dir } = await desk(vault);
    const { place, credentials } = await bucketServer();
    await call.replica.set({ name: 'far', place, credentials, takes: 'all' });
    const { vault: _, ...options } = engine.options;
    const other = createEngine(options);
    onTestFinished(() => other.close());
    const others = client(other);
    await others.project.open({ dir });
    await others.artifact.put({ text: text(1), contentType: 'text/plain' });
    expect((await others.replica.replicate({})).problems).toMatchObject([{ replica: 'far', message: expect.stringContaining('desktop app') }]);
  });

  test('[T7] are in a private file if the operating system seals nothing', async () => {
    const refusing: Vault = { ...vault, seal: () => Promise.reject(new Error('no keyring')) };
    const { call, engine } = await desk(refusing);
    const { place, credentials } = await bucketServer();
    await call.replica.set({ name: 'far', place, credentials });
    expect(await call.replica.list({})).toMatchObject([{ credentials: 'keys' }]);
    expect(settingsOf(engine)).toContain('S3RVER');
  });

  test('are kept when the same bucket is set again, and never sent to another', async () => {
    const { call } = await desk(vault);
    const { place, credentials } = await bucketServer();
    await call.replica.set({ name: 'far', place, credentials });
    expect(await call.replica.set({ name: 'far', place, takes: 'all' })).toMatchObject([{ credentials: 'sealed', takes: 'all' }]);
    expect(await call.replica.set({ name: 'far', place: { ...place, endpoint: 'http://127.0.0.1:1' } })).toMatchObject([
      { credentials: 'none', problem: expect.stringContaining('no credentials') },
    ]);
    await expect(call.replica.set({ name: 'near', place: { kind: 'folder', dir: scratch() }, credentials })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'credentials' },
    });
  });
});
