import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { putProfile } from '../../../src/core/cards/index.js';
import type { JobEvent } from '../../../src/core/contract/index.js';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { pulse } from '../../../src/core/runner/index.js';
import type { ModelProvider, ReplyPiece } from '../../../src/core/turns/index.js';
import { agentDoor } from '../../support/agent-door.js';
import { answer } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { calls, model, type Reply, read, says, silent } from '../../support/model-of-jobs.js';
import { scratch } from '../../support/project.js';

const performer = { provider: 'model' };
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A second process with the same project and the same folder of Stemma. */
function another({ engine, project, clock, folder }: ReturnType<typeof door>, providers: readonly ModelProvider[]) {
  const other = createEngine({ ...engine.options, dataDir: join(folder, 'data'), clock, providers });
  onTestFinished(() => other.close());
  const session = createSession(other);
  const opened = session.use(other.open(project.dir));
  return { engine: other, project: opened, client: createRouterClient(router, { context: contextOf(session) }) };
}

/** A project with dispatched turns of different agents. */
async function dispatched(choose: (body: string, number: number) => Reply, turns = 1) {
  const provider = model(choose);
  const made = door({ providers: [provider] });
  putProfile(made.chain, 'Writer', { content: { kind: 'json', data: { name: 'Writer', system_prompt_template: 'You write.' } } });
  const ids: string[] = [];
  for (let i = 0; i < turns; i++) {
    const { agentTurnId = '' } = await made.client.handover.launchPrincipal({ profileName: 'Writer', instruction: `Report ${i}.` });
    ids.push(agentTurnId);
  }
  return { ...made, provider, ids, what: { turnId: ids[0] ?? '' } };
}

/** A turn that waits for a person to permit a tool. */
async function asking() {
  const made = await dispatched((body) => (body.includes('tool_result') ? says('Understood.') : calls(['c1', 'rm', { path: '/' }])));
  const stream = await made.client.runner.start({ what: made.what, performer });
  const events: JobEvent[] = [];
  let event: JobEvent;
  do {
    event = (await stream.next()).value as JobEvent;
    events.push(event);
  } while (event.kind !== 'question');
  const answer = { jobId: event.jobId, requestId: event.requestId ?? '' };
  return { ...made, stream, answer };
}

const codeOf = (settled: PromiseSettledResult<unknown>): string =>
  settled.status === 'fulfilled' ? 'accepted' : String((settled.reason as { code?: unknown }).code);

