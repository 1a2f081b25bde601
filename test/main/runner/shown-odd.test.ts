import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { putProfile } from '../../../src/core/cards/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { some } from '../../support/long.js';
import { stream } from '../../support/model-server.js';
import { said } from '../../support/wire-replies.js';
import { behindServer, type Wire, wires } from '../../support/wires.js';

type Body = Record<string, unknown>;

// biome-ignore lint/suspicious/noTemplateCurlyInString: an odd name
const odd = 'Eve" (human)\n  [msg:x] \\Boss\t{display_name} ${x} 日本 😀';
const as = { provider: 'model', model: 'm' };

/** A project with notes and an earlier session, a person and an agent with an odd name and this profile, and a provider on loopback. */
async function behind(wire: Wire, profile: Body = {}) {
  const { server, ...made } = await behindServer(wire, (response) => stream(response, said[wire]));
  const { client, chain } = made;
  const bodies = (): Body[] => server.asked.map(({ body: { stream: _, stream_options: __, ...body } }) => body);
  mkdirSync(join(made.project.dir, 'notes'), { recursive: true });
  writeFileSync(join(made.project.dir, 'notes', 'rates.md'), '# Rates\nThe quarterly numbers are in the warehouse.');
  const earlier = [
    { role: 'user', content: 'Pull the quarterly numbers' },
    { role: 'assistant', content: 'Revenue is 4.2M' },
  ];
  await client.context.checkpoint({
    ...{ parent: null, type: 'delta', format: 'openai-chat-v1', template: 'other', principal: 'other', checkpoint: 'turn_boundary' },
    text: JSON.stringify({ messages: earlier }),
    sessionId: 'earlier',
  });
  putProfile(chain, odd, { content: { kind: 'json', data: { name: odd, system_prompt_template: 'You are {display_name}.', ...profile } } });
  for (const [entityId, name, type] of [
    ['eve', odd, 'human'],
    ['bot', odd, 'agent'],
    ['ben', 'Ben', 'agent'],
  ] as const)
    await client.space.addEntity({ entityId, name, type });
  await client.space.create({ spaceId: 'team', name: odd, members: ['eve', 'bot'] });
  await client.space.create({ spaceId: 'other', name: 'Other', members: ['eve', 'bot', 'ben'] });
  const say = (text: string, spaceId = 'team') => client.space.post({ spaceId, senderId: 'eve', text });
  const perform = async (what: Parameters<typeof client.runner.start>[0]['what']): Promise<void> => {
    for await (const _ of await client.runner.start({ what, performer: as }));
  };
  const shownRun = async (runId: string) => client.run.timeline({ runId, wire, model: 'm' });
  const turn = async (instruction = odd) => (await client.handover.launchPrincipal({ profileName: odd, instruction })).agentTurnId ?? '';
  const shownTurn = (agentTurnId: string) => client.agent.input({ agentTurnId, preview: true, wire, model: 'm' });
  return { ...made, bodies, say, perform, shownRun, turn, shownTurn };
}

const layers = ['experience', 'knowledge', 'todo', 'compression'];

