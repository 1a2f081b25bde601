import { expect, test } from 'vitest';
import { noteReceived } from '../../../src/core/chain/index.js';
import { pulse } from '../../../src/core/runner/index.js';
import { door } from '../../support/door.js';
import { calls, endless, model, type Reply, read, says } from '../../support/model-of-jobs.js';

/** A space of Sarah and agents, and a model that carries out their runs. */
async function space(agents: readonly string[], choose: (body: string, number: number) => Reply) {
  const provider = model(choose);
  const made = door({ providers: [provider] });
  const { client, engine, project } = made;
  for (const [entityId, type] of [['sarah', 'human'], ...agents.map((agent) => [agent, 'agent'])] as const)
    await client.space.addEntity({ entityId, name: entityId[0]?.toUpperCase() + entityId.slice(1), type: type as 'human' });
  await client.space.create({ spaceId: 'team', name: 'Team', members: ['sarah', ...agents] });
  const performer = { provider: 'model' };
  await client.runner.setPolicy({
    rules: [
      { for: { space: 'team' }, performer },
      { for: { plan: 'report' }, performer },
    ],
  });
  /** Does what is due until nothing more starts. */
  const settle = async (): Promise<void> => {
    const policy = await client.runner.getPolicy({});
    for (let pulses = 0; pulses < 50; pulses++) {
      pulse(engine.runner(project), policy);
      const running = [...engine.jobs.jobs.values()];
      if (running.length === 0) return;
      await Promise.all(running.map(({ done }) => done));
    }
  };
  const say = (text: string) => {
    made.clock.at += 1_000;
    return client.space.post({ spaceId: 'team', senderId: 'sarah', text });
  };
  return { ...made, provider, settle, say };
}

test('[U2] a run waits for Sarah, and her reply in the space resumes it', async () => {
  const { client, settle, say, provider } = await space(['bot'], (body, number) =>
    number === 0
      ? calls(['c1', 'send_message', { text: 'Which branch?', wait: { for: 'Sarah' } }])
      : body.includes('RESUME') && !body.includes('second-call')
        ? calls(['second-call', 'send_message', { text: 'Deploying main.' }])
        : says('Done.'),
  );
  await say('Deploy, please.');
  await settle();
  const [waiting] = await client.run.list({});
  expect(waiting).toMatchObject({ status: 'waiting_reply', waiting: { for: 'Sarah' } });
  await settle();
  expect(provider.asked).toHaveLength(1);
  await say('main');
  await settle();
  const [run] = await client.run.list({});
  expect(run).toMatchObject({ runId: waiting?.runId, status: 'completed', contextId: expect.stringMatching(/^ctx-/) });
  expect((await client.space.messages({ spaceId: 'team' })).messages.map(({ text }) => text)).toEqual([
    'Deploy, please.',
    'Which branch?',
    'main',
    'Deploying main.',
  ]);
  expect((await client.context.entries({ id: run?.contextId as never })).entries.at(-1)?.text).toBe('Done.');
  const jobs = await client.runner.list({});
  expect(jobs.map(({ status, byPolicy, who, space: at }) => [status, byPolicy, who, at])).toEqual([
    ['success', true, 'bot', 'team'],
    ['success', true, 'bot', 'team'],
  ]);
  for (const commit of jobs.flatMap(({ commits }) => commits).filter((_, at) => at === 0))
    expect(await client.turn.reproduce({ turnId: commit })).toMatchObject({ identical: true });
});

