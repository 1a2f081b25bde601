import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isContractProcedure } from '@orpc/contract';
import { createRouterClient } from '@orpc/server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { tips } from '../../../src/core/chain/index.js';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { type Hub, itemKey, pull, push, unpackParcel } from '../../../src/core/sync/index.js';
import { createTicket } from '../../../src/core/tickets/index.js';
import { hubAt, hubContract } from '../../../src/main/team/index.js';
import { prompt } from '../../support/claude-lines.js';
import { reply, usage } from '../../support/counted-lines.js';
import { commitText, startTestHub, type TestHub } from '../../support/hub.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** A project with two branches and a ticket on the hub. `shared` is the end of one branch, in the order of its texts: first, shared. */
async function branches(name: string) {
  const chain = emptyChain();
  const first = commitText(chain, 'what came first');
  const shared = commitText(chain, 'what is shared', first.id);
  const secret = commitText(chain, 'what stays private', first.id);
  createTicket(chain, { title: 'not for readers of a link', type: 'task', body: '' });
  const remote = await hub.project(name);
  await push(chain, remote);
  const digest = (id: string): string =>
    (chain.db.one<{ digest: Buffer }>('SELECT digest FROM commits WHERE id = ?', id)?.digest ?? Buffer.alloc(0)).toString('hex');
  const hash = (id: string): string =>
    chain.db.one<{ hash: Buffer }>('SELECT a.hash FROM commits c JOIN artifact a ON a.no = c.artifact WHERE c.id = ?', id)?.hash.toString('hex') ??
    '';
  return { chain, remote, sharedId: shared.id, shared: digest(shared.id), secretHash: hash(secret.id) };
}

const linkTo = async (project: string, digest: string, role: 'reader' | 'reviewer' = 'reader', expiresAt?: string) =>
  hub.client().members.share({ project, commit: digest, name: 'a link', role, expiresAt: expiresAt as never });
const throughLink = (project: string, token: string): Hub => hubAt({ hub: hub.address, project, token });
const page = (project: string, token: string, rest = ''): Promise<Response> => fetch(`${hub.address}/share/${project}/${token}${rest}`);

