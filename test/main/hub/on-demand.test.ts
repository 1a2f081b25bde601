import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { catchUpTools } from '../../../src/core/analysis/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import type { SessionRow } from '../../../src/core/contract/index.js';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { type ManagedHub, push } from '../../../src/core/sync/index.js';
import { createTicket } from '../../../src/core/tickets/index.js';
import { prepareUsage, usageSessions } from '../../../src/core/usage/index.js';
import { hubAt } from '../../../src/main/team/index.js';
import { commitText, startTestHub, type TestHub } from '../../support/hub.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** A person's engine. `away` cuts its line to the hub, and `calls` names what it called. */
function person(dataDir = scratch()) {
  const line = { away: false, calls: [] as string[] };
  const noted = (hub: ManagedHub): ManagedHub =>
    new Proxy(hub, {
      get: (target, name) => {
        line.calls.push(String(name));
        return target[name as keyof ManagedHub];
      },
    });
  const engine = createEngine({
    dataDir,
    agentRoots: [],
    sampleDir: '',
    startup: { paths: [], project: null },
    platform: 'linux',
    reachHub: (address) => noted(hubAt(line.away ? { ...address, hub: 'http://127.0.0.1:9' } : address)),
  });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  return { line, engine, session, client: createRouterClient(router, { context: contextOf(session) }) };
}

const readerOf = async (project: string): Promise<string> => (await hub.client().members.add({ project, name: 'r', role: 'reader' })).token;

