import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createRouterClient, ORPCError } from '@orpc/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StemmaError } from '../../src/core/base/index.js';
import { checkpoint, contextEntries, findCommit, outlineVersion, type WriteChain } from '../../src/core/chain/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { fetchFromHub, type Hub, pull, push } from '../../src/core/sync/index.js';
import { hubAt } from '../../src/main/team/index.js';
import { prompt } from '../support/claude-lines.js';
import { fakeHub } from '../support/fake-hub.js';
import { emptyChain, scratch } from '../support/project.js';

const at = '2026-01-01T00:00:00.000Z';
const member = {
  id: 1,
  name: 'Ann',
  role: 'writer',
  project: 'shop',
  createdAt: at,
  expiresAt: null,
  revoked: false,
  isLink: false,
  identity: null,
  madeBy: null,
};
const link = { ...member, id: 2, name: 'Link to ctx-1', isLink: true, madeBy: 1 };

/** What an honest hub answers to each call without a parcel. */
const honest: Readonly<Record<string, unknown>> = {
  'sync/lack': { items: [0], objects: [] },
  'sync/send': { seq: 4, stored: 1, refused: [{ kind: 'context', key: 'a', reason: 'It is bad.' }] },
  'sync/hello': { id: 'hub', seq: 3, role: 'admin', name: 'Ann', retention: 30, people: ['Bob'] },
  'projects/create': { project: 'shop' },
  'projects/retain': { project: 'shop', days: 30 },
  'members/list': [member, link],
  'members/add': { id: 4, token: `stm_${'a'.repeat(43)}` },
  'members/grant': { id: 5 },
  'members/share': { id: 6, token: `stm_${'b'.repeat(43)}` },
  'members/revoke': { id: 1, made: [{ id: 2, name: 'Link to ctx-1', role: 'reader', isLink: true }] },
  'audit/list': [{ no: 1, at, by: 'Ann', action: 'sync.send', count: 2, what: null }],
};

