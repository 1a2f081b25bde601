import { describe, expect, test } from 'vitest';
import type { ContextId, Timestamp } from '../../../src/core/base/index.js';
import { checkpoint, entries, history, type WriteChain } from '../../../src/core/chain/index.js';
import { type Ticket, ticketStatuses } from '../../../src/core/contract/index.js';
import {
  createTicket,
  discuss,
  events,
  giveVerdict,
  importTickets,
  listTickets,
  moveTicket,
  ticketOf,
  updateTicket,
} from '../../../src/core/tickets/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain, heldClock } from '../../support/project.js';
import { refusal } from '../../support/refusal.js';

const task = (chain: WriteChain, more: Partial<Parameters<typeof createTicket>[1]> = {}): Ticket =>
  createTicket(chain, { title: 'Fix the queue', type: 'task', ...more });
const finding = (chain: WriteChain, parent: Ticket, more: Partial<Parameters<typeof createTicket>[1]> = {}): Ticket =>
  createTicket(chain, { title: 'Off by one', type: 'review_finding', parent: parent.ticketId, ...more });
const inReview = (chain: WriteChain): Ticket => moveTicket(chain, { ticketId: task(chain).ticketId, to: 'review', reviewers: ['@rev'] });

const understood = (chain: WriteChain, uuid: string, more: Partial<Parameters<typeof checkpoint>[1]> = {}) =>
  checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text: prompt(uuid, `review ${uuid}`) + answer(`${uuid}-a`, 'I see', { parent: uuid }),
    template: 'reviewer',
    checkpoint: 'turn_boundary',
    ...more,
  });

describe('moves', () => {
  test('[K1] only the moves of the table are allowed', () => {
    const allowed: Record<string, string[]> = {
      open: ['in_progress', 'review', 'blocked', 'deferred', 'closed'],
      in_progress: ['open', 'review', 'blocked', 'closed'],
      review: ['in_progress', 'blocked', 'open', 'closed'],
      blocked: ['open', 'in_progress', 'review', 'closed'],
      deferred: ['open', 'in_progress', 'review', 'closed'],
      closed: ['open'],
    };
    const chain = emptyChain();
    const at = (status: (typeof ticketStatuses)[number]): Ticket => {
      const made = task(chain);
      const how = { assignee: '@me', reviewers: ['@rev'], reason: 'a test' };
      return status === 'open' ? made : moveTicket(chain, { ticketId: made.ticketId, to: status, ...how });
    };
    for (const from of ticketStatuses)
      for (const to of ticketStatuses) {
        const move = () => moveTicket(chain, { ticketId: at(from).ticketId, to, assignee: '@you', reviewers: ['@rev'], reason: 'a test' });
        if (allowed[from]?.includes(to)) expect(move().status).toBe(to);
        else expect(refusal(move).code).toBe('CONFLICT');
      }
  });

  test('[K1] the first to claim a ticket holds it', () => {
    const chain = emptyChain();
    const made = task(chain);
    expect(refusal(() => moveTicket(chain, { ticketId: made.ticketId, to: 'in_progress' }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'assignee' },
    });
    moveTicket(chain, { ticketId: made.ticketId, to: 'in_progress', assignee: '@first' });
    expect(refusal(() => moveTicket(chain, { ticketId: made.ticketId, to: 'in_progress', assignee: '@second' }))).toMatchObject({
      code: 'CONFLICT',
      data: { holder: '@first' },
    });
    expect(ticketOf(chain, made.ticketId).assignee).toBe('@first');
  });

  test('[K1] the assignee stays during a review and is cleared by the move to open', () => {
    const chain = emptyChain();
    const { ticketId } = task(chain);
    moveTicket(chain, { ticketId, to: 'in_progress', assignee: '@me' });
    moveTicket(chain, { ticketId, to: 'review', reviewers: ['@rev'] });
    expect(moveTicket(chain, { ticketId, to: 'in_progress' }).assignee).toBe('@me');
    expect(moveTicket(chain, { ticketId, to: 'open' }).assignee).toBeNull();
  });

  test('[K1] a finding has a parent, and no ticket is its own ancestor', () => {
    const chain = emptyChain();
    expect(refusal(() => createTicket(chain, { title: 'x', type: 'review_finding' }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'parent' },
    });
    const above = task(chain);
    const below = finding(chain, above);
    expect(ticketOf(chain, above.ticketId).children).toEqual([below.ticketId]);
    expect(refusal(() => updateTicket(chain, { ticketId: above.ticketId, parent: below.ticketId })).code).toBe('BAD_REQUEST');
  });
});