describe('a hub project that is open without a clone', () => {
  test('[E36] records are there at once, contents are fetched when they are read and stay', { tags: 'long' }, async () => {
    const mine = emptyChain();
    importInto(mine, join(import.meta.dirname, '../../fixtures/codex'), join(import.meta.dirname, '../../fixtures/pi'));
    createTicket(mine, { title: 'Look at it', type: 'task', body: '' });
    await push(mine, await hub.project('direct'), { leaves: ({ kind }) => kind !== 'source' });
    const { client, line, session } = person();
    const place = { hub: hub.address, project: 'direct', token: await readerOf('direct') };
    const info = await client.team.open(place);
    const { db, project } = mine;
    expect(info.counts.commits).toBe(db.one<{ n: number }>('SELECT count(*) AS n FROM commits WHERE project = ?', project)?.n);
    expect(JSON.stringify(await client.ticket.list({}))).toContain('Look at it');
    const away = (): number => session.project().db.one<{ n: number }>("SELECT count(*) AS n FROM artifact WHERE gone = 'evicted'")?.n ?? 0;
    expect(away()).toBeGreaterThan(5);
    // Titles of the list are there; the hub is not asked.
    line.away = true;
    const { sessions } = await client.session.list({});
    expect(sessions.length).toBeGreaterThan(2);
    const [first] = sessions;
    await expect(client.context.entries({ id: first?.tips[0] as never })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    line.away = false;
    const { entries } = await client.context.entries({ id: first?.tips[0] as never });
    expect(entries.length).toBeGreaterThan(1);
    line.away = true;
    expect((await client.context.entries({ id: first?.tips[0] as never })).entries).toEqual(entries);
    line.away = false;
    // Calls are counted from everything, never from the part that was read. Until then, a session has no numbers.
    const numbers = (list: readonly SessionRow[]) =>
      new Map(list.map(({ sessionId, peakTokens, cost, isOnHub }) => [sessionId, isOnHub ? 'on the hub' : { peakTokens, cost }]));
    await prepareUsage(mine);
    const whole = numbers(listSessions(mine, {}, {}).sessions);
    const shown = numbers((await client.session.list({})).sessions);
    expect([...shown.values()]).toContain('on the hub');
    for (const [id, each] of shown) if (each !== 'on the hub') expect(each, id).toEqual(whole.get(id));
    expect(await client.usage.sessions({ groupBy: null })).toEqual(usageSessions(mine, { groupBy: null }));
    expect(away()).toBe(0);
    expect(numbers((await client.session.list({})).sessions)).toEqual(whole);
    // Everything can be read, and it is what the other project holds.
    for (const { tips } of sessions) for (const id of tips) await client.context.entries({ id });
    expect((await client.project.check({})).problems).toEqual([]);
    // The same token opens the same project again, another one its own.
    expect((await client.team.open(place)).dir).toBe(info.dir);
    expect((await client.team.open({ ...place, token: await readerOf('direct') })).dir).not.toBe(info.dir);
  });

  test('[E36] tool calls are counted whose contents arrive when they are read', { tags: 'long' }, async () => {
    const mine = emptyChain();
    importInto(mine, join(import.meta.dirname, '../../fixtures/codex-2026'));
    await push(mine, await hub.project('tools'), { leaves: ({ kind }) => kind !== 'source' });
    const { client, session } = person();
    await client.team.open({ hub: hub.address, project: 'tools', token: await readerOf('tools') });
    const countIn = (chain: WriteChain): number => {
      for (const _ of catchUpTools(chain));
      return chain.db.value<number>('SELECT COUNT(*) FROM usageTool') ?? 0;
    };
    const all = countIn(mine);
    expect(countIn(session.project().chain)).toBeLessThan(all);
    await client.usage.sessions({ groupBy: null });
    expect(countIn(session.project().chain)).toBe(all);
  });

  test('[E36] a first screen calls the hub once, and does not wait for the disk', { tags: 'long' }, async () => {
    const mine = emptyChain();
    importInto(mine, join(import.meta.dirname, '../../fixtures/codex'));
    await push(mine, await hub.project('screen'), { leaves: ({ kind }) => kind !== 'source' });
    const place = { hub: hub.address, project: 'screen', token: await readerOf('screen') };
    const dataDir = scratch();
    const { client, line, engine, session } = person(dataDir);
    const { dir } = await client.team.open(place);
    const { sessions } = await client.session.list({});
    const id = sessions.find(({ title }) => title === 'Fix the queue retry')?.tips[0] as never;
    const isStored = (): boolean =>
      session.project().db.one('SELECT 1 FROM commits c JOIN artifact a ON a.no = c.artifact WHERE c.id = ? AND a.gone IS NULL', id) !== undefined;
    // While another process writes, nothing can be stored.
    const other = new Database(join(dir, 'stemma.db'));
    other.exec('BEGIN IMMEDIATE');
    line.calls = [];
    await client.context.outline({ id });
    const { entries } = await client.context.entries({ id, limit: 60 });
    expect(entries.length).toBeGreaterThan(1);
    expect(line.calls).toEqual(['outlines']);
    expect(isStored()).toBe(false);
    other.exec('ROLLBACK');
    other.close();
    await vi.waitFor(() => expect(isStored()).toBe(true), 10_000);
    engine.close();
    const again = person(dataDir);
    await again.client.team.open(place);
    again.line.away = true;
    expect((await again.client.context.entries({ id, limit: 60 })).entries).toEqual(entries);
  });

  test('[E36] the large contents of a first screen come with the outlines', async () => {
    const mine = emptyChain();
    let tip: string | null = null;
    for (let n = 0; n < 4; n++) tip = commitText(mine, `${n} `.repeat(75_000), tip).id;
    await push(mine, await hub.project('large-screen'));
    const { client, line } = person();
    await client.team.open({ hub: hub.address, project: 'large-screen', token: await readerOf('large-screen') });
    line.calls = [];
    await client.context.outline({ id: tip as never });
    expect((await client.context.entries({ id: tip as never, limit: 60 })).entries).toHaveLength(4);
    expect(line.calls).toEqual(['outlines']);
  });

  test('[E36] contents that an engine did not store are fetched again', async () => {
    const mine = emptyChain();
    const { id } = commitText(mine, 'text '.repeat(1_000));
    await push(mine, await hub.project('unstored'));
    const place = { hub: hub.address, project: 'unstored', token: await readerOf('unstored') };
    const dataDir = scratch();
    for (const { client, engine } of [person(dataDir), person(dataDir)]) {
      await client.team.open(place);
      expect((await client.context.entries({ id })).entries).toHaveLength(1);
      engine.close();
    }
  });

  test('[E36] a read is four round trips to the database of the hub', async () => {
    const mine = emptyChain();
    commitText(mine, 'first');
    await push(mine, await hub.project('counted'));
    const { outlines, objects } = hub.client(await readerOf('counted')).sync;
    const hashes = mine.db.all<{ hash: Buffer }>('SELECT hash FROM artifact').map(({ hash }) => hash.toString('hex'));
    const contents = hashes.map((hash): [string, string] => [hash, 'raw-text']);
    // The first question makes the outlines.
    await outlines({ project: 'counted', contents });
    const queries = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => queries.mockRestore());
    await outlines({ project: 'counted', contents });
    expect(queries).toHaveBeenCalledTimes(4);
    await objects({ project: 'counted', hashes });
    expect(queries).toHaveBeenCalledTimes(2 * 4);
  });

  test('[E36] what others push appears; a token opens nothing of another project', async () => {
    const mine = emptyChain();
    const first = commitText(mine, 'first');
    const remote = await hub.project('followed');
    await push(mine, remote);
    await push(emptyChain(), await hub.project('private'));
    const { client } = person();
    const token = await readerOf('followed');
    await client.team.open({ hub: hub.address, project: 'followed', token });
    const second = commitText(mine, 'second', first.id);
    await push(mine, remote);
    expect(await client.team.news({})).toMatchObject({ onDemand: true, toPull: 1, me: 'r' });
    await client.team.pull({});
    expect((await client.context.entries({ id: second.id })).entries.map(({ text }) => text?.split('\n').at(-1))).toEqual(['first', 'second']);
    await expect(client.team.open({ hub: hub.address, project: 'private', token })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    // A share link opens its commit, and nothing else.
    const link = await hub.client().members.share({ project: 'followed', commit: digestOf(mine, first.id), name: 'link', role: 'reader' });
    expect((await client.team.open({ hub: hub.address, project: 'followed', token: link.token })).counts.commits).toBe(1);
    expect((await client.context.entries({ id: first.id })).entries).toHaveLength(1);
    // Without its hub, a project says what to do.
    await client.team.disconnect({});
    const again = commitText(mine, 'third', second.id);
    await push(mine, remote);
    await client.team.open({ hub: hub.address, project: 'followed', token });
    await client.team.disconnect({});
    await expect(client.context.entries({ id: again.id })).rejects.toThrow(/Connect it in Settings, Team/);
  });
});

const digestOf = ({ db }: ReturnType<typeof emptyChain>, id: string): string =>
  db.one<{ digest: Buffer }>('SELECT digest FROM commits WHERE id = ?', id)?.digest.toString('hex') ?? '';
