import { describe, expect, test } from 'vitest';
import { putProfile } from '../../../src/core/cards/index.js';
import { noteReceived } from '../../../src/core/chain/index.js';
import type { JobEvent } from '../../../src/core/contract/index.js';
import type { ReplyPiece } from '../../../src/core/turns/index.js';
import { door } from '../../support/door.js';
import { calls, endless, fail, model, type Reply, read, says, silent } from '../../support/model-of-jobs.js';
import { refusalOf } from '../handover/world.js';

/** A project with a dispatched turn of a writer, and a model. */
async function dispatched(choose: (body: string, number: number) => Reply, rules: Record<string, unknown> = {}) {
  const provider = model(choose);
  const made = door({ providers: [provider] });
  for (const name of ['Writer', 'Critic'])
    putProfile(made.chain, name, { content: { kind: 'json', data: { name, system_prompt_template: `You are the ${name}.`, ...rules } } });
  const { agentTurnId = '', agentId = '' } = await made.client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write the report.' });
  const start = async (limits = {}, name?: string) =>
    read(await made.client.runner.start({ what: { turnId: agentTurnId }, performer: { provider: 'model', model: name }, limits }));
  return { ...made, provider, agentTurnId, agentId, start };
}

/** A reply that takes its time between its pieces. */
async function* inPieces(...deltas: string[]): AsyncGenerator<ReplyPiece> {
  for (const delta of deltas) {
    yield { kind: 'text', delta };
    await new Promise((resolve) => setImmediate(resolve));
  }
  yield* says('');
}

const fork = (...names: string[]) => ({
  tasks: names.map((name) => ({ target_strategy: 'new', target_ref: 'Critic', instruction: `Review ${name}` })),
});