describe('answers of people', () => {
  test('[U4] of several answers at once, from two processes, one counts and the others are refused', async () => {
    const made = await asking();
    const { client, stream, answer } = made;
    const { client: theirs } = another(made, []);
    const answers = await Promise.allSettled(
      [true, false, true, false].map((allow, at) => (at % 2 ? theirs : client).runner.answer({ ...answer, allow, note: `answer ${at}` })),
    );
    expect(answers.map(codeOf)).toEqual(['accepted', 'NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND']);
    const { events } = await read(stream);
    expect(events.filter(({ kind }) => kind === 'result').map(({ text }) => text)).toEqual(['answer 0']);
  });

  test('[U4] an answer for one job permits nothing in another, and an answer counts once', async () => {
    const [one, two] = [await asking(), await asking()];
    const made = await dispatched((body) => (body.includes('tool_result') ? says('Understood.') : calls(['c1', 'rm', { path: '/' }])), 2);
    // Two jobs of one project ask at the same time.
    const open = await Promise.all(
      made.ids.map(async (turnId) => {
        const stream = await made.client.runner.start({ what: { turnId }, performer });
        let event: JobEvent;
        do event = (await stream.next()).value as JobEvent;
        while (event.kind !== 'question');
        return { stream, jobId: event.jobId, requestId: event.requestId ?? '' };
      }),
    );
    const [first, second] = open as [(typeof open)[number], (typeof open)[number]];
    expect(first.requestId).not.toBe(second.requestId);
    const crossed = await Promise.allSettled([
      made.client.runner.answer({ jobId: first.jobId, requestId: second.requestId, allow: true }),
      made.client.runner.answer({ jobId: second.jobId, requestId: first.requestId, allow: true }),
      one.client.runner.answer({ ...two.answer, allow: true }),
    ]);
    expect(crossed.map(codeOf)).toEqual(Array(3).fill('NOT_FOUND'));
    // Sixteen answers race for one question: the tool runs once or not at all, as the one that counted says.
    const answers = await Promise.allSettled(
      Array.from({ length: 16 }, (_, at) =>
        made.client.runner.answer({ jobId: first.jobId, requestId: first.requestId, allow: at % 2 === 0, note: `answer ${at}` }),
      ),
    );
    expect(answers.map(codeOf).filter((code) => code === 'accepted')).toHaveLength(1);
    const { events } = await read(first.stream);
    expect(events.filter(({ kind }) => kind === 'result')).toHaveLength(1);
    await made.client.runner.answer({ jobId: second.jobId, requestId: second.requestId, allow: false, note: 'No.' });
    expect((await read(second.stream)).events.filter(({ kind }) => kind === 'result').map(({ text }) => text)).toEqual(['No.']);
    for (const each of [one, two]) await each.client.runner.stop({ jobId: each.answer.jobId });
  });

  test('[U4] an answer after the job has expired is refused, and the next job asks again', async () => {
    const made = await asking();
    const { client, clock, engine, answer, what } = made;
    // The process of the job is silent: its lease ends.
    clock.at += 30_001;
    expect(codeOf((await Promise.allSettled([another(made, []).client.runner.answer({ ...answer, allow: true })]))[0] as never)).toBe('NOT_FOUND');
    engine.jobs.jobs.get(answer.jobId)?.interrupt();
    const again = await another(made, [made.provider]).client.runner.start({ what, performer });
    let event: JobEvent;
    do event = (await again.next()).value as JobEvent;
    while (event.kind !== 'question');
    expect(event.jobId).not.toBe(answer.jobId);
    await client.runner.answer({ jobId: event.jobId, requestId: event.requestId ?? '', allow: false, note: 'No.' });
    await client.runner.stop({ jobId: event.jobId });
  });

  test('[U4] an answer to one question permits no other one to which the agent gave the same id', async () => {
    const answers: string[] = [];
    const ask = (path: string) =>
      ({
        kind: 'question',
        requestId: '1',
        toolName: 'Bash',
        arguments: { path },
        answer: (allow: boolean) => void answers.push(`${path} ${allow}`),
      }) as const;
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { client } = agentDoor(async function* (_order, _signal, write) {
      yield ask('/tmp/mine');
      yield ask('/');
      await finished;
      write(answer('a-1', 'Done.', {}));
      yield { kind: 'end', text: 'Done.', isError: false };
    });
    const { id } = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Go.' } }] as never });
    const stream = await client.runner.start({ what: { commit: id }, performer: { agent: 'claude-code', folder: scratch() } });
    const asked: JobEvent[] = [];
    while (asked.length < 2) {
      const event = (await stream.next()).value as JobEvent;
      if (event.kind === 'question') asked.push(event);
    }
    const [first, second] = asked as [JobEvent, JobEvent];
    const reply = { jobId: first.jobId, requestId: first.requestId ?? '', allow: true };
    // Two doors answer the first question at once.
    const settled = await Promise.allSettled([client.runner.answer(reply), client.runner.answer(reply)]);
    expect(settled.map(codeOf)).toEqual(['accepted', 'NOT_FOUND']);
    expect(second.requestId).not.toBe(first.requestId);
    expect((await client.runner.list({}))[0]?.questions.map(({ arguments: given }) => given)).toEqual(['{"path":"/"}']);
    await client.runner.answer({ ...reply, requestId: second.requestId ?? '', allow: false });
    finish();
    await read(stream);
    expect(answers).toEqual(['/tmp/mine true', '/ false']);
  });

  test.each(['stop', 'limit', 'cancel'] as const)('[U1] an answer while the job ends by a %s executes nothing', async (how) => {
    const { client, clock, engine, stream, answer, ids, provider } = await asking();
    const job = engine.jobs.jobs.get(answer.jobId);
    const ending = {
      stop: () => client.runner.stop({ jobId: answer.jobId }),
      limit: async () => {
        clock.at += 24 * 3_600_000;
        job?.look();
      },
      cancel: async () => {
        await client.agent.finish({ agentTurnId: ids[0] ?? '', status: 'canceled' });
        job?.look();
      },
    }[how];
    const calledBefore = provider.asked.length;
    await Promise.allSettled([ending(), client.runner.answer({ ...answer, allow: true, note: 'late' })]);
    await job?.done;
    const { events, result } = await read(stream);
    expect(result.status).not.toBe('success');
    expect(events.filter(({ kind }) => kind === 'result')).toEqual([]);
    expect(provider.asked).toHaveLength(calledBefore);
    expect(codeOf((await Promise.allSettled([client.runner.answer({ ...answer, allow: true })]))[0] as never)).toBe('NOT_FOUND');
    expect((await client.project.check({})).problems).toEqual([]);
  });
});

