import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { putProfile } from '../../../src/core/cards/index.js';
import type { AgentOrder, AgentPiece } from '../../../src/core/project/index.js';
import { pulse } from '../../../src/core/runner/index.js';
import { agentDoor } from '../../support/agent-door.js';
import { answer, call, prompt, result as resultLine } from '../../support/claude-lines.js';
import { read } from '../../support/model-of-jobs.js';

const performer = { agent: 'claude-code' as const, folder: '/' };
const ends = (text: string): AgentPiece => ({ kind: 'end', text, isError: false });

/** A run of an agent in a space with Sarah. */
async function running({ client, clock }: ReturnType<typeof agentDoor>) {
  await client.space.addEntity({ entityId: 'sarah', name: 'Sarah', type: 'human' });
  await client.space.addEntity({ entityId: 'bot', name: 'Bot', type: 'agent' });
  await client.space.create({ spaceId: 'team', members: ['sarah', 'bot'] });
  clock.at += 1_000;
  await client.space.post({ spaceId: 'team', senderId: 'sarah', text: 'Deploy, please.' });
  return (await client.run.list({}))[0]?.runId ?? '';
}

test('[U3, U6] an agent that waits for Sarah ends its turn, and her reply starts it again', async () => {
  const made = agentDoor(async function* ({ mcp }, _signal, write) {
    const isFirst = made.orders.length === 1;
    if (isFirst) await made.client.run.send({ runId: mcp?.runId ?? '', text: 'Which branch?', wait: { for: 'Sarah' } });
    write(answer(`a-${made.orders.length}`, isFirst ? 'I asked.' : 'Deployed.', {}));
    yield ends(isFirst ? 'I asked.' : 'Deployed.');
  });
  const { client, clock, engine, project, orders } = made;
  const runId = await running(made);
  const settle = async (): Promise<void> => {
    pulse(engine.runner(project), { rules: [{ for: { space: 'team' }, performer, tools: ['runs'] }] });
    await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  };
  await settle();
  expect((await client.run.get({ runId })).status).toBe('waiting_reply');
  await settle();
  expect(orders).toHaveLength(1);
  expect(orders[0]?.mcp).toMatchObject({ project: project.dir, tools: ['runs'], as: 'bot', runId });
  // Its instructions name the tools of the group.
  expect(orders[0]?.prompt).toContain('Use send_message to communicate.');
  clock.at += 1_000;
  await client.space.post({ spaceId: 'team', senderId: 'sarah', text: 'main' });
  await settle();
  expect(await client.run.get({ runId })).toMatchObject({ status: 'completed', contextId: expect.stringMatching(/^ctx-/) });
  expect(orders[1]?.prompt).toContain('main');
  expect((await client.runner.list({})).map(({ status }) => status)).toEqual(['success', 'success']);
});

test('[K4, U4] what an agent writes in a job carries its work, and its claim starts nothing', async () => {
  const rules = [{ for: { ticketType: 'task' }, who: '@author', performer }];
  const surroundings = prompt('s-1', '<system-reminder>The folder is empty.</system-reminder>');
  const made = agentDoor(async function* (_order, _signal, write) {
    write(surroundings + answer('a-1', 'I have looked.', { parent: 's-1' }));
    yield { kind: 'call', toolName: 'ticket_transition', text: '' };
    await client.ticket.transition({ ticketId, to: 'in_progress', assignee: '@author', by: '@author' });
    pulse(engine.runner(project), { rules });
    running.push((await client.runner.list({ status: 'running' })).length);
    await client.ticket.discuss({ ticketId, text: 'Which case?', principal: '@pm' });
    write(answer('a-2', 'Done.', { parent: 'a-1' }));
    yield ends('Done.');
  });
  const { client, engine, project } = made;
  const running: number[] = [];
  const before = await client.ticket.create({ title: 'Add a clock', type: 'chore' });
  const { ticketId } = await client.ticket.create({ title: 'Retry calls', type: 'task', dependsOn: [before.ticketId] });
  await client.ticket.transition({ ticketId: before.ticketId, to: 'in_progress', assignee: '@pm' });
  await client.ticket.transition({ ticketId: before.ticketId, to: 'closed', resolution: 'Added.' });
  pulse(engine.runner(project), { rules });
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  expect((await client.runner.list({})).map(({ error }) => error)).toEqual([null]);
  expect(running).toEqual([1]);
  expect(await client.runner.list({})).toMatchObject([{ status: 'success', who: '@author' }]);
  const { versions } = await client.ticket.get({ ticketId });
  const claim = versions.find(({ by, changes }) => by === '@author' && changes.status?.to === 'in_progress');
  const { entries } = await client.context.entries({ id: claim?.contextId as never, stop: 'root' });
  expect(entries.at(-1)?.text).toBe('I have looked.');
});