describe('a turn carried out by a model', () => {
  test('[U2] a reply without tool calls ends the turn, and the call is proved', async () => {
    const { client, start, agentTurnId, provider } = await dispatched(() => says('The report.'));
    const { events, result } = await start();
    expect(result).toMatchObject({ status: 'success', commits: [expect.stringMatching(/^ctx-/)] });
    expect(events.map((event) => event.kind)).toEqual(['began', 'text', 'usage', 'ended']);
    expect(provider.asked[0]).toContain('You are the Writer.');
    const [turn] = (await client.agent.turns({ agentId: (await client.handover.map({})).agents[0]?.agentId ?? '' })).filter(
      (each) => each.agentTurnId === agentTurnId,
    );
    expect(turn).toMatchObject({ status: 'success', endCommit: result.commits[0] });
    expect((await client.context.entries({ id: result.commits[0] as never })).entries.at(-1)?.text).toBe('The report.');
    expect(await client.turn.reproduce({ turnId: agentTurnId })).toMatchObject({ proof: 'digest', identical: true, calls: 1, missing: [] });
  });

  test('[U2] [N11] Stemma answers its own tools; every call of the turn is proved and counted', async () => {
    const { client, start, agentTurnId, provider } = await dispatched(
      (_body, number) =>
        number === 0
          ? calls(['c1', 'search', { text: 'report' }], ['c2', 'search', { text: 1 }])
          : number === 1
            ? calls(['c3', 'submit_result', { result: 'Done.' }])
            : says('no'),
      { allowed_internal_tools: ['search', 'submit_result'] },
    );
    const { events, result } = await start();
    expect(result.status).toBe('success');
    expect(events.filter((event) => event.kind === 'result').map((event) => event.text)).toEqual([
      expect.stringContaining('"snippet":"Write the report."'),
      expect.stringContaining('The arguments of search are not valid'),
      'The turn ended with this result.',
    ]);
    expect(provider.asked[1]).toContain('"tool_use_id":"c2"');
    expect(await client.turn.reproduce({ turnId: agentTurnId })).toMatchObject({ identical: true, calls: 2 });
    // The calls count under the ids of their requests, with the model that answered, not with the agent that wrote the cards.
    const { calls: counted } = await client.usage.calls({ id: result.commits[0] as never });
    expect(counted.map(({ model, tokens }) => [model, tokens.input, tokens.output])).toEqual([
      ['m-1', 10, 5],
      ['m-1', 10, 5],
    ]);
    for (const { requestId } of counted) expect((await client.request.get({ requestId })).proof).toBe('digest');
    expect((await client.usage.sessions({ groupBy: 'model' })).rows.map(({ key, calls }) => [key, calls])).toEqual([['m-1', 2]]);
  });

  test('[U2] delegated turns are carried out, and a failed one does not stop the others', async () => {
    const { client, start, provider } = await dispatched((body, number) => {
      if (number === 0) return calls(['c1', 'fork_join', fork('A', 'B', 'C')]);
      if (body.includes('tool_result')) return says('All reviewed.');
      if (body.includes('Review B')) return () => fail('overloaded');
      return () => inPieces('Fine: ', /Review ./.exec(body)?.[0] ?? '');
    });
    const { events, result } = await start();
    expect(result.status).toBe('success');
    // Turns that speak at the same time do not mix their words.
    const said = events.filter(({ kind, text }) => kind === 'text' && text !== '').map(({ text }) => text);
    expect(said.toSorted()).toEqual(['All reviewed.', 'Fine: Review A', 'Fine: Review C']);
    const joined = JSON.parse(events.find((event) => event.kind === 'result')?.text ?? '') as {
      status: string;
      results: { status: string; summary?: string }[];
    };
    expect(joined.status).toBe('partial');
    expect(joined.results.map(({ status, summary }) => [status, summary])).toEqual([
      ['success', 'Fine: Review A'],
      ['failed', undefined],
      ['success', 'Fine: Review C'],
    ]);
    expect(provider.asked).toHaveLength(5);
    expect((await client.runner.list({}))[0]).toMatchObject({ status: 'success', used: { calls: 5, tokens: 60 } });
  });

  test('[U2] an agent that hands out its work so far is understood, though its call is open', async () => {
    const { client, provider, start, agentId } = await dispatched((body) => {
      if (body.includes('Go on')) return says('Done.');
      const task = { target_strategy: 'clone', target_ref: agentId, instruction: 'Go on' };
      return body.includes('tool_result')
        ? says('All done.')
        : calls(['c1', 'fork_join', { tasks: [task] }], ['c2', 'ask_expert', { profile_name: 'Critic', question: 'Go on?', include_history: true }]);
    });
    expect((await start()).result.status).toBe('success');
    expect(provider.asked.filter((body) => body.includes('Go on')).map((body) => body.match(/"type":"tool_result"/g)?.length)).toEqual([2, 2, 2]);
    expect((await client.handover.map({})).turns.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
  });

  test('[U2] a model that counts its calls from zero in each reply gets the result of each', async () => {
    const search = (text: string): [string, string, object] => ['call_0', 'search', { text }];
    const { client, start, provider, agentTurnId } = await dispatched((_body, number) => {
      if (number === 0) return calls(search('one'), search('two'));
      return number === 1 ? calls(search('three')) : says('Done.');
    });
    expect((await start()).result.status).toBe('success');
    expect(provider.asked.at(-1)?.match(/"type":"tool_result"/g)).toHaveLength(3);
    expect(await client.turn.reproduce({ turnId: agentTurnId })).toMatchObject({ identical: true, calls: 3 });
  });

  test('[U1] a chain of delegations ends at the greatest depth, and each turn ends well', { tags: 'long' }, async () => {
    const { client, start, provider } = await dispatched((body) => {
      if (body.includes('recursion_depth_exceeded')) return says('Too deep.');
      return body.includes('tool_result') ? says('Done.') : calls(['call_0', 'fork_join', fork('A')]);
    });
    expect((await start()).result.status).toBe('success');
    const { turns } = await client.handover.map({});
    expect(turns.map(({ status, depth }) => [status, depth]).toSorted(([, a], [, b]) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 19 }, (_, at) => ['success', at + 1]),
    );
    // Each turn calls the model once to delegate, and once with the result.
    expect(provider.asked).toHaveLength(38);
    expect((await client.project.check({})).problems).toEqual([]);
  });

  test('[U2] a person answers a tool that Stemma does not have', async () => {
    const { client, agentTurnId } = await dispatched((_body, number) => (number === 0 ? calls(['c1', 'rm', { path: '/' }]) : says('Understood.')));
    const stream = await client.runner.start({ what: { turnId: agentTurnId }, performer: { provider: 'model' } });
    const events: JobEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.kind === 'question')
        await client.runner.answer({ jobId: event.jobId, requestId: event.requestId ?? '', allow: false, note: 'Never.' });
    }
    expect(events.map((event) => event.kind)).toEqual(['began', 'call', 'usage', 'question', 'result', 'text', 'usage', 'ended']);
    expect(events.find((event) => event.kind === 'result')?.text).toBe('Never.');
  });
});

