import { array, assert, boolean, constantFrom, nat, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, entries, history, putTemplate, show, type WriteChain } from '../../../src/core/chain/index.js';
import { type Commit, type Ticket, ticketStatuses } from '../../../src/core/contract/index.js';
import {
  acknowledge,
  answer,
  createTicket,
  discuss,
  events,
  facets,
  giveVerdict,
  listTickets,
  moveTicket,
  overview,
  startFrom,
  thread,
  ticketOf,
  ticketsOfContexts,
  updateTicket,
} from '../../../src/core/tickets/index.js';
import { prompt, answer as said } from '../../support/claude-lines.js';
import { emptyChain, heldClock } from '../../support/project.js';
import { runs } from '../../support/properties.js';
import { refusal } from '../../support/refusal.js';
import { drained, scripted } from '../../support/scripted-model.js';

const understood = (chain: WriteChain, who: string, parent: Commit | null, asked: string, told: string): Commit => {
  const id = `${who}-${asked.length}-${asked.slice(0, 12)}`;
  return checkpoint(chain, {
    parent: parent?.id ?? null,
    type: 'delta',
    format: 'claude-code-v1',
    text: prompt(id, asked) + said(`${id}-a`, told, { parent: id }),
    template: who === '@rev' ? 'reviewer' : 'coder',
    principal: who,
    checkpoint: 'turn_boundary',
  });
};

/** A ticket in review with two findings, both with the reviewer's context of the same moment. */
function reviewed(chain: WriteChain) {
  const work = understood(chain, '@author', null, 'make retries work', 'I changed retry.js');
  const { ticketId } = createTicket(chain, { title: 'Retries', type: 'task', by: '@pm' });
  moveTicket(chain, { ticketId, to: 'in_progress', assignee: '@author', by: '@author', contextId: work.id });
  moveTicket(chain, { ticketId, to: 'review', reviewers: ['@rev'], by: '@author', contextId: work.id });
  const review = understood(chain, '@rev', null, 'review retry.js', 'two things are wrong');
  const [one, two] = ['Retries the first attempt twice', 'No test for zero'].map((title) =>
    createTicket(chain, { title, type: 'review_finding', parent: ticketId, by: '@rev', contextId: review.id }),
  ) as [Ticket, Ticket];
  return { ticketId, work, review, one, two };
}

const answered = async (generator: ReturnType<typeof answer>) => {
  const { parts, result } = await drained(generator);
  return { parts, ...result };
};

const saying = (words: string) => scripted('anthropic', [{ kind: 'text', delta: words }]);

const texts = (chain: WriteChain, id: ContextId | null) => entries(chain, { id: id as ContextId }).entries.map((entry) => entry.text);

