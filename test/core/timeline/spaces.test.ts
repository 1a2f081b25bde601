import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../../src/core/base/index.js';
import { history as commitsBefore, entries, findCommit, resolve, type WriteChain } from '../../../src/core/chain/index.js';
import type { Run } from '../../../src/core/contract/index.js';
import {
  addEntity,
  createSpace,
  enterSpace,
  finishRun,
  getRun,
  getSpace,
  joinSpace,
  leaveSpace,
  listRuns,
  listSpaces,
  plansOf,
  post,
  readMessages,
  readReceipt,
  runTimeline,
  send,
  setGoals,
  setMemory,
  setPlan,
  spaceMessages,
  startByTrigger,
  tick,
  timelineMessages,
  wouldTrigger,
} from '../../../src/core/timeline/index.js';
import { emptyChain, type HeldClock, heldClock } from '../../support/project.js';
import { parseHistory } from './parse-timeline.js';

/** Two people and two agents in one space, and a second space with one of each. */
function team(): { chain: WriteChain; clock: HeldClock } {
  const clock = heldClock(Date.parse('2026-02-18T15:00:00Z'));
  const chain = emptyChain(clock);
  for (const [entityId, name, type] of [
    ['ent-husam', 'Husam', 'human'],
    ['ent-ahmad', 'Ahmad', 'human'],
    ['ent-designer', 'Designer', 'agent'],
    ['ent-analyst', 'DataAnalyst', 'agent'],
    ['ent-jira', 'jira', 'service'],
  ] as const)
    addEntity(chain, { entityId, name, type });
  createSpace(chain, { spaceId: 'alpha', name: 'Project Alpha', members: ['ent-husam', 'ent-ahmad', 'ent-designer', 'ent-analyst'] });
  createSpace(chain, { spaceId: 'daily', name: 'Daily Reports', members: ['ent-analyst', 'ent-ahmad'] });
  return { chain, clock };
}

const runFor = (runs: readonly Run[], entityId: string): Run => {
  const run = runs.find((one) => one.entityId === entityId);
  if (!run) throw new Error(`no run for ${entityId}`);
  return run;
};
const historyText = (chain: WriteChain, runId: string): string =>
  runTimeline(chain, runId).rendered.blocks.find(({ name }) => name === 'history')?.text ?? '';

function refusal(work: () => unknown): { code: string; message: string } {
  try {
    work();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('nothing was refused');
}

describe('messages start runs', () => {
  test('[B-13] every other agent of the space gets a run, as wouldTrigger predicts', () => {
    const { chain } = team();
    const foretold = wouldTrigger(chain, { spaceId: 'alpha', senderId: 'ent-husam' });
    expect(foretold.filter(({ runs }) => runs).map(({ name }) => name)).toEqual(['Designer', 'DataAnalyst']);
    expect(foretold.find(({ name }) => name === 'Ahmad')).toMatchObject({ code: 'no-agent', reason: 'is a human' });
    expect(foretold.map(({ code }) => code)).toContain('sender');
    const { message, started } = post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Pull the Q4 revenue numbers' });
    expect(started.map(({ entityId }) => entityId)).toEqual(['ent-designer', 'ent-analyst']);
    expect(message).toMatchObject({ seq: 1, chainDepth: 0, expectsReply: false, replyTo: null });
    expect(message.messageId).toMatch(/^msg-[0-9a-f]{8}$/);
    const own = send(chain, { runId: runFor(started, 'ent-designer').runId, text: 'On it' });
    expect(own.started.map(({ entityId }) => entityId)).toEqual(['ent-analyst']);
    expect(refusal(() => post(chain, { spaceId: 'daily', senderId: 'ent-husam', text: 'let me in' })).code).toBe('BAD_REQUEST');
    expect(refusal(() => post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: ' \n' })).code).toBe('BAD_REQUEST');
  });

  test('[B-12] agents deepen the chain; at the limit nothing starts; humans restart at 0', () => {
    const { chain } = team();
    let run = runFor(post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'go' }).started, 'ent-designer');
    const depths: number[] = [];
    for (let hop = 0; hop < 5; hop += 1) {
      const { message, started } = send(chain, { runId: run.runId, text: `hop ${hop}` });
      depths.push(message.chainDepth);
      if (started[0]) run = started[0];
      else
        expect(
          wouldTrigger(chain, { spaceId: 'alpha', senderId: run.entityId, runId: run.runId }).find(({ entityId }) => entityId === 'ent-designer')
            ?.code,
        ).toMatch(/^(limit|sender)$/);
    }
    expect(depths).toEqual([1, 2, 3, 4, 5]);
    expect(Math.max(...listRuns(chain, {}).map(({ chainDepth }) => chainDepth))).toBe(4);
    expect(spaceMessages(chain, { spaceId: 'alpha' }).messages.at(-1)?.text).toBe('hop 4');
    expect(post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'again' }).message.chainDepth).toBe(0);
  });
});