describe('a share link', () => {
  test('[E18] opens its commit with what comes before it, and nothing else of the project', async () => {
    const { chain, remote, shared, sharedId, secretHash } = await branches('one-branch');
    const { token } = await linkTo('one-branch', shared);
    expect((await hub.client(token).sync.hello({ project: 'one-branch' })).people).toEqual([]);
    const theirs = emptyChain();
    const pulled = await pull(theirs, throughLink('one-branch', token));
    expect(pulled.refused).toEqual([]);
    expect(pulled.items).toEqual({ context: 2 });
    expect(tips(theirs, {}).map(({ messageCount }) => messageCount)).toHaveLength(1);
    // An object of the project that the link does not open looks like one that does not exist, also to a link that may send.
    const { token: reviewing } = await linkTo('one-branch', shared, 'reviewer');
    const client = hub.client(reviewing);
    expect((await client.sync.lack({ project: 'one-branch', items: [], objects: [secretHash] })).objects).toEqual([0]);
    const answered = await (await client.sync.objects({ project: 'one-branch', hashes: [secretHash] })).arrayBuffer();
    expect(Buffer.from(answered).includes('what stays private')).toBe(false);
    expect(answered.byteLength).toBeLessThan(100);
    expect(await client.sync.about({ project: 'one-branch', hashes: [secretHash] })).toEqual([null]);
    const { outlines, objects } = await throughLink('one-branch', reviewing).outlines([[secretHash, 'raw-text']], [secretHash]);
    expect(outlines).toEqual([null]);
    expect(unpackParcel(objects ?? new Uint8Array(), itemKey).objects).toEqual([]);
    // A commit that continues the shared one later is not part of it.
    commitText(chain, 'what came afterward', sharedId);
    await push(chain, remote);
    expect((await pull(theirs, throughLink('one-branch', token))).items).toEqual({});
  });

  test('[E39] a link to a comparison opens both commits and a page that compares them', { tags: 'long' }, async () => {
    const { chain, remote } = await branches('compared');
    const ids = tips(chain, {}).map(({ id }) => id);
    const [shared = '', against = ''] = ids.map((id) =>
      chain.db.one<{ digest: Buffer }>('SELECT digest FROM commits WHERE id = ?', id)?.digest.toString('hex'),
    );
    const evil = commitText(chain, '<script>alert(1)</script> a third branch');
    await push(chain, remote);
    const { token } = await hub.client().members.share({ project: 'compared', commit: shared, against, name: 'both', role: 'reader' });
    const theirs = emptyChain();
    expect((await pull(theirs, throughLink('compared', token))).items).toEqual({ context: 3 });
    const compared = await page('compared', token, '/page');
    expect(compared.status).toBe(200);
    const html = await compared.text();
    for (const text of ['what is shared', 'what stays private', '<h1>']) expect(html).toContain(text);
    for (const text of ['<script', 'a third branch']) expect(html).not.toContain(text);
    const digest = chain.db.one<{ digest: Buffer }>('SELECT digest FROM commits WHERE id = ?', evil.id)?.digest.toString('hex') ?? '';
    const { token: hostile } = await hub.client().members.share({ project: 'compared', commit: shared, against: digest, name: 'x', role: 'reader' });
    const shown = await (await page('compared', hostile, '/page')).text();
    expect(shown).toContain('a third branch');
    expect(shown).not.toContain('<script');
    const unknown = 'f'.repeat(64);
    await expect(
      hub.client().members.share({ project: 'compared', commit: shared, against: unknown, name: 'x', role: 'reader' }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('[E39] the page of a comparison says what each context cost', async () => {
    const chain = emptyChain();
    const counted = { model: 'claude-sonnet-4-5', usage: usage(1_000, 0, 0, 500) };
    const first = prompt('u', 'asked') + reply('a', { parent: 'u', text: 'one answer', ...counted });
    const file = join(scratch(), 'session.jsonl');
    writeFileSync(file, first + reply('b', { parent: 'u', text: 'another answer', ...counted }));
    importInto(chain, file);
    await push(chain, await hub.project('priced'));
    const [shared = '', against = ''] = tips(chain, {}).map(({ id }) =>
      chain.db.one<{ digest: Buffer }>('SELECT digest FROM commits WHERE id = ?', id)?.digest.toString('hex'),
    );
    const { token } = await hub.client().members.share({ project: 'priced', commit: shared, against, name: 'both', role: 'reader' });
    // 1,000 tokens in for $3 and 500 out for $15 a million.
    expect((await (await page('priced', token, '/page')).text()).match(/\$0\.0105/g)).toHaveLength(2);
  });

  test('[E19] calls only what a pull calls, in its project only; a reviewer link sends tickets', { tags: 'long' }, async () => {
    const { shared } = await branches('narrow');
    await branches('other');
    const { token } = await linkTo('narrow', shared, 'reviewer');
    const client = hub.client(token) as unknown as Record<string, Record<string, (input: unknown) => Promise<unknown>>>;
    const blob = new Blob([]);
    for (const path of procedures(hubContract)) {
      const [namespace = '', name = ''] = path.split('.');
      if (namespace === 'sync') continue;
      const inputs = [{}, { project: 'narrow' }, { project: 'narrow', id: 1, name: 'x', role: 'admin', commit: shared, parcel: blob }, { id: 1 }];
      for (const input of inputs) await expect(client[namespace]?.[name]?.(input), path).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    }
    await expect(pull(emptyChain(), throughLink('other', token))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const theirs = emptyChain();
    createTicket(theirs, { title: 'a finding', type: 'task', body: '' });
    expect((await push(theirs, throughLink('narrow', token))).items).toMatchObject({ ticket: 1 });
    commitText(theirs, 'no commit');
    await expect(push(theirs, throughLink('narrow', token))).rejects.toThrow(/tickets only/);
    const { token: reading } = await linkTo('narrow', shared);
    await expect(push(theirs, throughLink('narrow', reading))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  test('[E20] is a read-only page that says how to fork; an ended link opens nothing', async () => {
    const { shared } = await branches('shown');
    const { id, token } = await linkTo('shown', shared);
    const frame = await page('shown', token);
    expect(frame.status).toBe(200);
    expect(frame.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(frame.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await frame.text()).toContain(`stemma clone ${hub.address}/share/shown/${token} shared.stemma`);
    const session = await (await page('shown', token, '/page')).text();
    for (const text of ['what came first', 'what is shared']) expect(session).toContain(text);
    expect(session).not.toContain('what stays private');
    const { token: expired } = await linkTo('shown', shared, 'reader', '2099-01-01T00:00:00.000Z');
    await hub.query("UPDATE token SET expires_at = now() WHERE expires_at = '2099-01-01'");
    await hub.client().members.revoke({ id });
    for (const [project, each] of [
      ['shown', token],
      ['shown', expired],
      ['shown', 'stm_guess'],
      ['shown', hub.admin],
      ['../shown', token],
    ] as const)
      for (const rest of ['', '/page']) {
        const refusal = await page(project, each, rest);
        expect(refusal.status, `${project} ${each}`).toBeGreaterThanOrEqual(403);
        if (project === 'shown') expect(await refusal.text()).toContain('<h1>This link is not valid</h1>');
      }
  });

  test('[E21] is made in the project, which sends the commit first; who made it may end it', async () => {
    const home = scratch();
    const { token: writer } = await hub.client().members.add({ project: null, name: 'a writer', role: 'writer' });
    const engine = createEngine({
      dataDir: home,
      agentRoots: [],
      sampleDir: home,
      startup: { paths: [], project: null },
      platform: 'linux',
      reachHub: hubAt,
    });
    onTestFinished(() => engine.close());
    const session = createSession(engine);
    const client = createRouterClient(router, { context: contextOf(session) });
    await client.project.create({ dir: join(home, 'work') });
    await client.project.open({ dir: join(home, 'work.stemma') });
    await expect(client.team.share({ commit: 'ctx-00000000', role: 'reader' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await client.team.connect({ hub: hub.address, project: 'made-here', token: writer });
    await expect(client.team.share({ commit: 'ctx-00000000', role: 'reader' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { id: commitId } = commitText(session.project().chain, 'said here');
    const { id, url, token } = await client.team.share({ commit: commitId, role: 'reader' });
    expect(url).toBe(`${hub.address}/share/made-here/${token}`);
    expect(await (await fetch(`${url}/page`)).text()).toContain('said here');
    await client.team.revoke({ id });
    expect((await fetch(url)).status).toBe(403);
    // Tokens that others made stay.
    await expect(client.team.revoke({ id: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

/** The names of all procedures of a contract. */
const procedures = (node: object, path: string[] = []): string[] =>
  isContractProcedure(node) ? [path.join('.')] : Object.entries(node).flatMap(([name, below]) => procedures(below as object, [...path, name]));
