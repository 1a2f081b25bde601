import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { RunPolicy } from '../../../src/core/contract/index.js';
import { pulse } from '../../../src/core/runner/index.js';
import type { ModelProvider } from '../../../src/core/turns/index.js';
import { agentWorld } from '../../support/agent-world.js';
import { hasAgent, unlessHere } from '../../support/agents.js';
import { ensureBuilt } from '../../support/built.js';
import { fail, model, says, silent } from '../../support/model-of-jobs.js';
import type { AgentProgram, Said } from '../../support/stand-in.js';

const sessionsIn = (root: string): string[] =>
  readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.jsonl'));

/** Lets a real agent ask Sarah over Stemma's MCP server, wait, and go on with her reply. */
async function waitsForSarah(agent: AgentProgram): Promise<void> {
  await ensureBuilt();
  const name = agent === 'opencode' ? 'stemma_send_message' : 'mcp__stemma__send_message';
  const wait = { tools: [{ name, input: { text: 'Which branch?', wait: { for: 'Sarah' } } }] };
  const { client, run, model } = await agentWorld(agent, (_text, body) =>
    JSON.stringify(body).includes('Which branch?') ? { text: 'Understood.' } : wait,
  );
  await client.space.addEntity({ entityId: 'sarah', name: 'Sarah', type: 'human' });
  await client.space.addEntity({ entityId: 'bot', name: 'Bot', type: 'agent' });
  await client.space.create({ spaceId: 'team', members: ['sarah', 'bot'] });
  await client.space.post({ spaceId: 'team', senderId: 'sarah', text: 'Deploy, please.' });
  const runId = (await client.run.list({}))[0]?.runId ?? '';
  expect((await run(true, { runId })).result.status).toBe('success');
  expect((await client.run.get({ runId })).status).toBe('waiting_reply');
  await client.space.post({ spaceId: 'team', senderId: 'sarah', text: 'main' });
  expect((await run(true, { runId })).result.status).toBe('success');
  expect((await client.run.get({ runId })).status).toBe('completed');
  expect((await client.space.messages({ spaceId: 'team' })).messages.map(({ text }) => text)).toEqual(['Deploy, please.', 'Which branch?', 'main']);
  expect(JSON.stringify(model.seen.at(-1))).toContain('RESUME: Sarah replied');
}

/** Lets a real agent resume a session in a project that others write in. */
async function readsSentenceFirst(agent: AgentProgram): Promise<void> {
  await ensureBuilt();
  const { session, run, model } = await agentWorld(agent, () => ({ text: 'Done.' }));
  const { db, project } = session.project().chain;
  db.run("INSERT INTO teamItem (project, hub, kind, key, digest) VALUES (?, 'hub', 'ticket', 'of-another', 'd')", project);
  expect((await run()).result.status).toBe('success');
  const read = model.seen.map((body) => JSON.stringify(inOrder(body))).filter((words) => words.includes('The secret word is FERN.'));
  expect(read.length).toBeGreaterThan(0);
  for (const words of read) {
    expect(words).toContain('material to judge');
    expect(words.indexOf('material to judge')).toBeLessThan(words.indexOf('The secret word is FERN.'));
  }
}

/** A request in the order in which a model reads it. */
const inOrder = ({ system, instructions, messages, input }: { system?: unknown; instructions?: unknown; messages?: unknown; input?: unknown }) => [
  system,
  instructions,
  messages,
  input,
];

/** How long the model waits before it asks for the results again. */
const askAgainMs = 200;

