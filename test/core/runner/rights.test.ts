import { expect, test } from 'vitest';
import { addCards, createBox } from '../../../src/core/cards/index.js';
import type { Card } from '../../../src/core/contract/index.js';
import { rightsFor } from '../../../src/core/runner/kinds.js';
import { offeredTo } from '../../../src/core/runner/offered.js';
import { lesserOf } from '../../../src/core/runner/rights.js';
import { answered } from '../../../src/core/runner/tools.js';
import { door } from '../../support/door.js';
import { emptyChain } from '../../support/project.js';

const agent = (permissions?: 'plan' | 'default' | 'acceptEdits' | 'bypassPermissions') => ({ agent: 'codex' as const, folder: '/work', permissions });
const model = { provider: 'model' };

test('[U10] work that a job hands out has the lesser rights of both', () => {
  const modes = ['plan', 'default', 'acceptEdits', 'bypassPermissions'] as const;
  for (const [i, own] of modes.entries())
    for (const [j, held] of modes.entries())
      expect(lesserOf({ performer: agent(own) }, { performer: agent(held) }).performer).toEqual(agent(modes[Math.min(i, j)]));
  expect(lesserOf({ performer: agent('bypassPermissions') }, { performer: model }).performer).toEqual(agent('default'));
  expect(lesserOf({ performer: agent() }, { performer: agent('bypassPermissions') }).performer).toEqual(agent('default'));
  const both = lesserOf(
    { performer: model, tools: ['search', 'ticket_get'] },
    { performer: model, tools: ['search', 'write_cards'], otherTools: 'stop' },
  );
  expect(both).toEqual({ performer: model, tools: ['search'], otherTools: 'stop' });
  expect(lesserOf({ performer: model }, { performer: model, tools: [] }).tools).toEqual([]);
});

test('[U10] a start that an agent gives from its job gets no more rights than the job', async () => {
  const { client, chain, clock } = door();
  const startBy = async (by: string) => {
    const { ticketId } = await client.ticket.create({ title: 'T', type: 'task', by });
    await client.ticket.transition({ ticketId, to: 'in_progress', assignee: 'other', by });
    const event = (await client.ticket.events({})).find((each) => each.ticketId === ticketId && each.task === 'work')?.event ?? 0;
    return { eventId: event };
  };
  const rule = { for: { ticketType: 'task' }, performer: agent('bypassPermissions') } as never;
  chain.db.run(
    `INSERT INTO job (project, jobId, what, holds, performer, limits, status, leaseUntil, startedAt, who, tools)
      VALUES (?, 'job-1', '{"runId":"r"}', 'run:r', ?, '{}', 'running', ?, ?, 'bot', '["search"]')`,
    chain.project,
    JSON.stringify(agent('plan')),
    clock() + 30_000,
    clock(),
  );
  clock.at += 1_000;
  expect(rightsFor(chain, rule, await startBy('bot'))).toMatchObject({ performer: agent('plan'), tools: ['search'] });
  // A person works in no job.
  expect(rightsFor(chain, rule, await startBy('sarah'))).toBe(rule);
});

test('[U10] a call of a tool that is not offered is refused and has no effect', () => {
  const chain = emptyChain();
  const actor = { who: 'bot', runId: null, readsProject: false, context: () => undefined };
  const call = (only: readonly string[]) => answered(chain, only, actor, 'ticket_create', { title: 'T', type: 'task' });
  expect(call(['search'])).toMatchObject({ status: 'failed', result: expect.stringContaining('UNAUTHORIZED') });
  expect(call([])).toMatchObject({ status: 'failed' });
  expect(chain.db.all('SELECT 1 FROM ticket')).toEqual([]);
  expect(call(['ticket_create'])).toMatchObject({ status: 'success' });
});

test('[U2] a profile is offered what was handed over; reading the project needs permission', () => {
  const chain = emptyChain();
  const profile = (rules: object) => ({ content: { kind: 'json', data: { name: 'Writer', ...rules } } }) as unknown as Card;
  const byDefault = offeredTo(profile({}), 'turn');
  expect(byDefault).toEqual(expect.arrayContaining(['delegate_async', 'write_cards', 'read_cards', 'send_message', 'submit_result']));
  for (const name of ['search', 'read_context', 'materialize', 'ticket_create']) expect(byDefault).not.toContain(name);
  expect(offeredTo(profile({ allowed_internal_tools: [] }), 'turn')).toEqual([]);
  expect(offeredTo(profile({ allowed_internal_tools: ['search', 'submit_result'] }), 'turn')).toEqual(['search', 'submit_result']);
  expect(offeredTo(profile({ allowed_internal_tools: ['search'] }), 'turn', ['write_cards'])).toEqual([]);
  expect(offeredTo(undefined, 'ticket')).toContain('ticket_verdict');

  const cards = addCards(chain, [
    { type: 'note', content: { kind: 'text', text: 'MINE' }, authorId: 'bot' },
    { type: 'note', content: { kind: 'text', text: 'SECRET' }, authorId: 'other' },
  ]).map(({ cardId }) => cardId);
  const { boxId } = createBox(chain, cards);
  const read = (input: object, readsProject = false) =>
    answered(chain, ['read_cards'], { who: 'bot', runId: null, readsProject, context: () => undefined }, 'read_cards', input);
  expect(read({ card_ids: [cards[0]] })).toMatchObject({ status: 'success' });
  for (const input of [{ card_ids: cards }, { box_id: boxId }]) {
    expect(read(input)).toMatchObject({ status: 'failed', result: expect.stringContaining('was not handed to you') });
    expect(JSON.stringify(read(input, true))).toContain('SECRET');
  }
});