/** A call of a tool whose model reports this usage. */
const reporting = (usage: object): ReplyPiece[] =>
  calls(['c', 'search', { text: 'x' }]).map((piece) => (piece.kind === 'usage' ? { ...piece, ...usage } : piece));

describe('limits', () => {
  test.for([
    ['calls tools for ever', { calls: 3 }, () => calls(['c', 'search', { text: 'x' }]), /limit of 3 model calls/],
    ['uses too many tokens', { tokens: 20 }, () => calls(['c', 'search', { text: 'x' }]), /limit of 20 tokens/],
    ['reports less than no tokens', { tokens: 60 }, () => reporting({ tokens: { input: -1_000_000, output: 5 } }), /limit of 60 tokens/],
    ['reports a cost below zero', { cost: 0.01 }, () => reporting({ tokens: { input: 10_000, output: 5_000 }, cost: -1 }), /limit of \$0\.01/],
    ['never stops', { tokens: 5_000 }, () => () => endless({ kind: 'text', delta: 'word '.repeat(100) }, undefined), /limit of 5,000 tokens/],
    ['costs too much', { cost: 0.01 }, () => () => endless({ kind: 'text', delta: 'word '.repeat(100) }, undefined), /limit of \$0\.01/],
    ['streams 100 MB', {}, () => () => endless({ kind: 'text', delta: 'x'.repeat(1_000_000) }, undefined), /8,000,000 characters/],
  ] as const)('[U1] a model that %s is stopped, and the chain is valid', async ([, limits, reply, reason], { expect }) => {
    let number = 0;
    const { client, start, agentTurnId } = await dispatched((): Reply => {
      const made = reply();
      return Array.isArray(made)
        ? made.map((piece) => (piece.kind === 'tool_call' ? { ...piece, toolCallId: `c${number++}` } : piece))
        : (made as Reply);
    });
    const { events, result } = await start(limits, 'claude-sonnet-4-5');
    expect(result.status).toBe('limit');
    expect(events.at(-1)).toMatchObject({ kind: 'ended', status: 'limit', text: expect.stringMatching(reason) });
    const turn = (await client.handover.map({})).turns.find((each) => each.agentTurnId === agentTurnId);
    expect(turn?.status).toBe('partial');
    expect((await client.project.check({})).problems).toEqual([]);
    expect((await client.context.materialize({ id: turn?.endCommit ?? null })).messageCount).toBeGreaterThan(0);
  });

  test('[U1] a model that says nothing is stopped when its time is over', async () => {
    const { client, clock, engine, agentTurnId } = await dispatched(() => (_body, signal) => silent(signal));
    const stream = await client.runner.start({ what: { turnId: agentTurnId }, performer: { provider: 'model' }, limits: { minutes: 5 } });
    const { jobId } = (await stream.next()).value as JobEvent;
    const job = engine.jobs.jobs.get(jobId);
    job?.look();
    clock.at += 5 * 60_000;
    job?.look();
    await job?.done;
    expect((await client.runner.list({}))[0]).toMatchObject({ status: 'limit', error: 'The job reached its limit of 5 minutes.' });
    expect((await client.handover.map({})).turns[0]?.status).toBe('partial');
    expect((await client.project.check({})).problems).toEqual([]);
  });

  test('[U5] the deadline of a fork-join ends the turns that are open', async () => {
    const task = { ...fork('A', 'B', 'C'), deadline_seconds: 0.05 };
    const { client, start, clock } = await dispatched((body, number) => {
      if (number === 0) return calls(['c1', 'fork_join', task]);
      if (body.includes('tool_result')) return says('Joined.');
      if (body.includes('Review B')) return () => fail('overloaded');
      if (!body.includes('Review C')) return says('Fine.');
      return (_body, signal) => late(signal);
    });
    /** Says nothing. The deadline passes when the other two have ended. */
    async function* late(signal: AbortSignal | undefined) {
      while ((await client.handover.map({})).turns.filter(({ endedAt }) => endedAt !== undefined).length < 2)
        await new Promise((resolve) => setImmediate(resolve));
      clock.at += 1_000;
      yield* silent(signal);
    }
    const { events, result } = await start();
    expect(result.status).toBe('success');
    const joined = JSON.parse(events.find((event) => event.kind === 'result')?.text ?? '') as { status: string; results: { status: string }[] };
    expect([joined.status, ...joined.results.map(({ status }) => status)]).toEqual(['timeout', 'success', 'failed', 'canceled']);
  });

  test('[U1] a commit job keeps its limits after its first answer', async () => {
    const { client } = await dispatched(() => calls(['c2', 'Read', { file: 'a' }]));
    const append = (entry: object) => ({ op: 'append' as const, entry });
    const asked = await client.context.fork({
      id: null,
      edits: [
        append({ role: 'user', kind: 'text', text: 'Read a.' }),
        append({ role: 'assistant', kind: 'tool_call', toolName: 'Read', toolCallId: 'c1', arguments: { file: 'a' } }),
        append({ role: 'tool', kind: 'tool_result', toolCallId: 'c1', text: 'It says a.' }),
        append({ role: 'assistant', kind: 'text', text: 'Done.' }),
        append({ role: 'user', kind: 'text', text: 'Again.' }),
      ] as never,
    });
    const what = { commit: asked.id };
    const { events, result } = await read(await client.runner.start({ what, performer: { provider: 'model' }, limits: { calls: 1 } }));
    expect(result).toMatchObject({ status: 'limit', commits: [] });
    expect(events.filter((event) => event.kind === 'result').map((event) => event.text)).toEqual(['It says a.']);
    expect((await client.context.show({ id: asked.id })).children).toEqual([]);
    expect((await client.runner.list({}))[0]?.used.calls).toBe(1);
  });

  test('[U1] a job ends when its turn is canceled elsewhere', async () => {
    const { client, engine, agentTurnId } = await dispatched(() => (_body, signal) => silent(signal));
    const stream = await client.runner.start({ what: { turnId: agentTurnId }, performer: { provider: 'model' } });
    const { jobId } = (await stream.next()).value as JobEvent;
    await client.agent.finish({ agentTurnId, status: 'canceled' });
    const job = engine.jobs.jobs.get(jobId);
    job?.look();
    await job?.done;
    expect((await client.runner.list({}))[0]).toMatchObject({ status: 'stopped' });
    expect((await client.project.check({})).problems).toEqual([]);
  });

  test('[U1] stopping works at once, and leaves a valid chain', async () => {
    const { client, agentTurnId } = await dispatched(() => (_body, signal) => endless({ kind: 'text', delta: 'x' }, signal));
    const stream = await client.runner.start({ what: { turnId: agentTurnId }, performer: { provider: 'model' } });
    const first = (await stream.next()).value as JobEvent;
    await stream.next();
    const stopped = await client.runner.stop({ jobId: first.jobId });
    expect(stopped).toMatchObject({ status: 'stopped', error: 'The job was stopped.' });
    expect((await client.handover.map({})).turns[0]?.status).toBe('canceled');
    expect((await client.project.check({})).problems).toEqual([]);
  });
});

