import { expect, test } from 'vitest';
import { door } from '../../support/door.js';
import { refusalOf } from '../handover/world.js';

test('[U1] nothing starts by itself until a person says so, in each project apart', async () => {
  const { client, project } = door();
  expect(await client.runner.getPolicy({})).toEqual({ rules: [] });
  const policy = {
    rules: [
      { for: { space: 'space-1' }, who: 'bot', performer: { provider: 'model' }, limits: { calls: 5 }, parallel: 2, otherTools: 'stop' as const },
      { for: { ticketType: 'review' }, performer: { agent: 'codex' as const, folder: '/work', permissions: 'plan' as const } },
    ],
    limits: { minutes: 5 },
    parallel: 3,
  };
  expect(await client.runner.setPolicy(policy)).toEqual(policy);
  expect(await client.runner.getPolicy({})).toEqual(policy);
  await client.project.create({ dir: `${project.dir}-other` });
  expect(await client.runner.getPolicy({})).toEqual({ rules: [] });
});

test('[U1] a policy names what may start, by whom, and nothing unknown', async () => {
  const { client } = door();
  const set = (rule: object) => refusalOf(client.runner.setPolicy({ rules: [rule] } as never));
  const performer = { provider: 'model' };
  expect(await set({ for: { everything: true }, performer })).toMatchObject({
    code: 'BAD_REQUEST',
    data: { field: expect.stringMatching(/^rules\.0\.for/) },
  });
  expect(await set({ for: { space: 's' }, performer, command: 'rm' })).toMatchObject({ code: 'BAD_REQUEST' });
  expect(await set({ for: { space: 's' } })).toMatchObject({ code: 'BAD_REQUEST' });
  expect(await client.runner.getPolicy({})).toEqual({ rules: [] });
});

test('[U3] an agent that Stemma cannot run is refused by name', async () => {
  const { client } = door();
  const asked = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Hello' } }] as never });
  const refusal = await refusalOf(client.runner.start({ what: { commit: asked.id }, performer: { agent: 'pi', folder: '/work' } }));
  expect(refusal).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'performer.agent' } });
  expect(await client.runner.agents({})).toEqual([]);
  expect(await client.runner.list({})).toEqual([]);
});
