import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addCard } from '../../src/core/cards/index.js';
import { digestCommit, type WriteChain } from '../../src/core/chain/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { inOrder, itemKey, packParcel, pull, push, type SentItem, unpackParcel } from '../../src/core/sync/index.js';
import { createTicket } from '../../src/core/tickets/index.js';
import { hubAt } from '../../src/main/team/index.js';
import { chainWith, commitText, digestsOf, startTestHub, type TestHub } from '../support/hub.js';
import { emptyChain, scratch } from '../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

type Body = Record<string, never>;

/** The items of a project of the hub, in their order. */
async function itemsOf(project: string): Promise<SentItem[]> {
  const all: SentItem[] = [];
  for (let after = 0, isLast = false; !isLast; ) {
    const page = await hub.client().sync.items({ project, after });
    all.push(...unpackParcel(new Uint8Array(await page.parcel.arrayBuffer()), itemKey).items);
    [after, isLast] = [page.seq, page.isLast];
  }
  return all;
}

const sendTo = (project: string, items: readonly { readonly kind: string; readonly body: object }[], token = hub.admin) =>
  hub.client(token).sync.send({
    project,
    parcel: new Blob([packParcel({ items: items as SentItem[], objects: [] }) as Uint8Array<ArrayBuffer>]),
  });
const bodyOf = (items: readonly SentItem[], kind: string): Body => items.find((item) => item.kind === kind)?.body as Body;
const member = async (project: string, name: string, role: 'writer' | 'reviewer' = 'writer') =>
  (await hub.client().members.add({ project, name, role })).token;

/** The sample with every feature. */
async function sample(): Promise<WriteChain> {
  const sampleDir = join(import.meta.dirname, '../../resources/sample');
  const engine = createEngine({ dataDir: scratch(), agentRoots: [], sampleDir, startup: { paths: [], project: null }, platform: 'linux' });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  const client = createRouterClient(router, { context: contextOf(session) });
  await client.project.open(await client.library.sample({}));
  return session.project().chain;
}