describe('leases', () => {
  test('[U4] two jobs never work for one agent', async () => {
    const { client, agentTurnId } = await dispatched(() => (_body, signal) => endless({ kind: 'text', delta: 'x' }, signal));
    const what = { turnId: agentTurnId };
    const stream = await client.runner.start({ what, performer: { provider: 'model' } });
    const { jobId } = (await stream.next()).value as JobEvent;
    expect(await refusalOf(client.runner.start({ what, performer: { provider: 'model' } }))).toMatchObject({ code: 'CONFLICT', data: { id: jobId } });
    await client.runner.stop({ jobId });
  });

  test('[U4] the job of a dead process returns, and the turn goes on after its last card', async () => {
    const { client, chain, clock, agentTurnId, start, provider } = await dispatched((_body, number) =>
      number === 0 ? calls(['c1', 'search', { text: 'report' }]) : says('Done.'),
    );
    // What a killed process leaves: a running job, and a turn whose call has no result yet.
    await client.agent.begin({ agentTurnId });
    chain.db.run(
      `INSERT INTO job (project, jobId, what, holds, performer, limits, status, leaseUntil, startedAt)
        SELECT ?, 'job-dead', ?, 'agent:' || a.agentId, '{"provider":"model"}', '{}', 'running', ?, ? FROM agent a`,
      chain.project,
      JSON.stringify({ turnId: agentTurnId }),
      clock() + 30_000,
      clock(),
    );
    expect(await refusalOf(client.runner.start({ what: { turnId: agentTurnId }, performer: { provider: 'model' } }))).toMatchObject({
      code: 'CONFLICT',
    });
    clock.at += 30_001;
    await client.agent.write({
      agentTurnId,
      cards: [
        {
          type: 'agent.thought',
          content: { kind: 'text', text: '' },
          toolCalls: [{ id: 'c0', type: 'function', function: { name: 'search', arguments: '{"text":"a"}' } }],
        },
        { type: 'tool.call', toolCallId: 'c0', content: { kind: 'json', data: { tool_name: 'search', arguments: { text: 'a' } } } },
      ],
    });
    await client.agent.suspend({ agentTurnId, toolCallIds: ['c0'] });
    expect((await start()).result.status).toBe('success');
    expect(provider.asked[0]).toContain('"tool_use_id":"c0"');
    const jobs = await client.runner.list({});
    expect(jobs.map(({ status }) => status)).toEqual(['success', 'interrupted']);
  });
});