describe('what a run reads', () => {
  test('[B-08, B-14, B-17, B-18] the next call shows the present, and the last call stays', () => {
    const { chain, clock } = team();
    const first = post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'Looks good' });
    finishRun(chain, { runId: runFor(first.started, 'ent-analyst').runId, status: 'completed' });
    clock.at += 60_000;
    const { started, message } = post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Pull the "Q4" numbers' });
    const { runId } = runFor(started, 'ent-analyst');
    const before = runTimeline(chain, runId);
    expect(before.rendered.system).toContain('ACTIVE SPACE: "Project Alpha" (id: alpha)  [auto-set from trigger]');
    expect(before.rendered.system).toContain('  message: "Pull the \\"Q4\\" numbers"');
    const read = parseHistory(historyText(chain, runId));
    expect(read.messages.map(({ seen, trigger }) => ({ seen, trigger }))).toEqual([
      { seen: true, trigger: false },
      { seen: false, trigger: true },
    ]);
    expect(read.messages[1]?.tag).toBe(message.messageId.slice(4));
    clock.at += 60_000;
    post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'and this' });
    expect(runTimeline(chain, runId, { isLast: true })).toEqual(before);
    const now = historyText(chain, runId);
    expect(now).toContain('"and this"  [NEW]');
    expect(now).toContain('[NEW] ← TRIGGER');
    finishRun(chain, { runId, status: 'completed' });
    expect(runTimeline(chain, runId)).toEqual(before);
  });

  test('[B-10, B-23] a plan or service run has no history until it enters a space', () => {
    const { chain } = team();
    const at = '2026-02-18T09:00:00.000Z' as Timestamp;
    const { runId } = startByTrigger(chain, 'ent-analyst', {
      type: 'plan',
      plan: { id: 'plan-abc', name: 'Daily Report' },
      instruction: 'Post it',
      scheduledAt: at,
    });
    expect(historyText(chain, runId)).toBe('');
    expect(runTimeline(chain, runId).rendered.system).toContain('ACTIVE SPACE: none (call enter_space to enter a space first)');
    expect(refusal(() => send(chain, { runId, text: 'where am I' })).code).toBe('BAD_REQUEST');
    enterSpace(chain, runId, 'daily');
    expect(send(chain, { runId, text: 'Numbers are up.', wait: true }).message).toMatchObject({
      origin: { type: 'plan', planName: 'Daily Report' },
      chainDepth: 1,
    });
    expect(historyText(chain, runId)).toBe('');
    post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'Nice' });
    expect(historyText(chain, runId)).toContain(
      'You: [sent because plan "Daily Report" triggered]\n    called send_message("Numbers are up.", wait: true)  [NEW]',
    );
    expect(historyText(chain, runId)).toContain('  ← RESUME: Ahmad replied. Continue from here.');
    expect(runTimeline(chain, runId).rendered.system).toContain('ACTIVE SPACE: "Daily Reports" (id: daily)\n');
    expect(refusal(() => startByTrigger(chain, 'ent-husam', { type: 'service', service: 'jira', payload: {} })).message).toContain('only agents run');
  });

  test('[B-25] a message into another space says who asked for it, and where', () => {
    const { chain } = team();
    const { started } = post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Send it to the daily' });
    const { message } = send(chain, { runId: runFor(started, 'ent-analyst').runId, spaceId: 'daily', text: 'Here it is' });
    expect(message.origin).toEqual({ type: 'space_message', senderName: 'Husam', message: 'Send it to the daily', spaceName: 'Project Alpha' });
    const later = post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'Why?' }).started;
    expect(historyText(chain, runFor(later, 'ent-analyst').runId)).toContain(
      'You: [sent because Husam asked "Send it to the daily" in "Project Alpha"]',
    );
  });

  test('[B-15, B-27] a run reads its spaces, goals, memories, plans and runs', () => {
    const { chain, clock } = team();
    setGoals(chain, 'ent-analyst', [
      { description: 'Keep it', priority: 1, longTerm: true },
      { description: 'Finish it', priority: 2 },
    ]);
    setMemory(chain, 'ent-analyst', 'Q4', 'old');
    setMemory(chain, 'ent-analyst', 'Q4', 'new categories');
    clock.at += 1_000;
    setMemory(chain, 'ent-analyst', null, 'likes charts');
    setPlan(chain, { entityId: 'ent-analyst', name: 'Daily Report', instruction: 'Post it', cron: '0 9 * * *' });
    setPlan(chain, { entityId: 'ent-analyst', name: 'Follow up', instruction: 'Ask', runAfter: '2 hours' });
    setPlan(chain, { entityId: 'ent-analyst', name: 'Obsolete', instruction: 'Nothing', cron: '0 9 * * *' });
    setPlan(chain, { entityId: 'ent-analyst', name: 'Obsolete', instruction: null });
    const wrong = setMemory(chain, 'ent-analyst', null, 'likes tables').find(({ content }) => content === 'likes tables');
    setMemory(chain, 'ent-analyst', null, null, wrong?.memoryId);
    const { started } = post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'hi' });
    const { system } = runTimeline(chain, runFor(started, 'ent-analyst').runId).rendered;
    expect(system).toContain('GOALS:\n  - Finish it (priority: 2)\n  - Keep it (long-term, priority: 1)');
    expect(system).toContain('MEMORIES:\n  - likes charts\n  - [Q4] new categories\n');
    expect(system).not.toMatch(/Obsolete|likes tables/);
    expect(refusal(() => setPlan(chain, { entityId: 'ent-analyst', name: 'Obsolete', instruction: null })).code).toBe('NOT_FOUND');
    expect(system).toContain('  - "Daily Report" (recurring, cron: 0 9 * * *, next: 2026-02-19T09:00:00Z, in 17h 59m)');
    expect(system).toContain('  - "Follow up" (one-time, scheduledAt: 2026-02-18T17:00:01Z, in 2h 00m)  [created via runAfter: "2 hours"]');
    expect(system).toContain('  - "Project Alpha" (id: alpha) [ACTIVE] — Husam (human), Ahmad (human), Designer (agent), You');
    expect(system).toContain('(this run) — triggered by Husam in "Project Alpha"');
  });

  test('[B-20, B-21] the window has 50 messages with the trigger, and one line for the rest', () => {
    const { chain } = team();
    const trigger = post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'the question' });
    for (let place = 0; place < 70; place += 1) post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: `m${place}` });
    const { rendered } = runTimeline(chain, runFor(trigger.started, 'ent-analyst').runId);
    const text = rendered.blocks.find(({ name }) => name === 'history')?.text ?? '';
    const read = parseHistory(text);
    expect(read.messages).toHaveLength(50);
    expect(read.messages[0]).toMatchObject({ text: 'the question', trigger: true });
    expect(read.messages.at(-1)?.text).toBe('m69');
    expect(read.summary).toBe('Ahmad: m0 | Ahmad: m1 | Ahmad: m2 | … | Ahmad: m18 | Ahmad: m19 | Ahmad: m20');
    expect(text).toContain('[summary of 21 earlier messages]');
  });
});

