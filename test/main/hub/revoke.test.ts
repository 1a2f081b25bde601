import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { push } from '../../../src/core/sync/index.js';
import { chainWith, digestsOf, startTestHub, type TestHub } from '../../support/hub.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

const works = (token: string, project: string): Promise<boolean> =>
  hub
    .client(token)
    .sync.hello({ project })
    .then(
      () => true,
      () => false,
    );

/** An admin of a project who made a writer, who made a link. */
async function line(project: string) {
  const mine = chainWith(project);
  await push(mine, await hub.project(project));
  const [commit = ''] = digestsOf(mine);
  const ann = await hub.client().members.add({ project, name: 'ann', role: 'admin' });
  const ben = await hub.client(ann.token).members.add({ project, name: 'ben', role: 'writer' });
  const link = await hub.client(ben.token).members.share({ project, commit, name: 'link of ben', role: 'reader' });
  return { ann, ben, link, commit };
}

describe('revoking a person', () => {
  test('[E76] what a person made ends with that person, and is listed', async () => {
    const { ann, ben, link } = await line('ends');
    expect((await hub.client().members.list({ project: 'ends' })).filter(({ madeBy }) => madeBy === ann.id).map(({ name }) => name)).toEqual(['ben']);
    const { made } = await hub.client().members.revoke({ id: ann.id });
    expect(made.map(({ id, name, isLink }) => [id, name, isLink])).toEqual([
      [ben.id, 'ben', false],
      [link.id, 'link of ben', true],
    ]);
    for (const { token } of [ann, ben, link]) expect(await works(token, 'ends')).toBe(false);
    expect((await fetch(`${hub.address}/share/ends/${link.token}`)).status).toBe(403);
    const [entry] = await hub.client().audit.list({ project: 'ends' });
    expect([entry?.action, entry?.count, entry?.what]).toEqual(['revoke ann', 3, `with what it made: ${ben.id} ben, ${link.id} link of ben`]);
  });

  test('[E76] what somebody keeps on purpose stays, and belongs to them', async () => {
    const { ann, ben, link } = await line('kept');
    const carol = await hub.client().members.add({ project: 'kept', name: 'carol', role: 'admin' });
    expect((await hub.client(carol.token).members.revoke({ id: ann.id, keep: [ben.id] })).made).toEqual([]);
    expect([await works(ann.token, 'kept'), await works(ben.token, 'kept'), await works(link.token, 'kept')]).toEqual([false, true, true]);
    // Now it ends with carol.
    expect((await hub.client().members.revoke({ id: carol.id })).made.map(({ name }) => name)).toEqual(['ben', 'link of ben']);
    expect(await works(link.token, 'kept')).toBe(false);
  });

  test('[E76] who revokes their maker keeps their own access', async () => {
    const { ann } = await line('maker');
    const dan = await hub.client(ann.token).members.add({ project: 'maker', name: 'dan', role: 'admin' });
    const { made } = await hub.client(dan.token).members.revoke({ id: ann.id });
    expect(made.map(({ name }) => name)).toEqual(['ben', 'link of ben']);
    expect(await works(dan.token, 'maker')).toBe(true);
  });

  test('[E76] a token or link ends no later than its maker', async () => {
    const { commit } = await line('later');
    const soon = '2099-01-01T00:00:00.000Z';
    const eve = await hub.client().members.add({ project: 'later', name: 'eve', role: 'admin', expiresAt: soon as never });
    const client = hub.client(eve.token).members;
    await client.add({ project: 'later', name: 'forever', role: 'reader' });
    await client.share({ project: 'later', commit, name: 'longer', role: 'reader', expiresAt: '2150-01-01T00:00:00.000Z' as never });
    const ends = (await hub.client().members.list({ project: 'later' })).filter(({ madeBy }) => madeBy === eve.id).map(({ expiresAt }) => expiresAt);
    expect(ends).toEqual([soon, soon]);
  });

  test('[E76] what a person makes at the moment of the revocation ends with that person too', { tags: 'long' }, async () => {
    const { ann, ben, commit } = await line('race');
    const role = 'admin' as const;
    const making = Array.from({ length: 24 }, (_, at) =>
      [
        () => hub.client(ann.token).members.add({ project: 'race', name: `door ${at}`, role }),
        () => hub.client(ann.token).members.share({ project: 'race', commit, name: `link ${at}`, role: 'reader' }),
        () => hub.client(ben.token).members.share({ project: 'race', commit, name: `link of ben ${at}`, role: 'reader' }),
      ][at % 3]?.(),
    );
    const revoking = hub.client().members.revoke({ id: ann.id });
    const more = Array.from({ length: 12 }, (_, at) => hub.client(ann.token).members.add({ project: 'race', name: `late ${at}`, role }));
    const made = await Promise.allSettled([...making, ...more]);
    await revoking;
    const tokens = made.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value.token] : []));
    for (const token of [...tokens, ann.token, ben.token]) expect(await works(token, 'race')).toBe(false);
    expect(
      (await hub.client().members.list({ project: 'race' })).filter(({ revoked, madeBy }) => !revoked && madeBy !== null && madeBy !== 1),
    ).toEqual([]);
  });
});