describe('answering a thread', () => {
  test('[K6] the reviewer answers from the finding and never sees the other thread', async () => {
    const chain = emptyChain();
    const { review, one, two } = reviewed(chain);
    for (const { ticketId } of [one, two]) discuss(chain, { ticketId, text: `About ${ticketId}?`, principal: '@author' });
    const provider = saying('The count begins at one.');
    const first = await answered(answer(chain, { ticketId: one.ticketId, provider: 'anthropic' }, [provider]));
    expect(JSON.stringify(provider.asked)).toContain('two things are wrong');
    expect(JSON.stringify(provider.asked)).not.toContain(two.ticketId);
    expect(texts(chain, first.commit)).toEqual(['review retry.js', 'two things are wrong', `About ${one.ticketId}?`, 'The count begins at one.']);
    expect(show(chain, first.commit as ContextId)).toMatchObject({
      template: 'reviewer',
      principal: '@rev',
      ticketId: one.ticketId,
      threadId: first.threadId,
    });
    expect(thread(chain, one.ticketId)).toMatchObject({
      from: review.id,
      tip: first.commit,
      answers: '@rev',
      messages: [
        { by: '@author', role: 'user', text: `About ${one.ticketId}?`, current: true },
        { by: '@rev', role: 'assistant', text: 'The count begins at one.' },
      ],
    });
    expect(thread(chain, two.ticketId).messages).toHaveLength(1);
    expect(history(chain, first.commit as ContextId).map(({ id }) => id)).toContain(review.id);
  });

  test('[K4, K6] an answer is sent the content of its template as the system prompt', async () => {
    const chain = emptyChain();
    const put = (text: string) => putTemplate(chain, { name: 'reviewer', bytes: Buffer.from(text), contentType: 'text/plain' });
    const { one, two, review } = reviewed(chain);
    const provider = scripted('anthropic', [{ kind: 'text', delta: 'One.' }], [{ kind: 'text', delta: 'Two.' }], [{ kind: 'text', delta: 'Three.' }]);
    const ask = async (ticketId: string) => {
      discuss(chain, { ticketId, text: 'Why?', principal: '@author' });
      await answered(answer(chain, { ticketId, provider: 'anthropic' }, [provider]));
      return ((provider.asked.at(-1)?.body.system ?? []) as { text: string }[]).map(({ text }) => text);
    };
    const [rules, finding] = [expect.stringMatching(/^RULES:/), expect.stringMatching(/^Written by others: .*\n\nFINDING tkt-/)];
    expect(await ask(one.ticketId)).toEqual([rules, finding]);
    put('You review code.');
    expect(await ask(one.ticketId)).toEqual(['You review code.', rules, finding]);
    put('You review code strictly.');
    expect(await ask(two.ticketId)).toEqual(['You review code strictly.', rules, finding]);
    expect(history(chain, review.id)).toHaveLength(1);
  });

  test('[K6] the recording answers a recorded question, and reports a question without an answer', async () => {
    const chain = emptyChain();
    const { review, one, two } = reviewed(chain);
    const told = understood(chain, '@rev', review, 'How would it show?', 'A limit of one asks twice.');
    discuss(chain, { ticketId: one.ticketId, text: 'How would it show?', principal: '@author' });
    const found = await answered(answer(chain, { ticketId: one.ticketId, provider: 'recorded' }, []));
    expect([texts(chain, found.commit).at(-1), found.from]).toEqual(['A limit of one asks twice.', told.id]);
    const asked = discuss(chain, { ticketId: two.ticketId, text: 'Zero of what?', principal: '@author' });
    const silent = await answered(answer(chain, { ticketId: two.ticketId, provider: 'recorded' }, []));
    expect(silent).toMatchObject({ commit: null, from: null, parts: [{ kind: 'notice' }] });
    expect(thread(chain, two.ticketId).tip).toBe(asked.commit.id);
  });

  test('[K6] a message of the reviewer is the answer; an answer or an empty thread is refused', async () => {
    const chain = emptyChain();
    const { one, two } = reviewed(chain);
    discuss(chain, { ticketId: one.ticketId, text: 'What do you mean?', principal: '@author' });
    discuss(chain, { ticketId: one.ticketId, text: 'Look at line 4.', principal: '@rev' });
    expect(thread(chain, one.ticketId).messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    await expect(answered(answer(chain, { ticketId: one.ticketId, provider: 'recorded' }, []))).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(answered(answer(chain, { ticketId: two.ticketId, provider: 'recorded' }, []))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });
});

describe('the context to start from', () => {
  test('[K8] a finding is discussed from its author’s context, despite later writes', () => {
    const chain = emptyChain();
    const { review, work, one } = reviewed(chain);
    const asked = discuss(chain, { ticketId: one.ticketId, text: 'Why?', principal: '@author' });
    expect(asked.commit.parent).toBe(review.id);
    expect(ticketOf(chain, one.ticketId)).toMatchObject({ contextId: review.id, contextFound: 'given' });
    const closed = moveTicket(chain, { ticketId: one.ticketId, to: 'closed', resolution: 'begins at zero', by: '@author' });
    expect(closed).toMatchObject({ contextId: work.id, contextFound: 'resolved' });
    expect(startFrom(chain, { ticketId: one.ticketId, who: '@rev' })).toMatchObject({
      task: 'verify_resolution',
      reason: 'discussion',
      contextId: asked.commit.id,
      template: 'reviewer',
      choices: expect.arrayContaining([expect.objectContaining({ reason: 'finding', contextId: review.id, known: true })]),
    });
  });

  test('[K8] a reviewer starts from their earlier review, the author from their own work', () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    const work = understood(chain, '@author', null, 'make retries work', 'done');
    const { ticketId } = createTicket(chain, { title: 'Retries', type: 'task' });
    moveTicket(chain, { ticketId, to: 'in_progress', assignee: '@author', by: '@author', contextId: work.id });
    moveTicket(chain, { ticketId, to: 'review', reviewers: ['@rev'], by: '@author' });
    expect(startFrom(chain, { ticketId, who: '@rev' })).toMatchObject({ task: 'review', contextId: null, reason: 'fresh', template: null });
    const review = understood(chain, '@rev', null, 'review', 'no');
    giveVerdict(chain, { ticketId, reviewer: '@rev', verdict: 'changes_requested', contextId: review.id });
    moveTicket(chain, { ticketId, to: 'in_progress' });
    expect(startFrom(chain, { ticketId, who: '@author' })).toMatchObject({ task: 'address_findings', reason: 'own_work', contextId: work.id });
    expect(startFrom(chain, { ticketId, who: '@other' })).toMatchObject({ task: null, reason: 'fresh' });
    updateTicket(chain, { ticketId, assignee: '@other', by: '@pm' });
    expect(startFrom(chain, { ticketId, who: '@other' })).toMatchObject({ reason: 'handed_over', contextId: work.id });
    moveTicket(chain, { ticketId, to: 'review' });
    expect(startFrom(chain, { ticketId, who: '@rev' })).toMatchObject({ reason: 'earlier_review', contextId: review.id, template: 'reviewer' });
  });

  test('[K5] [K8] a waiting review starts from later writes; a finished one keeps its context', () => {
    const chain = emptyChain();
    const { ticketId } = createTicket(chain, { title: 'Retries', type: 'task' });
    moveTicket(chain, { ticketId, to: 'review', reviewers: ['@rev'] });
    const started = () => events(chain, { ticketId, who: '@rev' }).map(({ task, contextId, known, state }) => [task, contextId, known, state]);
    expect(started()).toEqual([['review', null, false, 'waiting']]);
    const review = understood(chain, '@rev', null, 'review', 'one thing');
    createTicket(chain, { title: 'Off by one', type: 'review_finding', parent: ticketId, by: '@rev', contextId: review.id });
    expect(started()).toEqual([['review', review.id, true, 'waiting']]);
    expect(startFrom(chain, { ticketId, who: '@rev' }).contextId).toBe(review.id);
    giveVerdict(chain, { ticketId, reviewer: '@rev', verdict: 'commented' });
    expect(started()).toEqual([['review', null, false, 'done']]);
  });

  test('[K4] the tickets of a commit are found by it', () => {
    const chain = emptyChain();
    const { review, one, two, ticketId, work } = reviewed(chain);
    const { commit } = discuss(chain, { ticketId: one.ticketId, text: 'Why?', principal: '@author' });
    expect(ticketsOfContexts(chain, { ids: [review.id] }).map((each) => [each.ticketId, each.how])).toEqual([
      [one.ticketId, 'written'],
      [two.ticketId, 'written'],
    ]);
    expect(ticketsOfContexts(chain, { ids: [commit.id] })).toMatchObject([{ ticketId: one.ticketId, how: 'discussed' }]);
    expect(ticketsOfContexts(chain, { ids: [work.id] }).map((each) => each.ticketId)).toEqual([ticketId, one.ticketId]);
    expect(ticketsOfContexts(chain, { ids: [review.id, commit.id, work.id, 'ctx-00000000' as ContextId] })).toHaveLength(5);
  });
});

/** Waiting starts: who and which task. */
const open = (chain: WriteChain) => events(chain, { state: 'waiting' }).map(({ who, task }) => `${who} ${task}`);
const commitCount = (chain: WriteChain) => chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM commits')?.n;

describe('requested starts', () => {
  test('[K5] a start waits, is done by the ticket’s state, or becomes obsolete', async () => {
    const chain = emptyChain();
    const { ticketId, one, two } = reviewed(chain);
    expect(open(chain)).toEqual(['@rev review']);
    expect(events(chain, { ticketId })[0]).toMatchObject({
      who: '@author',
      task: 'work',
      move: { from: 'open', to: 'in_progress' },
      state: 'done',
    });
    discuss(chain, { ticketId: one.ticketId, text: 'Why?', principal: '@author' });
    expect(open(chain)).toEqual(['@rev review', '@rev answer']);
    await answered(answer(chain, { ticketId: one.ticketId, provider: 'anthropic' }, [saying('Because.')]));
    giveVerdict(chain, { ticketId, reviewer: '@rev', verdict: 'changes_requested', reason: 'see the findings' });
    expect(open(chain)).toEqual(['@author decide']);
    moveTicket(chain, { ticketId, to: 'in_progress', by: '@author' });
    expect(open(chain)).toEqual(['@author address_findings']);
    for (const each of [one, two]) moveTicket(chain, { ticketId: each.ticketId, to: 'closed', resolution: 'done', by: '@author' });
    expect(open(chain)).toEqual(['@author address_findings', '@rev verify_resolution', '@rev verify_resolution']);
    moveTicket(chain, { ticketId, to: 'review' });
    expect(open(chain)).toEqual(['@rev verify_resolution', '@rev verify_resolution', '@rev review']);
    giveVerdict(chain, { ticketId, reviewer: '@rev', verdict: 'approved' });
    expect(moveTicket(chain, { ticketId, to: 'closed', by: '@author' }).status).toBe('closed');
    for (const { event } of events(chain, { state: 'waiting' })) acknowledge(chain, { event, by: '@rev', as: 'done' });
    expect(open(chain)).toEqual([]);
  });

  test('[K5] an open question stops waiting when its ticket closes, and waits again after a reopen', () => {
    const chain = emptyChain();
    const { one } = reviewed(chain);
    discuss(chain, { ticketId: one.ticketId, text: 'Why?', principal: '@author' });
    const answers = () => events(chain, { ticketId: one.ticketId }).filter(({ task }) => task === 'answer');
    moveTicket(chain, { ticketId: one.ticketId, to: 'closed', resolution: 'done', by: '@author' });
    expect(answers()).toMatchObject([{ state: 'overtaken' }]);
    expect(open(chain)).toEqual(['@rev review', '@rev verify_resolution']);
    moveTicket(chain, { ticketId: one.ticketId, to: 'open' });
    expect(answers()).toMatchObject([{ state: 'waiting' }]);
  });

  test('[K5] the first to take a start holds it; a finished start cannot be taken', () => {
    const chain = emptyChain();
    reviewed(chain);
    const [waiting] = events(chain, { state: 'waiting' });
    const [over] = events(chain, { state: 'done' });
    const take = (event: number | undefined, by: string, as: 'taken' | 'done' = 'taken') => acknowledge(chain, { event: event ?? 0, by, as });
    expect(take(waiting?.event, '@runner')).toMatchObject({ state: 'taken', answeredBy: '@runner' });
    expect(refusal(() => take(waiting?.event, '@other'))).toMatchObject({ code: 'CONFLICT', data: { holder: '@runner' } });
    expect(take(waiting?.event, '@runner', 'done').state).toBe('done');
    expect(refusal(() => take(waiting?.event, '@runner')).code).toBe('CONFLICT');
    expect(refusal(() => take(over?.event, '@runner')).code).toBe('CONFLICT');
    expect(refusal(() => take(99_999, '@runner')).code).toBe('NOT_FOUND');
  });

  test('[K5] closing the last dependency asks the assignee, or anybody, to start', () => {
    const chain = emptyChain();
    const [a, b] = ['a', 'b'].map((title) => createTicket(chain, { title, type: 'task' })) as [Ticket, Ticket];
    const after = createTicket(chain, { title: 'after', type: 'task', dependsOn: [a.ticketId, b.ticketId] });
    moveTicket(chain, { ticketId: a.ticketId, to: 'closed' });
    expect(events(chain)).toEqual([]);
    moveTicket(chain, { ticketId: b.ticketId, to: 'closed' });
    expect(events(chain, { who: '@anyone' })).toMatchObject([{ ticketId: after.ticketId, who: null, task: 'work', state: 'waiting' }]);
    moveTicket(chain, { ticketId: after.ticketId, to: 'in_progress', assignee: '@me' });
    expect(events(chain).map(({ state }) => state)).toEqual(['done', 'waiting']);
  });

  test('[K2] a reviewer added later is asked too, and the others keep their verdicts', () => {
    const chain = emptyChain();
    const { ticketId } = reviewed(chain);
    giveVerdict(chain, { ticketId, reviewer: '@rev', verdict: 'approved' });
    expect(updateTicket(chain, { ticketId, reviewers: ['@rev', '@second'] }).reviewers).toEqual([
      { name: '@rev', verdict: 'approved' },
      { name: '@second', verdict: 'pending' },
    ]);
    expect(open(chain)).toEqual(['@second review']);
    expect(refusal(() => updateTicket(chain, { ticketId, reviewers: [] })).data).toMatchObject({ field: 'reviewers' });
    moveTicket(chain, { ticketId, to: 'in_progress' });
    expect(refusal(() => updateTicket(chain, { ticketId, reviewers: ['@third'] })).code).toBe('CONFLICT');
  });
});

describe('a review with several rounds', () => {
  test('[K5] [K6] [K8] two reviewers resume their own rounds and discuss their findings separately', async () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    const later = (): number => (clock.at += 60_000);
    const reviewers = ['@rev', '@second'] as const;
    const work = understood(chain, '@author', null, 'make retries work', 'done');
    const { ticketId } = createTicket(chain, { title: 'Retries', type: 'task', by: '@pm' });
    moveTicket(chain, { ticketId, to: 'in_progress', assignee: '@author', by: '@author' });
    const last = new Map<string, Commit>();
    let authors = work;
    for (let round = 1; round <= 3; round++) {
      later();
      const written = commitCount(chain);
      moveTicket(chain, { ticketId, to: 'review', reviewers, by: '@author' });
      expect(commitCount(chain)).toBe(written);
      expect(open(chain)).toEqual(reviewers.map((who) => `${who} review`));
      const found = reviewers.map((who) => {
        later();
        const start = startFrom(chain, { ticketId, who });
        expect([start.reason, start.contextId]).toEqual(round === 1 ? ['fresh', null] : ['earlier_review', last.get(who)?.id]);
        const review = understood(chain, who, last.get(who) ?? null, `review ${round}`, `${who} finds something in round ${round}`);
        last.set(who, review);
        later();
        return createTicket(chain, { title: `${who} ${round}`, type: 'review_finding', parent: ticketId, by: who });
      });
      for (const reviewer of reviewers) giveVerdict(chain, { ticketId, reviewer, verdict: round < 3 ? 'changes_requested' : 'approved' });
      expect(open(chain)).toEqual(['@author decide']);
      moveTicket(chain, { ticketId, to: 'in_progress', by: '@author' });
      expect(startFrom(chain, { ticketId, who: '@author' })).toMatchObject({ task: 'address_findings', contextId: authors.id });
      const tips = [];
      for (const { ticketId: finding, contextId } of found) {
        later();
        const asked = discuss(chain, { ticketId: finding, text: 'Why?', principal: '@author' });
        expect(asked.commit.parent).toBe(contextId);
        const { commit } = await answered(answer(chain, { ticketId: finding, provider: 'anthropic' }, [saying(`Because of ${finding}.`)]));
        tips.push(commit);
        moveTicket(chain, { ticketId: finding, to: 'closed', resolution: `settled in round ${round}`, by: '@author' });
      }
      expect(open(chain)).toEqual(['@author address_findings', ...reviewers.map((who) => `${who} verify_resolution`)]);
      for (const [place, { ticketId: finding }] of found.entries()) {
        const who = reviewers[place] as string;
        expect(startFrom(chain, { ticketId: finding, who })).toMatchObject({ reason: 'discussion', contextId: tips[place] });
        expect(texts(chain, tips[place] as ContextId).join()).not.toContain(found[1 - place]?.ticketId);
        const [verify] = events(chain, { ticketId: finding, state: 'waiting' });
        acknowledge(chain, { event: verify?.event ?? 0, by: who, as: 'done' });
      }
      later();
      authors = understood(chain, '@author', authors, `address ${round}`, 'done');
      if (round < 3) updateTicket(chain, { ticketId, body: `after round ${round}`, by: '@author' });
    }
    // Both approved, so the ticket can close.
    expect(moveTicket(chain, { ticketId, to: 'closed', by: '@author' }).status).toBe('closed');
    expect(open(chain)).toEqual([]);
    expect(overview(chain, { parent: ticketId }).counts).toMatchObject({ closed: 6, open: 0 });
    expect(history(chain, last.get('@rev')?.id as ContextId)).toHaveLength(3);
  });
});

