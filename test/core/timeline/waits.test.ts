import { expect, test } from 'vitest';
import { toTimestamp } from '../../../src/core/base/index.js';
import type { Run } from '../../../src/core/contract/index.js';
import { isDue } from '../../../src/core/timeline/index.js';
import { door } from '../../support/door.js';
import { refusalOf } from '../handover/world.js';

/** A space with two people, two agents and a service; the run of the agent `asker` has begun. */
async function team() {
  const made = door();
  const { client } = made;
  for (const [entityId, name, type] of [
    ['ann', 'Ann', 'human'],
    ['bob', 'Bob', 'human'],
    ['asker', 'Asker', 'agent'],
    ['other', 'Other', 'agent'],
    ['ci', 'CI', 'service'],
    ['stranger', 'Stranger', 'human'],
  ] as const)
    await client.space.addEntity({ entityId, name, type });
  await client.space.create({ spaceId: 'team', name: 'Team', members: ['ann', 'bob', 'asker', 'other', 'ci'] });
  const begin = await client.space.post({ spaceId: 'team', senderId: 'ann', text: 'Go' });
  const { runId } = begin.started.find(({ entityId }) => entityId === 'asker') as Run;
  const say = (senderId: string, text: string, replyTo?: string) => client.space.post({ spaceId: 'team', senderId, text, replyTo });
  const resumedBy = async (posted: Promise<{ resumed: Run[] }>) => (await posted).resumed.map((run) => run.runId);
  return { ...made, runId, say, resumedBy };
}

test('[B-33] a wait for one sender ends with the next message of that sender', async () => {
  const { client, runId, say, resumedBy } = await team();
  const { message, waiting, run } = await client.run.send({ runId, text: 'Which date?', wait: { for: 'Bob', timeoutMs: 60_000 } });
  expect(waiting).toEqual({
    messageId: message.messageId,
    spaceId: 'team',
    waiterId: 'asker',
    for: 'Bob',
    until: toTimestamp(Date.parse(message.at) + 60_000),
    endedAt: null,
    answer: null,
  });
  expect(run.waiting).toMatchObject({ for: 'Bob', messageId: message.messageId });
  expect(await client.space.waits({ spaceId: 'team' })).toEqual([waiting]);
  expect(await client.space.waits({ entityId: 'ann' })).toEqual([]);
  expect(await refusalOf(client.space.waits({ entityId: 'nobody' }))).toMatchObject({ code: 'NOT_FOUND' });
  expect(await resumedBy(say('ann', 'Monday?', message.messageId))).toEqual([]);
  expect(await resumedBy(say('other', 'Today', message.messageId))).toEqual([]);
  const last = await say('bob', 'Tuesday');
  expect(last.resumed.map((each) => each.runId)).toEqual([runId]);
  expect(last.started.map(({ entityId }) => entityId)).toEqual(['other']);
  expect(await client.space.wait({ messageId: message.messageId })).toMatchObject({ answer: last.message.messageId, endedAt: last.message.at });
  expect(await client.space.waits({})).toEqual([]);
});

test('[B-33] a wait for anybody ends with a reply or a person, and not with other messages', async () => {
  const { client, runId, say, resumedBy } = await team();
  const { message } = await client.run.send({ runId, text: 'Which date?', wait: true });
  expect(await resumedBy(say('other', 'I think so'))).toEqual([]);
  expect(await resumedBy(say('ci', 'Build 7 passed'))).toEqual([]);
  const reached = await client.space.wouldTrigger({ spaceId: 'team', senderId: 'other', replyTo: message.messageId });
  expect(reached.find(({ entityId }) => entityId === 'asker')).toMatchObject({ code: 'resumes' });
  expect(await resumedBy(say('other', 'Monday', message.messageId))).toEqual([runId]);
  await client.run.send({ runId, text: 'And the time?', wait: true });
  expect(await resumedBy(say('ann', 'Noon'))).toEqual([runId]);
});

test('[B-33] the answer to one wait leaves the waits of others open', async () => {
  const { client, runId, say, resumedBy } = await team();
  const { runId: second } = (await client.run.list({ entityId: 'other', status: 'running' }))[0] as Run;
  const mine = await client.run.send({ runId, text: 'A?', wait: true });
  const theirs = await client.run.send({ runId: second, text: 'B?', wait: true });
  expect(await resumedBy(say('ci', 'b', theirs.message.messageId))).toEqual([second]);
  expect(await client.run.get({ runId })).toMatchObject({ status: 'waiting_reply' });
  expect(await resumedBy(say('ci', 'a', mine.message.messageId))).toEqual([runId]);
});

