// Threads that die: a reader while it answers, and the writer with a queue.
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import type { ProjectChange } from '../../../src/core/contract/index.js';
import { ensureBuilt } from '../../support/built.js';
import { startFront } from '../../support/front.js';
import { built, root } from '../../support/machine.js';
import { scratch } from '../../support/project.js';

/** The threads that the front started and that have begun, newest last: Node itself may crash if one is ended before. */
const threads = vi.hoisted((): { readonly name: string; readonly worker: Worker }[] => []);

vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof import('node:worker_threads')>();
  class Known extends real.Worker {
    constructor(_: string, options: { readonly name: string }) {
      super(built('engine', 'work.js'), options);
      this.once('message', () => void threads.push({ name: options.name, worker: this }));
    }
  }
  return { ...real, Worker: Known };
});

beforeAll(ensureBuilt);

/** The threads of an engine, whose front runs on this thread. */
async function engine(dataDir = scratch()) {
  const front = await startFront({
    dataDir,
    agentRoots: [],
    sampleDir: join(root, 'resources/sample'),
    worker: built('engine', 'work.js'),
    startup: { paths: [], project: null },
    platform: 'linux',
  });
  onTestFinished(front.disconnect);
  return front;
}

const sample = join(root, 'resources/sample');
const alive = (name: string) => threads.filter((thread) => thread.name === name && thread.worker.threadId > 0).map(({ worker }) => worker);

async function withSample() {
  const own = await engine();
  const client = own.connect();
  const dir = join(scratch(), 'p.stemma');
  await client.project.create({ dir });
  for await (const _ of await client.import.run({ paths: [sample] }));
  const ids = (await client.context.tips({})).map(({ id }) => id);
  return { ...own, client, dir, ids };
}

test('[S25] a reader that dies while it answers changes no answer', { tags: 'long' }, async () => {
  const { client, ids, stop } = await withSample();
  const ask = () => Promise.all(ids.flatMap((id) => [client.context.outline({ id }), client.usage.context({ id }), client.turn.list({ id })]));
  const before = await ask();
  for (let death = 0; death < 3; death++) {
    const answers = ask();
    // The calls are on their way: some are answered, some are not.
    await new Promise((resolve) => setTimeout(resolve, 5 * death));
    const dying = alive('stemma-reader');
    expect(dying.length).toBeGreaterThan(0);
    await Promise.all(dying.map((worker) => worker.terminate()));
    expect(await answers).toEqual(before);
  }
  expect(await stop()).toBe(0);
});

test('[S25] a stream of changes survives its thread, a repair and a reopening', { tags: 'long' }, async () => {
  const { client, connect, dir, stop } = await withSample();
  const changes = await client.project.changes({});
  await changes.next();
  const seen = async (title: string, meanwhile: () => Promise<unknown>): Promise<void> => {
    const next = changes.next();
    await meanwhile();
    await client.ticket.create({ title, type: 'task' });
    for (let event = await next; ; event = await changes.next()) {
      expect(event.done).toBe(false);
      if ((event.value as ProjectChange | undefined)?.changed.includes('tickets')) return;
    }
  };
  await seen('as usual', async () => {});
  await seen('after the death of its thread', () => Promise.all(alive('stemma-reader').map((worker) => worker.terminate())));
  await seen('after another death', () => Promise.all(alive('stemma-reader').map((worker) => worker.terminate())));
  await seen('after a repair', () => client.project.check({ repair: true }));
  await seen('after another connection opened it', () => connect().project.open({ dir }));
  await changes.return?.(undefined as never);
  expect(await stop()).toBe(0);
});

test('[S25] a writer that dies with a queue loses nothing acknowledged', { tags: 'long' }, async () => {
  const { client, connect, dir, ids, ended } = await withSample();
  const other = connect();
  await other.project.open({ dir });
  const create = (title: string) => [client, other].map((each) => each.ticket.create({ title, type: 'task' }));
  const kept = (await Promise.all([...create('one'), ...create('two')])).map(({ ticketId }) => ticketId);
  // Another process writes, so the next calls wait in the queue.
  const busy = new Database(join(dir, 'stemma.db'));
  busy.exec('BEGIN IMMEDIATE');
  const waiting = Promise.allSettled([...create('three'), ...create('four'), client.context.update({ id: ids[0] as ContextId, tags: ['never'] })]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await alive('stemma-writer')[0]?.terminate();
  expect(await ended).toBe(1);
  expect((await waiting).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
  busy.exec('ROLLBACK');
  busy.close();
  // The host starts another engine for the next connection.
  const again = await engine();
  const after = again.connect();
  await after.project.open({ dir });
  expect((await after.ticket.list({})).map(({ ticketId }) => ticketId).sort()).toEqual(kept.sort());
  expect((await after.context.show({ id: ids[0] as ContextId })).tags).not.toContain('never');
  expect((await after.project.check({})).problems).toEqual([]);
  expect(await again.stop()).toBe(0);
});