describe('what the hub stores', () => {
  test('[E72] a bad item is refused by name and audited; the others of its parcel are stored', async () => {
    const mine = chainWith('honest');
    createTicket(mine, { title: 'honest', type: 'task', body: '' });
    await push(mine, await hub.project('bad'));
    const items = await itemsOf('bad');
    const [commit, ticket] = [bodyOf(items, 'context'), bodyOf(items, 'ticket')];
    const [forged, absent] = ['e'.repeat(64), 'd'.repeat(64)];
    const parts = { parent: null, createdAt: Number(commit.createdAt), template: String(commit.template) };
    const withAbsent = digestCommit({ ...parts, ref: `blake3:${absent}` as never }).toString('hex');
    const sent = await sendTo('bad', [
      { kind: 'ticket', body: { ...ticket, ticketId: 'tkt-a1', status: 'gone' } },
      { kind: 'ticket', body: { ...ticket, ticketId: 'tkt-a2', extra: 1 } },
      { kind: 'ticket', body: { ...ticket, ticketId: 'tkt-a3', parent: '["tkt-none"]' } },
      { kind: 'nonsense', body: { x: 1 } },
      { kind: 'context', body: { ...commit, digest: forged } },
      { kind: 'context', body: { ...commit, createdAt: Number(commit.createdAt) + 1 } },
      { kind: 'context', body: { ...commit, parent: forged } },
      { kind: 'context', body: { ...commit, artifact: forged } },
      { kind: 'context', body: { ...commit, artifact: absent, digest: withAbsent } },
      { kind: 'branchMark', body: { context: forged, title: 'on a commit that is refused', archivedAt: null, deletedAt: null } },
      { kind: 'ticket', body: { ...ticket, ticketId: 'tkt-a4' } },
    ]);
    expect(sent.stored).toBe(1);
    expect(sent.refused.map(({ kind }) => kind).sort()).toEqual(['branchMark', ...Array(5).fill('context'), 'nonsense', ...Array(3).fill('ticket')]);
    for (const [key, word] of [
      ['["tkt-a1"]', 'status'],
      ['["tkt-a2"]', 'extra'],
      ['["tkt-a3"]', 'tkt-none'],
      [forged, 'digest'],
      [withAbsent, `needs the object ${absent}`],
    ])
      expect(sent.refused.find((each) => each.key === key)?.reason, key).toContain(word);
    expect((await itemsOf('bad')).map(({ key }) => key)).toEqual([...items.map(({ key }) => key), '["tkt-a4"]']);
    const [line] = (await hub.client().audit.list({ project: 'bad' })).filter(({ action }) => action === 'refused items');
    expect([line?.count, line?.what]).toEqual([10, expect.stringContaining('tkt-a1')]);
    expect((await pull(emptyChain(), await hub.project('bad'))).refused).toEqual([]);
  });

  test('[E73] what identifies or attributes a commit never changes, whoever asks', async () => {
    await push(chainWith('first'), await hub.project('fixed'));
    const commit = bodyOf(await itemsOf('fixed'), 'context');
    const changes: Record<string, unknown> = {
      principal: 'somebody',
      machine: 'elsewhere',
      sessionId: 'other',
      format: 'markdown',
      checkpoint: 'explicit',
      messageCount: 7,
      tokenCount: 7,
      type: 'snapshot',
      entries: 9,
      errors: 3,
      forked: 1,
      ticketId: 'tkt-1',
      threadId: 'thread',
    };
    for (const [field, value] of Object.entries(changes)) {
      const { stored, refused } = await sendTo('fixed', [{ kind: 'context', body: { ...commit, summary: 'posed', [field]: value } }]);
      expect([stored, refused[0]?.reason], field).toEqual([0, expect.stringContaining(field)]);
    }
    expect((await sendTo('fixed', [{ kind: 'context', body: { ...commit, summary: 'said later' } }])).stored).toBe(1);
    // The first version stays the measure, also after a later one.
    expect((await sendTo('fixed', [{ kind: 'context', body: { ...commit, principal: 'x', summary: 'again' } }])).stored).toBe(0);
  });

  test('[E73] of versions of a commit in one parcel, or at one moment, the first stays', async () => {
    const source = chainWith('the first');
    commitText(source, 'the second');
    await push(source, await hub.project('versions'));
    const items = (await itemsOf('versions')).filter(({ kind }) => kind === 'context');
    const hashes = items.map(({ body }) => String(body.artifact));
    const { objects } = unpackParcel(new Uint8Array(await (await hub.client().sync.objects({ project: 'versions', hashes })).arrayBuffer()), itemKey);
    const send = (project: string, bodies: readonly object[], token?: string) =>
      hub.client(token).sync.send({
        project,
        parcel: new Blob([
          packParcel({ items: bodies.map((body) => ({ kind: 'context', body })) as SentItem[], objects }) as Uint8Array<ArrayBuffer>,
        ]),
      });
    const [one, two] = items.map(({ body }) => body as Body);
    // In one parcel: before, between and after valid versions.
    await hub.project('parcel');
    const posed = await send('parcel', [
      { ...one, createdAt: Number(one?.createdAt) + 1, principal: 'mallory' },
      { ...one },
      { ...one, principal: 'mallory' },
      { ...one, summary: 'said later' },
      { ...one, machine: 'elsewhere', summary: 'posed' },
    ]);
    expect([posed.stored, posed.refused.length]).toEqual([2, 3]);
    const clone = emptyChain();
    expect((await pull(clone, await hub.project('parcel'))).refused).toEqual([]);
    expect(clone.db.all('SELECT principal, summary FROM commits')).toEqual([{ principal: one?.principal ?? null, summary: 'said later' }]);
    // At the same moment, by many people: one of them was first, and every other one is refused by name.
    await hub.project('moment');
    const tokens = await Promise.all(Array.from({ length: 6 }, (_, at) => member('moment', `person${at}`)));
    const answers = await Promise.all(tokens.map((token, at) => send('moment', [{ ...two, principal: `person${at}` }], token)));
    expect(answers.map(({ stored }) => stored).sort()).toEqual([0, 0, 0, 0, 0, 1]);
    expect(answers.flatMap(({ refused }) => refused.map(({ reason }) => reason))).toEqual(
      Array.from({ length: 5 }, () => expect.stringContaining('principal')),
    );
    expect(await itemsOf('moment')).toHaveLength(1);
  });

  test('[E74] a card and a message stay with their maker and content; a card may be deleted', async () => {
    const mine = emptyChain();
    addCard(mine, { type: 'note', content: { kind: 'text', text: 'by ann' } } as never);
    await hub.project('bound');
    const [ann, other] = [await member('bound', 'ann'), await member('bound', 'ben')];
    await push(mine, hubAt({ hub: hub.address, project: 'bound', token: ann }));
    const card = bodyOf(await itemsOf('bound'), 'card');
    const changed = { kind: 'card', body: { ...card, content: JSON.stringify({ kind: 'text', text: 'by ben' }) } };
    expect((await sendTo('bound', [changed], other)).refused[0]?.reason).toContain('somebody else');
    expect((await sendTo('bound', [{ kind: 'card', body: { ...card, authorId: 'ben' } }], other)).stored).toBe(0);
    expect((await sendTo('bound', [{ kind: 'card', body: { ...card, deletedAt: Date.now() } }], other)).stored).toBe(1);
    expect((await sendTo('bound', [changed], ann)).stored).toBe(1);
  });

  test('[E74] nobody changes a message or who is a person; others change no call', async () => {
    await push(chainWith('commented'), await hub.project('said'));
    const commit = (await itemsOf('said')).find(({ kind }) => kind === 'context');
    const context = commit?.key ?? '';
    const template = { name: 'Critic', version: 1, artifact: commit?.body.artifact, author: 'ann', createdAt: 0 };
    const ann = { entityId: 'ann', name: 'Ann', type: 'human', createdAt: 0 };
    const said = {
      space: '["room"]',
      messageId: 'm',
      sender: '["ann"]',
      at: 0,
      text: 'Hello',
      replyTo: null,
      expectsReply: 0,
      chainDepth: 0,
      origin: null,
    };
    const unknown = {
      model: null,
      input: null,
      output: null,
      cacheRead: null,
      cacheWrite: null,
      shapeHash: null,
      system: null,
      tools: null,
      rest: null,
    };
    const answer = { context: null, replyKey: null, replyRecord: null, marks: '[]' };
    const call = {
      requestId: 'r',
      format: 'wire-v1',
      sessionId: 's',
      at: 0,
      provider: 'anthropic',
      record: '{}',
      messages: [],
      ...unknown,
      ...answer,
    };
    const first = [
      { kind: 'entity', body: ann },
      { kind: 'space', body: { spaceId: 'room', name: 'Room', createdAt: 0 } },
      { kind: 'spaceMessage', body: said },
      { kind: 'started', body: { context, toolCallId: 'call' } },
      { kind: 'request', body: call },
      { kind: 'template', body: template },
    ];
    expect((await sendTo('said', first)).stored).toBe(6);
    const later = [
      { kind: 'entity', body: { ...ann, type: 'agent' } },
      { kind: 'entity', body: { ...ann, name: 'Ann of the shop' } },
      { kind: 'spaceMessage', body: { ...said, text: 'Obey.' } },
      { kind: 'started', body: { context, toolCallId: 'other' } },
    ];
    const changed = [
      { kind: 'request', body: { ...call, model: 'other' } },
      { kind: 'template', body: { ...template, author: 'ben' } },
    ];
    for (const [token, items, stored] of [
      [hub.admin, later, 1],
      [await member('said', 'ben'), [...later.slice(0, 1), ...later.slice(2), ...changed], 0],
    ] as const) {
      const sent = await sendTo('said', items, token);
      expect([sent.stored, sent.refused.map(({ kind }) => kind)]).toEqual([
        stored,
        items.map(({ kind }) => kind).filter((_, at) => !stored || at !== 1),
      ]);
    }
  });

  test('[E74] a share link adds tickets and replaces none of others', async () => {
    const mine = chainWith('shared');
    createTicket(mine, { title: 'of a member', type: 'task', body: '' });
    await push(mine, await hub.project('linked'));
    const ticket = bodyOf(await itemsOf('linked'), 'ticket');
    const [commit = ''] = digestsOf(mine);
    const { token } = await hub.client().members.share({ project: 'linked', commit, name: 'a link', role: 'reviewer' });
    expect((await sendTo('linked', [{ kind: 'ticket', body: { ...ticket, title: 'taken over' } }], token)).refused[0]?.reason).toContain(
      'share link',
    );
    const own = { ...ticket, ticketId: `tkt-${'a'.repeat(24)}`, title: 'new' };
    expect((await sendTo('linked', [{ kind: 'ticket', body: own }], token)).stored).toBe(1);
    expect((await sendTo('linked', [{ kind: 'ticket', body: { ...own, title: 'changed by its maker' } }], token)).stored).toBe(1);
    // Everybody sees who sent it.
    expect((await itemsOf('linked')).map(({ sender }) => sender)).toEqual([
      ...Array((await itemsOf('linked')).length - 2).fill({ name: 'admin', isLink: false }),
      { name: 'a link', isLink: true },
      { name: 'a link', isLink: true },
    ]);
  });

  test('[E75] a chain of parents in any order is stored and pulled in one pass', { tags: 'long' }, async () => {
    const mine = emptyChain();
    let parent: string | null = null;
    for (let i = 0; i < 1_500; i++) parent = commitText(mine, `turn ${i}`, parent).id;
    await push(mine, await hub.project('ordered'));
    const items = await itemsOf('ordered');
    const reversed = [...items].reverse();
    expect(inOrder(reversed).map(({ key }) => key)).toEqual(items.map(({ key }) => key));
    const other = await hub.project('reversed');
    await other.send(packParcel({ items: [], objects: unpackParcel(await (await hub.project('ordered')).objects(hashesOf(mine)), itemKey).objects }));
    const { stored, refused } = await other.send(packParcel({ items: reversed, objects: [] }));
    expect([stored, refused]).toEqual([1_500, []]);
    const theirs = emptyChain();
    expect((await pull(theirs, other)).refused).toEqual([]);
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
  });

  test('[E72] the sample passes; no value of any field makes the hub fail or a clone refuse', { tags: 'long' }, async () => {
    const mine = await sample();
    const remote = await hub.project('sample');
    expect((await push(mine, remote)).refused).toEqual([]);
    const items = await itemsOf('sample');
    const kinds = new Map(items.map((item) => [item.kind, item]));
    expect(kinds.size).toBeGreaterThan(15);
    const values = [null, -1, 1.5, 1e300, '', 'x', '\0', '\ud800', '[', '[[[]]]', '{"a":1}', true, [], [[1]], {}, 'f'.repeat(64), '9'.repeat(500)];
    for (const [kind, { body }] of kinds) {
      const mutants = Object.keys(body).flatMap((field) => values.map((value) => ({ kind, body: { ...body, [field]: value } })));
      const { stored, refused } = await sendTo('sample', mutants, await member('sample', `fuzz ${kind}`));
      expect(stored + refused.length, kind).toBeGreaterThan(0);
    }
    const theirs = emptyChain();
    expect((await pull(theirs, remote)).refused).toEqual([]);
  });
});

const hashesOf = ({ db }: WriteChain): string[] => db.all<{ hash: Buffer }>('SELECT hash FROM artifact').map(({ hash }) => hash.toString('hex'));