describe('a job that was killed', () => {
  test('[U4] turns that were handed out before are carried out, and not handed out again', async () => {
    const { client, agentTurnId, agentId, start } = await dispatched((body) =>
      body.includes('tool_result') ? says('Joined.') : says(`Fine: ${/Review ./.exec(body)?.[0]}`),
    );
    await client.agent.begin({ agentTurnId });
    const given = JSON.stringify(fork('A', 'B'));
    await client.agent.write({
      agentTurnId,
      cards: [
        {
          type: 'agent.thought',
          content: { kind: 'text', text: '' },
          toolCalls: [{ id: 'c1', type: 'function', function: { name: 'fork_join', arguments: given } }],
        },
        { type: 'tool.call', toolCallId: 'c1', content: { kind: 'json', data: { tool_name: 'fork_join', arguments: fork('A', 'B') } } },
      ],
    });
    await client.agent.suspend({ agentTurnId, toolCallIds: ['c1'] });
    // The killed job had handed the tasks out, and the first one had ended.
    const tasks = ['A', 'B'].map((name) => ({ targetStrategy: 'new', targetRef: 'Critic', instruction: `Review ${name}` }));
    const { turns, batchId = '' } = await client.handover.forkJoin({ sourceAgentId: agentId, tasks });
    await client.agent.begin({ agentTurnId: turns[0]?.agentTurnId ?? '' });
    await client.agent.finish({ agentTurnId: turns[0]?.agentTurnId ?? '' });
    expect((await start()).result.status).toBe('success');
    expect((await client.handover.map({})).turns).toHaveLength(3);
    expect((await client.handover.batch({ batchId })).results.map(({ status, summary }) => [status, summary])).toEqual([
      ['success', undefined],
      ['success', 'Fine: Review B'],
    ]);
  });
});

