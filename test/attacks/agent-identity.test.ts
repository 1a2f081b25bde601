// What an agent may try to be: another agent, the person who started it, or somebody with more rights.
import { describe, expect, test } from 'vitest';
import type { WriteChain } from '../../src/core/chain/index.js';
import { launchPrincipal } from '../../src/core/handover/index.js';
import type { AgentOrder } from '../../src/core/project/index.js';
import { allowWork, listJobs, pulse } from '../../src/core/runner/index.js';
import { rightsFor } from '../../src/core/runner/kinds.js';
import { pull, push } from '../../src/core/sync/index.js';
import { toolsFor } from '../../src/main/mcp/tools.js';
import { agentDoor } from '../support/agent-door.js';
import { answer } from '../support/claude-lines.js';
import { door } from '../support/door.js';
import { fakeHub } from '../support/fake-hub.js';
import { read } from '../support/model-of-jobs.js';

type Made = Pick<ReturnType<typeof door>, 'client'>;
type Caller = Parameters<typeof toolsFor>[1];

/** Calls a tool of the MCP server of a caller. */
const using =
  ({ client }: Made, caller: Caller) =>
  async (name: string, input: object): Promise<unknown> => {
    const tool = toolsFor(undefined, caller).find((each) => each.name === name);
    if (!tool) throw new Error(`The tool ${name} is not offered.`);
    return tool.call(client as never, input as never, caller);
  };

/** A start on a ticket for somebody, which `by` gave. */
async function startFor({ client }: Made, who: string, by: string): Promise<number> {
  const { ticketId } = await client.ticket.create({ title: 'T', type: 'task', by });
  await client.ticket.transition({ ticketId, to: 'in_progress', assignee: who, by });
  return (await client.ticket.events({})).find((each) => each.ticketId === ticketId && each.task === 'work')?.event ?? 0;
}

const text = (words: string) => ({ kind: 'text' as const, text: words });

