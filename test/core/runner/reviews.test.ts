import { expect, test } from 'vitest';
import { followJob, pulse, startJob } from '../../../src/core/runner/index.js';
import { acknowledge } from '../../../src/core/tickets/index.js';
import type { ReplyPiece } from '../../../src/core/turns/index.js';
import { door } from '../../support/door.js';
import { calls, model, read, says } from '../../support/model-of-jobs.js';
import { reviewers, reviewStory, type Step, standing } from '../../support/review-story.js';

test('[U1, U2] a review runs without a person, from the claim to the closed ticket', { tags: 'long' }, async () => {
  const story = reviewStory();
  const { tickets, bodies } = story;
  let id = 0;
  /** The step as a reply of a model. Its tools have names of their own in places. */
  const replyOf = ({ text, call }: Step): ReplyPiece[] => {
    if (!call) return says(text ?? '');
    const { ticketId, ...more } = call[1] as { ticketId?: string };
    return calls([`c${id++}`, call[0].replace('_thread', '_get'), { ...more, ...(ticketId !== undefined && { ticket_id: ticketId }) }]);
  };
  /** Waits for the answer in the thread of the finding, while its author works on it. */
  async function* whenAnswered(step: Step) {
    while ((await client.ticket.thread({ ticketId: tickets.finding })).messages.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    yield* replyOf(step);
  }
  const provider = model((body) => {
    const { said, replies } = standing(JSON.parse(body) as object);
    const step = story.next(said, replies, body);
    return step.waits ? () => whenAnswered(step) : replyOf(step);
  });
  const { client, engine, project } = door({ providers: [provider] });
  const performer = { provider: 'model' };
  await client.runner.setPolicy({
    rules: [
      ...['@author', ...reviewers].map((who) => ({ for: { ticketType: 'task' }, who, performer })),
      { for: { ticketType: 'review_finding' }, performer },
    ],
  });
  const policy = await client.runner.getPolicy({});

  const before = await client.ticket.create({ title: 'Add a clock', type: 'chore' });
  const { ticketId } = await client.ticket.create({ title: 'Retry calls', type: 'task', dependsOn: [before.ticketId], by: '@pm' });
  tickets.task = ticketId;
  await client.ticket.transition({ ticketId: before.ticketId, to: 'in_progress', assignee: '@pm' });
  await client.ticket.transition({ ticketId: before.ticketId, to: 'closed', resolution: 'Added.' });
  for (let rounds = 0; rounds < 2_000 && (await client.ticket.get({ ticketId })).status !== 'closed'; rounds++) {
    pulse(engine.runner(project), policy);
    tickets.finding = (await client.ticket.list({ parent: ticketId }))[0]?.ticketId ?? '';
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  pulse(engine.runner(project), policy);
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));

  const jobs = await client.runner.list({});
  expect(jobs.filter(({ status }) => status !== 'success').map(({ title, error }) => [title, error])).toEqual([]);
  const { status, reviewers: verdicts } = await client.ticket.get({ ticketId });
  expect([status, verdicts.map(({ verdict }) => verdict)]).toEqual(['closed', ['approved', 'approved']]);
  expect(await client.ticket.get({ ticketId: tickets.finding })).toMatchObject({ status: 'closed', resolution: 'Counted from one.' });
  expect(await client.ticket.events({ state: ['waiting', 'taken'] })).toEqual([]);
  // Each reviewer has a context of their own, and the finding's author answers from what they knew then.
  expect(bodies['@second Review']).not.toContain('You are @rev');
  expect(bodies['Why is it repeated?']).toContain('You are @rev. Review this ticket.');
  expect(bodies['Why is it repeated?']).not.toContain('I found a bug.');
  expect((await client.ticket.thread({ ticketId: tickets.finding })).messages.map(({ by }) => by)).toEqual(['@author', '@rev']);
  expect((await client.project.check({})).problems).toEqual([]);
});

test('[U4] a job whose start is settled while it begins has nothing left to do', async () => {
  // Whether the provider answers makes no difference then.
  const provider = { ...model(() => says('Done.')), models: () => Promise.reject(new Error('The provider is away.')) };
  const { client, chain, engine, project } = door({ providers: [provider] });
  const before = await client.ticket.create({ title: 'Add a clock', type: 'chore' });
  await client.ticket.create({ title: 'Retry calls', type: 'task', dependsOn: [before.ticketId] });
  await client.ticket.transition({ ticketId: before.ticketId, to: 'in_progress', assignee: '@pm' });
  await client.ticket.transition({ ticketId: before.ticketId, to: 'closed', resolution: 'Added.' });
  const [{ event = 0 } = {}] = await client.ticket.events({ state: ['waiting'] });
  const parts = engine.runner(project);
  const { jobId } = startJob(parts, { what: { eventId: event }, performer: { provider: 'model' } });
  const stream = followJob(parts, jobId);
  // The job has taken the start, and begins in a later event.
  acknowledge(chain, { event, by: 'sarah', as: 'done' });
  const { events, result } = await read(stream);
  expect(result).toMatchObject({ status: 'success', commits: [] });
  expect(events.map(({ kind, text }) => [kind, text])).toEqual([
    ['began', ''],
    ['notice', 'Nothing is left to do: this work has ended meanwhile.'],
    ['ended', ''],
  ]);
  expect(provider.asked).toEqual([]);
});