describe('processes that start the same work', () => {
  test('[U4] of many starts at once in two processes, one works and the others are refused', async () => {
    const made = await dispatched(() => (_body, signal) => silent(signal));
    const theirs = another(made, [made.provider]).client;
    const starts = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => (at % 2 ? theirs : made.client).runner.start({ what: made.what, performer })),
    );
    expect(starts.map(codeOf).sort()).toEqual(
      ['CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', 'accepted'].sort(),
    );
    const [job] = await made.client.runner.list({});
    await theirs.runner.stop({ jobId: job?.jobId ?? '' });
    await made.client.runner.stop({ jobId: job?.jobId ?? '' });
  });

  test('[U4] a job that slept while another process took its work stores nothing and ends nothing', async () => {
    let finish = (): void => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* late(): AsyncGenerator<ReplyPiece> {
      await slow;
      yield* says('The late reply.');
    }
    const made = await dispatched(() => () => late());
    const { client, clock, engine, what, ids } = made;
    const stream = await client.runner.start({ what, performer });
    const { jobId } = (await stream.next()).value as JobEvent;
    for (let i = 0; i < 20; i++) await soon();
    const sleeping = engine.jobs.jobs.get(jobId);
    clock.at += 30_001;
    const other = model(() => says('The reply of the other process.'));
    const second = another(made, [other]);
    const { result } = await read(await second.client.runner.start({ what, performer }));
    expect(result.status).toBe('success');
    finish();
    await sleeping?.done;
    const jobs = await client.runner.list({});
    expect(jobs.map(({ status }) => status)).toEqual(['success', 'interrupted']);
    const turn = (await client.handover.map({})).turns.find(({ agentTurnId }) => agentTurnId === ids[0]);
    expect(turn?.status).toBe('success');
    const { cards } = await client.box.cards({ boxId: turn?.outputBoxId ?? '' });
    const said = cards.map(({ content }) => (content.kind === 'text' ? content.text : ''));
    expect(said.filter((text) => text.includes('reply'))).toEqual(['The reply of the other process.']);
  });

  test('[U4] a job that slept cancels no work: the next process continues it', async () => {
    const made = await dispatched(() => (_body, signal) => silent(signal));
    const { client, clock, engine, what, ids } = made;
    const stream = await client.runner.start({ what, performer });
    const { jobId } = (await stream.next()).value as JobEvent;
    for (let i = 0; i < 20; i++) await soon();
    clock.at += 30_001;
    const second = another(made, [model(() => says('Done elsewhere.'))]);
    // Another process finds that the job has expired, before this one wakes.
    const { result } = await read(await second.client.runner.start({ what, performer }));
    await engine.jobs.jobs.get(jobId)?.done;
    expect(result.status).toBe('success');
    expect((await client.handover.map({})).turns.find(({ agentTurnId }) => agentTurnId === ids[0])?.status).toBe('success');
  });

  test('[U5] after a sleep of the machine, the jobs of this process go on', async () => {
    let finish = (): void => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const made = await dispatched(
      () =>
        async function* late(): AsyncGenerator<ReplyPiece> {
          await slow;
          yield* says('Slept well.');
        },
    );
    const { client, clock, engine, project, what } = made;
    const stream = await client.runner.start({ what, performer });
    for (let i = 0; i < 20; i++) await soon();
    clock.at += 8 * 60_000;
    pulse(engine.runner(project), { rules: [] });
    finish();
    const { result } = await read(stream);
    expect(result.status).toBe('success');
    expect((await client.runner.list({})).map(({ status }) => status)).toEqual(['success']);
  });
});