describe('runs that wait', () => {
  test('[B-11, B-24] a reply resumes the waiting run with a new call and starts no second run', () => {
    const { chain, clock } = team();
    const { started } = post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Ask Ahmad about the charts' });
    const { runId } = runFor(started, 'ent-analyst');
    const asked = send(chain, { runId, text: '@Ahmad are the charts final?', wait: true });
    expect(asked.run).toMatchObject({ status: 'waiting_reply', waiting: { for: 'Ahmad', spaceId: 'alpha' } });
    expect(asked.message.expectsReply).toBe(true);
    expect(asked.started[0]?.trigger).toMatchObject({ senderExpectsReply: true, chainDepth: 1 });
    expect(refusal(() => send(chain, { runId, text: 'more' })).code).toBe('CONFLICT');
    expect(wouldTrigger(chain, { spaceId: 'alpha', senderId: 'ent-ahmad' }).find(({ name }) => name === 'DataAnalyst')).toMatchObject({
      runs: false,
      code: 'resumes',
    });

    clock.at += 60_000;
    const reply = post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'Yes, final.', replyTo: asked.message.messageId.slice(4) });
    expect(reply.message.replyTo).toBe(asked.message.messageId);
    expect(reply.resumed.map((run) => run.runId)).toEqual([runId]);
    expect(reply.started.map(({ entityId }) => entityId)).toEqual(['ent-designer']);
    const text = historyText(chain, runId);
    expect(text.split('\n').slice(-2)).toEqual([
      expect.stringContaining('Ahmad (human, id:ent-ahmad): "Yes, final."  [NEW]'),
      '  ← RESUME: Ahmad replied. Continue from here.',
    ]);
    expect(text).toContain('← TRIGGER');
    // A call's context contains no earlier tool calls.
    expect(timelineMessages(runTimeline(chain, runId).input).every(({ role }) => role !== ('tool' as string))).toBe(true);
  });

  test('a wait times out; a run waits at most ten times, and an agent in at most five runs', () => {
    const { chain, clock } = team();
    const { started } = post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'x' });
    const { runId } = runFor(started, 'ent-analyst');
    for (let wait = 0; wait < 10; wait += 1) {
      send(chain, { runId, text: 'anyone?', wait: true });
      clock.at += 4 * 60_000;
      expect(tick(chain).resumed).toEqual([]);
      clock.at += 60_000;
      expect(tick(chain).resumed.map((run) => run.runId)).toEqual([runId]);
    }
    expect(historyText(chain, runId)).toContain('  ← RESUME: no reply within 5m. Continue from here.');
    expect(refusal(() => send(chain, { runId, text: 'anyone?', wait: true })).code).toBe('CONFLICT');
  });

  test('plans that are due start their agents, once or repeatedly', () => {
    const { chain, clock } = team();
    setPlan(chain, { entityId: 'ent-analyst', name: 'Daily Report', instruction: 'Post it', cron: '0 9 * * *' });
    setPlan(chain, { entityId: 'ent-analyst', name: 'Once', instruction: 'Ask', runAfter: '2 hours' });
    expect(tick(chain).started).toEqual([]);
    clock.at += 86_400_000;
    expect(tick(chain).started.map(({ trigger }) => trigger)).toMatchObject([
      { type: 'plan', plan: { name: 'Daily Report' }, scheduledAt: '2026-02-19T09:00:00.000Z' },
      { type: 'plan', plan: { name: 'Once' }, instruction: 'Ask' },
    ]);
    expect(plansOf(chain, 'ent-analyst').map(({ name, nextRunAt }) => [name, nextRunAt])).toEqual([['Daily Report', '2026-02-20T09:00:00.000Z']]);
    expect(tick(chain).started).toEqual([]);
    expect(refusal(() => setPlan(chain, { entityId: 'ent-analyst', name: 'Both', instruction: '', cron: '* * * * *', runAfter: '1 day' })).code).toBe(
      'BAD_REQUEST',
    );
  });

  test('a stored cron line that is no longer valid ends its plan and stops no other', () => {
    const { chain, clock } = team();
    for (const name of ['Old', 'Daily']) setPlan(chain, { entityId: 'ent-analyst', name, instruction: 'Go', cron: '0 9 * * *' });
    chain.db.run("UPDATE plan SET cron = '*/100 * * * *' WHERE name = 'Old'");
    clock.at += 86_400_000;
    expect(tick(chain).started).toHaveLength(2);
    expect(plansOf(chain, 'ent-analyst').map(({ name }) => name)).toEqual(['Daily']);
  });
});

