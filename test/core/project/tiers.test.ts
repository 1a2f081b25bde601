import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import S3rver from 's3rver';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEngine, createSession, type Engine } from '../../../src/core/project/index.js';
import { router } from '../../../src/core/router.js';
import { type HeldClock, heldClock, scratch } from '../../support/project.js';

const text = (seed: number): string => `${'words that repeat '.repeat(50)}${seed}\n`;

interface Desk {
  readonly call: ReturnType<typeof client>;
  readonly engine: Engine;
  readonly clock: HeldClock;
  readonly dir: string;
}
const client = (engine: Engine) => createRouterClient(router, { context: { session: createSession(engine) } });

async function desk(): Promise<Desk> {
  const home = scratch();
  const clock = heldClock();
  const engine = createEngine({
    dataDir: join(home, 'data'),
    agentRoots: [],
    sampleDir: home,
    startup: { paths: [], project: null },
    platform: 'linux',
    clock,
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
  await expect(call.tier.set({ name: 'nowhere', ...nowhere })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'place' } });
  await expect(call.project.create({ dir: '/proc/nowhere' })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'dir' } });
});

describe.each(['folder', 's3'] as const)('a backing store: %s', (kind) => {
  async function backed(takes: 'replicate' | 'all'): Promise<Desk & { place: string; stop: () => Promise<void> }> {
    const made = await desk();
    if (kind === 'folder') {
      const place = join(scratch(), 'copies');
      mkdirSync(place);
      await made.call.tier.set({ name: 'far', place: { kind, dir: place }, takes });
      return { ...made, place, stop: async () => rmSync(place, { recursive: true }) };
    }
    const server = await bucketServer();
    await made.call.tier.set({ name: 'far', place: server.place, takes, credentials: server.credentials });
    return { ...made, place: server.directory, stop: server.stop };
  }

  test('[S11] has what is to be replicated, evicts only that, and gives it back when it is read', async () => {
    const { call, clock } = await backed('replicate');
    const kept = await call.artifact.put({ text: text(1), contentType: 'text/plain', policy: 'replicate' });
    const own = await call.artifact.put({ text: text(2), contentType: 'text/plain', labels: ['mine'] });
    expect(await call.tier.replicate({})).toEqual({ copied: 1, bytes: Buffer.byteLength(text(1)), problems: [] });
    expect(await call.tier.list({})).toMatchObject([{ name: 'far', held: 1, waiting: 0 }]);
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

  test('[S11] whole chains come back, and commits stay here all the time', async () => {
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
    expect((await call.tier.replicate({})).copied).toBe(40);
    await call.artifact.gc({ budgetBytes: 0 });
    expect((await call.project.check({})).ok).toBe(true);
    const again = await call.context.materialize({ id: parent as never, stop: 'root' });
    expect(again.artifactRef).toBe(before.artifactRef);
    expect((await call.context.history({ id: parent as never })).length).toBe(40);
  });

  test('[S11] out of reach: UNAVAILABLE for what only it holds, and nothing else stops', async () => {
    const { call, clock, stop } = await backed('all');
    const far = await call.artifact.put({ text: text(1), contentType: 'text/plain' });
    await call.tier.replicate({});
    await call.artifact.gc({ budgetBytes: 0 });
    await stop();
    await expect(call.artifact.get({ ref: far.ref })).rejects.toMatchObject({ code: 'UNAVAILABLE', data: { id: far.ref, tier: 'far' } });
    const near = await call.artifact.put({ text: text(2), contentType: 'text/plain' });
    expect((await call.artifact.get({ ref: near.ref })).size).toBe(text(2).length);
    expect((await call.tier.replicate({})).problems).toMatchObject([{ tier: 'far' }]);
    expect(await call.tier.list({})).toMatchObject([{ held: 1, waiting: 1, problem: expect.stringContaining('does not answer') }]);
    clock.at += 1_000;
    expect((await call.artifact.gc({ budgetBytes: 0 })).removed).toBe(0);
    expect((await call.artifact.stat({ ref: near.ref })).gone).toBeUndefined();
    await expect(call.tier.remove({ name: 'far' })).rejects.toMatchObject({ code: 'CONFLICT', data: { only: 1 } });
  });

  test('[S2] what it gives back is proved: other bytes are CORRUPT, and never taken', async () => {
    const { call, place } = await backed('all');
    const { ref } = await call.artifact.put({ text: text(1), contentType: 'text/plain' });
    await call.tier.replicate({});
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
    await call.tier.replicate({});
    engine.open(dir).db.run("UPDATE artifact SET data = CAST('damaged' AS BLOB)");
    expect((await call.project.check({})).problems).toMatchObject([{ kind: 'artifact', id: ref }]);
    expect(await call.project.check({ repair: true })).toMatchObject({ ok: true, problems: [{ id: ref, repaired: true }] });
    expect(Buffer.from((await call.artifact.get({ ref })).data, 'base64').toString()).toBe(text(1));
  });
});

test('copies are made in the background, and secrets stay out of the project', async () => {
  const { call, dir, engine } = await desk();
  const server = await bucketServer();
  await call.tier.set({ name: 'far', place: server.place, credentials: server.credentials });
  await call.artifact.put({ text: text(1), contentType: 'text/plain', policy: 'replicate' });
  await expect.poll(async () => (await call.tier.list({}))[0]?.held).toBe(1);
  expect(files(server.directory).length).toBeGreaterThan(0);
  for (const file of files(dir)) if (existsSync(join(dir, file))) expect(readFileSync(join(dir, file)).includes('S3RVER')).toBe(false);
  expect(statSync(join(engine.options.dataDir, 'credentials.json')).mode & 0o077).toBe(0);
});

test.skipIf(process.getuid?.() === 0)('a folder that may not be written is told by name', async () => {
  const { call } = await desk();
  const place = join(scratch(), 'copies');
  mkdirSync(place);
  chmodSync(place, 0o500);
  await call.tier.set({ name: 'far', place: { kind: 'folder', dir: place }, takes: 'all' });
  await call.artifact.put({ text: text(1), contentType: 'text/plain' });
  expect((await call.tier.replicate({})).problems).toMatchObject([{ tier: 'far', message: expect.stringContaining('EACCES') }]);
});