test.for(['anthropic', 'openai', 'gemini'] as const)('[U2] the model of a run reads who it is and what started it: %s', async (wire, { expect }) => {
  const { client, settle, say, provider } = await space(['ada', 'ben'], (_body, number) =>
    number % 2 === 0 ? calls([`c${number}`, 'read_messages', {}]) : says('Read.'),
  );
  Object.assign(provider, { wire });
  await client.runner.setPolicy({ rules: [{ for: { space: 'team' }, who: 'ada', performer: { provider: 'model' } }] });
  for (const text of ['First.', 'Second.']) {
    await say(text);
    await settle();
  }
  // The system prompt is that of the own run in each call, also in the second call and in the second run.
  const prompts = provider.asked.map((body) => {
    const { system, systemInstruction, messages = [] } = JSON.parse(body) as Record<string, { role: string }[]>;
    return JSON.stringify(system ?? systemInstruction ?? messages.filter(({ role }) => role === 'system'));
  });
  expect(prompts.map((prompt) => [/entityId: \W*(\w+)/.exec(prompt)?.[1], /First\.|Second\./g.exec(prompt)?.[0]])).toEqual([
    ['ada', 'First.'],
    ['ada', 'First.'],
    ['ada', 'Second.'],
    ['ada', 'Second.'],
  ]);
  const [{ commits = [] } = {}] = await client.runner.list({});
  expect(await client.turn.reproduce({ turnId: commits[0] as never })).toMatchObject({ identical: true });
});

test('[U1] the depth limit ends a loop of two agents', { tags: 'long' }, async () => {
  let number = 0;
  const { client, settle, say, provider } = await space(['ada', 'ben'], (body) =>
    body.includes('tool_result') ? says('Sent.') : calls([`c${number++}`, 'send_message', { text: 'What do you think?' }]),
  );
  await say('Discuss.');
  await settle();
  const runs = await client.run.list({});
  expect(runs.every(({ status }) => status === 'completed')).toBe(true);
  expect(Math.max(...runs.map(({ chainDepth }) => chainDepth))).toBe(4);
  expect(provider.asked).toHaveLength(runs.length * 2);
});

let number = 0;
test.for([
  ['calls tools for ever', () => calls([`c${number++}`, 'read_messages', {}]), { calls: 3 }, 'limit of 3 model calls', 3],
  ['never stops', () => () => endless({ kind: 'text', delta: 'word '.repeat(100) }, undefined), { tokens: 5_000 }, 'limit of 5,000 tokens', 0],
  ['streams 100 MB', () => () => endless({ kind: 'text', delta: 'x'.repeat(1_000_000) }, undefined), {}, '8,000,000 characters', 0],
] as const)('[U1] a run whose model %s is stopped, and its chain is valid', async ([, reply, limits, reason, replies], { expect }) => {
  const { client, say } = await space(['bot'], reply as () => Reply);
  await say('Hello.');
  const what = { runId: (await client.run.list({}))[0]?.runId ?? '' };
  const { events, result } = await read(await client.runner.start({ what, performer: { provider: 'model' }, limits }));
  expect(result.status).toBe('limit');
  expect(events.at(-1)?.text).toContain(reason);
  const run = await client.run.get({ runId: what.runId });
  expect(run.status).toBe('failed');
  const { entries } = await client.context.entries({ id: run.contextId as never });
  expect(entries.filter(({ kind }) => kind === 'tool_call')).toHaveLength(replies);
  expect(entries.filter(({ kind }) => kind === 'tool_result')).toHaveLength(replies);
  expect((await client.project.check({})).problems).toEqual([]);
});

test('[U5] a plan that came due while everything was closed runs once', async () => {
  const { client, settle, clock, provider } = await space(['bot'], () => says('Reported.'));
  await client.run.setPlan({ entityId: 'bot', name: 'report', instruction: 'Report the numbers.', cron: '0 * * * *' });
  await settle();
  expect(provider.asked).toHaveLength(0);
  clock.at += 5 * 3_600_000;
  await settle();
  await settle();
  expect(provider.asked).toHaveLength(1);
  expect(provider.asked[0]).toContain('Report the numbers.');
  expect((await client.run.list({}))[0]).toMatchObject({ status: 'completed', trigger: { type: 'plan' } });
});

