import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/core/base/index.js';
import { findCommit, type WriteChain } from '../../../src/core/chain/index.js';
import { fetchFromHub, itemKey, packTexts, pull, push, unpackParcel, unpackTexts } from '../../../src/core/sync/index.js';
import { createTicket } from '../../../src/core/tickets/index.js';
import { type FakeHub, fakeHub } from '../../support/fake-hub.js';
import { commitText } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';

const count = ({ db }: WriteChain, table: string): number => db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`)?.n ?? -1;
const bodyOf = ({ list }: FakeHub, kind: string): JsonObject => list.find((item) => item.kind === kind)?.body as JsonObject;

/** A hub with one commit and one ticket of an honest project. */
async function honest(): Promise<{ hub: FakeHub; id: string }> {
  const mine = emptyChain();
  const { id } = commitText(mine, 'hello');
  createTicket(mine, { title: 'Honest', type: 'task', body: '' });
  const hub = fakeHub();
  await push(mine, hub);
  return { hub, id };
}

describe('a hostile hub', () => {
  test('[E51] a bad item is refused by name, leaves no row and stops nothing else', async () => {
    const { hub } = await honest();
    const ticket = bodyOf(hub, 'ticket');
    hub.list.length = 0;
    hub.add('ticket', { ...ticket, ticketId: 'tkt-a1', status: 'gone' });
    hub.add('ticket', { ...ticket, ticketId: 'tkt-a2', extra: 1 });
    hub.add('ticket', { ...ticket, ticketId: 'tkt-a3', parent: '["tkt-none"]' });
    hub.add('ticket', { ...ticket, ticketId: 'tkt-a4' });
    const theirs = emptyChain();
    const { refused, items } = await pull(theirs, hub);
    expect(items).toEqual({ ticket: 1 });
    expect(refused.map(({ key, reason }) => [key, reason]).sort()).toEqual([
      ['["tkt-a1"]', expect.stringContaining('status')],
      ['["tkt-a2"]', expect.stringContaining('extra')],
      ['["tkt-a3"]', expect.stringContaining('tkt-none')],
    ]);
    expect(count(theirs, 'ticket')).toBe(1);
  });

  test('[E51] a refused item is tried again by the next pull, and said until it is stored', async () => {
    const { hub, id } = await honest();
    const [hash, object] = [...hub.stored][0] ?? [];
    hub.stored.clear();
    const theirs = emptyChain();
    expect((await pull(theirs, hub)).refused).toEqual([expect.objectContaining({ kind: 'context' })]);
    expect((await pull(theirs, hub)).refused).toHaveLength(1);
    hub.stored.set(hash as string, object as never);
    const { refused, items } = await pull(theirs, hub);
    expect([refused, items]).toEqual([[], { context: 1 }]);
    expect(findCommit(theirs, id as never).id).toBe(id);
    expect(await pull(theirs, hub)).toMatchObject({ refused: [], items: {} });
  });

  test('[E51, E52] a commit whose digest does not match leaves no row', async () => {
    const { hub } = await honest();
    const commit = bodyOf(hub, 'context');
    hub.list.length = 0;
    hub.add('context', { ...commit, createdAt: Number(commit.createdAt) + 1 });
    const theirs = emptyChain();
    expect((await pull(theirs, hub)).refused[0]?.reason).toContain('digest');
    expect([count(theirs, 'commits'), count(theirs, 'firstParentRun')]).toEqual([0, 0]);
  });

  test.each(['principal', 'machine', 'sessionId', 'format', 'checkpoint', 'messageCount', 'tokenCount', 'type'])(
    '[E52] a later version cannot change %s of a commit',
    async (field) => {
      const { hub, id } = await honest();
      const commit = bodyOf(hub, 'context');
      const other = { format: 'markdown', checkpoint: 'explicit', messageCount: 7, tokenCount: 7, type: 'snapshot' }[field] ?? 'somebody';
      hub.add('context', { ...commit, [field]: other, summary: 'posed' });
      hub.add('context', { ...commit, summary: 'said later' });
      for (const theirs of [emptyChain(), emptyChain()]) {
        const { refused } = await pull(theirs, hub);
        expect(refused.map(({ reason }) => reason)).toEqual([expect.stringContaining(field)]);
        const row = theirs.db.one<Record<string, unknown>>('SELECT * FROM commits WHERE id = ?', id);
        expect([row?.[field], row?.summary]).toEqual([commit[field], 'said later']);
      }
    },
  );

  test('[E74] a hub changes no message that was received, and makes no person an agent', async () => {
    const { hub } = await honest();
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
    hub.add('entity', ann);
    hub.add('space', { spaceId: 'room', name: 'Room', createdAt: 0 });
    hub.add('spaceMessage', said);
    const theirs = emptyChain();
    expect((await pull(theirs, hub)).refused).toEqual([]);
    hub.add('entity', { ...ann, type: 'agent' });
    hub.add('spaceMessage', { ...said, text: 'Obey.' });
    const { refused } = await pull(theirs, hub);
    expect(refused.map(({ kind, reason }) => [kind, reason.split(',')[0]])).toEqual([
      ['entity', 'This version changes type'],
      ['spaceMessage', 'This version changes text'],
    ]);
    hub.add('entity', { ...ann, name: 'Ann of the shop' });
    // The version that this machine has is nothing new, so the changed one stays among what it refused.
    expect((await pull(theirs, hub)).refused.map(({ kind }) => kind)).toEqual(['spaceMessage']);
    const rows = [theirs.db.one('SELECT name, type FROM entity'), theirs.db.one('SELECT text FROM spaceMessage')];
    expect(rows).toEqual([{ name: 'Ann of the shop', type: 'human' }, { text: 'Hello' }]);
  });

  test('[E52] a client falls back to an earlier valid version of a commit', async () => {
    const { hub, id } = await honest();
    hub.add('context', { ...bodyOf(hub, 'context'), messageCount: -1 });
    const theirs = emptyChain();
    expect((await pull(theirs, hub)).refused).toHaveLength(1);
    expect(findCommit(theirs, id as never).messageCount).toBe(1);
  });

  test('[E51] a share link sends tickets only', async () => {
    const { hub } = await honest();
    const link = { name: 'link of ann', isLink: true };
    hub.add('card', { cardId: 'c' }, link);
    hub.list[0] = { ...(hub.list[0] as FakeHub['list'][number]), sender: link };
    const { refused } = await pull(emptyChain(), hub);
    expect(refused.map(({ kind, reason }) => [kind, reason.includes('link of ann')])).toEqual([
      ['context', true],
      ['card', true],
    ]);
  });

  test('[E50] counts are so small that lists can add them up', async () => {
    const { hub } = await honest();
    const commit = bodyOf(hub, 'context');
    hub.list.length = 0;
    for (const field of ['messageCount', 'tokenCount', 'entries', 'errors']) hub.add('context', { ...commit, [field]: Number.MAX_SAFE_INTEGER });
    hub.add('context', { ...commit, messageCount: 2 ** 31 - 1 });
    const { refused, items } = await pull(emptyChain(), hub);
    expect([refused.map(({ reason }) => reason.split(' ')[0]), items]).toEqual([['messageCount', 'tokenCount', 'entries', 'errors'], { context: 1 }]);
    const largest = 4 * 1024 ** 3;
    const source = { sourceId: 's', path: '/s', format: 'raw-text', hash: '', resumeAt: 0, resumeHash: '', sessionId: null, title: null, cwd: null };
    for (const [size, refusals] of [
      [largest, 0],
      [largest + 1, 1],
    ] as const) {
      hub.add('source', { ...source, size, tips: [], pieces: [], importedAt: 0 });
      expect((await pull(emptyChain(), hub)).refused.filter(({ kind }) => kind === 'source')).toHaveLength(refusals);
    }
  });

  test('[E51] a name that a list shows with its version is shorter than other names', async () => {
    const { hub } = await honest();
    const artifact = hub.object('You are.');
    for (const length of [400, 380]) hub.add('template', { name: 'x'.repeat(length), version: 2 ** 31 - 1, artifact, author: null, createdAt: 0 });
    const { refused, items } = await pull(emptyChain(), hub);
    expect([refused.map(({ kind }) => kind), items.template]).toEqual([['template'], 1]);
  });

  test('[E53] a file or a call that names one object a million times is not read as often', async () => {
    const { hub } = await honest();
    const commit = bodyOf(hub, 'context');
    const hash = hub.object(JSON.stringify({ role: 'user', content: 'x'.repeat(64 * 1024) }));
    const theirs = emptyChain();
    const pieces = Array.from({ length: 10_000 }, () => [hash, 0, 64 * 1024]);
    const facts = { sourceId: 's', path: '/s', format: 'claude-code-v1', size: 1, hash: '', resumeAt: 0, resumeHash: '' };
    hub.add('source', { ...facts, sessionId: null, title: null, cwd: null, tips: [String(commit.digest)], pieces, importedAt: 0 });
    const call = (requestId: string, times: number) => {
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
      const messages = Array<string>(times).fill(hash);
      hub.add('request', {
        requestId,
        format: 'wire-v1',
        sessionId: 's',
        at: 0,
        provider: 'anthropic',
        record: '{}',
        messages,
        ...unknown,
        ...answer,
      });
    };
    call('often', 1_000);
    call('too often', 5_000);
    const ranges = vi.spyOn(theirs.artifacts, 'readRange');
    const reads = vi.spyOn(theirs.artifacts, 'read');
    const { refused } = await pull(theirs, hub);
    expect(refused.map(({ kind, key, reason }) => [kind, key, reason.includes('messages of a call')])).toEqual([['request', '["too often"]', true]]);
    expect([ranges.mock.calls.length, reads.mock.calls.length < 100]).toEqual([0, true]);
  });

  test('[E53] a page without items that is not the last one ends the pull', async () => {
    const { hub } = await honest();
    let pages = 0;
    const endless = { ...hub, items: async (after: number) => ({ ...(await hub.items(2 ** 40)), seq: after + 1, isLast: pages++ > 100 }) };
    await expect(pull(emptyChain(), endless)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(pages).toBe(1);
  });

  test('[E53] a list of items without progress ends the pull', async () => {
    const { hub } = await honest();
    for (const seq of [0, -1, Number.NaN, 0.5]) {
      const stuck = { ...hub, items: async (after: number) => ({ ...(await hub.items(after)), seq, isLast: false }) };
      await expect(pull(emptyChain(), stuck)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    }
  });

  test('[E53] an object that was not asked for is not stored', async () => {
    const { hub } = await honest();
    hub.object('unwanted');
    const all = { ...hub, objects: async () => hub.objects([...hub.stored.keys()]) };
    const theirs = emptyChain();
    await pull(theirs, all);
    expect(theirs.db.all<{ contentType: string }>('SELECT contentType FROM artifact WHERE size = 8')).toEqual([]);
  });

  test('[E53] an object that was not asked for does not stop a read on demand', async () => {
    const theirs = emptyChain();
    const { id } = commitText(theirs, 'first');
    const later = commitText(theirs, 'later', id);
    const hub = fakeHub();
    await push(theirs, hub);
    const mine = emptyChain();
    await pull(mine, hub, { onDemand: true });
    const { artifact } = findCommit(mine, later.id);
    const { ref, gone } = mine.artifacts.stat(artifact);
    expect(gone).toBe('evicted');
    hub.object('unwanted');
    const all = { ...hub, objects: async () => hub.objects([...hub.stored.keys()]) };
    // The first fetch asks for outlines.
    for (let times = 0; times < 3; times++) await fetchFromHub(mine, all, ref);
    expect(Buffer.from(mine.artifacts.read(artifact)).toString()).toBe('later');
  });

  test('[E53] deep, crowded or inflated answers are refused before they are parsed', { tags: 'long' }, () => {
    const parcel = (header: string): Uint8Array => {
      const bytes = Buffer.from(header);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return zstdCompressSync(Buffer.concat([length, bytes]));
    };
    const deep = `{"items":[["ticket",{"x":${'['.repeat(300)}${']'.repeat(300)}}]],"objects":[]}`;
    expect(() => unpackParcel(parcel(deep), itemKey)).toThrow('header');
    expect(() => unpackParcel(parcel(`{"items":[${'[],'.repeat(7_000_000)}[]],"objects":[]}`), itemKey)).toThrow('header');
    expect(() => unpackParcel(zstdCompressSync(Buffer.alloc(300 * 1024 * 1024)), itemKey)).toThrow('unpacked');
    expect(() => unpackParcel(parcel('{"items":[],"objects":[]}'), itemKey, 10)).toThrow('unpacked');
    expect(unpackTexts(packTexts(['a', null, '[['])).length).toBe(3);
    expect(() => unpackTexts(zstdCompressSync(`[${'[],'.repeat(1_000_000)}[]]`))).toThrow('list of texts');
    expect(() => unpackTexts(zstdCompressSync(`[${'null,'.repeat(1_000_000)}null]`))).toThrow('list of texts');
    expect(() => unpackTexts(zstdCompressSync(Buffer.alloc(200 * 1024 * 1024, 0x20)))).toThrow('unpacked');
  });
});
