import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { door } from './door.js';
import { root } from './machine.js';

type Client = ReturnType<typeof door>['client'];

/** What the model of the story says: a text, or a call of a tool. */
export type Line = { readonly text: string } | { readonly tool: string; readonly input: Record<string, unknown> };

/**
 * The reply of the model to a request of the story. It knows only what stands in the request: the blocks of the timeline, and the calls of this
 * invocation with their results.
 */
export function replyOf(request: string, messages: string): Line {
  const has = (tool: string): boolean => new RegExp(`"name":"(mcp__stemma__)?${tool}"`).test(messages);
  if (request.includes('type: plan')) {
    if (!has('enter_space')) return { tool: 'enter_space', input: { spaceId: 'space-abc' } };
    if (!has('read_messages')) return { tool: 'read_messages', input: {} };
    return has('send_message') ? { text: 'Posted.' } : { tool: 'send_message', input: { text: 'Daily summary: all is well.' } };
  }
  if (request.includes('RESUME')) {
    const messageId = /messageId: (msg-\w+)/.exec(request)?.[1] ?? '';
    const input = { text: 'Revenue was 4.2M. Charts follow.', spaceId: 'space-xyz', messageId };
    return has('send_message') ? { text: 'Answered.' } : { tool: 'send_message', input };
  }
  if (request.includes('message: "Not me')) return { text: 'Nothing to add.' };
  if (has('send_message')) return { text: 'I asked Sarah.' };
  return { tool: 'send_message', input: { text: 'Charts or tables, Sarah?', spaceId: 'space-abc', wait: { for: 'Sarah' } } };
}

/** Three entities, two spaces, a wait, an answer by the right person, a message into another space, and a plan. */
export async function tellStory(client: Client, perform: (runId: string) => Promise<void>, pass: (ms: number) => void, now: () => number) {
  for (const [entityId, name, type] of [
    ['ent-husam-01', 'Husam', 'human'],
    ['ent-sarah-02', 'Sarah', 'human'],
    ['entity-abc-123', 'DataAnalyst', 'agent'],
  ] as const)
    await client.space.addEntity({ entityId, name, type });
  const agent = 'entity-abc-123';
  await client.space.create({ spaceId: 'space-xyz', name: 'Project Alpha', members: ['ent-husam-01', agent] });
  await client.space.create({ spaceId: 'space-abc', name: 'Daily Reports', members: [agent, 'ent-sarah-02', 'ent-husam-01'] });
  await client.run.setGoals({
    entityId: agent,
    goals: [
      { description: 'Complete Q4 revenue analysis', priority: 2 },
      { description: 'Maintain daily report pipeline', longTerm: true, priority: 1 },
    ],
  });
  await client.run.setMemory({ entityId: agent, topic: 'reports', content: 'Sarah prefers charts over tables' });
  await client.run.setPlan({
    entityId: agent,
    name: 'Daily Report',
    instruction: 'Generate and post the daily metrics summary',
    scheduledAt: new Date(now() + 60_000).toISOString() as never,
  });
  const run = async (status: string) => (await client.run.list({})).find((each) => each.status === status)?.runId ?? '';

  // Husam asks, and waits for an answer. The agent asks Sarah in another space.
  pass(5_000);
  await client.space.post({ spaceId: 'space-xyz', senderId: 'ent-husam-01', text: 'Pull the Q4 revenue numbers', wait: {} });
  const asked = await run('running');
  await perform(asked);
  expect(await client.run.get({ runId: asked })).toMatchObject({ status: 'waiting_reply', waiting: { for: 'Sarah' } });

  // Husam is not the one that it waits for. His message starts a run of its own.
  pass(5_000);
  await client.space.post({ spaceId: 'space-abc', senderId: 'ent-husam-01', text: 'Not me, ask "her".' });
  await perform(await run('running'));
  expect((await client.run.get({ runId: asked })).status).toBe('waiting_reply');

  // Sarah's answer resumes the first run, which answers Husam.
  pass(5_000);
  await client.space.post({ spaceId: 'space-abc', senderId: 'ent-sarah-02', text: 'Charts, please' });
  expect((await client.run.get({ runId: asked })).status).toBe('running');
  await perform(asked);
  expect((await client.run.get({ runId: asked })).status).toBe('completed');

  // The plan is due. The agent has no space until it enters one.
  pass(60_000);
  const { started } = await client.run.tick({});
  expect(started).toMatchObject([{ trigger: { type: 'plan' } }]);
  await perform(started[0]?.runId ?? '');
  const texts = async (spaceId: string) => (await client.space.messages({ spaceId })).messages.map(({ sender, text }) => `${sender.name}: ${text}`);
  expect(await texts('space-xyz')).toEqual(['Husam: Pull the Q4 revenue numbers', 'DataAnalyst: Revenue was 4.2M. Charts follow.']);
  expect(await texts('space-abc')).toEqual([
    'DataAnalyst: Charts or tables, Sarah?',
    'Husam: Not me, ask "her".',
    'Sarah: Charts, please',
    'DataAnalyst: Daily summary: all is well.',
  ]);
}

/** The blocks of the timeline in a text of a request. */
export const blocksIn = (text: string): string => /IDENTITY:\n[\s\S]*?INSTRUCTIONS:\n(?: {2}- .*\n?)+/.exec(text)?.[0].trimEnd() ?? '';

/** The blocks with names in place of generated ids, in the order in which the story has them. */
export function withNames(texts: readonly string[]): string[] {
  const names = new Map<string, string>();
  const named = (kind: string, id: string): string => {
    if (!names.has(`${kind}${id}`)) names.set(`${kind}${id}`, `${kind}${[...names.keys()].filter((key) => key.startsWith(kind)).length + 1}`);
    return names.get(`${kind}${id}`) ?? id;
  };
  return texts.map((text) =>
    text
      .replace(/\bmsg([:-])(\w+)/g, (_all, between: string, id: string) => `msg${between}${named('m', id)}`)
      .replace(/\bRun ([\w-]+)/g, (_all, id: string) => `Run ${named('r', id)}`)
      .replace(/\(id: (plan-\w+)\)/g, (_all, id: string) => `(id: ${named('plan-', id)})`),
  );
}

/** The same without times, which differ where a real clock runs. */
export const withoutTimes = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\[\d\d:\d\d\]/g, '[TIME]')
    .replace(/\b(in (?:\d+[dhms] ?)+|overdue|in less than a minute)/g, 'LATER');

/** Compares blocks with the golden file, which UPDATE_DOCS=1 writes. With a mask, both are compared without what it leaves out. */
export function expectGolden(name: string, text: string, mask?: (text: string) => string): void {
  const folder = join(root, 'test/main/runner/story');
  const path = join(folder, `${name}.txt`);
  if (process.env.UPDATE_DOCS && !mask) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, `${text}\n`);
  }
  const shown = mask ?? ((same: string) => same);
  expect(shown(text), name).toBe(shown(readFileSync(path, 'utf8').trimEnd()));
}