test('[K4] a session that cannot be read while a tool runs ends its job, not the engine', async () => {
  const made = agentDoor(async function* (order) {
    yield { kind: 'call', toolName: 'Bash', text: '' };
    const path = order.resume?.path ?? join(made.root, 'projects', '-work', 'own.jsonl');
    rmSync(path, { force: true });
    symlinkSync('/dev/zero', path);
    await new Promise((resolve) => setTimeout(resolve, 200));
    yield { kind: 'result', toolName: 'Bash', text: '' };
    yield ends('Done.');
  });
  const runId = await running(made);
  const { result } = await read(await made.client.runner.start({ what: { runId }, performer }));
  expect(result.status).toBe('failed');
});

test('[U6] a session that an agent writes for a job is never imported', async () => {
  const found: unknown[] = [];
  const made = agentDoor(async function* (_order, _signal, write) {
    write(prompt('u-1', 'Look around.', { extra: { sessionId: 'own' } }) + answer('a-1', 'Done.', { parent: 'u-1', extra: { sessionId: 'own' } }));
    const { result } = await read((await made.client.import.run({ paths: [made.root] })) as never);
    found.push(result);
    yield ends('Done.');
  });
  const { client } = made;
  const asked = await client.context.fork({
    id: null,
    edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Look around.' } }] as never,
  });
  const { result } = await read(await client.runner.start({ what: { commit: asked.id }, performer }));
  expect(result.status).toBe('success');
  expect(found).toMatchObject([{ commits: 0, notes: [{ reason: expect.stringContaining('a job of Stemma writes this session') }] }]);
  expect(await client.source.list({})).toEqual([]);
  expect((await client.session.list({})).total).toBe(0);
});

test('[U1] an agent that reports less than no tokens and cost gets no more than its limits', async () => {
  const made = agentDoor(async function* (_order, _signal, write) {
    const odd = { input: -1_000_000, output: Number.NaN, cacheRead: 0.5, cacheWrite: null };
    for (let at = 0; at < 20; at++) {
      yield { kind: 'text', delta: 'word '.repeat(100) };
      yield { kind: 'usage', tokens: odd, model: null, cost: at % 2 === 0 ? -1 : Number.NaN };
    }
    write(answer('a-1', 'Done.', {}));
    yield ends('Done.');
  });
  const runId = await running(made);
  const { events, result } = await read(await made.client.runner.start({ what: { runId }, performer, limits: { tokens: 1_000 } }));
  expect(result.status).toBe('limit');
  expect((await made.client.runner.list({}))[0]?.used).toMatchObject({ tokens: null, cost: null });
  expect(events.find(({ kind }) => kind === 'usage')?.tokens).toEqual({ input: null, output: null, cacheRead: null, cacheWrite: null });
});

test('[U1] an agent that never stops is stopped at its limits, and its work stays', async () => {
  const made = agentDoor(async function* (_order, signal, write) {
    for (let call = 0; !signal.aborted; call++) {
      yield { kind: 'usage', tokens: { input: 10, output: 5, cacheRead: null, cacheWrite: null }, model: null, cost: null };
      write(answer(`a-${call}`, `Step ${call}.`, {}));
      yield { kind: 'result', text: 'ok', toolName: 'Bash' };
    }
  });
  const { client } = made;
  const runId = await running(made);
  const { events, result } = await read(await client.runner.start({ what: { runId }, performer, limits: { calls: 3 } }));
  expect(result.status).toBe('limit');
  expect(events.at(-1)?.text).toBe('The job reached its limit of 3 model calls.');
  expect((await client.run.get({ runId })).status).toBe('failed');
  const { entries } = await client.context.entries({ id: result.commits.at(-1) as never });
  expect(entries.map(({ text }) => text)).toContain('Step 2.');
  expect((await client.project.check({})).problems).toEqual([]);
});

