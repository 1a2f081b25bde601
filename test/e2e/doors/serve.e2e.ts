import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from '../../support/e2e.js';
import { kill } from '../../support/machine.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';

test('[U1] serve starts what its policy file allows, and nothing else', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  expect((await machine.ask('init', project)).code).toBe(0);
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
    const read = async (procedure: string): Promise<unknown> => JSON.parse((await machine.ask('call', procedure, '--project', project)).out);
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

test('[U5] serve does what is due once, also after a restart and a sleep', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  const model = await modelServer((response) => stream(response, messageEvents({ text: 'Reported.' })));
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: model.url });
  const call = async <T>(procedure: string, input: object = {}): Promise<T> => {
    const { code, out, err } = await machine.ask('call', procedure, '--project', project, '--input', JSON.stringify(input));
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as T;
  };
  const performer = { provider: 'anthropic', model: 'm-1' };
  const file = machine.path('policy.json');
  writeFileSync(file, JSON.stringify({ rules: ['closed', 'restarted', 'slept'].map((plan) => ({ for: { plan }, performer })) }));
  const serve = () => machine.follow('serve', '--project', project, '--policy', file);
  const plan = (name: string, at: number) =>
    call('run.setPlan', { entityId: 'ada', name, instruction: `Report: ${name}.`, scheduledAt: new Date(at).toISOString() });
  try {
    expect((await machine.ask('init', project)).code).toBe(0);
    for (const [entityId, type] of Object.entries({ sarah: 'human', ada: 'agent' }))
      await call('space.addEntity', { entityId, name: entityId, type });
    await call('space.create', { spaceId: 'team', name: 'Team', members: ['sarah', 'ada'] });
    await call('profile.put', { name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } });
    const { agentId: sourceAgentId } = await call<{ agentId: string }>('handover.launchPrincipal', { profileName: 'Writer', instruction: 'Write.' });
    await plan('closed', Date.now() - 60_000);
    {
      await using _served = serve();
      await expect.poll(() => model.asked.length).toBe(1);
    }
    await plan('restarted', Date.now() - 60_000);
    await using served = serve();
    await expect.poll(() => model.asked.length).toBe(2);

    // All of this comes due while the process sleeps.
    const due = Date.now() + 1_500;
    const { batchId } = await call<{ batchId: string }>('handover.forkJoin', {
      sourceAgentId,
      tasks: [{ targetStrategy: 'new', targetRef: 'Writer', instruction: 'Review.' }],
      deadlineSeconds: 1.5,
    });
    await call('space.post', { spaceId: 'team', senderId: 'sarah', text: 'Which branch?', wait: { for: 'ada', timeoutMs: 1_500 } });
    await plan('slept', due);
    served.process.kill('SIGSTOP');
    await expect.poll(() => Date.now()).toBeGreaterThan(due + 1_000);
    served.process.kill('SIGCONT');
    await expect.poll(() => model.asked.length).toBe(3);
    await expect.poll(() => call('handover.batch', { batchId })).toMatchObject({ status: 'timeout', results: [{ status: 'canceled' }] });
    await expect.poll(() => call('space.waits')).toEqual([]);
    await expect.poll(() => call('runner.list')).toMatchObject(Array(3).fill({ status: 'success', byPolicy: true }));
    const runs = await call<{ trigger: { plan?: { name: string } } }[]>('run.list', { entityId: 'ada', status: 'completed' });
    expect(runs.map(({ trigger }) => trigger.plan?.name).toSorted()).toEqual(['closed', 'restarted', 'slept']);
    expect(model.asked.map(({ body }) => /Report: (\w+)/.exec(JSON.stringify(body))?.[1])).toEqual(['closed', 'restarted', 'slept']);
  } finally {
    model.close();
  }
});

test('[U4] an agent ends when the process of its job is killed', async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  expect((await machine.ask('init', project)).code).toBe(0);
  const [agent, sign] = [machine.path('claude'), machine.path('alive')];
  // It reads no input, so that only a signal ends it. What it starts has its own sign of life.
  writeFileSync(
    agent,
    `#!/bin/sh\ntrap '' HUP TERM INT PIPE\n(while :; do echo > ${sign}-child; sleep 0.05; done) &\nwhile :; do echo > ${sign}; sleep 0.05; done\n`,
    {
      mode: 0o700,
    },
  );
  machine.env.STEMMA_CLAUDE = agent;
  const edits = [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Hello' } }];
  const made = await machine.ask('call', 'context.fork', '--project', project, '--input', JSON.stringify({ id: null, edits }));
  const { id } = JSON.parse(made.out) as { id: string };
  await using job = machine.follow('job', 'start', '--project', project, '--commit', id, '--agent', 'claude-code');
  const isAlive = (): boolean => {
    const signs = [sign, `${sign}-child`].filter((each) => existsSync(each));
    for (const each of signs) rmSync(each);
    return signs.length > 0;
  };
  await expect.poll(() => existsSync(sign) && existsSync(`${sign}-child`)).toBe(true);
  await kill(job.process);
  await expect.poll(isAlive, { intervals: [400] }).toBe(false);
});

test('[U2, U3] job start prints how to answer a call, as a line that is safe to copy', async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  expect((await machine.ask('init', project)).code).toBe(0);
  const call = { tool: 'deploy', input: {}, id: "toolu_'; echo run >made" };
  const model = await modelServer((response, { body }) => {
    const isAnswered = JSON.stringify(body).includes('tool_result');
    stream(response, messageEvents(isAnswered ? { text: 'Deployed.' } : call));
  });
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: model.url });
  try {
    const json = async (procedure: string, input: object) => {
      const { code, out, err } = await machine.ask('call', procedure, '--project', project, '--input', JSON.stringify(input));
      expect([code, err]).toEqual([0, '']);
      return JSON.parse(out);
    };
    await json('profile.put', { name: 'Ops', card: { content: { kind: 'json', data: { name: 'Ops' } } } });
    const { agentTurnId } = await json('handover.launchPrincipal', { profileName: 'Ops', instruction: 'Deploy it.' });
    await using job = machine.follow('job', 'start', agentTurnId, '--project', project, '--provider', 'anthropic', '--model', 'm-1');
    let said = '';
    job.process.stderr?.on('data', (data: Buffer) => (said += data));
    await expect.poll(() => said).toContain('runner.answer');
    // The shell gives the words of the line back, and runs nothing of them.
    const line = said.split('\n').find((each) => each.startsWith('stemma call runner.answer')) ?? '';
    const words = execFileSync('/bin/sh', ['-c', line.replace('stemma', "printf '%s\\n'")], { cwd: machine.cwd, encoding: 'utf8' }).split('\n');
    expect(existsSync(machine.path('work', 'made'))).toBe(false);
    expect(await machine.ask(...words.slice(0, 4), '--project', project)).toMatchObject({ code: 0 });
    await expect.poll(() => job.lines().join('\n')).toContain('Deployed.');
  } finally {
    model.close();
  }
});
