import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolNames, toolsFor } from '../../../src/main/mcp/tools.js';
import { desk } from '../../support/desk.js';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';

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

test.each([{}, { as: 'bot' }])('[U6] no tool acts as a person of the machine or of a space: %j', async (caller: { as?: string }) => {
  const made = await tools();
  const { client } = made;
  await client.space.addEntity({ entityId: 'ent-1', name: 'Sarah Conte', type: 'human' });
  const { ticketId } = await client.ticket.create({ title: 'a', type: 'task' });
  await client.ticket.transition({ ticketId, to: 'review', reviewers: ['ann', 'Sarah Conte', 'bot'] });
  const people = ['user', 'user@this-machine', 'User@elsewhere', ' user@x', 'ann', 'ANN', 'an\u200bn', 'ａnn', '\u2066ann\u2069', 'a\u034fnn'];
  for (const person of [...people, 'ent-1', 'Sarah Conte', 'sarah\u00a0conte'])
    for (const [name, input] of [
      ['ticket_create', { title: 'mine', type: 'task', by: person }],
      ['ticket_update', { ticketId, title: 'mine', by: person }],
      ['ticket_transition', { ticketId, to: 'closed', reason: 'done', by: person }],
      ['ticket_verdict', { ticketId, verdict: 'approved', reviewer: person }],
      ['ticket_discuss', { ticketId, text: 'Yes.', principal: person }],
      ['space_post', { spaceId: 'team', text: 'Yes.', senderId: person }],
      ['send_message', { spaceId: 'team', text: 'Yes.', entityId: person }],
      ['read_messages', { spaceId: 'team', entityId: person }],
      ['checkpoint', { parent: null, type: 'delta', format: 'markdown', text: 'Yes.', template: 't', principal: person }],
      ['card_add', { card: { type: 'note', content: 'Yes.', authorId: person } }],
      ['handover_delegate', { targetStrategy: 'new', targetRef: 'Writer', instruction: 'Help.', sourceAgentId: person }],
    ] as const) {
      // Whoever is named on the command line: an agent calls, not that person.
      const field = caller.as === undefined ? input : withoutName(input, person);
      const { call } = await tools(undefined, caller.as === undefined ? {} : { as: person }, made);
      await expect(call(name, field), `${name} ${person}`).rejects.toThrow('cannot act as the person');
    }
  expect((await client.ticket.get({ ticketId })).reviewers.map(({ verdict }) => verdict)).toEqual(['pending', 'pending', 'pending']);
  expect((await client.space.messages({ spaceId: 'team' })).messages).toEqual([]);
  const { call } = await tools(undefined, caller, made);
  const by = caller.as === undefined ? { by: '@mechanic' } : {};
  expect(await call('ticket_create', { title: 'own', type: 'task', ...by })).toMatchObject({ title: 'own' });
});

/** An input without the fields that hold this name. */
const withoutName = (input: object, name: string): object =>
  JSON.parse(JSON.stringify(input), (_, value: unknown) => (value === name ? undefined : value)) as object;

test('[U6] what an agent imports, and what it lets a model answer, is not by a person', async () => {
  const { call, client } = await tools();
  const pull = (login: string) => ({
    ...{ html_url: `https://forge.example/pulls/${login.length}`, title: 'Faster', state: 'open', head: {}, user: { login: 'bot' } },
    reviews: [{ state: 'APPROVED', user: { login } }],
  });
  for (const text of [
    JSON.stringify(pull('ann')),
    JSON.stringify([pull('ann\u200b')]),
    JSON.stringify(pull('ann')).replace('"login"', '"\\u006cogin"'),
  ])
    await expect(call('ticket_import', { text })).rejects.toThrow('cannot act as the person');
  expect(await client.ticket.list({})).toEqual([]);
  expect(await call('ticket_import', { text: JSON.stringify(pull('other')) })).toMatchObject({ created: [expect.any(String)] });
  const { ticketId } = await client.ticket.create({ title: 'a', type: 'task', by: 'ann', assignee: 'ann' });
  await call('ticket_discuss', { ticketId, text: 'Is it done?', principal: 'bot' });
  await expect(call('ticket_answer', { ticketId, provider: 'recorded' })).rejects.toThrow('cannot act as the person');
});

test('[U6] a repair that an agent makes belongs to an agent', async () => {
  const { call: client } = desk(scratch());
  await client.project.create({ dir: join(scratch(), 'p.stemma') });
  for await (const _ of await client.import.run({ paths: [join(import.meta.dirname, '../../fixtures/cases/unpaired-tools')] })) void _;
  const { sessions } = await client.session.list({});
  const repair = toolsFor(['session_repair'], {})[0];
  const made = await repair?.call(client as never, { sessionId: sessions[0]?.sessionId }, {});
  expect(made).toMatchObject({ commit: { principal: 'agent:mcp' } });
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
  // A field that the tool does not have is refused, not left out.
  await expect(outside.call('send_message', { text: 'x', spaceId: 'team', replyTo: message.messageId })).rejects.toThrow(
    /^replyTo is not a field. The fields are text, messageId, /,
  );
  await expect(outside.call('send_message', { text: 'x', spaceId: 'team', wait: { x: 1 } })).rejects.toThrow(/^wait.x is not a field.$/);
  await expect(outside.call('read_messages', { spaceId: 'team', before: 1 })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    data: { field: 'before' },
  });
  expect(await outside.call('send_message', { text: 'Hm.', spaceId: 'team' })).toMatchObject({ message: { sender: { id: 'other' } } });
});