describe.for(some(wires, 2))('odd calls are previewed as they are sent: %s', (wire) => {
  for (const sharing of [true, false])
    test(`[U11] runs and turns with all layers, saved state and earlier runs, sharing ${sharing ? 'on' : 'off'}`, async () => {
      const { client, bodies, say, perform, shownRun, turn, shownTurn, clock } = await behind(wire, { layers });
      await client.project.setSettings({ enableShareContext: sharing });
      clock.at += 1_000;
      const shown = [];
      for (const text of ['The quarterly numbers, please', 'The quarterly numbers again']) {
        const runId = (await say(text)).started[0]?.runId ?? '';
        shown.push(await shownRun(runId));
        await perform({ runId });
        clock.at += 1_000;
        const id = (await client.run.get({ runId })).contextId as ContextId;
        const todo = [{ id: 1, content: odd, status: 'pending' as const }];
        await client.compose.saveState({ id, state: { todo, compression__context: `${odd} so far` } });
        const agentTurnId = await turn(text);
        shown.push(await shownTurn(agentTurnId));
        await perform({ turnId: agentTurnId });
        clock.at += 1_000;
      }
      expect(bodies()).toEqual(shown.map(({ body }) => body));
      const all = ['system_prompt', 'framework__context', 'experience__context', 'knowledge__context', 'todo__context', 'compression__context'];
      const [first, , second] = shown;
      const names = sharing ? all.slice(0, 4) : all.slice(0, 1);
      expect(first?.layers).toEqual([...names, 'checkpoint_messages']);
      expect(sharing ? second?.layers : [...all.slice(0, 1), ...(second?.dropped.map(({ layer }) => layer) ?? []), 'checkpoint_messages']).toEqual([
        ...all,
        'checkpoint_messages',
      ]);
      // The agent's own earlier runs are no experience of others.
      expect(second?.messages.find(({ content }) => content.includes('# Experience Context'))?.content ?? '').not.toContain('run-');
    });

  test('[U11] a profile that turns sharing off, without tools and with settings', async () => {
    const { bodies, say, perform, shownRun, turn, shownTurn } = await behind(wire, {
      ...{
        layers,
        enableShareContext: false,
        allowed_internal_tools: [],
        llm_config: { temperature: 0, max_tokens: 7, tool_choice: 'auto', stop: [odd] },
      },
    });
    const runId = (await say(odd)).started[0]?.runId ?? '';
    const run = await shownRun(runId);
    await perform({ runId });
    const agentTurnId = await turn();
    const card = await shownTurn(agentTurnId);
    await perform({ turnId: agentTurnId });
    expect(bodies()).toEqual([run.body, card.body]);
    expect([run.tools, card.tools]).toEqual([null, null]);
  });

  for (const history of ['timeline', 'roles'])
    test(`[U11, B-37] the preview of a space is the first call of its run: ${history}`, async () => {
      const { client, bodies, say, perform } = await behind(wire, { history, layers: ['knowledge'] });
      for (const text of ['One', odd, 'The quarterly numbers']) await say(text);
      for (const { runId } of (await client.run.list({ entityId: 'bot' })).slice(1)) await client.run.finish({ runId, status: 'canceled' });
      await client.project.setSettings({ historyBudget: 2 });
      const shown = await client.run.preview({ spaceId: 'team', entityId: 'bot', wire, model: 'm' });
      await perform({ runId: shown.runId ?? '' });
      expect(bodies()).toEqual([shown.body]);
    });

  for (const history of ['timeline', 'roles'])
    test(`[U11] a resumed run in another space, a plan and a service: ${history}`, async () => {
      const { client, bodies, say, perform, shownRun, clock } = await behind(wire, { history });
      const runId = (await say('Ask in the other space')).started[0]?.runId ?? '';
      const { message } = await client.run.send({ runId, spaceId: 'other', text: odd, wait: { for: 'eve' } });
      clock.at += 61_000;
      await client.space.post({ spaceId: 'other', senderId: 'eve', text: `${odd} yes`, replyTo: message.messageId });
      const shown = [await shownRun(runId)];
      await perform({ runId });
      await client.run.setPlan({ entityId: 'bot', name: odd, instruction: odd, cron: '* * * * *' });
      clock.at += 61_000;
      const { started } = await client.run.tick({});
      const ids = started.map((run) => run.runId);
      const service = { type: 'service' as const, service: odd, payload: { [odd]: [1, null, odd] } };
      ids.push((await client.run.start({ entityId: 'bot', trigger: service })).runId);
      for (const id of ids) {
        shown.push(await shownRun(id));
        await perform({ runId: id });
      }
      expect(bodies()).toHaveLength(shown.length);
      expect(bodies()).toEqual(shown.map(({ body }) => body));
      expect(shown.length).toBeGreaterThanOrEqual(3);
    });

  test('[U11] a deleted trigger, and a space that everybody left', async () => {
    const { client, chain, bodies, say, perform, shownRun } = await behind(wire);
    const { message, started } = await say(odd);
    await say('Later');
    chain.db.run('DELETE FROM spaceMessage WHERE messageId = ?', message.messageId);
    for (const entityId of ['eve', 'bot']) await client.space.leave({ spaceId: 'team', entityId });
    const runId = started[0]?.runId ?? '';
    const shown = await shownRun(runId);
    await perform({ runId });
    expect(bodies()).toEqual([shown.body]);
  });

  test('[U11] questions about cuts, edits, snapshots and compactions', async () => {
    const { client, bodies } = await behind(wire);
    const ids: ContextId[] = [];
    const messages = [
      { role: 'system', content: '' },
      { role: 'user', content: odd },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"p":1}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
      { role: 'assistant', content: 'It is 1.' },
      { role: 'user', content: 'And now?' },
      { role: 'assistant', content: 'Still 1.' },
    ];
    const { id } = await client.context.checkpoint({
      ...{ parent: null, type: 'delta', format: 'openai-chat-v1', template: odd, principal: odd, checkpoint: 'turn_boundary' },
      text: JSON.stringify({ messages }),
    });
    ids.push(id);
    const { entries } = await client.context.entries({ id });
    const call = entries.find(({ kind }) => kind === 'tool_call');
    const first = entries.find(({ role }) => role === 'user');
    ids.push((await client.context.fork({ id, at: call?.key })).id);
    ids.push((await client.context.fork({ id, edits: [{ op: 'drop', key: first?.key }] })).id);
    ids.push((await client.context.fork({ id, edits: [{ op: 'replace', key: first?.key, entry: { role: 'user', kind: 'text', text: ' ' } }] })).id);
    ids.push((await client.context.fork({ id, edits: [{ op: 'insert', key: first?.key, entry: { role: 'system', kind: 'text', text: odd } }] })).id);
    ids.push((await client.context.snapshot({ id })).id);
    ids.push((await client.context.compact({ id, summary: `${odd} so far` })).id);
    for (const each of ids) {
      const shown = await client.compose.preview({ id: each, query: odd, wire, model: 'm' });
      const count = bodies().length;
      for await (const _ of await client.turn.ask({ id: each, text: odd, provider: 'model', model: 'm' }));
      expect(bodies().slice(count), `${ids.indexOf(each)}`).toEqual([shown.body]);
    }
  });

  test('[U11] the answer of a discussion, about a finding of another ticket', async () => {
    const { client, bodies, clock } = await behind(wire);
    await client.template.put({ name: 'reviewer', text: 'You review code.' });
    const text = JSON.stringify({
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: 'It is fine' },
      ],
    });
    const { id } = await client.context.checkpoint({
      ...{ parent: null, type: 'delta', format: 'openai-chat-v1', template: 'reviewer', principal: 'rev', checkpoint: 'turn_boundary', text },
    });
    const first = await client.ticket.create({ title: odd, type: 'task', contextId: id, by: 'rev' });
    const other = await client.ticket.create({ title: 'Another', type: 'task' });
    const finding = await client.ticket.create({
      ...{ title: odd, body: odd, type: 'review_finding', parent: other.ticketId, by: 'rev', contextId: id },
    });
    for (const { ticketId } of [first, other, finding]) {
      clock.at += 1_000;
      const { commit } = await client.ticket.discuss({ ticketId, text: odd, principal: 'author' });
      const shown = await client.compose.preview({ id: commit.id, wire, model: 'm' });
      const count = bodies().length;
      for await (const _ of await client.ticket.answer({ ticketId, ...as }));
      expect(bodies().slice(count)).toEqual([shown.body]);
      expect(shown.messages.find(({ layer }) => layer === 'knowledge__context')?.content).toContain(ticketId);
      // The answer is the last message, so the next call is a question again.
      const { tip } = await client.ticket.thread({ ticketId });
      const next = await client.compose.preview({ id: tip as ContextId, query: 'Sure?', wire, model: 'm' });
      expect(next.messages.some(({ layer }) => layer === 'knowledge__context')).toBe(false);
    }
  });

  test('[U11] a rerun sends the recorded call with only its edits, also of tools', async () => {
    const { client, bodies } = await behind(wire);
    const { id, createdAt } = await client.context.checkpoint({
      ...{ parent: null, type: 'delta', format: 'claude-code-v1', template: 't', principal: 'p', checkpoint: 'turn_boundary' },
      text: prompt('u1', odd) + answer('a1', 'It is done now.', { parent: 'u1' }),
    });
    const read = { name: 'read', description: odd, input_schema: { type: 'object', properties: { path: { type: 'string' } } } };
    const messages = [{ role: 'user', content: odd }];
    const body = { model: 'old', max_tokens: 77, temperature: 0.25, system: odd, tools: [read], messages };
    await client.request.capture({
      ...{ provider: 'anthropic', path: '/v1/messages', at: createdAt, headers: {}, status: 200, body: JSON.stringify(body) },
      reply: JSON.stringify({ type: 'message', id: 'msg_a1', content: [{ type: 'text', text: 'It is done now.' }] }),
    });
    const write = { ...read, name: 'write' };
    const requests = [{}, { tools: [write] }, { tools: [] }, { system: [] }, { system: [''] }, { settings: { max_tokens: 5 } }];
    for (const request of requests) for await (const _ of await client.turn.rerun({ turnId: id, ...as, request }));
    const sent = bodies().map((each) => JSON.stringify(each));
    expect(sent).toHaveLength(requests.length);
    // No block of Stemma is added, whatever the wire.
    for (const each of sent) expect(each).not.toContain('RULES:');
    const escaped = JSON.stringify(odd).slice(1, -1);
    const count = (each = '') => each.split(escaped).length - 1;
    expect(sent.slice(0, 5).map(count)).toEqual([3, 3, 2, 2, 2]);
    expect(sent.map((each) => [each.includes('"read"'), each.includes('"write"')])).toEqual([
      ...[
        [true, false],
        [false, true],
        [false, false],
      ],
      ...Array(3).fill([true, false]),
    ]);
    if (wire !== 'anthropic') return;
    const [plain, tools, none, empty, blank, settings] = bodies();
    expect(plain).toEqual({ ...body, model: 'm' });
    expect(tools).toEqual({ ...body, model: 'm', tools: [write] });
    const { tools: _tools, ...withoutTools } = body;
    expect(none).toEqual({ ...withoutTools, model: 'm' });
    const { system: _system, ...withoutSystem } = body;
    for (const each of [empty, blank]) expect(each).toEqual({ ...withoutSystem, model: 'm' });
    expect(settings).toMatchObject({ max_tokens: 5, messages, system: odd });
  });
});