describe('reviews', () => {
  test('[K2] only a listed reviewer gives a verdict, only in review; it does not move the ticket', () => {
    const chain = emptyChain();
    const made = inReview(chain);
    const verdict = (reviewer: string, what: 'approved' | 'pending') => giveVerdict(chain, { ticketId: made.ticketId, reviewer, verdict: what });
    expect(made.reviewers).toEqual([{ name: '@rev', verdict: 'pending' }]);
    expect(refusal(() => verdict('@stranger', 'approved')).data).toMatchObject({ field: 'reviewer' });
    expect(refusal(() => verdict('@rev', 'pending')).data).toMatchObject({ field: 'verdict' });
    expect(verdict('@rev', 'approved')).toMatchObject({ status: 'review', reviewers: [{ name: '@rev', verdict: 'approved' }] });
    moveTicket(chain, { ticketId: made.ticketId, to: 'in_progress', assignee: '@me' });
    expect(refusal(() => verdict('@rev', 'approved')).code).toBe('CONFLICT');
  });

  test('[K3] closing needs approval and closed findings, or a recorded reason', () => {
    const chain = emptyChain();
    const made = inReview(chain);
    const close = (reason?: string) => moveTicket(chain, { ticketId: made.ticketId, to: 'closed', ...(reason !== undefined && { reason }) });
    expect(refusal(() => close())).toMatchObject({ code: 'CONFLICT' });
    const open = finding(chain, made);
    giveVerdict(chain, { ticketId: made.ticketId, reviewer: '@rev', verdict: 'approved' });
    expect(refusal(() => close()).data).toMatchObject({ findings: [open.ticketId] });
    expect(refusal(() => moveTicket(chain, { ticketId: open.ticketId, to: 'closed' })).data).toMatchObject({ field: 'resolution' });
    moveTicket(chain, { ticketId: open.ticketId, to: 'closed', resolution: 'counted from zero' });
    expect(close().status).toBe('closed');
    const other = inReview(chain);
    expect(moveTicket(chain, { ticketId: other.ticketId, to: 'closed', reason: 'we ship without' }).versions.at(-1)?.reason).toBe('we ship without');
  });

  test('[K3] leaving the review does not avoid a missing approval', () => {
    const chain = emptyChain();
    for (const way of [['open'], ['blocked'], ['in_progress'], ['in_progress', 'open'], ['open', 'deferred']] as const) {
      const { ticketId } = inReview(chain);
      for (const to of way) moveTicket(chain, { ticketId, to, assignee: '@me' });
      expect(refusal(() => moveTicket(chain, { ticketId, to: 'closed' })).data, way.join()).toMatchObject({ reviewers: [{ name: '@rev' }] });
      moveTicket(chain, { ticketId, to: 'review' });
      giveVerdict(chain, { ticketId, reviewer: '@rev', verdict: 'approved' });
      for (const to of way) moveTicket(chain, { ticketId, to, assignee: '@me' });
      expect(moveTicket(chain, { ticketId, to: 'closed' }).status).toBe('closed');
    }
  });

  test('[K3] a closed ticket gets no open finding, and a closed finding needs a resolution', () => {
    const chain = emptyChain();
    const above = task(chain);
    const below = task(chain, { parent: above.ticketId });
    const toFinding = (ticketId: string, more: object = {}) => updateTicket(chain, { ticketId, type: 'review_finding', ...more });
    expect(refusal(() => toFinding(above.ticketId)).data).toMatchObject({ field: 'parent' });
    moveTicket(chain, { ticketId: above.ticketId, to: 'closed' });
    expect(refusal(() => toFinding(below.ticketId)).code).toBe('CONFLICT');
    moveTicket(chain, { ticketId: below.ticketId, to: 'closed' });
    expect(refusal(() => toFinding(below.ticketId)).data).toMatchObject({ field: 'resolution' });
    expect(toFinding(below.ticketId, { resolution: 'counted from zero' }).type).toBe('review_finding');
    expect(refusal(() => moveTicket(chain, { ticketId: below.ticketId, to: 'open' })).code).toBe('CONFLICT');
  });
});

