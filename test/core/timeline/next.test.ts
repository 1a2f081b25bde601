import { expect, test } from 'vitest';
import { putProfile } from '../../../src/core/cards/index.js';
import { door } from '../../support/door.js';
import { refusalOf } from '../handover/world.js';

/** A space with a person, an agent and another agent. */
async function space() {
  const made = door();
  const { client } = made;
  for (const [entityId, name, type] of [
    ['mira', 'Mira', 'human'],
    ['coder', 'Coder', 'agent'],
    ['tester', 'Tester', 'agent'],
  ] as const)
    await client.space.addEntity({ entityId, name, type });
  await client.space.create({ spaceId: 'team', name: 'Team', members: ['mira', 'coder'] });
  const say = async (senderId: string, text: string) => client.space.post({ spaceId: 'team', senderId, text });
  const preview = (messageId?: string, entityId = 'coder') =>
    client.run.preview({ spaceId: 'team', entityId, messageId, wire: 'anthropic', model: 'm' });
  return { ...made, say, preview };
}

test('[B-37] the preview of an agent is the call of its run that is to be performed', async () => {
  const { client, say, preview } = await space();
  const { message, started } = await say('mira', 'Ready?');
  const runId = started[0]?.runId ?? '';
  const { runId: shown, note, ...call } = await preview();
  expect({ shown, note }).toEqual({ shown: runId, note: null });
  expect(call).toEqual(await client.run.timeline({ runId, wire: 'anthropic', model: 'm' }));
  await say('coder', 'One moment.');
  expect(await preview()).toMatchObject({ runId, input: { trigger: { messageId: message.messageId } } });
  expect(await preview(message.messageId)).toMatchObject({ runId });
});

test("[B-37] an agent's own message triggers nothing", async () => {
  const { client, say, preview } = await space();
  const { message, started } = await say('mira', 'Ready?');
  const runId = started[0]?.runId ?? '';
  const own = await client.run.send({ runId, text: 'Which date?', wait: { for: 'mira' } });
  const waits = await preview();
  expect(waits.note).toBe('Nothing starts this call now: Coder waits here for an answer, which resumes its run.');
  expect(waits).toMatchObject({ runId: null, input: { trigger: { messageId: message.messageId } } });
  expect(waits.messages.at(-1)).toMatchObject({ role: 'user', content: '[Mira (human)] Ready?' });
  expect(waits.rendered.system).toMatch(/"Ready\?".*← TRIGGER$/m);
  expect(await refusalOf(preview(own.message.messageId))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'messageId' } });
  await client.run.finish({ runId, status: 'canceled' });
  expect((await preview()).note).toBe('Nothing starts this call now: the message of Mira has already started a run.');
});

test('[B-37] a space that can start nothing says so', async () => {
  const { client, say, preview } = await space();
  expect(await refusalOf(preview())).toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('Nothing would start a run of Coder') as string,
  });
  await say('coder', 'Anybody here?');
  expect(await refusalOf(preview())).toMatchObject({ code: 'CONFLICT' });
  expect(await refusalOf(preview(undefined, 'mira'))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'entityId' } });
  await client.project.setSettings({ maxChainDepth: 1 });
  await client.space.join({ spaceId: 'team', entityId: 'tester' });
  const { message } = await say('tester', 'I am.');
  expect(await refusalOf(preview())).toMatchObject({ code: 'CONFLICT' });
  expect(await refusalOf(preview(message.messageId))).toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringContaining('the limit is 1') as string,
  });
  await say('mira', 'Me too.');
  expect(await preview(undefined, 'tester')).toMatchObject({ input: { trigger: { message: 'Me too.' } } });
});

test('[B-37] a previewed start has the history that the profile chooses, and changes nothing', async () => {
  const { client, chain, say, preview } = await space();
  putProfile(chain, 'Tester', { content: { kind: 'json', data: { name: 'Tester', history: 'roles', allowed_internal_tools: [] } } });
  await say('mira', 'Hello');
  await client.space.join({ spaceId: 'team', entityId: 'tester' });
  const before = [await client.run.list({}), await client.space.get({ spaceId: 'team' }), chain.db.version()];
  const { messages, rendered, note, tools } = await preview(undefined, 'tester');
  expect(note).toBe('Nothing starts this call now: the message of Mira came before it could start a run.');
  expect(tools).toBeNull();
  expect(messages[0]?.content).not.toContain('SPACE HISTORY');
  expect(messages.at(-1)?.content).toBe('[Mira (human)] Hello');
  expect(rendered.system).toContain('SPACE HISTORY');
  expect([await client.run.list({}), await client.space.get({ spaceId: 'team' }), chain.db.version()]).toEqual(before);
});