describe('marks', () => {
  test('[B-22, B-31] only a completed run moves the mark, to what it has seen, and never backward', () => {
    const { chain } = team();
    const one = post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'one' });
    const two = post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'two' });
    post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'three' });
    const mark = () => getSpace(chain, 'daily').memberships.find(({ entityId }) => entityId === 'ent-analyst')?.lastProcessedMessageId;
    finishRun(chain, { runId: runFor(two.started, 'ent-analyst').runId, status: 'failed' });
    expect(mark()).toBe(null);
    const third = listRuns(chain, { entityId: 'ent-analyst', status: 'running' });
    expect(third).toHaveLength(2);
    finishRun(chain, { runId: third[0]?.runId ?? '', status: 'completed' });
    const newest = mark();
    finishRun(chain, { runId: runFor(one.started, 'ent-analyst').runId, status: 'completed' });
    expect(newest).toBe(spaceMessages(chain, { spaceId: 'daily' }).messages[2]?.messageId);
    expect(mark()).toBe(newest);
    expect(refusal(() => finishRun(chain, { runId: third[0]?.runId ?? '', status: 'completed' })).code).toBe('CONFLICT');
  });

  test("[B-29, B-30] a receipt moves a human's own mark forward; unread count and divider follow", () => {
    const { chain } = team();
    const [a, b, c] = ['a', 'b', 'c'].map((text) => post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text }).message.messageId) as [
      string,
      string,
      string,
    ];
    expect(listSpaces(chain, 'ent-ahmad').map(({ spaceId, unread }) => [spaceId, unread])).toEqual([
      ['alpha', 3],
      ['daily', 0],
    ]);
    expect(readReceipt(chain, { spaceId: 'alpha', entityId: 'ent-ahmad', lastMessageId: b })).toMatchObject({
      unread: 1,
      dividerBefore: c,
      membership: { lastSeenMessageId: b },
    });
    expect(readReceipt(chain, { spaceId: 'alpha', entityId: 'ent-ahmad', lastMessageId: a })).toMatchObject({
      unread: 1,
      membership: { lastSeenMessageId: b, lastProcessedMessageId: null },
    });
    expect(refusal(() => readReceipt(chain, { spaceId: 'daily', entityId: 'ent-ahmad', lastMessageId: c })).code).toBe('BAD_REQUEST');
    expect(refusal(() => readReceipt(chain, { spaceId: 'alpha', entityId: 'ent-designer', lastMessageId: c })).message).toContain(
      'only humans have read receipts',
    );
    expect(listSpaces(chain, 'ent-husam')[0]?.unread).toBe(0);
  });

  test('messages that a run reads with its tools count as seen', () => {
    const { chain } = team();
    const { started } = post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'one' });
    const two = post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'two' });
    const { runId } = runFor(started, 'ent-analyst');
    expect(readMessages(chain, { runId }).messages.map(({ text }) => text)).toEqual(['one', 'two']);
    post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'three' });
    finishRun(chain, { runId, status: 'completed' });
    expect(getSpace(chain, 'daily').memberships.find(({ entityId }) => entityId === 'ent-analyst')?.lastProcessedMessageId).toBe(
      two.message.messageId,
    );
  });

  test('[B-26] a reply may name a message by its id, its tag or a unique beginning', () => {
    const { chain } = team();
    const { message } = post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'a' });
    for (const reference of [message.messageId, message.messageId.slice(4), `msg:${message.messageId.slice(4)}`, message.messageId.slice(4, 10)])
      expect(post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'b', replyTo: reference }).message.replyTo).toBe(message.messageId);
    for (const reference of ['msg-', 'zzz', ''])
      expect(refusal(() => post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'b', replyTo: reference })).code).toBe('BAD_REQUEST');
    expect(refusal(() => post(chain, { spaceId: 'daily', senderId: 'ent-ahmad', text: 'b', replyTo: message.messageId })).code).toBe('BAD_REQUEST');
  });

  test('a member who left cannot read or write, and its messages stay', () => {
    const { chain } = team();
    post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'bye' });
    expect(leaveSpace(chain, 'alpha', 'ent-ahmad').members.map(({ name }) => name)).not.toContain('Ahmad');
    expect(refusal(() => post(chain, { spaceId: 'alpha', senderId: 'ent-ahmad', text: 'x' })).code).toBe('BAD_REQUEST');
    expect(spaceMessages(chain, { spaceId: 'alpha' }).messages[0]?.sender.name).toBe('Ahmad');
    expect(joinSpace(chain, 'alpha', 'ent-ahmad').lastSeenMessageId).toBe(null);
  });
});

