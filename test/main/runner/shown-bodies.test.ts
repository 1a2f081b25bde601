import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { putProfile } from '../../../src/core/cards/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { stream } from '../../support/model-server.js';
import { said, thinks } from '../../support/wire-replies.js';
import { behindServer, type Wire, wires } from '../../support/wires.js';

type Body = Record<string, unknown>;

/** A project with a provider behind a loopback server. At each request, `look` reads the preview before the server replies. */
async function behind(wire: Wire, ...answers: unknown[][]) {
  const peeked: unknown[] = [];
  let look: (() => Promise<unknown>) | undefined;
  const { server, ...made } = await behindServer(
    wire,
    ...answers.map((events) => (response: Parameters<typeof stream>[0]) => {
      void (async () => {
        peeked.push(await look?.());
        stream(response, events);
      })();
    }),
  );
  /** The bodies without what the provider adds about the stream. */
  const bodies = (): Body[] => server.asked.map(({ body: { stream: _, stream_options: __, ...body } }) => body);
  return {
    ...made,
    bodies,
    peeked,
    performer: { provider: 'model', model: 'm' },
    peek: (work: () => Promise<unknown>) => {
      look = work;
    },
  };
}

/** What each provider must get back with a tool result. */
const seals: Readonly<Record<Wire, readonly string[]>> = {
  anthropic: ['"thinking":"Hm."', '"signature":"SEAL"', '"data":"HIDDEN"'],
  openai: ['"reasoning_content":"Hm."'],
  responses: ['"encrypted_content":"SEAL"'],
  gemini: ['"thoughtSignature":"SEAL"'],
};

const llm_config = { temperature: 0.5, max_tokens: 300, tool_choice: 'auto' };

