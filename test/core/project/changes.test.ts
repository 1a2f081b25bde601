import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkpoint, type WriteChain } from '../../../src/core/chain/index.js';
import type { ProjectChange } from '../../../src/core/contract/index.js';
import { beginTurn } from '../../../src/core/handover/index.js';
import { changes } from '../../../src/core/project/index.js';
import { acknowledge, createTicket, discuss, events, moveTicket } from '../../../src/core/tickets/index.js';
import { prompt } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { fail, model } from '../../support/model-of-jobs.js';
import { emptyChain, objectTotals } from '../../support/project.js';

/** The areas that are reported as changed: at the start, and after each piece of work. */
async function changedAfter(chain: WriteChain, ...works: (() => unknown)[]): Promise<ProjectChange['changed'][]> {
  const ending = new AbortController();
  const stream = changes(() => chain, {}, ending.signal);
  const next = async () => ((await stream.next()).value as ProjectChange).changed;
  const reported = [await next()];
  for (const work of works) {
    work();
    reported.push(await next());
  }
  ending.abort();
  expect((await stream.next()).done).toBe(true);
  return reported;
}

test('[K5] the stream reports new commits and every change of a ticket', async () => {
  const chain = emptyChain();
  const { ticketId } = createTicket(chain, { title: 'a', type: 'task' });
  const event = () => events(chain, { state: 'waiting' })[0]?.event ?? 0;
  const reported = await changedAfter(
    chain,
    () =>
      checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', text: prompt('u', 'hi'), template: 'x', checkpoint: 'explicit' }),
    () => createTicket(chain, { title: 'b', type: 'task' }),
    () => moveTicket(chain, { ticketId, to: 'review', reviewers: ['@rev'] }),
    () => acknowledge(chain, { event: event(), by: '@rev', as: 'taken' }),
    () => discuss(chain, { ticketId, text: 'Why?' }),
  );
  expect(reported).toEqual([[], ['commits'], ['tickets'], ['tickets'], ['tickets'], ['commits', 'tickets']]);
});

test('[K5] the stream reports turns and jobs whose state changes', async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waiting = model(
    () =>
      async function* () {
        await held;
        yield* fail('overloaded');
      },
  );
  const { client, chain } = door({ providers: [waiting] });
  await client.profile.put({ name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } } as never);
  const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write it.' });
  const { id } = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Hi.' } }] as never });
  const reported = await changedAfter(
    chain,
    () => beginTurn(chain, { agentTurnId }),
    () => client.runner.start({ what: { commit: id }, performer: { provider: 'model' } }),
    () => release(),
  );
  expect(reported.map((areas) => areas.filter((area) => area === 'turns' || area === 'jobs'))).toEqual([[], ['turns'], ['jobs'], ['jobs']]);
});

test('[K5] changes that a sum would hide are reported, and a stream continues where one stood', async () => {
  const { client, chain } = door();
  await client.profile.put({ name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } } as never);
  const launch = async () => (await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write it.' })).agentTurnId ?? '';
  const [one, two] = [await launch(), await launch()];
  const { stand } = await client.project.info({});
  const first = async (since?: string) => {
    const ending = new AbortController();
    const { value } = await changes(() => chain, { since }, ending.signal).next();
    return (value as ProjectChange).changed;
  };
  const set = (id: string, status: string) => chain.db.run('UPDATE agentTurn SET status = ? WHERE agentTurnId = ?', status, id);
  set(one, 'running');
  set(two, 'suspended');
  const before = await client.project.info({});
  expect(await first(stand)).toEqual(['turns']);
  set(one, 'suspended');
  set(two, 'running');
  expect(await first(before.stand)).toEqual(['turns']);
  expect(await first((await client.project.info({})).stand)).toEqual([]);
  expect(await first()).toEqual([]);
});

test('[K5] the kept numbers of a project are those of its rows, also after rows changed or went', async () => {
  const { client, chain } = door();
  for (const text of ['apple', 'banana', 'cherry'])
    await client.card.add({ card: { type: 'message', authorId: 'a', content: { kind: 'text', text } } } as never);
  checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', text: prompt('u', 'hi'), template: 'x', checkpoint: 'explicit' });
  chain.db.run('UPDATE commits SET entries = entries + 3 WHERE project = ?', chain.project);
  chain.db.run("DELETE FROM card WHERE content LIKE '%banana%'");
  // Objects that are divided, compressed, collected or lost count once, or no more.
  const { no } = chain.artifacts.put(randomBytes(2_000_000), { contentType: 'text/plain', policy: 'pin' });
  chain.artifacts.put(Buffer.from('unused'), { contentType: 'text/plain' });
  for (const _ of chain.artifacts.repack());
  chain.artifacts.giveUp(no);
  const { counts, bytes } = await client.project.info({});
  const totals = objectTotals(chain);
  expect([counts.artifacts, bytes.logical]).toEqual([totals.objects, totals.logical]);
  const countOf = (sql: string) => chain.db.one<{ n: number }>(sql)?.n;
  expect(counts).toMatchObject({
    commits: countOf('SELECT COUNT(*) AS n FROM commits'),
    entries: countOf('SELECT SUM(entries) AS n FROM commits'),
    cards: countOf('SELECT COUNT(*) AS n FROM card'),
    boxes: countOf('SELECT COUNT(*) AS n FROM box'),
  });
  expect(counts.cards).toBe(2);
});