test('[B-33] a person can expect a reply and wait, and the wait can time out', async () => {
  const { client, clock, say } = await team();
  const asked = await client.space.post({ spaceId: 'team', senderId: 'ann', text: 'Ready?', wait: { for: 'asker', timeoutMs: 1_000 } });
  expect(asked.message.expectsReply).toBe(true);
  expect(asked.waiting).toMatchObject({ for: 'Asker', answer: null });
  expect(asked.started[0]?.trigger).toMatchObject({ senderExpectsReply: true });
  const run = asked.started.find(({ entityId }) => entityId === 'asker') as Run;
  const answer = await client.run.send({ runId: run.runId, text: 'Yes' });
  expect(await client.space.wait({ messageId: asked.message.messageId })).toMatchObject({ answer: answer.message.messageId });
  const again = await client.space.post({ spaceId: 'team', senderId: 'ann', text: 'Sure?', wait: { timeoutMs: 1_000 } });
  expect((await client.space.waits({})).map(({ messageId }) => messageId)).toEqual([again.message.messageId]);
  clock.at += 2_000;
  expect(await client.space.waits({})).toEqual([]);
  await client.run.tick({});
  const over = await client.space.wait({ messageId: again.message.messageId });
  expect(over).toMatchObject({ answer: null, endedAt: toTimestamp(clock.at) });
  expect((await client.space.post({ spaceId: 'team', senderId: 'ann', text: 'Hm', expectsReply: true })).message.expectsReply).toBe(true);
  expect(await refusalOf(client.space.wait({ messageId: (await say('bob', 'x')).message.messageId }))).toMatchObject({ code: 'NOT_FOUND' });
});

test('[B-24, B-33] a resumed run reads its own call and the answer', async () => {
  const { client, runId, say } = await team();
  await client.run.send({ runId, text: 'Which "date"?', wait: { for: 'bob' } });
  await say('bob', 'Monday');
  const { rendered } = await client.run.timeline({ runId });
  await client.run.setGoals({ entityId: 'asker', goals: [{ description: 'Know the date', priority: 1 }] });
  await client.run.setMemory({ entityId: 'asker', topic: null, content: 'Ann knows dates' });
  await client.run.setPlan({ entityId: 'asker', name: 'Ask again', instruction: 'Ask', cron: '0 9 * * 1' });
  const preview = await client.run.preview({ spaceId: 'team', entityId: 'asker' });
  expect(preview.rendered.system).toMatch(/Know the date.*Ann knows dates.*Ask again/s);
  expect(preview.input.memories).toMatchObject([{ content: 'Ann knows dates' }]);
  const again = await client.timeline.render(preview.input);
  expect(again.system).toBe(preview.rendered.system);
  const history = rendered.blocks.find(({ name }) => name === 'history')?.text ?? '';
  expect(history.split('\n').slice(-3)).toEqual([
    expect.stringMatching(/ You: called send_message\("Which \\"date\\"\?", wait: true\) /),
    expect.stringMatching(/ Bob \(human, id:bob\): "Monday" /),
    '  ← RESUME: Bob replied. Continue from here.',
  ]);
});

test('[B-33] a wait for an entity outside of the space is refused, and nothing is posted', async () => {
  const { client, runId } = await team();
  const before = (await client.space.messages({ spaceId: 'team' })).total;
  for (const name of ['stranger', 'nobody', 'asker'])
    expect(await refusalOf(client.run.send({ runId, text: 'Hm?', wait: { for: name } }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'wait.for', value: name },
    });
  const post = client.space.post({ spaceId: 'team', senderId: 'ann', text: 'Hm?', wait: { for: 'Stranger' } });
  expect(await refusalOf(post)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'wait.for' } });
  expect((await client.space.messages({ spaceId: 'team' })).total).toBe(before);
  const old = client.run.send({ runId, text: 'Hm?', wait: true, timeoutMs: 5 } as never);
  expect(await refusalOf(old)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'timeoutMs' } });
});

test('[B-08] only agents have plans, and a stored plan of a person stops no other', async () => {
  const { client, chain, clock } = await team();
  const plan = (entityId: string) => client.run.setPlan({ entityId, name: 'Soon', instruction: 'Post it', runAfter: '1 second' });
  for (const set of [
    plan('bob'),
    client.run.setGoals({ entityId: 'bob', goals: [{ description: 'Win', longTerm: true }] }),
    client.run.setMemory({ entityId: 'ci', topic: null, content: 'x' }),
  ])
    expect(await refusalOf(set)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'entityId' } });
  await plan('asker');
  chain.db.run(
    `INSERT INTO plan (project, entity, planId, name, instruction, dueAt)
       SELECT project, no, 'plan-old', 'Old', 'Post it', 0 FROM entity WHERE entityId = 'bob'`,
  );
  expect(isDue(chain)).toBe(false);
  clock.at += 1_000;
  expect((await client.run.tick({})).started.map(({ entityId }) => entityId)).toEqual(['asker']);
  expect(isDue(chain)).toBe(false);
  // What an earlier version stored can be deleted.
  expect(await client.run.setPlan({ entityId: 'bob', name: 'Old', instruction: null })).toEqual([]);
});

test('[B-33] who left a space gets no answer from it, and the others go on', async () => {
  const { client, clock, runId, say, resumedBy } = await team();
  const { waiting } = await client.space.post({ spaceId: 'team', senderId: 'bob', text: 'Ready?', wait: true });
  await client.run.send({ runId, text: 'Which date?', wait: { timeoutMs: 60_000 } });
  await client.space.leave({ spaceId: 'team', entityId: 'asker' });
  await client.space.leave({ spaceId: 'team', entityId: 'bob' });
  expect(await resumedBy(say('ann', 'Monday'))).toEqual([]);
  expect((await client.space.wait({ messageId: waiting?.messageId ?? '' })).answer).toBeNull();
  clock.at += 60_000;
  expect((await client.run.tick({})).resumed).toMatchObject([{ runId, resumed: { timeoutMs: 60_000 } }]);
  expect((await client.run.timeline({ runId })).rendered.system).not.toContain('Monday');
  await client.run.finish({ runId, status: 'completed', output: 'Nobody answered.' });
});