describe.for(wires)('the previewed body is the body of the request: %s', (wire) => {
  test('[U11] each call of an agent turn, with signed thinking, tools and settings', async () => {
    const { client, chain, bodies, peeked, performer, peek } = await behind(wire, thinks('get_my_runs')[wire], said[wire]);
    putProfile(chain, 'Writer', { content: { kind: 'json', data: { name: 'Writer', system_prompt_template: 'You write.', llm_config } } });
    const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write.' });
    const shown = () => client.agent.input({ agentTurnId, preview: true, wire, model: 'm' });
    const before = await shown();
    peek(async () => (await shown()).body);
    for await (const _ of await client.runner.start({ what: { turnId: agentTurnId }, performer }));
    expect(bodies()).toHaveLength(2);
    expect(bodies()).toEqual(peeked);
    expect(bodies()[0]).toEqual(before.body);
    for (const seal of seals[wire]) expect(JSON.stringify(bodies()[1])).toContain(seal);
    expect(await client.turn.reproduce({ turnId: agentTurnId as ContextId })).toMatchObject({ proof: 'digest', identical: true });
  });

  test('[U11] each call of a run in a space, before and within its invocation', async () => {
    const { client, chain, bodies, peeked, performer, peek } = await behind(wire, thinks('get_my_runs')[wire], said[wire]);
    putProfile(chain, 'bot', { content: { kind: 'json', data: { name: 'bot', llm_config } } });
    for (const [entityId, type] of [['sarah', 'human'] as const, ['bot', 'agent'] as const])
      await client.space.addEntity({ entityId, name: entityId, type });
    await client.space.create({ spaceId: 'team', name: 'Team', members: ['sarah', 'bot'] });
    await client.space.post({ spaceId: 'team', senderId: 'sarah', text: 'Pull the "Q4" numbers' });
    const runId = (await client.run.list({}))[0]?.runId ?? '';
    const shown = () => client.run.timeline({ runId, wire, model: 'm' });
    const before = await shown();
    peek(async () => (await shown()).body);
    for await (const _ of await client.runner.start({ what: { runId }, performer }));
    expect(bodies()).toHaveLength(2);
    expect(bodies()).toEqual(peeked);
    expect(bodies()[0]).toEqual(before.body);
    for (const seal of seals[wire]) expect(JSON.stringify(bodies()[1])).toContain(seal);
    expect((await client.request.list({})).requests.map(({ proof }) => proof)).toEqual(['digest', 'digest']);
  });

  test('[U11] what a job decides about tools and blocks, before it starts and while it works', async () => {
    const twice = [thinks('get_my_runs')[wire], said[wire]];
    const { client, chain, bodies, peeked, performer, peek } = await behind(wire, ...twice, ...twice);
    putProfile(chain, 'bot', { content: { kind: 'json', data: { name: 'bot' } } });
    for (const [entityId, type] of [['sarah', 'human'] as const, ['bot', 'agent'] as const])
      await client.space.addEntity({ entityId, name: entityId, type });
    await client.space.create({ spaceId: 'team', name: 'Team', members: ['sarah', 'bot'] });
    await client.space.post({ spaceId: 'team', senderId: 'sarah', text: 'Pull the "Q4" numbers' });
    const runId = (await client.run.list({}))[0]?.runId ?? '';
    const decided = { tools: ['get_my_runs'], enableShareContext: false };
    const start = async (what: Parameters<typeof client.runner.start>[0]['what']): Promise<void> => {
      for await (const _ of await client.runner.start({ what, performer, ...decided }));
    };
    const shown = (more = {}) => client.run.timeline({ runId, wire, model: 'm', ...more });
    const [before, after] = [await shown(decided), await client.run.preview({ spaceId: 'team', entityId: 'bot', wire, model: 'm', ...decided })];
    expect(after.body).toEqual(before.body);
    expect([before.tools?.length, before.dropped.map(({ layer }) => layer)]).toEqual([1, ['framework__context']]);
    expect((await shown()).tools?.length).toBeGreaterThan(1);
    peek(async () => (await shown()).body);
    await start({ runId });
    expect(bodies()).toEqual(peeked);
    expect(bodies()[0]).toEqual(before.body);

    const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'bot', instruction: 'Write.' });
    const input = (more = {}) => client.agent.input({ agentTurnId, preview: true, wire, model: 'm', ...more });
    expect((await input({ enableShareContext: false })).dropped.map(({ layer }) => layer)).toContain('framework__context');
    expect((await input()).layers).toContain('framework__context');
    peek(async () => (await input()).body);
    await start({ turnId: agentTurnId });
    expect(bodies()).toHaveLength(4);
    expect(bodies()).toEqual(peeked);
    expect(JSON.stringify(bodies()[2])).not.toContain('send_message');
  });

  test('[U11] a question: signed thinking, an open call, recorded tools and settings', async () => {
    const { client, bodies } = await behind(wire, said[wire]);
    const open = JSON.parse(answer('a2', '', { parent: 'u2' })) as { message: { content: unknown[] } };
    open.message.content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'SEAL' },
      { type: 'redacted_thinking', data: 'HIDDEN' },
      { type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'a' } },
    ];
    const text = prompt('u1', 'fix it') + answer('a1', 'It is done now.', { parent: 'u1' }) + prompt('u2', 'and now', { parent: 'a1' });
    const { id, createdAt } = await client.context.checkpoint({
      ...{ parent: null, type: 'delta', format: 'claude-code-v1', template: 't', principal: 'p', checkpoint: 'turn_boundary' },
      text: `${text}${JSON.stringify(open)}\n`,
    });
    const tools = [{ name: 'Read', description: 'reads', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }];
    const sent = { model: 'old', max_tokens: 77, temperature: 0.25, system: 'You help.', tools, messages: [{ role: 'user', content: 'fix it' }] };
    const reply = { type: 'message', id: 'msg_a1', content: [{ type: 'text', text: 'It is done now.' }] };
    await client.request.capture({
      ...{ provider: 'anthropic', path: '/v1/messages', at: createdAt, headers: {}, status: 200 },
      ...{ body: JSON.stringify(sent), reply: JSON.stringify(reply) },
    });
    const shown = await client.compose.preview({ id, query: 'Really?', wire, model: 'm' });
    for await (const _ of await client.turn.ask({ id, text: 'Really?', provider: 'model', model: 'm' }));
    expect(bodies()).toEqual([shown.body]);
    expect(shown.tools).toEqual(tools);
    const body = JSON.stringify(shown.body);
    for (const part of ['You help.', '[no result was recorded]', '"Read"', 'reads', 'Really?', '77', '0.25']) expect(body).toContain(part);
    expect(shown.messages.at(-2)).toMatchObject({ role: 'tool', content: '[no result was recorded]', internal: true });
    expect(shown.messages.findLast(({ role }) => role === 'ai')?.thinking).toEqual([
      { text: 'Hm.', signature: 'SEAL' },
      { text: '', data: 'HIDDEN' },
    ]);
    // Only the provider that signed the thinking gets it.
    expect([body.includes('SEAL'), body.includes('HIDDEN')]).toEqual(Array(2).fill(wire === 'anthropic'));
  });

  test('[U11] a question about the turn of an agent has the prompt of its profile', async () => {
    const { client, chain, bodies, performer } = await behind(wire, said[wire]);
    putProfile(chain, 'Writer', { content: { kind: 'json', data: { name: 'Writer', system_prompt_template: 'You are {display_name}.' } } });
    const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write.' });
    for await (const _ of await client.runner.start({ what: { turnId: agentTurnId }, performer }));
    const id = (await client.handover.map({})).turns[0]?.endCommit as ContextId;
    const shown = await client.compose.preview({ id, query: 'Why?', wire, model: 'm' });
    expect(shown.messages[0]).toMatchObject({ role: 'system', layer: 'system_prompt', content: 'You are Writer.' });
    for await (const _ of await client.turn.ask({ id, text: 'Why?', provider: 'model', model: 'm' }));
    expect(bodies().at(-1)).toEqual(shown.body);
  });

  test('[U11] a question about images', async () => {
    const { client, bodies } = await behind(wire, said[wire]);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'shot', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'Taken.' }, image] }] },
    ];
    const { id } = await client.context.checkpoint({
      ...{ parent: null, type: 'delta', format: 'anthropic-messages-v1', template: 't', principal: 'p', checkpoint: 'turn_boundary' },
      text: JSON.stringify({ messages }),
    });
    const shown = await client.compose.preview({ id, query: 'And now?', wire, model: 'm' });
    for await (const _ of await client.turn.ask({ id, text: 'And now?', provider: 'model', model: 'm' }));
    expect(bodies()).toEqual([shown.body]);
    expect(JSON.stringify(shown.body).split('iVBORw0KGgo=').length - 1).toBe(2);
    expect(shown.messages.filter(({ content }) => content.includes('[image image/png]'))).toHaveLength(2);
  });

  test('[U11] a map-reduce worker asks without memory', async () => {
    const { client, bodies } = await behind(wire, said[wire]);
    const { id } = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Fix the parser' } }] });
    const shown = await client.compose.preview({ id, query: 'Sum it up', process: 'mapreduce-worker', wire, model: 'm' });
    const system = shown.messages.filter(({ role }) => role === 'system').map(({ layer, content: text }) => ({ layer, text }));
    for await (const _ of await client.turn.ask({ id: null, text: 'Sum it up', system, provider: 'model', model: 'm' }));
    expect(bodies()).toEqual([shown.body]);
    expect(JSON.stringify(shown.body)).not.toContain('Fix the parser');
  });
});