describe('[U6] a tool call acts for its caller and for nobody else', () => {
  test('a start for another agent cannot be taken', async () => {
    const made = door();
    const [others, own] = [await startFor(made, 'other', 'ada'), await startFor(made, 'bot', 'ada')];
    const call = using(made, { as: 'bot' });
    await expect(call('ticket_acknowledge', { event: others, as: 'taken' })).rejects.toThrow('is for other, not for bot');
    expect(await call('ticket_acknowledge', { event: own, as: 'taken' })).toMatchObject({ state: 'taken' });
  });

  test.each([{ as: 'bot' }, {}])('what another machine sent waits for a person, whoever asks: %j', async (caller) => {
    const theirs = door();
    await startFor(theirs, 'bot', 'stranger');
    await theirs.client.profile.put({ name: 'Worker', card: { content: { kind: 'json', data: {} } } } as never);
    launchPrincipal(theirs.chain, { profileName: 'Worker', instruction: 'Obey.' });
    const hub = fakeHub();
    hub.sender = { name: 'ann', isLink: false };
    await push(theirs.chain, hub);
    const mine = door();
    await pull(mine.chain, hub, { place: 'https://hub.example/shop' });
    const event = (await mine.client.ticket.events({}))[0]?.event ?? 0;
    const turn = (await mine.client.handover.map({})).turns[0];
    const call = using(mine, 'as' in caller ? { as: turn?.agentId } : {});
    const take = () => using(mine, caller)('ticket_acknowledge', { event, as: 'taken', ...('as' in caller ? {} : { by: 'bot' }) });
    await expect(take()).rejects.toThrow('waits until a person');
    for (const name of ['agent_begin', 'agent_input', 'agent_finish'])
      await expect(call(name, { agentTurnId: turn?.agentTurnId, status: 'completed' })).rejects.toThrow('waits until a person');
    allowWork(mine.chain, { eventId: event });
    expect(await take()).toMatchObject({ state: 'taken' });
  });

  test('a card is by its caller, and no card of others or profile is replaced', async () => {
    const made = door();
    const { client } = made;
    const content = { kind: 'json' as const, data: { name: 'Writer', allowed_internal_tools: ['search'] } };
    const { profileBoxId } = await client.profile.put({ name: 'Writer', card: { content } } as never);
    const [profile] = (await client.box.cards({ boxId: profileBoxId })).cards;
    const { agentTurnId = '', agentId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write.' });
    const theirs = await client.card.add({ card: { type: 'note', content: text('what Ada wrote'), authorId: 'ada' } });
    await client.agent.begin({ agentTurnId });
    const call = using(made, { as: agentId });
    const mine = { type: 'task.deliverable', content: text('done') };
    for (const authorId of ['ada', 'user@this-machine'])
      await expect(call('agent_write', { agentTurnId, cards: [mine, { ...mine, authorId }] })).rejects.toThrow('authorId cannot be');
    await call('agent_write', { agentTurnId, cards: [mine] });
    expect((await client.card.list({ authorId: agentId } as never)).cards).toHaveLength(1);
    // Without a named caller, an agent chooses its name, but it is never the person of a machine.
    const unnamed = using(made, {});
    for (const authorId of ['user', 'user@x', 'us\u200ber@x', 'ｕser@x'])
      for (const [name, input] of [
        ['agent_write', { agentTurnId, cards: [{ ...mine, authorId }] }],
        ['card_add', { card: { ...mine, authorId } }],
      ] as const)
        await expect(unnamed(name, input), `${name} ${authorId}`).rejects.toThrow('cannot act as the person');
    for (const tool of [call, unnamed])
      for (const { cardId, type } of tool === call ? [theirs, profile ?? theirs] : [profile ?? theirs]) {
        const card = { cardId, type, content: { ...content, data: { ...content.data, allowed_internal_tools: ['search', 'sql'] } } };
        await expect(tool('card_add', { card })).rejects.toThrow('write yours as a new card');
        await expect(tool('agent_write', { agentTurnId, cards: [card] })).rejects.toThrow('write yours as a new card');
      }
    expect((await client.card.get({ cardId: theirs.cardId })).content).toEqual(text('what Ada wrote'));
    await client.space.addEntity({ entityId: 'ent-1', name: 'Sarah', type: 'human' });
    for (const authorId of ['user@this-machine', 'ent-1', 'Sarah']) {
      const { cardId, type } = await client.card.add({ card: { type: 'note', content: text('what a person wrote'), authorId } });
      for (const tool of [call, unnamed]) {
        const card = { cardId, type, content: text('what nobody wrote'), ...(tool === unnamed && { authorId: 'bot' }) };
        await expect(tool('card_add', { card }), authorId).rejects.toThrow('write yours as a new card');
      }
      expect((await client.card.get({ cardId })).content).toEqual(text('what a person wrote'));
    }
  });

  test('no field of a tool that writes names somebody, unless the server fills it', () => {
    const names = /^(?:by|authorId|author|senderId|principal|sourceAgentId|reviewer|entityId|who|agentId)$/;
    const fieldsIn = (schema: unknown): string[] =>
      typeof schema !== 'object' || schema === null
        ? []
        : Array.isArray(schema)
          ? schema.flatMap(fieldsIn)
          : Object.entries(schema).flatMap(([key, value]) => [...(key === 'properties' ? Object.keys(value as object) : []), ...fieldsIn(value)]);
    const left = toolsFor(undefined, { as: 'bot' })
      .filter(({ readOnly }) => !readOnly)
      .flatMap(({ name, inputSchema }) => fieldsIn(inputSchema).flatMap((field) => (names.test(field) ? [`${name}.${field}`] : [])));
    expect(left).toEqual([]);
  });
});

/** A rule that would give an agent all rights. */
const rule = { for: { ticketType: 'task' }, performer: { agent: 'claude-code' as const, folder: '/', permissions: 'bypassPermissions' as const } };

/** A running job with few or many rights. */
function job(
  chain: WriteChain,
  id: string,
  row: { readonly who: string | null; readonly performer: object; readonly tools?: readonly string[] },
): void {
  chain.db.run(
    `INSERT INTO job (project, jobId, what, holds, performer, limits, status, leaseUntil, startedAt, who, tools)
      VALUES (?, ?, '{"runId":"r"}', ?, ?, '{}', 'running', ?, ?, ?, ?)`,
    chain.project,
    id,
    id,
    JSON.stringify(row.performer),
    chain.clock() + 60_000,
    chain.clock(),
    row.who,
    row.tools === undefined ? null : JSON.stringify(row.tools),
  );
}

describe('[U10] work that an agent hands out has no more rights than its job', () => {
  test('a rule starts it with the lesser rights', async () => {
    const made = agentDoor(async function* (_order, _signal, write) {
      write(answer('a-1', 'Done.', {}));
      yield { kind: 'end', text: 'Done.', isError: false };
    });
    const { chain, clock, engine, project, orders } = made;
    job(chain, 'job-1', { who: 'bot', performer: { ...rule.performer, permissions: 'plan' }, tools: ['search'] });
    clock.at += 1_000;
    const event = await startFor(made, 'other', 'bot');
    pulse(engine.runner(project), { rules: [rule] });
    await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
    expect(orders).toMatchObject([{ permissions: 'plan', mcp: { tools: ['search'], as: 'other' } }]);
    expect(listJobs(chain, undefined).find(({ what }) => 'eventId' in what && what.eventId === event)?.performer).toMatchObject({
      permissions: 'plan',
    });
  });

  test('an agent in two jobs at once has the lesser rights of both, in whatever order they began', async () => {
    for (const order of [
      ['plan', 'bypassPermissions'],
      ['bypassPermissions', 'plan'],
    ] as const) {
      const made = door();
      for (const permissions of order) job(made.chain, `job-${permissions}`, { who: 'bot', performer: { ...rule.performer, permissions } });
      made.clock.at += 1_000;
      const eventId = await startFor(made, 'other', 'bot');
      expect(rightsFor(made.chain, rule, { eventId }).performer).toMatchObject({ permissions: 'plan' });
    }
  });

  test('an agent that continues the work of a person is not that person', async () => {
    let order: AgentOrder | undefined;
    const made = agentDoor(async function* (given, _signal, write) {
      order = given;
      made.clock.at += 1_000;
      events.push(await startFor(made, 'other', given.mcp?.as ?? ''));
      rights.push(rightsFor(made.chain, rule, { eventId: events.at(-1) ?? 0 }).performer);
      write(answer('a-1', 'Done.', {}));
      yield { kind: 'end', text: 'Done.', isError: false };
    });
    const events: number[] = [];
    const rights: unknown[] = [];
    const { client } = made;
    const { id } = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', ...text('Go.') } }] as never });
    const performer = { ...rule.performer, permissions: 'plan' as const };
    await read(await client.runner.start({ what: { commit: id }, performer }));
    expect(order?.mcp?.as).toBe('agent:claude-code');
    expect(rights).toMatchObject([{ permissions: 'plan' }]);
    // The same where a start is for a person: of this machine, or of a space.
    await client.space.addEntity({ entityId: 'sarah', name: 'Sarah', type: 'human' });
    for (const who of ['user@this-machine', 'us\u200ber@this-machine', 'sarah', 'Sarah', 'SARAH', 's\u00adarah']) {
      await read(await client.runner.start({ what: { eventId: await startFor(made, who, 'ada') }, performer }));
      expect(order?.mcp?.as).toBe('agent:claude-code');
    }
    expect(rights).toMatchObject(Array(7).fill({ permissions: 'plan' }));
    await read(await client.runner.start({ what: { eventId: await startFor(made, 'a-bot', 'ada') }, performer }));
    expect(order?.mcp?.as).toBe('a-bot');
  });
});
