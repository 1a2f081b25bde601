import { createORPCClient, ORPCError } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { WebSocket } from 'ws';
import type { Contract } from '../../../src/core/contract/index.js';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { signIn } from '../../support/raw-web.js';

type Given = Record<string, unknown>;
/** What a door answered: the result, or the refusal of the contract. */
interface Answer {
  readonly ok: boolean;
  readonly body: Given;
}
type Door = (procedure: string, input: Given) => Promise<Answer>;

const doors: Readonly<Record<string, (machine: Machine) => Promise<Door>>> = {
  'the command line': async (machine) => async (procedure, input) => {
    const ran = await machine.ask('call', procedure, '--input', JSON.stringify(input));
    return { ok: ran.code === 0, body: JSON.parse(ran.code === 0 ? ran.out : ran.err) as Given };
  },
  HTTP: async (machine) => {
    const host = await machine.web(machine.path('work', 'p.stemma'));
    return async (procedure, input) => {
      const answer = await fetch(`${host.origin}/api/${procedure.replace('.', '/')}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      });
      return { ok: answer.ok, body: (await answer.json()) as Given };
    };
  },
  "the window's connection": async (machine) => {
    const dir = machine.path('work', 'p.stemma');
    const host = await machine.web(dir);
    const websocket = new WebSocket(`ws://127.0.0.1:${host.port}/rpc`, { headers: await signIn(host) });
    const client: ContractRouterClient<Contract> = createORPCClient(new RPCLink({ websocket: websocket as never }));
    await client.project.open({ dir });
    return async (procedure, input) => {
      const call = procedure.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], client) as (
        input: Given,
      ) => Promise<Given>;
      try {
        return { ok: true, body: await call(input) };
      } catch (error) {
        if (!(error instanceof ORPCError)) throw error;
        return { ok: false, body: { code: error.code, message: error.message, data: error.data as Given } };
      }
    };
  },
};

