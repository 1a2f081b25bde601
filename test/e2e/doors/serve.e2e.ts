import { writeFileSync } from 'node:fs';
import { expect, test } from '../../support/e2e.js';
import { kill } from '../../support/machine.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';

test('[U1] serve starts what its policy file allows, and nothing else', async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  expect((await machine.run('init', project)).code).toBe(0);
  const model = await modelServer((response) => stream(response, messageEvents({ text: 'Hello, Sarah.' })));
  const host = await machine.web(project);
  const call = async (procedure: string, input: object): Promise<void> => {
    const headers = { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json' };
    const reply = await fetch(`${host.origin}/api/${procedure}`, { method: 'POST', headers, body: JSON.stringify(input) });
    expect([reply.status, reply.ok ? '' : await reply.text()]).toEqual([200, '']);
  };
  for (const [entityId, type] of [
    ['sarah', 'human'],
    ['ada', 'agent'],
  ])
    await call('space/addEntity', { entityId, name: entityId, type });
  for (const spaceId of ['other', 'team']) {
    await call('space/create', { spaceId, name: spaceId, members: ['sarah', 'ada'] });
    await call('space/post', { spaceId, senderId: 'sarah', text: `Hello from ${spaceId}.` });
  }
  await kill(host.process);
  try {
    Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: model.url });
    const file = machine.path('policy.json');
    const rule = { for: { space: 'team' }, performer: { provider: 'anthropic', model: 'm-1' }, limits: { calls: 2 } };
    writeFileSync(file, JSON.stringify({ rules: [rule] }));
    await using _served = machine.follow('serve', '--project', project, '--policy', file);
    const read = async (procedure: string): Promise<unknown> => JSON.parse((await machine.run('call', procedure, '--project', project)).out);
    await expect.poll(() => model.asked.length).toBe(1);
    await expect.poll(() => read('runner.list')).toMatchObject([{ status: 'success', byPolicy: true, space: 'team', limits: { calls: 2 } }]);
    expect(JSON.stringify(model.asked[0]?.body)).toContain('Hello from team.');
    expect(await read('run.list')).toMatchObject([
      { activeSpaceId: 'team', status: 'completed' },
      { activeSpaceId: 'other', status: 'running' },
    ]);
    expect(await read('runner.getPolicy')).toEqual({ rules: [rule] });
    expect(model.asked).toHaveLength(1);
  } finally {
    model.close();
  }
});
