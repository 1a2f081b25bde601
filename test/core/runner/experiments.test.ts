import { expect, test } from 'vitest';
import { pulse } from '../../../src/core/runner/index.js';
import { door } from '../../support/door.js';
import { fail, model, type Reply, read, says } from '../../support/model-of-jobs.js';
import { refusalOf } from '../handover/world.js';

/** An experiment with two cases, and a policy that allows it. */
async function experiment(choose: (body: string, number: number) => Reply) {
  const provider = model(choose);
  const made = door({ providers: [provider] });
  const { client, engine, project } = made;
  const turn = await client.context.fork({
    id: null,
    edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Name a color.' } }] as never,
  });
  const cases = [
    { caseId: 'plain', title: 'Plain', turnId: turn.id, provider: 'model', model: 'm-1', samples: 2 },
    { caseId: 'recorded', title: 'Recorded', turnId: turn.id, provider: 'recorded' },
  ];
  const checks = [{ kind: 'contains' as const, text: 'blue' }];
  const { experimentId } = await client.experiment.save({ title: 'Colors', cases, checks });
  await client.runner.setPolicy({ rules: [{ for: { experiment: 'Colors' }, performer: { provider: 'model' } }] });
  const settle = async (): Promise<void> => {
    for (let pulses = 0; pulses < 10; pulses++) {
      pulse(engine.runner(project), await client.runner.getPolicy({}));
      await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
    }
  };
  return { ...made, provider, experimentId, cases, checks, settle };
}

test('[U1] a policy for an experiment runs its missing cases once, and a changed case again', async () => {
  const { client, settle, provider, experimentId, cases, checks } = await experiment((_body, number) => says(number === 1 ? 'red' : 'blue'));
  await settle();
  expect(provider.asked).toHaveLength(2);
  const jobs = await client.runner.list({});
  expect(jobs).toMatchObject([{ title: 'Plain', status: 'success', byPolicy: true, used: { calls: 2 }, what: { experimentId, caseId: 'plain' } }]);
  const { results } = await client.experiment.get({ experimentId });
  expect(results.map(({ caseId, outcome }) => [caseId, outcome]).sort()).toEqual([
    ['plain', 'fail'],
    ['plain', 'pass'],
  ]);
  expect([...(jobs[0]?.commits ?? [])].sort()).toEqual(results.map(({ commit }) => commit as string).sort());
  // A new title is no new work. New settings are.
  const save = (change: object) => client.experiment.save({ experimentId, title: 'Colors', checks, cases: [{ ...cases[0], ...change } as never] });
  await save({ title: 'Renamed' });
  await settle();
  expect(provider.asked).toHaveLength(2);
  await save({ request: { system: ['Be short.'] } });
  await settle();
  expect(provider.asked).toHaveLength(4);
});

test('[U1, U4] a case stops at its limit, and a later job makes only the missing replies', async () => {
  const { client, experimentId, settle, provider } = await experiment((_body, number) => (number === 1 ? () => fail('overloaded') : says('blue')));
  const what = { experimentId, caseId: 'plain' };
  const start = async (limits: object) => read(await client.runner.start({ what, performer: { provider: 'model' }, limits }));
  const first = await start({ calls: 1 });
  expect([first.result.status, first.result.commits.length]).toEqual(['limit', 1]);
  expect((await start({})).result).toMatchObject({ status: 'failed', commits: [] });
  // A policy leaves failed work to a person.
  await settle();
  expect(provider.asked).toHaveLength(2);
  expect((await start({})).result.status).toBe('success');
  expect(provider.asked).toHaveLength(3);
  expect(await refusalOf(start({}))).toMatchObject({ code: 'CONFLICT', data: { id: 'plain' } });
});

test('[U1] a case is carried out by the model that it names, and by nobody else', async () => {
  const { client, experimentId } = await experiment(() => says('blue'));
  const start = (caseId: string, performer: object) => refusalOf(client.runner.start({ what: { experimentId, caseId }, performer } as never));
  expect(await start('none', { provider: 'model' })).toMatchObject({ code: 'NOT_FOUND', data: { id: 'none' } });
  expect(await start('recorded', { provider: 'model' })).toMatchObject({
    message: expect.stringContaining('names the provider recorded, not model'),
    data: { field: 'performer.provider' },
  });
  expect(await start('plain', { provider: 'model', model: 'm-2' })).toMatchObject({ data: { field: 'performer.model' } });
  expect(await start('plain', { agent: 'claude-code', folder: '/work' })).toMatchObject({ data: { field: 'performer.agent' } });
  const rule = { for: { experiment: 'Colors' }, performer: { agent: 'claude-code', folder: '/work' } };
  expect(await refusalOf(client.runner.setPolicy({ rules: [rule] } as never))).toMatchObject({ data: { field: 'rules.0.performer' } });
});