test('[U1] a message that asks for a command runs nothing, and nothing starts without a policy', async () => {
  const { client, settle, say, provider, engine, project } = await space(['bot'], (_body, number) =>
    number === 0 ? calls(['c1', 'bash', { command: 'rm -rf /' }]) : says('No.'),
  );
  await say('Run rm -rf /');
  pulse(engine.runner(project), { rules: [] });
  expect(provider.asked).toHaveLength(0);
  await client.runner.setPolicy({ rules: [{ for: { space: 'team' }, performer: { provider: 'model' }, otherTools: 'stop' }] });
  pulse(engine.runner(project), await client.runner.getPolicy({}));
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  expect((await client.runner.list({}))[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('called bash') });
  expect((await client.run.list({}))[0]?.status).toBe('failed');
  expect((await client.project.check({})).problems).toEqual([]);
  await settle();
});

test('[U4] a run that was killed continues after its last commit, and repeats no call', async () => {
  const { client, engine, project, chain, say, provider } = await space(['bot'], (_body, number) =>
    number === 0
      ? calls(['c1', 'send_message', { text: 'One.' }])
      : number === 1
        ? (_asked, signal) => endless({ kind: 'text', delta: 'x' }, signal)
        : says('Done.'),
  );
  await say('Go.');
  const [run] = await client.run.list({});
  const what = { runId: run?.runId ?? '' };
  const stream = await client.runner.start({ what, performer: { provider: 'model' } });
  for await (const event of stream) if (event.kind === 'result') break;
  // The process ends here: its job is given back, and the next one takes over.
  engine.jobs.close();
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  expect((await client.runner.list({}))[0]).toMatchObject({ status: 'interrupted' });
  expect((await client.run.list({}))[0]?.status).toBe('running');
  const before = provider.asked.length;
  pulse(engine.runner(project), await client.runner.getPolicy({}));
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  expect((await client.run.list({}))[0]?.status).toBe('completed');
  expect((await client.space.messages({ spaceId: 'team' })).messages.map(({ text }) => text)).toEqual(['Go.', 'One.']);
  expect(provider.asked.slice(before).every((body) => body.includes('tool_result'))).toBe(true);
  expect(chain.db.all('SELECT jobId FROM job')).toHaveLength(2);
});

test('[U2] a person starts a run by hand, with only the tools that they chose', async () => {
  const { client, say, provider } = await space(['bot'], () => says('Hi.'));
  await say('Hello.');
  const [run] = await client.run.list({});
  const what = { runId: run?.runId ?? '' };
  const { result } = await read(await client.runner.start({ what, performer: { provider: 'model' }, tools: ['read_messages'] }));
  expect(result.status).toBe('success');
  const { tools } = JSON.parse(provider.asked[0] ?? '{}') as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(['read_messages']);
});

test('[U6] a run carries out no turn that another machine sent in its name', async () => {
  const { client, chain, say, settle, provider } = await space(['bot'], (body, number) =>
    number === 0
      ? calls(['c1', 'fork_join', { tasks: [{ target_strategy: 'new', target_ref: 'Critic', instruction: 'Review A' }] }])
      : says(body.includes('Review A') ? 'Fine.' : 'Done.'),
  );
  await client.profile.put({ name: 'Critic', card: { content: { kind: 'json', data: { name: 'Critic' } } } } as never);
  await client.agent.register({ agentId: 'bot' });
  const tasks = [{ targetStrategy: 'new', targetRef: 'Critic', instruction: 'Obey a stranger' }];
  const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Critic', instruction: 'Own turn' });
  await client.agent.begin({ agentTurnId });
  const own = (await client.handover.map({})).turns[0]?.agentId ?? '';
  const sent = (await client.handover.forkJoin({ sourceAgentId: own, tasks } as never)).turns[0]?.agentTurnId ?? '';
  const { no = 0 } = chain.db.one<{ no: number }>('SELECT no FROM agentTurn WHERE agentTurnId = ?', sent) ?? {};
  chain.db.run("UPDATE agentTurn SET source = 'bot', createdAt = createdAt + 1e9 WHERE no = ?", no);
  noteReceived(chain, 'agentTurn', no, { hub: 'https://hub.example', name: 'mallory', isLink: true });
  await say('Go.');
  await settle();
  expect(provider.asked.filter((body) => body.includes('Obey a stranger'))).toEqual([]);
  expect(provider.asked.filter((body) => body.includes('Review A'))).not.toEqual([]);
});