describe('contexts', () => {
  test('[K4] a write has the given context, whatever it is, or the found one', () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    const first = understood(chain, 'u1', { principal: '@rev' });
    clock.at += 60_000;
    const made = createTicket(chain, { title: 'x', type: 'bug', by: '@rev' });
    expect(made).toMatchObject({ contextId: first.id, contextFound: 'resolved' });
    clock.at += 60_000;
    understood(chain, 'u2', { principal: '@rev' });
    clock.at += 60_000;
    const given = updateTicket(chain, { ticketId: made.ticketId, body: 'more', by: '@rev', contextId: 'ctx-from-another-machine' });
    expect(given).toMatchObject({ contextId: 'ctx-from-another-machine', contextFound: 'given' });
    expect(given.versions.map(({ by, contextId, contextFound }) => [by, contextId, contextFound])).toEqual([
      ['@rev', first.id, 'resolved'],
      ['@rev', 'ctx-from-another-machine', 'given'],
    ]);
    expect(given.versions[1]?.changes).toMatchObject({ body: { from: '', to: 'more' } });
  });

  test('[K6] two findings with one context have two branches with the reviewer’s knowledge', () => {
    const chain = emptyChain();
    const review = understood(chain, 'rev');
    const made = inReview(chain);
    const [one, two] = [1, 2].map((n) => finding(chain, made, { title: `finding ${n}`, contextId: review.id })) as [Ticket, Ticket];
    const first = discuss(chain, { ticketId: one.ticketId, text: 'What do you mean?', principal: '@author' });
    const second = discuss(chain, { ticketId: two.ticketId, text: 'And this one?', principal: '@author' });
    const further = discuss(chain, { ticketId: one.ticketId, text: 'I see now', principal: '@author' });
    const texts = (id: ContextId) => entries(chain, { id }).entries.map((entry) => entry.text);
    expect(texts(further.commit.id)).toEqual(['review rev', 'I see', 'What do you mean?', 'I see now']);
    expect(texts(second.commit.id)).toEqual(['review rev', 'I see', 'And this one?']);
    expect(history(chain, further.commit.id).map((commit) => commit.id)).toEqual([further.commit.id, first.commit.id, review.id]);
    expect(further).toMatchObject({
      threadId: first.threadId,
      commit: { ticketId: one.ticketId, threadId: first.threadId, principal: '@author', template: 'reviewer' },
    });
    expect(second.threadId).not.toBe(first.threadId);
  });

  test('[K6] a ticket without a known context starts a conversation', () => {
    const chain = emptyChain();
    const made = task(chain, { contextId: 'something from elsewhere' });
    const { commit } = discuss(chain, { ticketId: made.ticketId, text: 'hello' });
    expect(commit.parent).toBeNull();
  });
});

describe('dependencies and starts', () => {
  test('[K5] ready means open, with no open dependencies', () => {
    const chain = emptyChain();
    const before = task(chain);
    const after = task(chain, { dependsOn: [before.ticketId] });
    expect(listTickets(chain, { ready: true }).map((each) => each.ticketId)).toEqual([before.ticketId]);
    moveTicket(chain, { ticketId: before.ticketId, to: 'closed' });
    expect(ticketOf(chain, after.ticketId).ready).toBe(true);
    expect(refusal(() => updateTicket(chain, { ticketId: before.ticketId, dependsOn: [after.ticketId] })).code).toBe('BAD_REQUEST');
  });

  test('[K5] moves ask reviewers, author and finder to start, each from their own context', () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    const made = task(chain);
    moveTicket(chain, { ticketId: made.ticketId, to: 'in_progress', assignee: '@author', by: '@pm', contextId: 'ctx-author' });
    moveTicket(chain, { ticketId: made.ticketId, to: 'review', reviewers: ['@rev'] });
    const found = finding(chain, made, { by: '@rev', contextId: 'ctx-review' });
    moveTicket(chain, { ticketId: made.ticketId, to: 'in_progress' });
    moveTicket(chain, { ticketId: found.ticketId, to: 'closed', resolution: 'done' });
    moveTicket(chain, { ticketId: made.ticketId, to: 'review' });
    const asked = events(chain);
    expect(asked.map(({ who, task: what, contextId }) => [who, what, contextId])).toEqual([
      ['@author', 'work', 'ctx-author'],
      ['@rev', 'review', null],
      ['@author', 'address_findings', 'ctx-author'],
      ['@rev', 'verify_resolution', 'ctx-review'],
      ['@rev', 'review', 'ctx-review'],
    ]);
    expect(events(chain, { after: asked[3]?.event })).toEqual(asked.slice(4));
  });
});