describe('a run is a turn', () => {
  test('a run is committed with its context, messages and output; the next run follows it', () => {
    const { chain, clock } = team();
    const first = runFor(post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Numbers?' }).started, 'ent-analyst');
    send(chain, { runId: first.runId, text: '42' });
    const done = finishRun(chain, { runId: first.runId, status: 'completed', output: 'said it' });
    expect(done).toMatchObject({ status: 'completed', endedAt: expect.any(String) });
    const told = entries(chain, { id: done.contextId ?? ('' as never) }).entries;
    expect(told.map(({ role, kind }) => `${role} ${kind}`)).toEqual([
      'system text',
      'user text',
      'assistant tool_call',
      'tool tool_result',
      'assistant text',
    ]);
    expect(told[0]?.text).toContain('IDENTITY:\n  name: "DataAnalyst"');
    expect(told[0]?.text).toContain('"Numbers?"  [NEW] ← TRIGGER\n\nYOUR SPACES');
    expect(told[1]?.text).toBe('[Husam (human)] Numbers?');
    clock.at += 1_000;
    const second = runFor(post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Thanks' }).started, 'ent-analyst');
    const next = finishRun(chain, { runId: second.runId, status: 'completed' });
    expect(commitsBefore(chain, next.contextId ?? ('' as never)).map(({ id }) => id)).toEqual([next.contextId, done.contextId]);
    expect(getRun(chain, second.runId).contextId).toBe(next.contextId);
  });

  test('[B-35] a run that nobody performed is not what its agent understood', () => {
    const { chain, clock } = team();
    const run = runFor(post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Numbers?' }).started, 'ent-analyst');
    const ended = finishRun(chain, { runId: run.runId, status: 'canceled' });
    expect(findCommit(chain, ended.contextId ?? ('' as never)).principal).toBe('user');
    clock.at += 1_000;
    expect(resolve(chain, 'ent-analyst', '2027-01-01T00:00:00.000Z' as Timestamp)).toEqual({ id: null, at: null });
    const second = runFor(post(chain, { spaceId: 'alpha', senderId: 'ent-husam', text: 'Again?' }).started, 'ent-analyst');
    send(chain, { runId: second.runId, text: '42' });
    const done = finishRun(chain, { runId: second.runId, status: 'completed' });
    expect(resolve(chain, 'ent-analyst', '2027-01-01T00:00:00.000Z' as Timestamp).id).toBe(done.contextId);
  });
});
