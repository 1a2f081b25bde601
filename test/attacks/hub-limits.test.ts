// What a member, or the holder of a share link, can make a hub do with a small or odd call.
import { zstdCompressSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { blake3Of } from '../../src/core/artifacts/index.js';
import { itemKey, packParcel, pull, push, type SentItem, unpackParcel } from '../../src/core/sync/index.js';
import { createTicket } from '../../src/core/tickets/index.js';
import { chainWith, commitText, startTestHub, type TestHub } from '../support/hub.js';
import { emptyChain } from '../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

type Sent = { readonly kind: string; readonly body: object };

const blobOf = (items: readonly Sent[]): Blob =>
  new Blob([packParcel({ items: items as readonly SentItem[], objects: [] }) as Uint8Array<ArrayBuffer>]);
const sendTo = (project: string, items: readonly Sent[], token = hub.admin) => hub.client(token).sync.send({ project, parcel: blobOf(items) });

async function itemsOf(project: string): Promise<readonly SentItem[]> {
  const { parcel } = await hub.client().sync.items({ project, after: 0 });
  return unpackParcel(new Uint8Array(await parcel.arrayBuffer()), itemKey).items;
}

const call = (path: string, token: string, input: object): Promise<Response> =>
  fetch(`${hub.address}/rpc/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ json: input }),
  });

/** A parcel whose header is this text. */
function parcelOf(header: string): Uint8Array {
  const bytes = Buffer.from(header);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return zstdCompressSync(Buffer.concat([length, bytes]));
}

describe('small calls', () => {
  test('[E64] a parcel has few items, objects and members, because 2 KB can hold millions', () => {
    const many = (count: number, each: string): string => Array(count).fill(each).join(',');
    const empty = `["${blake3Of(Buffer.alloc(0)).toString('hex')}",0,"a"]`;
    const tooMany = [
      parcelOf(`{"items":[${many(20_001, '["x",{}]')}],"objects":[]}`),
      parcelOf(`{"items":[],"objects":[${many(100_001, empty)}]}`),
      parcelOf(`{"items":[["x",{"a":[${many(5_000_001, '0')}]}]],"objects":[]}`),
    ];
    for (const packed of tooMany) {
      expect(packed.length).toBeLessThan(4_096);
      expect(() => unpackParcel(packed, itemKey)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
    }
    expect(unpackParcel(parcelOf(`{"items":[${many(5_000, '["x",{}]')}],"objects":[${many(10_000, empty)}]}`), itemKey).objects).toHaveLength(10_000);
  });

  test('[E12] an object has a media type of printable characters', () => {
    const bytes = Buffer.from('x');
    const typed = (contentType: string): Uint8Array =>
      packParcel({ items: [], objects: [{ hash: blake3Of(bytes).toString('hex'), contentType, bytes }] });
    for (const type of ['', 'a\nb', 'a\0', 'ä', 'x'.repeat(401)]) expect(() => unpackParcel(typed(type), itemKey)).toThrow('no valid media type');
    expect(unpackParcel(typed('text/plain'), itemKey).objects).toHaveLength(1);
  });

  test('[E65] no name in a call hides its refusal, or makes the audit log fail', async () => {
    await hub.project('named');
    const { token } = await hub.client().members.add({ project: 'named', name: 'inventive', role: 'writer' });
    const long = 'x'.repeat(100_000);
    for (const input of [{ project: 'named', 'a\0b': 1 }, { project: 'named', [long]: 1 }, { project: long }])
      expect((await call('sync/hello', token, input)).status).toBe(400);
    const kinds = ['a\0b', long];
    const sent = await sendTo('named', [...kinds.map((kind) => ({ kind, body: {} })), { kind: 'ticket', body: {} }], token);
    expect(sent.refused.map(({ kind }) => kind)).toEqual(['a\0b', 'x'.repeat(64), 'ticket']);
    const lines = (await hub.client().audit.list({ project: 'named' })).filter(({ by }) => by === 'inventive');
    expect(lines.map(({ action }) => action)).toEqual(['refused items', ...Array(3).fill('refused sync.hello')]);
    for (const { what } of lines) expect(what?.length).toBeLessThan(200);
    // What an older hub noted is shown in part.
    await hub.query(
      `INSERT INTO audit (project, by, action, count, what) SELECT no, 'old', 'old', 1, repeat('y', 50000) FROM project WHERE name = 'named'`,
    );
    expect((await hub.client().audit.list({ project: 'named' }))[0]?.what).toHaveLength(2_000);
  });

  test('[E67] a NUL in a commit stops no outlines of formats that only this project knows', async () => {
    await push(chainWith('plain'), await hub.project('nul'));
    const { body } = (await itemsOf('nul')).find(({ kind }) => kind === 'context') as SentItem;
    expect((await sendTo('nul', [{ kind: 'context', body: { ...body, summary: 'a\0"format":"made-up"' } }])).stored).toBe(1);
    const outlines = (format: string) => hub.client().sync.outlines({ project: 'nul', contents: [[String(body.artifact), format]] });
    await expect(outlines('made-up')).rejects.toThrow('No commit of this project has the format made-up');
  });

  test('[E6] an item that arrives while a page is read does not end the pull', async () => {
    const mine = chainWith('first');
    const remote = await hub.project('race');
    await push(mine, remote);
    const { seq } = await hub.client().sync.hello({ project: 'race' });
    const original = pg.Client.prototype.query;
    let isFirst = true;
    const query = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (this: pg.Client, ...given: unknown[]) {
      const isNewest = /order by "project" desc/.test(String(given[0]));
      if (isNewest && isFirst) {
        isFirst = false;
        commitText(mine, 'second');
        await push(mine, remote);
      }
      return Reflect.apply(original, this, given) as never;
    } as never);
    onTestFinished(() => query.mockRestore());
    const page = await hub.client().sync.items({ project: 'race', after: seq });
    expect([isFirst, page.seq, page.isLast]).toEqual([false, seq, true]);
    query.mockRestore();
    expect((await pull(emptyChain(), remote)).items).toEqual({ context: 2 });
  });
});

describe('the holder of a share link', () => {
  /** A project with a shared commit, another commit, and a ticket. */
  async function shared(project: string) {
    const mine = chainWith('shared');
    commitText(mine, 'hidden');
    createTicket(mine, { title: 'of a member', type: 'task', body: '' });
    await push(mine, await hub.project(project));
    const items = await itemsOf(project);
    const [commit] = items.filter(({ kind }) => kind === 'context');
    const { token } = await hub.client().members.share({ project, commit: commit?.key ?? '', name: 'a link', role: 'reviewer' });
    return { items, token, ticket: items.find(({ kind }) => kind === 'ticket') as SentItem };
  }

  test('[E18] learns of no item that it does not read whether the hub holds it', async () => {
    const { items, token, ticket } = await shared('asked');
    const own = { ...ticket.body, ticketId: `tkt-${'a'.repeat(24)}` };
    await sendTo('asked', [{ kind: 'ticket', body: own }], token);
    const all = await itemsOf('asked');
    const { items: lacking } = await hub
      .client(token)
      .sync.lack({ project: 'asked', items: all.map(({ kind, key, digest }) => [kind, key, digest]), objects: [] });
    const known = all.filter((_, at) => !lacking.includes(at)).map(({ kind, key }) => `${kind} ${key}`);
    expect(known).toEqual([`context ${items.find(({ kind }) => kind === 'context')?.key}`, `ticket ${itemKey('ticket', own)}`]);
  });

  test('[E74] adds no start, dependency, version or answer to a ticket of others', async () => {
    const { items, token, ticket } = await shared('owned');
    const own = { ...ticket.body, ticketId: `tkt-${'b'.repeat(24)}` };
    const [mine, theirs, at] = [itemKey('ticket', own), ticket.key, Date.now()];
    const version = items.find(({ kind }) => kind === 'ticketVersion')?.body ?? {};
    const event = { at, who: 'bot', task: 'work', contextId: null, moveFrom: null, moveTo: null, by: 'admin' };
    const about = (of: string, dependsOn: string): Sent[] => [
      { kind: 'ticketDependency', body: { ticket: of, dependsOn } },
      { kind: 'ticketVersion', body: { ...version, ticket: of, at } },
      { kind: 'ticketEvent', body: { ...event, ticket: of } },
    ];
    const start = { ...event, ticket: theirs, who: 'somebody' };
    expect((await sendTo('owned', [{ kind: 'ticketEvent', body: start }])).stored).toBe(1);
    const answer = { kind: 'ticketAnswer', body: { event: itemKey('ticketEvent', start as never), at, by: 'admin', answer: 'dismissed' } };
    const sent = await sendTo('owned', [{ kind: 'ticket', body: own }, ...about(mine, theirs), ...about(theirs, mine), answer], token);
    expect([sent.stored, sent.refused.map(({ kind }) => kind).sort()]).toEqual([
      4,
      ['ticketAnswer', 'ticketDependency', 'ticketEvent', 'ticketVersion'],
    ]);
    for (const { reason } of sent.refused) expect(reason).toContain('A share link changes only');
  });
});