/** A hub that answers as `answers` says now. */
async function hostileHub() {
  const answers: Record<string, unknown> = { ...honest };
  const server = createServer(async (request: IncomingMessage, response) => {
    for await (const _ of request);
    const body = JSON.stringify({ json: answers[(request.url ?? '').replace(/^\/rpc\//, '')] ?? null });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers };
}

/** A project that is connected to a hub, behind the router. */
async function connected(hub: string) {
  const dataDir = scratch();
  const engine = createEngine({
    ...{ dataDir, agentRoots: [], sampleDir: dataDir, startup: { paths: [], project: null }, platform: 'linux' },
    reachHub: (address) => hubAt(address),
  });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  session.use(engine.create({ dir: join(dataDir, 'mine') }));
  const client = createRouterClient(router, { context: contextOf(session) });
  await client.team.connect({ hub, project: 'shop', token: 'stm_mine' });
  return client;
}

/** A commit of a conversation. */
const committed = (chain: WriteChain) =>
  checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', template: 'test', checkpoint: 'explicit', text: prompt('u1', 'hello') });

type Client = Awaited<ReturnType<typeof connected>>;

let times = 0;
/** A new commit, which the hub does not have. */
const saidNow = (client: Client) =>
  client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: `hello ${times++}` } }] as never });

/** The calls of a person, and the answers of the hub that each of them reads. */
const calls: Readonly<Record<string, { readonly reads: readonly string[]; readonly call: (client: Client) => Promise<unknown> }>> = {
  status: { reads: ['sync/hello'], call: (client) => client.team.status({}) },
  news: { reads: ['sync/hello'], call: (client) => client.team.news({}) },
  members: { reads: ['members/list'], call: (client) => client.team.members({}) },
  'invite with a token': { reads: ['members/add'], call: (client) => client.team.invite({ name: 'Bob', role: 'reader' } as never) },
  'invite of a person': {
    reads: ['members/grant'],
    call: (client) => client.team.invite({ name: 'Bob', role: 'reader', identity: 'bob@example.com' } as never),
  },
  revoke: { reads: ['members/revoke'], call: (client) => client.team.revoke({ id: 1 } as never) },
  audit: { reads: ['audit/list'], call: (client) => client.team.audit({} as never) },
  push: {
    reads: ['sync/lack', 'sync/send'],
    call: async (client) => {
      await saidNow(client);
      return client.team.push({});
    },
  },
  'share of a commit': {
    reads: ['members/share'],
    call: async (client) => {
      const { id } = await saidNow(client);
      const made = await client.team.share({ commit: id as never, role: 'reader' });
      expect(made.token).toMatch(/^stm_[\w-]+$/);
      expect(made.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/share\/shop\/stm_[\w-]+$/);
      return made;
    },
  },
  retain: { reads: ['projects/retain', 'sync/hello'], call: (client) => client.team.retain({ days: 30 }) },
};

const bad: readonly unknown[] = [
  ...[null, true, -1, 1.5, 2 ** 53, 1e308, '', 'x', '\0', '\ud800', '../../x', 'javascript:alert(1)', 'stm_\n\u001b[2J', '__proto__'],
  ...['x'.repeat(100_000), [], {}, [[]], [null], [{}], { __proto__: null, toString: 1 }],
];

/** Every copy of an answer with one value replaced, missing or added. */
function* damaged(value: unknown, put: (changed: unknown) => unknown = (changed) => changed): Generator<unknown> {
  for (const other of bad) yield put(other);
  if (Array.isArray(value)) {
    yield put([...value, ...value]);
    for (const [place, each] of value.entries()) yield* damaged(each, (changed) => put(value.with(place, changed)));
  } else if (typeof value === 'object' && value !== null)
    for (const name of Object.keys(value)) {
      const { [name]: own, ...others } = value as Record<string, unknown>;
      yield put(others);
      yield* damaged(own, (changed) => put({ ...others, [name]: changed }));
    }
}

describe('a hostile hub', () => {
  test.each(Object.keys(calls))(
    '[E53] no field of an answer makes %s fail or reaches its caller unchecked',
    { tags: 'long', timeout: 120_000 },
    async (name) => {
      const { reads = [], call } = calls[name] ?? {};
      const { address, answers } = await hostileHub();
      const client = await connected(address);
      await expect(call?.(client)).resolves.toBeDefined();
      for (const path of reads) {
        let refused = 0;
        for (const answer of damaged(honest[path])) {
          answers[path] = answer;
          try {
            const told = (await call?.(client)) as { problem?: string } | undefined;
            if (told?.problem !== undefined) refused += 1;
          } catch (error) {
            refused += 1;
            if (!(error instanceof ORPCError && error.code === 'UNAVAILABLE'))
              throw new Error(`${path} = ${JSON.stringify(answer).slice(0, 300)}`, { cause: error });
            expect(error.message).toContain(address);
          }
        }
        expect(refused, path).toBeGreaterThan(10);
        answers[path] = honest[path];
      }
    },
  );

  test('[E53] a hub has no id under which this machine keeps something of its own', async () => {
    const { address, answers } = await hostileHub();
    const client = await connected(address);
    for (const id of ['redacted copies', '../x', '', 'x'.repeat(101)]) {
      answers['sync/hello'] = { ...(honest['sync/hello'] as object), id };
      await expect(client.team.push({})).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    }
  });

  test('[E53] an answer of an older hub, without the newer fields, is accepted', async () => {
    const { address, answers } = await hostileHub();
    const client = await connected(address);
    const { identity: _, madeBy: __, ...older } = member;
    answers['members/list'] = [older];
    answers['members/revoke'] = { id: 1 };
    expect(await client.team.members({})).toEqual([member]);
    expect(await client.team.revoke({ id: 1 } as never)).toEqual({ id: 1, made: [] });
  });

  test('[E53] places that a hub was not asked about are refused by a push', async () => {
    for (const places of [[7], [-1], [0.5], [Number.NaN], ['0'], [2 ** 53]] as never[]) {
      const chain = emptyChain();
      committed(chain);
      const honestHub = fakeHub();
      for (const lack of [
        { items: places, objects: [] },
        { items: [], objects: places },
      ]) {
        const hub: Hub = { ...honestHub, lack: async () => lack };
        await expect(push(chain, hub)).rejects.toBeInstanceOf(StemmaError);
      }
    }
    const chain = emptyChain();
    committed(chain);
    const twice: Hub = { ...fakeHub(), lack: async (items) => ({ items: items.flatMap((_, place) => [place, place]), objects: [] }) };
    expect((await push(chain, twice)).items).toEqual({ context: 1 });
  });

  test('[E53] facts about more objects than were asked for change nothing', async () => {
    const theirs = emptyChain();
    const { id } = committed(theirs);
    const hub = fakeHub();
    await push(theirs, hub);
    const mine = emptyChain();
    const more = { size: 1, contentType: 'text/plain', isExpired: true };
    await pull(mine, { ...hub, about: async (hashes) => [...(await hub.about(hashes)), more, more] });
    expect(contextEntries(mine, { id })).toHaveLength(1);
  });

  test('[E53] a malformed outline is not used: the content is read', { tags: 'long', timeout: 120_000 }, async () => {
    const theirs = emptyChain();
    const { id } = committed(theirs);
    const honestHub = fakeHub();
    await push(theirs, honestHub);
    const entry = ['k', 0, 0, 1, 0, 'head', 0, 'm'];
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const values = [
      ...['', '{', 'null', '[]', '[[],null]', '[null,[]]', '[[null],[]]', '[[[]],[]]', '[[],[null]]', '[[],[{"text":1}]]', deep],
      ...entry.flatMap((_, place) => bad.map((value) => JSON.stringify([[entry.with(place, value as never)], []]))),
    ];
    for (const data of values) {
      const mine = emptyChain();
      const hub: Hub = { ...honestHub, outlines: async (contents) => ({ version: outlineVersion, outlines: contents.map(() => data) }) };
      await pull(mine, hub, { onDemand: true });
      const { artifact } = findCommit(mine, id);
      const { ref } = mine.artifacts.stat(artifact);
      await fetchFromHub(mine, hub, ref);
      const outline = mine.outlines.get(`${artifact}:claude-code-v1`);
      for (const each of outline?.entries ?? [])
        expect([typeof each.role, typeof each.kind, Number.isSafeInteger(each.tokens)], data.slice(0, 200)).toEqual(['string', 'string', true]);
      await fetchFromHub(mine, hub, ref);
      expect(contextEntries(mine, { id })[0]?.entry.text, data.slice(0, 200)).toBe('hello');
    }
  });
});
