import { describe, expect, test } from 'vitest';
import { putProfile } from '../../../src/core/cards/index.js';
import type { Message } from '../../../src/core/contract/index.js';
import { completionEvents, messageEvents, stream } from '../../support/model-server.js';
import { behindServer, type Wire, wires } from '../../support/wires.js';

type Body = Record<string, unknown>;

/** The reply of a server for each wire. */
const replies: Readonly<Record<Wire, unknown[]>> = {
  anthropic: messageEvents({ text: 'Noted.' }),
  openai: completionEvents('Noted.'),
  responses: [
    { type: 'response.output_text.delta', item_id: 'm', delta: 'Noted.' },
    { type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 9, output_tokens: 2 } } },
  ],
  gemini: [{ candidates: [{ content: { parts: [{ text: 'Noted.' }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 9 } }],
};

/** A project with a provider of this wire behind a loopback server, and the bodies that reached the server. */
async function behind(wire: Wire) {
  const { server, ...made } = await behindServer(wire, (response) => stream(response, replies[wire]));
  const bodies = (): Body[] => server.asked.map(({ body }) => body).filter((body) => Object.keys(body).length > 0);
  return { ...made, bodies, performer: { provider: 'model', model: 'm' } };
}

/** The settings of one profile on each wire. */
const settingsOn: Readonly<Record<Wire, Body>> = {
  anthropic: {
    ...{ temperature: 0.5, max_tokens: 300, top_p: 0.9, stop_sequences: ['END'], own_setting: { deep: [1] } },
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
  },
  openai: {
    ...{ temperature: 0.5, max_tokens: 300, top_p: 0.9, stop: ['END'], seed: 7, own_setting: { deep: [1] } },
    ...{ tool_choice: 'required', parallel_tool_calls: false },
  },
  responses: {
    ...{ temperature: 0.5, max_output_tokens: 300, top_p: 0.9, own_setting: { deep: [1] }, store: false },
    ...{ tool_choice: 'required', parallel_tool_calls: false },
  },
  gemini: {
    generationConfig: { temperature: 0.5, maxOutputTokens: 300, topP: 0.9, stopSequences: ['END'], seed: 7, own_setting: { deep: [1] } },
    toolConfig: { functionCallingConfig: { mode: 'ANY' } },
  },
};

const textsOf = (content: unknown): string =>
  typeof content === 'string' ? content : (content as { text?: string }[]).map(({ text }) => text ?? '').join('\n');

/** What a model reads in a body: the texts of its system prompt, and the texts of its messages with their roles. */
function read(wire: Wire, body: Body | undefined): { system: string[]; messages: string[]; tools: string[] } {
  if (!body) throw new Error('no request reached the server');
  const named = (tools: unknown): string[] =>
    ((tools ?? []) as { name?: string; function?: { name: string }; functionDeclarations?: { name: string }[] }[]).flatMap((each) =>
      each.functionDeclarations ? each.functionDeclarations.map(({ name }) => name) : [each.function?.name ?? each.name ?? ''],
    );
  const list = (body.messages ?? body.input ?? body.contents) as { role: string; content?: unknown; parts?: unknown }[];
  const said = list.map(({ role, content, parts }) => `${role === 'model' ? 'assistant' : role}: ${textsOf(content ?? parts)}`);
  const tools = named(body.tools);
  switch (wire) {
    case 'anthropic':
      return { system: ((body.system ?? []) as { text: string }[]).map(({ text }) => text), messages: said, tools };
    case 'openai':
      return {
        system: said.filter((line) => line.startsWith('system: ')).map((line) => line.slice(8)),
        messages: said.filter((line) => !line.startsWith('system: ')),
        tools,
      };
    case 'responses':
      return { system: body.instructions === undefined ? [] : [String(body.instructions)], messages: said, tools };
    case 'gemini':
      return { system: (body.systemInstruction as { parts: { text: string }[] }).parts.map(({ text }) => text), messages: said, tools };
  }
}

/** The same of a preview. A provider with one system text gets the blocks joined by an empty line. */
function expected(wire: Wire, messages: readonly Pick<Message, 'role' | 'content'>[], tools: readonly unknown[] | null) {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const names = (tools ?? []).map(
    (tool) => (tool as { function?: { name: string }; name: string }).function?.name ?? (tool as { name: string }).name,
  );
  return {
    system: wire === 'responses' ? [system.join('\n\n')] : system,
    messages: messages.filter(({ role }) => role !== 'system').map(({ role, content }) => `${role}: ${content}`),
    tools: names,
  };
}

const roles = { human: 'user', ai: 'assistant', tool: 'tool', system: 'system' } as const;

describe.for(wires)('the preview of a call is the request: %s', (wire) => {
  test('[U11] an agent turn', async () => {
    const { client, chain, bodies, performer } = await behind(wire);
    const data = { name: 'Writer', system_prompt_template: 'You are {display_name}.', llm_config: { temperature: 0.5, max_tokens: 300 } };
    putProfile(chain, 'Writer', { content: { kind: 'json', data } });
    const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write.' });
    const shown = await client.agent.input({ agentTurnId, preview: true });
    for await (const _ of await client.runner.start({ what: { turnId: agentTurnId }, performer }));
    const [body] = bodies();
    const sent = read(wire, body);
    const parent = shown.messages.findIndex(({ role }, place) => role === 'system' && place > 1);
    // The parent pointer is a card of the system role: providers with one system prompt get it there.
    expect(sent).toEqual(expected(wire, shown.messages, shown.tools));
    expect(parent).toBeGreaterThan(1);
    expect(JSON.stringify(body)).toContain('0.5');
    expect(shown.parameters).toEqual(data.llm_config);
    expect(shown.layers.slice(0, 2)).toEqual(['system_prompt', 'framework__context']);
    expect(sent.tools).not.toContain('search');
  });

  test('[U11] every setting that is shown is sent, in the form of the wire', async () => {
    const { client, chain, bodies, performer } = await behind(wire);
    const llm_config = {
      ...{ temperature: 0.5, max_tokens: 300, top_p: 0.9, stop: ['END'], tool_choice: 'required', parallel_tool_calls: false },
      ...{ seed: 7, own_setting: { deep: [1] }, model: 'other', api_key: 'secret', stream: false },
    };
    const data = { name: 'Writer', system_prompt_template: 'You write.', llm_config, allowed_internal_tools: ['submit_result'] };
    putProfile(chain, 'Writer', { content: { kind: 'json', data } });
    const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write.' });
    for await (const _ of await client.runner.start({ what: { turnId: agentTurnId }, performer }));
    const {
      model: _m,
      messages: _a,
      system: _s,
      input: _i,
      instructions: _n,
      contents: _c,
      systemInstruction: _y,
      tools,
      ...rest
    } = bodies()[0] ?? {};
    const { stream: _t, stream_options: _o, ...sent } = rest;
    expect(tools).toHaveLength(1);
    expect(sent).toEqual(settingsOn[wire]);
    expect(JSON.stringify(bodies())).not.toContain('secret');
  });

  test('[U11] a choice of tools is not sent without tools', async () => {
    const { client, chain, bodies, performer } = await behind(wire);
    const data = { name: 'Quiet', system_prompt_template: 'You write.', llm_config: { tool_choice: 'auto' }, allowed_internal_tools: [] };
    putProfile(chain, 'Quiet', { content: { kind: 'json', data } });
    const { agentTurnId = '' } = await client.handover.launchPrincipal({ profileName: 'Quiet', instruction: 'Write.' });
    for await (const _ of await client.runner.start({ what: { turnId: agentTurnId }, performer }));
    expect(bodies()).toHaveLength(1);
    expect(bodies()[0]?.tools).toBeUndefined();
    expect(JSON.stringify(bodies()[0])).not.toMatch(/tool_?choice|toolConfig/i);
  });

  test('[U11, B-34] a run in a space', async () => {
    const { client, bodies, performer } = await behind(wire);
    for (const [entityId, type] of [
      ['sarah', 'human'],
      ['bot', 'agent'],
    ] as const)
      await client.space.addEntity({ entityId, name: entityId, type });
    await client.space.create({ spaceId: 'team', name: 'Team', members: ['sarah', 'bot'] });
    await client.space.post({ spaceId: 'team', senderId: 'sarah', text: 'Pull the "Q4" numbers' });
    const [run] = await client.run.list({});
    const runId = run?.runId ?? '';
    const shown = await client.run.timeline({ runId });
    for await (const _ of await client.runner.start({ what: { runId }, performer }));
    expect(read(wire, bodies()[0])).toEqual(expected(wire, shown.messages, shown.tools));
    const [system, user] = [shown.messages[0]?.content ?? '', shown.messages.at(-1)?.content];
    expect(system).toBe(shown.rendered.system);
    expect(system.match(/^[A-Z ]+(?=[:( ])/gm)).toEqual(expect.arrayContaining(['IDENTITY', 'TRIGGER', 'YOUR SPACES', 'INSTRUCTIONS']));
    expect(system).toMatch(
      /^SPACE HISTORY \("Team"\):\n {2}\[msg:\w+\] \[2026-01-01T00:00:00Z\] sarah \(human, id:sarah\): "Pull the \\"Q4\\" numbers" {2}\[NEW\] ← TRIGGER$/m,
    );
    expect(user).toBe('[sarah (human)] Pull the "Q4" numbers');
    // The context after the call is still the one that was sent.
    expect((await client.run.timeline({ runId })).rendered.system).toBe(system);
  });

  test('[U11] a question about a context, and the answer of a discussion', async () => {
    const { client, bodies } = await behind(wire);
    await client.template.put({ name: 'reviewer', text: 'You review code.' });
    const text = JSON.stringify({
      messages: [
        { role: 'user', content: 'Look at it' },
        { role: 'assistant', content: 'It is fine' },
      ],
    });
    const { id } = await client.context.checkpoint({
      parent: null,
      type: 'delta',
      format: 'openai-chat-v1',
      template: 'reviewer',
      principal: 'rev',
      checkpoint: 'turn_boundary',
      text,
    });
    const shown = await client.compose.preview({ id, query: 'Really?' });
    for await (const _ of await client.turn.ask({ id, text: 'Really?', provider: 'model', model: 'm' }));
    const messages = shown.messages.map(({ role, content }) => ({ role: roles[role], content }));
    expect(read(wire, bodies()[0])).toEqual(expected(wire, messages, shown.tools));
    expect(messages.map(({ content }) => content)).toEqual([
      'You review code.',
      expect.stringMatching(/^RULES:/),
      'Look at it',
      'It is fine',
      'Really?',
    ]);

    const { ticketId } = await client.ticket.create({ title: 'Retries', type: 'task' });
    const finding = await client.ticket.create({
      title: 'Counts twice',
      body: 'See line 4',
      type: 'review_finding',
      parent: ticketId,
      by: 'rev',
      contextId: id,
    });
    await client.ticket.discuss({ ticketId: finding.ticketId, text: 'Why?', principal: 'author' });
    for await (const _ of await client.ticket.answer({ ticketId: finding.ticketId, provider: 'model', model: 'm' }));
    const sent = read(wire, bodies()[1]);
    const system = sent.system.join('\n\n');
    expect(system).toMatch(/^You review code\.\n\nRULES:/);
    for (const part of ['Written by others: material to judge', 'Counts twice', 'See line 4', 'Retries', 'author: Why?'])
      expect(system).toContain(part);
    expect(sent.messages).toEqual(['user: Look at it', 'assistant: It is fine', 'user: Why?']);
  });

  test('[U11] a summary is a worker: the framework block and the text', { tags: 'long' }, async () => {
    const { client, bodies } = await behind(wire);
    const { id } = await client.context.fork({
      id: null,
      edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Fix the parser' } }],
    });
    for await (const _ of await client.context.summarize({ ids: [id], provider: 'model', model: 'm' }));
    const { system, messages } = read(wire, bodies()[0]);
    expect(system).toEqual([expect.stringMatching(/^Summarize this part/)]);
    expect(messages).toEqual(['user: ---\nuser: Fix the parser\n---']);
  });
});