describe('imported tickets', () => {
  test('[K7] issues, reviews and comments become tickets once, with the current commit', () => {
    const chain = emptyChain();
    const then = understood(chain, 'u1', { createdAt: '2026-01-05T00:00:00.000Z' as Timestamp });
    understood(chain, 'u2', { createdAt: '2026-02-05T00:00:00.000Z' as Timestamp });
    const text = JSON.stringify([
      {
        html_url: 'https://forge.example/o/r/pull/7',
        title: 'Retry the queue',
        body: 'why',
        state: 'open',
        pull_request: {},
        user: { login: 'ann' },
        created_at: '2026-01-20T10:00:00Z',
        labels: [{ name: 'bug' }],
        review_comments: [
          {
            html_url: 'https://forge.example/o/r/pull/7#1',
            path: 'q.js',
            body: 'Off by one',
            user: { login: 'bo' },
            created_at: '2026-01-21T10:00:00Z',
          },
        ],
      },
      {
        html_url: 'https://forge.example/o/r/issues/8',
        title: 'It hangs',
        state: 'closed',
        user: { login: 'ann' },
        created_at: '2026-01-20T10:00:00Z',
        labels: ['bug'],
      },
    ]);
    const made = importTickets(chain, { text });
    expect(made).toMatchObject({ created: [expect.any(String), expect.any(String), expect.any(String)], known: 0 });
    const [pull, comment, issue] = made.created.map((id) => ticketOf(chain, id)) as [Ticket, Ticket, Ticket];
    expect(pull).toMatchObject({ type: 'review', contextId: then.id, contextFound: 'resolved', createdAt: '2026-01-20T10:00:00.000Z' });
    expect(comment).toMatchObject({ type: 'review_finding', parent: pull.ticketId, title: 'q.js: Off by one' });
    expect(issue).toMatchObject({ type: 'bug', status: 'closed' });
    expect(importTickets(chain, { text })).toEqual({ created: [], known: 3 });
  });

  test('[K7] a task list keeps its nesting and its done items', () => {
    const chain = emptyChain();
    const { created } = importTickets(chain, { text: '# Plan\n- [ ] one\n  - [x] one and a half\n- [ ] two\n' });
    const [one, half, two] = created.map((id) => ticketOf(chain, id)) as [Ticket, Ticket, Ticket];
    expect([one.status, half.status, two.status]).toEqual(['open', 'closed', 'open']);
    expect(half.parent).toBe(one.ticketId);
    expect(refusal(() => importTickets(chain, { text: 'nothing to do' })).code).toBe('BAD_REQUEST');
  });

  test('[K7] a pull request from gh is in review with its verdicts and replies', () => {
    const chain = emptyChain();
    const own = understood(chain, 'u1', { principal: 'bo', createdAt: '2026-01-05T00:00:00.000Z' as Timestamp });
    const newest = understood(chain, 'u2', { createdAt: '2026-01-06T00:00:00.000Z' as Timestamp });
    const url = 'https://forge.example/o/r/pull/7';
    const pull = {
      url,
      title: 'Retry the queue',
      body: 'why',
      state: 'OPEN',
      author: { login: 'ann' },
      createdAt: '2026-01-20T10:00:00Z',
      reviewRequests: [{ login: 'cy' }],
      comments: [{ author: { login: 'di' }, body: 'Which queue?', createdAt: '2026-01-20T11:00:00Z' }],
      reviews: [
        { id: 1, author: { login: 'bo' }, state: 'CHANGES_REQUESTED', body: 'A test is missing', submittedAt: '2026-01-21T10:00:00Z' },
        { id: 2, author: { login: 'ann' }, state: 'COMMENTED', body: '', submittedAt: '2026-01-21T11:00:00Z' },
      ],
    };
    const lines = [
      {
        id: 11,
        pull_request_url: url,
        html_url: `${url}#11`,
        path: 'q.js',
        line: 4,
        diff_hunk: '@@ -1 +1 @@',
        body: 'Off by one',
        user: { login: 'bo' },
        created_at: '2026-01-21T10:00:00Z',
      },
      {
        id: 12,
        pull_request_url: url,
        html_url: `${url}#12`,
        path: 'q.js',
        in_reply_to_id: 11,
        body: 'Fixed',
        user: { login: 'ann' },
        created_at: '2026-01-22T10:00:00Z',
      },
    ];
    const { created } = importTickets(chain, { text: JSON.stringify([pull, ...lines]) });
    const [ticket, asked, line] = created.map((id) => ticketOf(chain, id)) as [Ticket, Ticket, Ticket];
    expect(ticket).toMatchObject({
      status: 'review',
      assignee: 'ann',
      body: expect.stringMatching(/^why\n\n\*\*di\*\*.*Which queue\?$/s),
      reviewers: [
        { name: 'bo', verdict: 'changes_requested' },
        { name: 'cy', verdict: 'pending' },
      ],
    });
    expect(ticket.versions.map(({ at, by, contextId, contextFound }) => [at, by, contextId, contextFound])).toEqual([
      ['2026-01-20T10:00:00.000Z', 'ann', newest.id, 'resolved'],
      ['2026-01-20T10:00:00.000Z', 'ann', newest.id, 'resolved'],
      ['2026-01-21T10:00:00.000Z', 'bo', own.id, 'resolved'],
    ]);
    expect(ticket.versions[2]?.reason).toBe('A test is missing');
    expect(asked).toMatchObject({ title: 'A test is missing', type: 'review_finding', parent: ticket.ticketId, contextId: own.id });
    expect(line).toMatchObject({
      title: 'q.js: Off by one',
      body: expect.stringMatching(/^`q.js` line 4\n\nOff by one.*diff.*\*\*ann\*\*.*Fixed$/s),
    });
    expect(events(chain, { state: 'waiting' }).map(({ who, task }) => [who, task])).toEqual([['cy', 'review']]);
  });

  test('[K7] a merged pull request is closed with its findings and asks nobody to start', () => {
    const chain = emptyChain();
    const url = 'https://forge.example/o/r/pull/8';
    const pull = {
      url,
      title: 'Done',
      state: 'MERGED',
      mergedAt: '2026-01-03T00:00:00Z',
      author: { login: 'ann' },
      createdAt: '2026-01-02T00:00:00Z',
    };
    const comment = (n: number) => ({
      id: n,
      html_url: `${url}#${n}`,
      pull_request_url: 'https://api.forge.example/repos/o/r/pulls/8',
      path: 'a',
      body: `Remark ${n}`,
      user: { login: 'bo' },
      created_at: '2026-01-02T10:00:00Z',
    });
    importTickets(chain, { text: JSON.stringify([pull, comment(1)]) });
    importTickets(chain, { text: JSON.stringify([comment(1), comment(2)]) });
    const [ticket, ...findings] = listTickets(chain, {});
    expect(ticket).toMatchObject({ status: 'closed', children: findings.map((each) => each.ticketId) });
    expect(findings.map(({ title, status, resolution }) => [title, status, resolution])).toEqual([
      ['a: Remark 1', 'closed', 'Closed in the other system'],
      ['a: Remark 2', 'closed', 'Closed in the other system'],
    ]);
    expect(events(chain)).toEqual([]);
  });

  test('[K7] a task list has one time, and new lines above do not duplicate its items', () => {
    const chain = emptyChain();
    const then = understood(chain, 'u1', { createdAt: '2026-01-05T00:00:00.000Z' as Timestamp });
    understood(chain, 'u2', { createdAt: '2026-02-05T00:00:00.000Z' as Timestamp });
    const at = '2026-01-10T00:00:00.000Z' as Timestamp;
    const { created } = importTickets(chain, { text: '# Plan\n1. [ ] one\n2. [ ] one\n', at });
    expect(created.map((id) => ticketOf(chain, id).contextId)).toEqual([then.id, then.id]);
    expect(importTickets(chain, { text: 'Preface\n\n# Plan\n1. [x] one\n2. [ ] one\n3. [ ] two\n' })).toMatchObject({
      known: 2,
      created: [expect.any(String)],
    });
  });
});