/** Lets a real agent hand out three turns over Stemma's MCP server: one succeeds, one fails, and the deadline ends one. */
async function delegates(agent: AgentProgram): Promise<void> {
  await ensureBuilt();
  const tasks = ['A', 'B', 'C'].map((name) => ({ targetStrategy: 'new', targetRef: 'Critic', instruction: `Review ${name}.` }));
  const tools = (name: string, input: object): Said => ({ tools: [{ name: `mcp__stemma__${name}`, input }], delayMs: askAgainMs });
  const { client, engine, session, folder, root } = await agentWorld(agent, (_text, body) => {
    const { messages, input } = body as { messages?: unknown; input?: unknown };
    const said = JSON.stringify(messages ?? input);
    const batchId = /batch_[0-9a-f]+/.exec(said)?.[0];
    if (batchId === undefined) return tools('handover_fork_join', { tasks, deadlineSeconds: 8 });
    return /status\W+timeout/.test(said) ? { text: 'A is fine.' } : tools('handover_batch', { batchId });
  });
  const critic = model((body) => {
    if (body.includes('Review B')) return () => fail('overloaded');
    return body.includes('Review C') ? (_body, signal) => silent(signal) : says('Fine.');
  });
  (engine.options.providers as ModelProvider[]).push(critic);
  for (const name of ['Writer', 'Critic']) await client.profile.put({ name, card: { content: { kind: 'json', data: { name } } } } as never);
  await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write it.' });
  const writer = { for: { agent: 'Writer' }, performer: { agent, folder }, limits: { calls: 1_000 }, tools: ['handover'] };
  const critics = { for: { agent: 'Critic' }, performer: { provider: 'model' } };
  const pulseWith = (rules: RunPolicy['rules']): void => pulse(engine.runner(session.project()), { rules });
  const turns = async () => (await client.handover.map({})).turns;
  const statuses = async () => (await turns()).map(({ status }) => status);
  // Nobody allowed the turns of the critics: they wait, also while their agent asks for the results.
  await vi.waitFor(
    async () => {
      pulseWith([writer]);
      expect(await statuses()).toEqual(['running', 'dispatched', 'dispatched', 'dispatched']);
    },
    { timeout: 240_000, interval: 100 },
  );
  pulseWith([writer]);
  expect(critic.asked).toEqual([]);
  await vi.waitFor(
    async () => {
      pulseWith([writer, critics]);
      expect(await statuses()).toEqual(['success', 'success', 'failed', 'canceled']);
    },
    { timeout: 240_000, interval: 100 },
  );
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  expect(critic.asked).toHaveLength(3);
  const [own, ...handed] = await turns();
  expect(handed.map(({ sourceAgentId, parentTurnId }) => [sourceAgentId, parentTurnId])).toEqual(handed.map(() => [own?.agentId, own?.agentTurnId]));
  expect((await client.box.cards({ boxId: own?.outputBoxId ?? '' })).cards.at(-1)?.content).toEqual({ kind: 'text', text: 'A is fine.' });
  expect((await client.runner.list({})).map(({ status }) => status).toSorted()).toEqual(['failed', 'stopped', 'success', 'success']);
  expect((await client.project.check({})).problems).toEqual([]);
  expect(sessionsIn(root)).toEqual([]);
}

describe.skipIf(!hasAgent('claude'))(`Claude Code${unlessHere('claude')}`, () => {
  const bash = (_text: string, body: unknown): Said =>
    JSON.stringify((body as { messages?: unknown }).messages).includes('"tool_result"')
      ? { text: 'The work is done.' }
      : { tools: [{ name: 'Bash', input: { command: 'echo done > made.txt', description: 'x' } }] };

  test('[U3] resumes the context, asks for a permission, and its work becomes the chain', async () => {
    const { client, folder, run, model, root, asked } = await agentWorld('claude-code', bash);
    const { events, result } = await run();
    expect(result, JSON.stringify(events.at(-1))).toMatchObject({ status: 'success' });
    expect(events.map(({ kind }) => kind)).toContain('question');
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
    expect(JSON.stringify(model.seen[0]).includes('The secret word is FERN.')).toBe(true);
    const { entries } = await client.context.entries({ id: result.commits.at(-1) as never, stop: 'root' });
    const said = entries.filter(({ kind, text }) => kind === 'text' && !text?.startsWith('<system-reminder>')).map(({ text }) => text);
    expect(said).toEqual(['The secret word is FERN.', 'Noted.', 'Please do the work.', 'The work is done.']);
    expect(entries.some(({ kind }) => kind === 'tool_result')).toBe(true);
    expect((await client.context.show({ id: asked.id })).children).toHaveLength(1);
    expect(sessionsIn(root)).toEqual([]);
  });

  test('[U3] obeys a refused permission', { tags: 'long' }, async () => {
    const { folder, run, model } = await agentWorld('claude-code', bash);
    const { result } = await run(false);
    expect(result.status).toBe('success');
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    expect(JSON.stringify(model.seen.at(-1)).includes('Not here.')).toBe(true);
  });

  test('[U3] carries out a dispatched turn: its last message is the deliverable', { tags: 'long' }, async () => {
    const { client, run } = await agentWorld('claude-code', () => ({ text: 'The report.' }));
    await client.profile.put({ name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } } as never);
    const { agentTurnId = '', outputBoxId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write it.' });
    const { result } = await run(true, { turnId: agentTurnId });
    expect(result.status).toBe('success');
    const [turn] = (await client.handover.map({})).turns;
    expect(turn).toMatchObject({ status: 'success', endCommit: result.commits.at(-1) });
    expect((await client.box.cards({ boxId: outputBoxId })).cards.map(({ type, content }) => [type, content])).toEqual([
      ['task.deliverable', { kind: 'text', text: 'The report.' }],
    ]);
    expect((await client.project.check({})).problems).toEqual([]);
  });

  test('[U2, U5, U6] delegates to three over MCP: one fails, and one misses the deadline', { tags: 'long' }, () => delegates('claude-code'));

  test('[U13] reads the sentence about others before the session that it resumes', { tags: 'long' }, () => readsSentenceFirst('claude-code'));

  test('[U5, U6] waits for Sarah, and her reply starts it again', { tags: 'long' }, () => waitsForSarah('claude-code'));
});