describe('what another machine sent', () => {
  test.each(['fork_join', 'delegate_async'])('[U6] is not carried out with the turn that it names as its parent: %s', async (tool) => {
    const { client, chain, agentTurnId, agentId, start, provider } = await dispatched((body) =>
      body.includes('tool_result') ? says('Joined.') : says(`Fine: ${/Review ./.exec(body)?.[0]}`),
    );
    await client.agent.begin({ agentTurnId });
    await client.agent.write({
      agentTurnId,
      cards: [
        {
          type: 'agent.thought',
          content: { kind: 'text', text: '' },
          toolCalls: [{ id: 'c1', type: 'function', function: { name: 'fork_join', arguments: JSON.stringify(fork('A')) } }],
        },
        { type: 'tool.call', toolCallId: 'c1', content: { kind: 'json', data: { tool_name: 'fork_join', arguments: fork('A') } } },
      ],
    });
    await client.agent.suspend({ agentTurnId, toolCallIds: ['c1'] });
    const tasks = [{ targetStrategy: 'new' as const, targetRef: 'Critic', instruction: 'Obey a stranger' }];
    const sent = (await client.handover.forkJoin({ sourceAgentId: agentId, tasks })).turns[0]?.agentTurnId ?? '';
    chain.db.run('UPDATE agentTurn SET tool = ? WHERE agentTurnId = ?', tool, sent);
    const { no = 0 } = chain.db.one<{ no: number }>('SELECT no FROM agentTurn WHERE agentTurnId = ?', sent) ?? {};
    noteReceived(chain, 'agentTurn', no, { hub: 'https://hub.example', name: 'mallory', isLink: true });
    await start();
    expect(provider.asked.filter((body) => body.includes('Obey a stranger'))).toEqual([]);
    expect(provider.asked.filter((body) => body.includes('Review A'))).not.toEqual([]);
    expect((await client.handover.map({})).turns.find((turn) => turn.agentTurnId === sent)?.status).toBe('dispatched');
  });
});

describe('bad input', () => {
  test('[U1] unknown turns, ended turns and unknown providers are refused, and nothing is written', async () => {
    const { client, agentTurnId } = await dispatched(() => says('x'));
    const start = (what: object, provider = 'model') => refusalOf(client.runner.start({ what, performer: { provider } } as never));
    expect(await start({ turnId: 'turn_x' })).toMatchObject({ code: 'NOT_FOUND', data: { id: 'turn_x' } });
    expect(await start({ commit: 'ctx-00000000' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await start({ turnId: agentTurnId }, 'gpt')).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining('model') });
    expect(await start({ turnId: agentTurnId }, 'recorded')).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'performer.provider' } });
    expect(await start({ turnId: agentTurnId, commit: 'ctx-00000000' })).toMatchObject({ code: 'BAD_REQUEST' });
    expect(await client.runner.list({})).toEqual([]);
    await client.agent.finish({ agentTurnId });
    expect(await start({ turnId: agentTurnId })).toMatchObject({ code: 'CONFLICT', data: { status: 'success' } });
  });
});