test.for([
  ['in the middle', false],
  ['after its last message', true],
] as const)('[U4] an agent that was killed %s continues, and repeats nothing', async ([, isLast], { expect }) => {
  let tell = (): void => {};
  const reached = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const made = agentDoor(async function* ({ resume }, signal, write) {
    if (made.orders.length > 1) {
      write(prompt('u-2', 'Your work was interrupted.', {}) + answer('a-2', 'Deployed.', { parent: 'u-2' }));
      yield ends('Deployed.');
      return;
    }
    expect(resume).toBeUndefined();
    const extra = { sessionId: 'own' };
    write(call('a-1', 'c-1', 'Bash', { command: 'make' }, { extra }) + resultLine('r-1', 'c-1', 'made', { parent: 'a-1', extra }));
    if (isLast) write(answer('a-9', 'Deployed.', { parent: 'r-1', extra }));
    yield { kind: 'result', text: 'made', toolName: 'Bash' };
    tell();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  });
  const { client, engine, project, orders } = made;
  const runId = await running(made);
  const settle = async (): Promise<void> => {
    pulse(engine.runner(project), { rules: [{ for: { space: 'team' }, performer }] });
    await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  };
  const first = settle();
  await reached;
  engine.jobs.close();
  await first;
  expect((await client.run.get({ runId })).status).toBe('running');
  // What the process left in the folder of the agent is no new session, and the next job removes it.
  const left = (): string[] => readdirSync(made.root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  expect(left()).toHaveLength(1);
  const sessions = (await client.session.list({})).total;
  const { result: imported } = await read((await client.import.run({ paths: [made.root] })) as never);
  expect(imported).toMatchObject({ commits: 0 });
  expect((await client.session.list({})).total).toBe(sessions);
  await settle();
  expect(left()).toEqual([]);
  expect((await client.runner.list({})).map(({ status, error }) => [status, error]).at(0)).toEqual(['success', null]);
  expect(orders.map(({ prompt: said }) => said.includes('was interrupted'))).toEqual(isLast ? [false] : [false, true]);
  const run = await client.run.get({ runId });
  expect(run.status).toBe('completed');
  const { entries } = await client.context.entries({ id: run.contextId as never });
  expect(entries.filter(({ kind }) => kind === 'tool_result').map(({ text }) => text)).toEqual(['made']);
  expect(entries.at(-1)?.text).toBe('Deployed.');
  expect((await client.project.check({})).problems).toEqual([]);
});

describe('[U2] a command-line agent is offered the tools that a model with its profile would be', () => {
  const orderOf = async (rules: object | undefined, tools?: string[]): Promise<AgentOrder['mcp']> => {
    const made = agentDoor(async function* (_order, _signal, write) {
      write(answer('a-1', 'Done.', {}));
      yield ends('Done.');
    });
    if (rules) putProfile(made.project.chain, 'Bot', { content: { kind: 'json', data: { name: 'Bot', ...rules } } });
    const runId = await running(made);
    for await (const _ of await made.client.runner.start({ what: { runId }, performer, ...(tools && { tools }) }));
    return made.orders[0]?.mcp;
  };
  const ofProject = ['search', 'entries', 'materialize', 'sql', 'card_get', 'box_cards', 'space_messages', 'ticket_list'];

  test('without a permission, those for its own run, boxes, spaces and delegation', { tags: 'long' }, async () => {
    for (const mcp of [await orderOf(undefined), await orderOf({})]) {
      expect(mcp?.permitted).toEqual(
        expect.arrayContaining(['send_message', 'read_messages', 'enter_space', 'get_my_runs', 'handover_delegate', 'card_add']),
      );
      for (const name of ofProject) expect(mcp?.permitted).not.toContain(name);
    }
  });

  test('those that its profile names, in the words of either list; an empty list serves none', async () => {
    const mcp = await orderOf({ allowed_internal_tools: ['send_message', 'search', 'read_cards', 'sql', 7] });
    expect(mcp?.permitted).toEqual(['send_message', 'run_send', 'run_timeline', 'search', 'card_get', 'box_cards', 'sql']);
    expect(await orderOf({ allowed_internal_tools: [] })).toBeUndefined();
    expect((await orderOf({}, ['write_cards', 'runs']))?.tools).toEqual(['card_add', 'runs']);
  });

  test('the turn of an agent, and the start of a ticket', async () => {
    const made = agentDoor(async function* (_order, _signal, write) {
      write(answer(`a-${made.orders.length}`, 'Done.', {}));
      yield ends('Done.');
    });
    const { client, project } = made;
    putProfile(project.chain, 'Writer', { content: { kind: 'json', data: { name: 'Writer', allowed_internal_tools: ['search'] } } });
    const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write.' });
    for await (const _ of await client.runner.start({ what: { turnId: agentTurnId }, performer }));
    const { ticketId } = await client.ticket.create({ title: 'Retry', type: 'task' });
    await client.ticket.transition({ ticketId, to: 'in_progress', assignee: '@bot', by: '@pm' });
    const [event] = await client.ticket.events({});
    for await (const _ of await client.runner.start({ what: { eventId: event?.event ?? 0 }, performer }));
    const [turn, ticket] = made.orders.map(({ mcp }) => mcp?.permitted ?? []);
    expect(turn).toEqual(['search']);
    expect(ticket).toEqual(expect.arrayContaining(['ticket_transition', 'ticket_verdict', 'ticket_thread', 'card_add']));
    for (const name of ofProject.slice(0, -1)) expect(ticket).not.toContain(name);
  });
});