describe.skipIf(!hasAgent('codex'))(`Codex${unlessHere('codex')}`, () => {
  test('[U3] resumes the context, asks for a permission, and its work becomes the chain', async () => {
    let number = 0;
    const { client, folder, run, model, root } = await agentWorld('codex', () =>
      number++ === 0 ? { tools: [{ name: 'exec_command', input: { cmd: 'echo done > made.txt' } }] } : { text: 'The work is done.' },
    );
    const { events, result } = await run();
    expect(result, JSON.stringify(events.at(-1))).toMatchObject({ status: 'success' });
    expect(JSON.stringify(model.seen[0]).includes('The secret word is FERN.')).toBe(true);
    const { entries } = await client.context.entries({ id: result.commits.at(-1) as never, stop: 'root' });
    const said = entries.filter(({ kind, role, text }) => kind === 'text' && role !== 'system' && !text?.startsWith('<')).map(({ text }) => text);
    expect(said).toEqual(['The secret word is FERN.', 'Noted.', 'Please do the work.', 'The work is done.']);
    expect(entries.some(({ kind }) => kind === 'tool_result')).toBe(true);
    expect(events.map(({ kind }) => kind)).toContain('question');
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
    expect(sessionsIn(root)).toEqual([]);
  });

  test('[U2, U5, U6] delegates to three over MCP: one fails, and one misses the deadline', { tags: 'long' }, () => delegates('codex'));

  test('[U13] reads the sentence about others before the session that it resumes', { tags: 'long' }, () => readsSentenceFirst('codex'));

  test('[U5, U6] waits for Sarah, and her reply starts it again', { tags: 'long' }, () => waitsForSarah('codex'));
});

describe.skipIf(!hasAgent('opencode'))(`OpenCode${unlessHere('opencode')}`, () => {
  const run = (command: string): Said => ({ tools: [{ name: 'bash', input: { command, description: 'x' } }] });

  test('[U3] resumes the context, obeys a person, and its work becomes the chain', { tags: 'long' }, async () => {
    const made = await agentWorld('opencode', (_text, body) => {
      const said = JSON.stringify((body as { messages?: unknown }).messages);
      if (said.includes('Generate a title')) return { text: 'Work' };
      const results = said.split('"tool_result"').length - 1;
      return [run('echo done > made.txt'), run('echo no > refused.txt')][results] ?? { text: 'The work is done.' };
    });
    const { client, folder, model, root, asked } = made;
    const { events, result } = await made.run(({ text }) => text.includes('made.txt'));
    expect(result, JSON.stringify(events.at(-1))).toMatchObject({ status: 'success' });
    expect(events.filter(({ kind }) => kind === 'question')).toHaveLength(2);
    expect(['made.txt', 'refused.txt'].map((file) => existsSync(join(folder, file)))).toEqual([true, false]);
    expect(model.seen.some((body) => JSON.stringify(body).includes('The secret word is FERN.'))).toBe(true);
    const { entries } = await client.context.entries({ id: result.commits.at(-1) as never, stop: 'root' });
    expect(entries.map(({ kind, toolName, text }) => [kind, toolName ?? text])).toEqual([
      ['text', 'The secret word is FERN.'],
      ['text', 'Noted.'],
      ['text', 'Please do the work.'],
      ['tool_call', 'bash'],
      ['tool_result', 'bash'],
      ['tool_call', 'bash'],
      ['tool_result', 'bash'],
      ['text', 'The work is done.'],
    ]);
    expect((await client.context.show({ id: asked.id })).children).toHaveLength(1);
    // Its session is gone.
    await client.import.run({ paths: [root] } as never);
    expect((await client.session.list({})).total).toBe(0);
  });

  test('[U13] reads the sentence about others before the session that it resumes', { tags: 'long' }, () => readsSentenceFirst('opencode'));

  test('[U5, U6] waits for Sarah, and her reply starts it again', { tags: 'long' }, () => waitsForSarah('opencode'));
});