describe('random writes', () => {
  /** A random write of one of two tickets or their findings. */
  const step = record({
    what: constantFrom('move', 'move', 'move', 'verdict', 'verdict', 'retype', 'put elsewhere', 'find', 'discuss'),
    on: nat(3),
    other: nat(3),
    to: constantFrom(...ticketStatuses, 'review', 'closed'),
    verdict: constantFrom('approved', 'approved', 'changes_requested'),
    type: constantFrom('task', 'review_finding'),
    isResolved: boolean(),
    hasReason: nat(9).map((n) => n === 0),
  });

  test('[K3] [K4] no sequence of writes closes a ticket too early, and versions are complete', { tags: 'long' }, () => {
    assert(
      property(array(step, { minLength: 20, maxLength: 50 }), (steps) => {
        const chain = emptyChain();
        const all = ['a', 'b'].map((title) => createTicket(chain, { title, type: 'task' }).ticketId);
        const writes = new Map(all.map((id) => [id, 1]));
        /** Closed with a reason, which allows it. */
        const excused = new Set<string>();
        const find = (parent: string): void => {
          const { ticketId } = createTicket(chain, { title: 'f', type: 'review_finding', parent });
          all.push(ticketId);
          writes.set(ticketId, 1);
        };
        find(all[0] as string);
        for (const { what, on, other, to, verdict, type, isResolved, hasReason } of steps) {
          const ticketId = all[on % all.length] as string;
          const before = ticketOf(chain, ticketId);
          try {
            if (what === 'find') {
              find(ticketId);
              continue;
            }
            if (what === 'discuss') discuss(chain, { ticketId, text: 'why?' });
            if (what === 'verdict') giveVerdict(chain, { ticketId, reviewer: '@rev', verdict });
            if (what === 'retype') updateTicket(chain, { ticketId, type });
            if (what === 'put elsewhere') updateTicket(chain, { ticketId, parent: all[other % all.length] as string, type });
            if (what === 'move') {
              const how = {
                assignee: '@me',
                reviewers: ['@rev'],
                ...(isResolved && { resolution: 'fixed' }),
                ...(hasReason && { reason: 'we ship' }),
              };
              moveTicket(chain, { ticketId, to, ...how });
              if (hasReason) excused.add(ticketId);
              else excused.delete(ticketId);
            }
            if (what !== 'discuss' || before.threadId === null) writes.set(ticketId, (writes.get(ticketId) ?? 0) + 1);
          } catch (error) {
            expect((error as { code: string }).code).toMatch(/CONFLICT|BAD_REQUEST/);
            expect(ticketOf(chain, ticketId)).toEqual(before);
            continue;
          }
          const { parent } = ticketOf(chain, ticketId);
          for (const id of [ticketId, ...(parent === null ? [] : [parent])]) if (!excused.has(id)) expectSound(chain, id);
        }
        for (const id of all) {
          const now = ticketOf(chain, id);
          expect(now.versions).toHaveLength(writes.get(id) ?? 0);
          expect(storyOf(now)).toMatchObject({ status: now.status, type: now.type, parent: now.parent, reviewers: now.reviewers });
        }
      }),
      { numRuns: runs(40) },
    );
  });

  /** A ticket closed without a reason has closed findings with resolutions, and the approval of its last reviewers. */
  function expectSound(chain: WriteChain, id: string): void {
    const { status, type, children, reviewers, resolution } = ticketOf(chain, id);
    if (status !== 'closed') return;
    const findings = children.map((child) => ticketOf(chain, child)).filter((child) => child.type === 'review_finding');
    expect(findings.filter((child) => child.status !== 'closed')).toEqual([]);
    expect(reviewers.filter(({ verdict }) => verdict !== 'approved')).toEqual([]);
    if (type === 'review_finding') expect(resolution).not.toBeNull();
  }

  /** Rebuilds a ticket from its versions; each must continue the one before. */
  function storyOf(ticket: Ticket): Record<string, unknown> {
    const state: Record<string, unknown> = { status: 'open', parent: null, reviewers: [], type: '' };
    for (const { changes } of ticket.versions)
      for (const [field, { from, to }] of Object.entries(changes)) {
        if (field in state) expect(from).toEqual(state[field]);
        state[field] = to;
      }
    return state;
  }
});

