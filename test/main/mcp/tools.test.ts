import { expect, test } from 'vitest';
import { toolNames, toolsFor } from '../../../src/main/mcp/tools.js';
import { door } from '../../support/door.js';

/** The tools of a caller on a project with a space of Ann and two agents. */
async function tools(names?: readonly string[], caller: { as?: string; run?: string; permitted?: string[] } = {}, made = door()) {
  const { client } = made;
  if ((await client.space.list({})).length === 0) {
    for (const [entityId, type] of [['ann', 'human'] as const, ['bot', 'agent'] as const, ['other', 'agent'] as const])
      await client.space.addEntity({ entityId, name: entityId, type });
    await client.space.create({ spaceId: 'team', members: ['ann', 'bot', 'other'] });
  }
  const offered = toolsFor(names, caller);
  const call = async (name: string, input: object): Promise<Record<string, never>> => {
    const tool = offered.find((each) => each.name === name);
    if (!tool) throw new Error(`The tool ${name} is not offered.`);
    return (await tool.call(client as never, input as never, caller)) as Record<string, never>;
  };
  return { ...made, offered, call };
}

test('[U6] groups and names select the tools', async () => {
  const { offered } = await tools(['runs', 'search']);
  expect(offered.filter(({ isOld }) => !isOld).map(({ name }) => name)).toEqual([
    'search',
    'run_list',
    'send_message',
    'read_messages',
    'enter_space',
    'get_my_runs',
    'run_timeline',
  ]);
  expect(toolNames).toEqual(expect.arrayContaining(['history', 'tickets', 'spaces', 'runs', 'cards', 'handover', 'compose', 'search']));
  expect(toolsFor(undefined, {}).length).toBe(toolNames.length - 7);
});

test('[U2, U6] a server offers only what the profile permits, whatever the job names', async () => {
  const { offered, call } = await tools(['runs', 'history'], { as: 'bot', permitted: ['send_message', 'run_send', 'search', 'card_add', 'unknown'] });
  expect(offered.map(({ name }) => name)).toEqual(['search', 'send_message', 'run_send']);
  for (const name of ['entries', 'sql', 'card_add', 'run_list']) await expect(call(name, {})).rejects.toThrow('is not offered');
  expect((await tools(undefined, { permitted: [] })).offered).toEqual([]);
});

test('[U6] a server that works for an agent acts in its name only', async () => {
  const { offered, call, client } = await tools(undefined, { as: 'bot' });
  expect(offered.filter(({ isOld }) => !isOld).map(({ name }) => name)).not.toContain('ticket_answer');
  for (const [name, field] of [
    ['space_post', 'senderId'],
    ['ticket_create', 'by'],
    ['ticket_verdict', 'reviewer'],
    ['handover_delegate', 'sourceAgentId'],
  ] as const) {
    const [tool] = offered.filter((each) => each.name === name);
    const { properties, required = [] } = { properties: {}, ...tool?.inputSchema } as { properties: object; required?: string[] };
    expect(Object.keys(properties)).not.toContain(field);
    expect(required).not.toContain(field);
  }
  await call('space_post', { spaceId: 'team', text: 'Hello.' });
  expect((await client.space.messages({ spaceId: 'team' })).messages.map(({ sender }) => sender.name)).toEqual(['bot']);
  await expect(call('space_post', { spaceId: 'team', text: 'Hello.', senderId: 'ann' })).rejects.toThrow('You are bot: senderId cannot be "ann".');
  await call('ticket_create', { title: 'Mine', type: 'task', assignee: 'bot' });
  expect(await call('ticket_mine', {})).toMatchObject({ assigned: [{ title: 'Mine' }], asked: [] });
  const { cardId } = await call('card_add', { card: { type: 'note', content: 'Seen.' } });
  expect((await client.card.get({ cardId: cardId ?? '' })).authorId).toBe('bot');
});

