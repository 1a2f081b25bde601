import { expect, test, vi } from 'vitest';
import { pulse } from '../../../src/core/runner/index.js';
import { agentWorld } from '../../support/agent-world.js';
import { hasAgent, unlessHere } from '../../support/agents.js';
import { ensureBuilt } from '../../support/built.js';
import { reviewStory, standing } from '../../support/review-story.js';
import type { Said } from '../../support/stand-in.js';

/** How long a model waits before it asks again whether somebody has answered. */
const askAgainMs = 300;

const isHere = hasAgent('claude') && hasAgent('codex');

test.skipIf(!isHere)(
  `[U2, U3, U6] real agents review a ticket without a person, to its end${unlessHere('claude') || unlessHere('codex')}`,
  { tags: 'long' },
  async () => {
    await ensureBuilt();
    const story = reviewStory();
    const { tickets, bodies } = story;
    const { client, engine, session, folder } = await agentWorld(['claude-code', 'codex'], (_text, body): Said => {
      const { said, replies } = standing(body as object);
      const { text, call, waits } = story.next(said, replies, JSON.stringify(body));
      if (!call) return { text };
      return { tools: [{ name: `mcp__stemma__${call[0]}`, input: call[1] }], ...(waits && { delayMs: askAgainMs }) };
    });
    const rule = (ticketType: string, who: string, agent: 'claude-code' | 'codex') => ({
      for: { ticketType },
      who,
      performer: { agent, folder },
      limits: { calls: 1_000 },
      tools: ['tickets'],
    });
    const rules = ['task', 'review_finding'].flatMap((type) => [
      rule(type, '@author', 'claude-code'),
      rule(type, '@rev', 'codex'),
      rule(type, '@second', 'claude-code'),
    ]);
    const before = await client.ticket.create({ title: 'Add a clock', type: 'chore' });
    const { ticketId } = await client.ticket.create({ title: 'Retry calls', type: 'task', dependsOn: [before.ticketId], by: '@pm' });
    tickets.task = ticketId;
    await client.ticket.transition({ ticketId: before.ticketId, to: 'in_progress', assignee: '@pm' });
    await client.ticket.transition({ ticketId: before.ticketId, to: 'closed', resolution: 'Added.' });
    await vi.waitFor(
      async () => {
        pulse(engine.runner(session.project()), { rules });
        tickets.finding = (await client.ticket.list({ parent: ticketId }))[0]?.ticketId ?? '';
        expect(await client.ticket.events({ state: ['waiting', 'taken'] })).toEqual([]);
        expect((await client.ticket.get({ ticketId })).status).toBe('closed');
      },
      { timeout: 270_000, interval: 200 },
    );
    expect((await client.runner.list({})).filter(({ error }) => error !== null).map(({ title, error }) => [title, error])).toEqual([]);
    await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));

    expect((await client.ticket.get({ ticketId })).reviewers.map(({ verdict }) => verdict)).toEqual(['approved', 'approved']);
    expect(await client.ticket.get({ ticketId: tickets.finding })).toMatchObject({ status: 'closed', resolution: 'Counted from one.' });
    const { messages } = await client.ticket.thread({ ticketId: tickets.finding });
    expect(messages.map(({ by, text }) => [by, text])).toEqual([
      ['@author', 'Why is it repeated?'],
      ['@rev', 'It counts from zero.'],
    ]);
    // Each reviewer starts from a context of their own, and the author of the finding answers from what they knew when they found it.
    expect(bodies['Why is it repeated?']).toMatch(/ticket_get.*Retry calls/);
    expect(bodies['@second Review']).not.toContain('You are @rev');
    expect(bodies['Why is it repeated?']).toContain('You are @rev. Review this ticket.');
    expect(bodies['Why is it repeated?']).not.toContain('I found a bug.');
    expect((await client.project.check({})).problems).toEqual([]);
  },
);