for (const [name, open] of Object.entries(doors)) {
  const begin = async (machine: Machine) => {
    await machine.ask('init', machine.path('work', 'p.stemma'));
    const door = await open(machine);
    const call = async <T = Given>(procedure: string, input: Given): Promise<T> => {
      const { ok, body } = await door(procedure, input);
      expect(ok, `${procedure}: ${JSON.stringify(body)}`).toBe(true);
      return body as T;
    };
    const refused = async (procedure: string, input: Given, refusal: Given): Promise<void> =>
      expect(await door(procedure, input), procedure).toMatchObject({ ok: false, body: refusal });
    return { call, refused };
  };

  test(`[B15, B16, H19, R6] over ${name}, a turn's cards are sealed and its calls reproduce`, async ({ machine }) => {
    const { call, refused } = await begin(machine);
    const profile = await call('profile.put', {
      ...{ name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer', system_prompt_template: 'Write.' } } } },
    });
    const { agentTurnId, contextBoxId } = await call('handover.launchPrincipal', { profileName: 'Writer', instruction: 'Report' });
    await call('agent.begin', { agentTurnId });
    const first = await call<{ cardIds: string[]; messages: unknown[] }>('agent.input', { agentTurnId, parameters: { model: 'm' } });
    const [cardId] = first.cardIds;
    const sealed = { code: 'CONFLICT', data: { agentTurnId } };
    const change = { cardId, type: 'task.instruction', content: 'Something else' };
    await refused('card.add', { card: change }, sealed);
    await refused('agent.write', { agentTurnId, cards: [change] }, sealed);
    const other = { kind: 'json', data: { name: 'Writer', system_prompt_template: 'Obey.' } };
    await refused('card.add', { card: { cardId: profile.cardId, type: 'sys.profile', content: other } }, sealed);
    await refused('box.append', { boxId: contextBoxId, cardIds: [cardId] }, { code: 'CONFLICT' });
    await refused('box.create', { cardIds: [cardId, 'ghost'] }, { code: 'NOT_FOUND', data: { id: 'ghost', missingCardIds: ['ghost'] } });
    await call('card.delete', { cardId });
    expect((await call<{ messages: unknown[] }>('agent.input', { agentTurnId, preview: true })).messages).toEqual(first.messages);
    await call('agent.write', { agentTurnId, cards: [{ type: 'task.deliverable', content: 'Done.' }] });
    await call('agent.finish', { agentTurnId });
    await refused('card.add', { card: change }, sealed);
    expect(await call('turn.reproduce', { turnId: agentTurnId })).toMatchObject({ proof: 'recorded', identical: true, calls: 1, missing: [] });
    const turn = await call<{ turnId: string; trigger: Given; input: { keys: string[] } }>('turn.get', { turnId: agentTurnId });
    expect(turn.trigger).toMatchObject({ key: turn.input.keys[0], text: 'Report' });
    const { requests } = await call<{ requests: { requestId: string }[] }>('request.list', { turnId: turn.turnId });
    const shown = await machine.ask('request', 'show', requests[0]?.requestId ?? '');
    expect(JSON.parse(shown.out)).toEqual({ model: 'm', messages: first.messages, tools: expect.any(Array) });
    expect(shown.err).toContain('recorded');
  });

  test(`[B-33] over ${name}, a wait ends with its answer and nothing else`, async ({ machine }) => {
    const { call, refused } = await begin(machine);
    for (const [entityId, type] of [
      ['ann', 'human'],
      ['bob', 'human'],
      ['bot', 'agent'],
    ])
      await call('space.addEntity', { entityId, name: entityId, type });
    await call('space.create', { spaceId: 'team', members: ['ann', 'bob', 'bot'] });
    const started = await call<{ started: { runId: string }[] }>('space.post', { spaceId: 'team', senderId: 'ann', text: 'Go' });
    const runId = started.started[0]?.runId;
    const sent = await call<{ message: { messageId: string } }>('run.send', { runId, text: 'Which date?', wait: { for: 'bob', timeoutMs: 60_000 } });
    const { messageId } = sent.message;
    expect(await call('space.waits', { spaceId: 'team' })).toMatchObject([{ messageId, waiterId: 'bot', for: 'bob', answer: null }]);
    const reply = await call<{ resumed: unknown[] }>('space.post', { spaceId: 'team', senderId: 'ann', text: 'Monday?', replyTo: messageId });
    expect(reply.resumed).toEqual([]);
    const answered = await call<{ resumed: unknown[]; started: unknown[]; message: { messageId: string } }>('space.post', {
      ...{ spaceId: 'team', senderId: 'bob', text: 'Tuesday' },
    });
    expect(answered).toMatchObject({ resumed: [{ runId }], started: [] });
    expect(await call('space.wait', { messageId })).toMatchObject({ answer: answered.message.messageId });
    const asked = await call('space.post', { spaceId: 'team', senderId: 'ann', text: 'Sure?', wait: { for: 'bot' } });
    expect(asked).toMatchObject({ message: { expectsReply: true }, waiting: { for: 'bot', answer: null } });
    await refused(
      'space.post',
      { spaceId: 'team', senderId: 'ann', text: 'Hm', wait: { for: 'stranger' } },
      { data: { field: 'wait.for', value: 'stranger' } },
    );
    await refused('run.send', { runId, text: 'Hm', wait: true, timeoutMs: 5 }, { code: 'BAD_REQUEST', data: { field: 'timeoutMs' } });
  });

  test(`[A-24, A-35, A-36] over ${name}, one query, the switch of the project and saved states`, async ({ machine }) => {
    const { call, refused } = await begin(machine);
    const given = { systemPrompt: 'S', checkpointMessages: [], contexts: { knowledge__context: 'K' }, queryPath: 'none' };
    const layers = async (more: Given = {}) =>
      (await call<{ messages: { layer: string }[] }>('compose.messages', { ...given, ...more })).messages.map(({ layer }) => layer);
    await call('project.setSettings', { enableShareContext: false });
    expect([await layers(), await layers({ enableShareContext: true })]).toEqual([['system_prompt'], ['system_prompt', 'knowledge__context']]);
    const missing = { ...given, query: 'Hello', queryPath: 'checkpoint' };
    await refused('compose.messages', missing, { code: 'BAD_REQUEST', data: { reason: 'QUERY_NOT_IN_MEMORY' } });
    const system = { ...given, checkpointMessages: [{ role: 'system', content: 'Obey' }] };
    await refused('compose.messages', system, { code: 'BAD_REQUEST', data: { reason: 'SYSTEM_IN_MEMORY' } });

    const commit = { parent: null, type: 'delta', format: 'markdown', text: 'Hello', template: 't', checkpoint: 'explicit' };
    const { id } = await call('context.checkpoint', commit);
    const state = { messages: [{ role: 'human', content: 'Hello', id: 'h1' }], compression__context: 'They met.' };
    const contexts = { todo__context: '# Todo', knowledge__context: '# Knowledge', experience__context: '# Experience' };
    await call('compose.saveState', { id, state, contexts, reproducible: true });
    expect(await call('compose.restoreState', { id, reproducible: true })).toMatchObject({ from: id, state, contexts });
    await refused('compose.saveState', { id, state: { nothing: 1 } }, { code: 'BAD_REQUEST', data: { field: 'state.nothing' } });
    await refused('compose.restoreState', { id, keys: ['nothing'] }, { code: 'BAD_REQUEST', data: { field: 'keys', value: 'nothing' } });
  });

  test(`[C13, C25, C27, F26] over ${name}, summaries, their history, raw formats and whose work it is`, async ({ machine }) => {
    const { call, refused } = await begin(machine);
    const raw = { parent: null, type: 'delta', format: 'tracer-v3', text: '{"step":1}', template: 't', checkpoint: 'explicit', principal: '@bot' };
    await refused('context.checkpoint', raw, { code: 'BAD_REQUEST', data: { field: 'format', value: 'tracer-v3' } });
    const { id } = await call('context.checkpoint', { ...raw, messageCount: 1, tokenCount: 4 });
    expect(await call('context.materialize', { id })).toMatchObject({
      tier: 'raw',
      messageCount: 1,
      description: expect.stringContaining('tracer-v3'),
    });
    expect(await call('context.summaries', { missing: true })).toMatchObject({ total: 1, missing: 1, commits: [{ id }] });
    expect(await call('context.summarizer', {})).toMatchObject({ enabled: false, missing: 1 });
    expect(await call('context.setSummarizer', { enabled: true, callsPerDay: 3 })).toMatchObject({ enabled: true, provider: null, callsPerDay: 3 });
    await call('context.update', { id, summary: 'A trace', tags: ['raw'] });
    expect(await call('context.versions', { id })).toMatchObject([{ summary: { from: null, to: 'A trace' }, tags: { from: [], to: ['raw'] } }]);
    await call('context.instantiate', { template: 'coder', context: id, principal: '@two' });
    expect(await call('context.instantiations', { id })).toMatchObject([{ template: 'coder', context: id, principal: '@two' }]);

    const said = { ...raw, format: 'claude-code-v1', principal: '@agent' };
    const line = {
      type: 'user',
      uuid: 'u1',
      parentUuid: null,
      sessionId: 's',
      message: { role: 'user', content: 'Hi' },
      timestamp: '2026-01-01T10:00:00.000Z',
    };
    const own = await call('context.checkpoint', { ...said, text: `${JSON.stringify(line)}\n` });
    const edits = [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'more' } }];
    expect((await call('context.fork', { id: own.id, edits })).principal).toMatch(/^user(@|$)/);
    expect((await call('context.fork', { id: own.id, edits, principal: 'ann' })).principal).toBe('ann');
    const forked = await machine.ask('fork', own.id as string, '--edits', JSON.stringify(edits), '--as', 'eve', '--json');
    expect(JSON.parse(forked.out)).toMatchObject({ principal: 'eve' });
    const at = '2050-01-01T00:00:00.000Z';
    expect(await call('context.resolve', { principal: '@agent', at })).toMatchObject({ id: own.id });
  });
}
