import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/core/base/index.js';
import { digestCommit } from '../../../src/core/chain/index.js';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { findRule, pull, push } from '../../../src/core/sync/index.js';
import { type FakeHub, fakeHub } from '../../support/fake-hub.js';
import { scratch } from '../../support/project.js';

const sampleDir = join(import.meta.dirname, '../../../resources/sample');

/** A new project behind its router, as the window uses it. */
function openWorld() {
  const home = scratch();
  const engine = createEngine({ dataDir: home, agentRoots: [], sampleDir, startup: { paths: [], project: null }, platform: 'linux' });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  return { client: createRouterClient(router, { context: contextOf(session) }), engine, session, home };
}

/** The items of the sample project, and of a space with a run that ended. */
async function sampleHub(): Promise<FakeHub> {
  const { client, session } = openWorld();
  await client.project.open(await client.library.sample({}));
  await client.space.addEntity({ entityId: 'bob', name: 'Bob', type: 'human' });
  await client.space.addEntity({ entityId: 'bot', name: 'Bot', type: 'agent' });
  await client.space.create({ spaceId: 'room', name: 'Room', members: ['bob', 'bot'] });
  const { started } = (await client.space.post({ spaceId: 'room', senderId: 'bob', text: 'Hello' })) as { started: { runId: string }[] };
  const runId = started[0]?.runId ?? '';
  await client.run.send({ runId, text: 'Hi' });
  await client.run.finish({ runId, status: 'completed' });
  const hub = fakeHub();
  await push(session.project().chain, hub);
  return hub;
}

/** Values that a column could hold by mistake or by malice, JSON as text among them. */
const values: readonly unknown[] = [
  ...[
    null,
    true,
    -1,
    1.5,
    Number.MAX_SAFE_INTEGER,
    2 ** 53,
    8.64e15,
    '',
    'x',
    '\0',
    '\ud800',
    '__proto__',
    'x'.repeat(400),
    'x'.repeat(401),
    'f'.repeat(64),
  ],
  ...['null', '[]', '{}', '[null]', '[{}]', '{"type":"x"}', '{"kind":"text","text":1}', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ...[[], {}, [[1]], [['f'.repeat(64), -1, 1e300]]],
];

let serial = 0;

/** A copy of an item with a name of its own, so that each damaged copy is a row of its own. */
function copyOf(kind: string, body: JsonObject, column: string): JsonObject {
  serial += 1;
  if (kind === 'context') {
    const createdAt = Number(body.createdAt) + serial;
    const digest = digestCommit({ parent: null, ref: `blake3:${body.artifact}` as never, createdAt, template: String(body.template) }).toString(
      'hex',
    );
    return { ...body, parent: null, createdAt, digest };
  }
  const key = findRule(kind)?.key?.find((each) => each !== column && findRule(kind)?.refs?.[each] === undefined && typeof body[each] === 'string');
  return key === undefined ? body : { ...body, [key]: kind === 'ticket' ? `tkt-${serial.toString(16).padStart(24, '0')}` : `${body[key]}-${serial}` };
}

describe('items of strangers', () => {
  test('[E51] no single value in any field of any kind breaks a list, a pull or a clone', { tags: 'long', timeout: 240_000 }, async () => {
    const sent = await sampleHub();
    const kinds = new Map(sent.list.map(({ kind, body }) => [kind, body]));
    expect(kinds.size).toBeGreaterThan(20);
    for (const value of values) {
      const { client, session, engine, home } = openWorld();
      session.use(engine.create({ dir: join(home, 'clone') }));
      const hub = fakeHub();
      for (const [hash, object] of sent.stored) hub.stored.set(hash, object);
      for (const { kind, body } of sent.list) hub.add(kind, body);
      for (const [kind, body] of kinds)
        for (const column of Object.keys(body)) hub.add(kind, { ...copyOf(kind, body, column), [column]: value } as JsonObject);
      const { refused } = await pull(session.project().chain, hub);
      expect(refused.length).toBeGreaterThan(0);
      const lists = {
        tickets: client.ticket.list({}),
        overview: client.ticket.overview({}),
        facets: client.ticket.facets({}),
        events: client.ticket.events({}),
        map: client.handover.map({}),
        spaces: client.space.list({}),
        entities: client.space.entities({}),
        runs: client.run.list({}),
        experiments: client.experiment.list({}),
        sessions: client.session.list({}),
        graph: client.context.graph({ offset: 0, limit: 100 }),
        tips: client.context.tips({}),
        sources: client.source.list({}),
        templates: client.template.list({}),
        info: client.project.info({}),
      };
      for (const [name, list] of Object.entries(lists))
        await expect(list, `${name} after ${JSON.stringify(value)?.slice(0, 60)}`).resolves.toBeDefined();
      await engine.close();
    }
  });
});
