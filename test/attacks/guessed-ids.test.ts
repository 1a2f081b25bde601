import { expect, test } from 'vitest';
import { createTicket } from '../../src/core/tickets/index.js';
import { newToken } from '../../src/main/hub/access.js';
import { newSecret } from '../../src/main/web/link.js';
import { door } from '../support/door.js';
import { model, read, says } from '../support/model-of-jobs.js';

/** The number of random bits in ids of one kind, as far as a sample shows: hexadecimal digits that differ between ids, four bits each. */
function randomBits(ids: readonly string[]): number {
  const digits = ids.map((id) => id.replace(/^[a-z]+-/, '').replaceAll('-', ''));
  expect(new Set(digits).size).toBe(ids.length);
  expect(
    digits.every((each) => /^[0-9a-f]+$/.test(each)),
    digits[0],
  ).toBe(true);
  const length = Math.min(...digits.map((each) => each.length));
  return 4 * Array.from({ length }, (_, at) => new Set(digits.map((each) => each[at])).size).filter((values) => values > 8).length;
}

const count = 60;

test('[T81] ids of tickets, runs, jobs, links and tokens have at least 96 random bits', { tags: 'long' }, async () => {
  const { client, chain } = door({ providers: [model(() => says('ok'))] });
  // The same words at the same time, so that nothing but chance makes them differ.
  const tickets = Array.from({ length: count }, () => createTicket(chain, { title: 'same', type: 'task' }).ticketId);
  expect(randomBits(tickets)).toBeGreaterThanOrEqual(96);
  // A second project does the same at the same time and gets other ids, so nobody can work them out.
  const other = door({ providers: [] });
  expect(tickets).not.toContain(createTicket(other.chain, { title: 'same', type: 'task' }).ticketId);

  const [me, bot] = [await client.space.addEntity({ name: 'Ann', type: 'human' }), await client.space.addEntity({ name: 'Bot', type: 'agent' })];
  const { spaceId } = await client.space.create({ members: [me.entityId, bot.entityId] });
  for (let at = 0; at < count; at++) {
    await client.space.post({ spaceId, senderId: me.entityId, text: 'go' });
    for (const { runId } of await client.run.list({ status: 'running' })) await client.run.finish({ runId, status: 'completed' });
  }
  expect(randomBits((await client.run.list({})).map(({ runId }) => runId))).toBeGreaterThanOrEqual(96);

  const { id } = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Hi.' } }] as never });
  for (let at = 0; at < count; at++) await read(await client.runner.start({ what: { commit: id }, performer: { provider: 'model' } }));
  expect(randomBits((await client.runner.list({})).map(({ jobId }) => jobId))).toBeGreaterThanOrEqual(96);

  const secrets = Array.from({ length: count }, () => Buffer.from(newSecret(), 'base64url').toString('hex'));
  expect(randomBits(secrets)).toBeGreaterThanOrEqual(96);
  const tokens = Array.from({ length: count }, () => Buffer.from(newToken().token.replace(/^stm_/, ''), 'base64url').toString('hex'));
  expect(randomBits(tokens)).toBeGreaterThanOrEqual(96);
});

test('[T81] a short id of an older version is read, changed and listed', async () => {
  const { client, chain } = door();
  const { ticketId } = await client.ticket.create({ title: 'old', type: 'task' });
  chain.db.run("UPDATE ticket SET ticketId = 'tkt-d05f' WHERE ticketId = ?", ticketId);
  expect(await client.ticket.get({ ticketId: 'tkt-d05f' })).toMatchObject({ title: 'old' });
  expect(await client.ticket.update({ ticketId: 'tkt-d05f', body: 'more' })).toMatchObject({ body: 'more' });
  const child = await client.ticket.create({ title: 'new', type: 'task', parent: 'tkt-d05f' });
  expect(child.parent).toBe('tkt-d05f');
  expect((await client.ticket.list({})).map((each) => each.ticketId)).toContain('tkt-d05f');
});
