import { once } from 'node:events';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { answeredBy, pathOf } from '../../../src/main/engine/frames.js';
import type { ContractClient, EngineOptions } from '../../../src/main/launch/index.js';
import { ensureBuilt } from '../../support/built.js';
import { built, root } from '../../support/machine.js';
import { scratch } from '../../support/project.js';

beforeAll(ensureBuilt);

/** An engine with its threads, and a connection to it. */
async function engine(dataDir = scratch()) {
  const options: EngineOptions = {
    dataDir,
    agentRoots: [],
    sampleDir: join(root, 'resources/sample'),
    worker: built('engine', 'work.js'),
    startup: { paths: [], project: null },
    platform: 'linux',
  };
  const worker = new Worker(built('engine', 'engine.js'));
  worker.postMessage({ message: { kind: 'start', options } });
  await once(worker, 'message');
  onTestFinished(async () => {
    const ended = once(worker, 'exit');
    worker.postMessage({ message: { kind: 'stop' } });
    await ended;
  });
  let connections = 0;
  const connect = (): ContractClient => {
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ message: { kind: 'connect', connection: ++connections, caller: 'script' }, port: port2 }, [port2]);
    port1.start();
    onTestFinished(() => port1.close());
    return createORPCClient(new RPCLink({ port: port1 as never }));
  };
  return { connect, client: connect() };
}

/** A project with the sample's histories. */
async function withSample() {
  const { client, connect } = await engine();
  const dir = join(scratch(), 'p.stemma');
  await client.project.create({ dir });
  for await (const _ of await client.import.run({ paths: [join(root, 'resources/sample')] }));
  const [tip] = await client.context.tips({});
  return { client, connect, dir, id: tip?.id ?? '' };
}

/** Holds the write lock of a project as another process would. */
function lock(dir: string): () => void {
  const db = new Database(join(dir, 'stemma.db'));
  db.exec('BEGIN IMMEDIATE');
  return () => {
    db.exec('ROLLBACK');
    db.close();
  };
}

describe('threads that read', () => {
  test('[S25] answer every read while another process holds the write lock', async () => {
    const { client, dir, id } = await withSample();
    const unlock = lock(dir);
    const answers = await Promise.all([
      client.project.info({}),
      client.project.settings({}),
      client.context.show({ id }),
      client.context.history({ id }),
      client.context.entries({ id, limit: 5 }),
      client.context.outline({ id }),
      client.context.graph({ offset: 0, limit: 10 }),
      client.context.materialize({ id }),
      client.session.list({}),
      client.usage.context({ id }),
      client.usage.calls({}),
      client.usage.sessions({}),
      client.search.query({ text: 'the' }),
      client.turn.list({ id }),
      client.turn.get({ turnId: id }),
      client.request.list({ id }),
      client.runner.list({}),
      client.ticket.list({}),
      client.card.list({}),
    ]);
    expect(answers).toHaveLength(19);
    unlock();
    await client.ticket.create({ title: 'After the lock', type: 'task' });
    expect(await client.ticket.list({})).toHaveLength(1);
  });

  test('[S25] see each write as soon as it is acknowledged, from every connection', async () => {
    const { client, connect, dir } = await withSample();
    const other = connect();
    await other.project.open({ dir });
    for (let n = 0; n < 20; n++) {
      const { ticketId } = await client.ticket.create({ title: `Ticket ${n}`, type: 'task' });
      expect((await other.ticket.get({ ticketId })).title).toBe(`Ticket ${n}`);
    }
  });

  test('[S25] store an object whose ref they return before they answer', async () => {
    const { client, id } = await withSample();
    const { artifactRef } = await client.context.materialize({ id, format: 'openai-chat-v1' });
    expect((await client.artifact.get({ ref: artifactRef })).size).toBeGreaterThan(0);
  });

  test('[S25] read the database that a repair wrote', async () => {
    const { client, id } = await withSample();
    expect((await client.context.show({ id })).id).toBe(id);
    expect((await client.project.check({ repair: true })).ok).toBe(true);
    expect((await client.context.show({ id })).id).toBe(id);
  });

  test('[S25] end a stream when its caller stops', async () => {
    const { client } = await withSample();
    const stop = new AbortController();
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const change of await client.project.changes({}, { signal: stop.signal })) {
        seen.push(change);
        if (seen.length === 1) await client.ticket.create({ title: 'A change', type: 'task' });
        else stop.abort();
      }
    })().catch(() => {});
    await following;
    expect(seen.length).toBeGreaterThan(1);
  });
});

test('[S25] frames are read as far as their route needs', () => {
  const frame = '{"i":"12","p":{"u":"/context/show","b":{"json":{"id":"ctx-12345678"}}}}';
  expect(pathOf(frame, 1_000)).toEqual({ id: '12', path: 'context.show', about: 'ctx-12345678' });
  expect(pathOf('{"i":"12","t":4}', 1_000)).toBe('continues');
  for (const other of [frame.repeat(20), '{"p":{"u":"/context/show"},"i":"12"}', 'not a frame', new Uint8Array(3), null, 7])
    expect(pathOf(other, 1_000)).toBeUndefined();
  expect(answeredBy('{"i":"12","p":{"b":{}}}')).toBe('12');
  expect(answeredBy('{"i":"12","t":3,"p":{}}')).toBeUndefined();
});