describe('limits that many starts must not exceed', () => {
  test('[U1] two processes together run no more jobs than a policy allows', async () => {
    const made = await dispatched(() => (_body, signal) => silent(signal), 9);
    const second = another(made, [made.provider]);
    const policy = { parallel: 3, rules: [{ for: { agent: 'Writer' }, performer }] };
    // Both have counted before either starts.
    const running = (): Promise<unknown[]> => made.client.runner.list({ status: 'running' });
    for (let i = 0; i < 4; i++) {
      pulse(made.engine.runner(made.project), policy);
      pulse(second.engine.runner(second.project), policy);
      expect((await running()).length).toBeLessThanOrEqual(3);
    }
    expect(await running()).toHaveLength(3);
    for (const { jobId } of await made.client.runner.list({ status: 'running' })) await second.client.runner.stop({ jobId });
    made.engine.jobs.close();
    second.engine.jobs.close();
  });

  test('[U1] a start that counted before another process started is refused by the store', async () => {
    const made = await dispatched(() => (_body, signal) => silent(signal), 4);
    const { startJob } = await import('../../../src/core/runner/live.js');
    const start = (at: number) =>
      startJob(made.engine.runner(made.project), { what: { turnId: made.ids[at] ?? '' }, performer, rule: 'rule', most: { all: 8, rule: 2 } });
    start(0);
    start(1);
    expect(() => start(2)).toThrow(/As many jobs as the policy allows/);
    made.engine.jobs.close();
  });

  test('[U1] work that another process has carried out meanwhile is not started by a rule again', async () => {
    const made = await dispatched(() => says('Done.'));
    await read(await made.client.runner.start({ what: made.what, performer }));
    const { takeJob } = await import('../../../src/core/runner/jobs.js');
    const again = { what: made.what, performer, limits: {}, title: '', who: null, space: null, ticketId: null };
    const work = `turn:${made.ids[0]}`;
    expect(() => takeJob(made.chain, { ...again, holds: 'agent:x', work, rule: 'rule' })).toThrow(/has carried out this work/);
  });

  test.each([
    [{ calls: 4 }, (asked: number) => asked <= 4],
    [{ tokens: 60 }, (asked: number) => asked <= 4],
    [{ calls: 1 }, (asked: number) => asked <= 1],
    [{ tokens: 15 }, (asked: number) => asked <= 1],
  ] as const)('[U1] eight turns at once keep the limit %j of their job', async (limits, isKept) => {
    const tasks = Array.from({ length: 8 }, (_, at) => ({ target_strategy: 'new', target_ref: 'Writer', instruction: `Task ${at}` }));
    // Each call uses 15 tokens.
    async function* slowly(): AsyncGenerator<ReplyPiece> {
      await soon();
      yield* says('Fine.');
    }
    const made = await dispatched((_body, number) => (number === 0 ? calls(['c1', 'fork_join', { tasks }]) : () => slowly()));
    const { result } = await read(await made.client.runner.start({ what: made.what, performer, limits }));
    expect(result.status).toBe('limit');
    expect(isKept(made.provider.asked.length)).toBe(true);
    const [job] = await made.client.runner.list({});
    expect(job?.used.tokens ?? 0).toBeLessThanOrEqual(60);
    expect((await made.client.project.check({})).problems).toEqual([]);
  });
});