test('[U6] without a named caller, no tool acts as the person of the machine', async () => {
  const { call, client } = await tools();
  for (const by of ['user', 'user@this-machine', 'User@elsewhere', ' user@x'])
    await expect(call('ticket_create', { title: 'mine', type: 'task', by })).rejects.toThrow('cannot act as the person');
  const { ticketId } = await client.ticket.create({ title: 'a', type: 'task' });
  await expect(call('ticket_discuss', { ticketId, text: 'Yes.', principal: 'user@this-machine' })).rejects.toThrow('cannot act as the person');
  expect(await call('ticket_create', { title: 'own', type: 'task', by: '@mechanic' })).toMatchObject({ title: 'own' });
});

test('[U6] runs and turns of others are refused', async () => {
  const made = await tools();
  const { client } = made;
  await client.space.post({ spaceId: 'team', senderId: 'ann', text: 'Go.' });
  const runs = await client.run.list({});
  const [own, others] = ['bot', 'other'].map((who) => runs.find(({ entityId }) => entityId === who)?.runId ?? '');
  await client.profile.put({ name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } } as never);
  const { agentTurnId } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write.' });

  const named = await tools(['runs', 'handover'], { as: 'bot' }, made);
  await named.call('run_send', { runId: own, text: 'Done.' });
  await expect(named.call('run_send', { runId: others, text: 'Done.' })).rejects.toThrow('belongs to other, not to bot');
  await expect(named.call('agent_begin', { agentTurnId })).rejects.toThrow('not to bot');
  const handed = await named.call('handover_delegate', { targetStrategy: 'new', targetRef: 'Writer', instruction: 'Help.' });
  expect(handed).toMatchObject({ status: 'accepted', turns: [{ sourceAgentId: 'bot' }] });

  const inRun = await tools(['runs'], { as: 'bot', run: own ?? '' }, made);
  expect(await inRun.call('run_timeline', {})).toHaveProperty('rendered');
  await expect(inRun.call('run_send', { runId: others, text: 'x' })).rejects.toThrow('runId cannot be');
});

test('[B-36] an agent speaks in spaces with the names and arguments that its prompt uses', async () => {
  const made = await tools();
  const { client, clock } = made;
  const { message } = await client.space.post({ spaceId: 'team', senderId: 'ann', text: 'Which "branch"?' });
  await client.space.create({ spaceId: 'daily', name: 'Daily', members: ['ann', 'bot'] });
  const run = (await client.run.list({ entityId: 'bot' }))[0]?.runId ?? '';
  const { call } = await tools(['runs'], { as: 'bot', run }, made);
  clock.at += 1_000;
  const line = `[msg:${message.messageId.slice(4)}] [2026-01-01T00:00:00Z] ann (human, id:ann): "Which \\"branch\\"?"  [NEW] ← TRIGGER`;
  expect(await call('read_messages', {})).toEqual({ lines: [line] });
  expect(await call('get_my_runs', {})).toMatchObject({ runs: [{ runId: run, status: 'running' }] });
  expect(await call('enter_space', { spaceId: 'daily' })).toMatchObject({ activeSpaceId: 'daily' });
  const { system } = (await client.run.timeline({ runId: run })).rendered;
  expect(system).toContain('ACTIVE SPACE: "Daily" (id: daily)\n');
  expect(system).toContain('The space "Daily" is active — call enter_space only if');
  expect(system).not.toContain('The trigger space is already active');
  expect(system).toContain('SPACE HISTORY ("team"):');
  expect(system).toContain('SPACE HISTORY ("Daily"):');
  const sent = await call('send_message', { text: 'main', messageId: message.messageId, spaceId: 'team', wait: { for: 'ann', timeoutMs: 60_000 } });
  expect(sent).toMatchObject({ message: { replyTo: message.messageId }, run: { status: 'waiting_reply' } });
  const outside = await tools(['runs'], { as: 'other' }, made);
  expect((await outside.call('read_messages', { spaceId: 'team', limit: 1 })).lines).toEqual([
    expect.stringContaining('bot (agent, id:bot): "main"  [NEW]'),
  ]);
  await expect(outside.call('send_message', { text: 'x' })).rejects.toThrow('Name one as `spaceId`');
  expect(await outside.call('send_message', { text: 'Hm.', spaceId: 'team' })).toMatchObject({ message: { sender: { id: 'other' } } });
});