describe('a long list', () => {
  test('filters apply to counts and pages but not to facets; children are in order of creation', () => {
    const chain = emptyChain();
    const { ticketId } = reviewed(chain);
    for (let n = 0; n < 30; n++) createTicket(chain, { title: `Task ${n}`, type: 'task', labels: [n % 2 ? 'odd' : 'even'], assignee: '@pm' });
    const odd = overview(chain, { label: 'odd', limit: 4, offset: 2 });
    expect([odd.total, odd.rows.length, odd.counts.open, odd.counts.review]).toEqual([15, 4, 15, 0]);
    expect(facets(chain)).toEqual({
      total: 33,
      waiting: 1,
      types: ['review_finding', 'task'],
      assignees: ['@author', '@pm'],
      labels: ['even', 'odd'],
      people: ['@author', '@pm', '@rev'],
    });
    expect(overview(chain, { status: 'review' }).rows).toMatchObject([{ ticketId, findings: { open: 2, total: 2 }, ready: false }]);
    expect(overview(chain, { text: 'tAsK 17', ready: true }).rows.map(({ title }) => title)).toEqual(['Task 17']);
    expect(overview(chain, { parent: ticketId }).rows.map(({ title }) => title)).toEqual(['Retries the first attempt twice', 'No test for zero']);
    expect(listTickets(chain, { type: 'task', offset: 1, limit: 2 }).map(({ title }) => title)).toEqual(['Task 0', 'Task 1']);
    expect(overview(chain, { type: 'review_finding' }).rows.map(({ parent }) => parent)).toEqual([ticketId, ticketId]);
  });
});
