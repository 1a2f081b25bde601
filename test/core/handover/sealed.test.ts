import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '../../../src/core/artifacts/index.js';
import { canonicalJson, type Json } from '../../../src/core/base/index.js';
import { appendToBox } from '../../../src/core/cards/index.js';
import type { ContextId } from '../../../src/core/contract/index.js';
import { refusal } from '../../support/refusal.js';
import { fill, profiles, refusalOf, text, type World, world } from './world.js';

const said = (words: string, more: object = {}) => ({ type: 'agent.thought', content: { kind: 'text' as const, text: words }, ...more });

/** A dispatched turn of a writer whose context contains the cards of the box `src`. */
async function dispatched(more: Readonly<Record<string, object>> = {}) {
  const made = world();
  profiles(made.chain, { Writer: 'profile-writer' }, { Writer: { system_prompt_template: 'You are {display_name}.' }, ...more });
  fill(made.chain, { src: ['x', 'y'] });
  await made.client.agent.register({ agentId: 'lead', profileName: 'Writer' });
  const turn = await made.client.handover.delegate({
    sourceAgentId: 'lead',
    targetStrategy: 'new',
    targetRef: 'Writer',
    instruction: 'Do it',
    contextBoxId: 'src',
  });
  const { agentTurnId = '', agentId = '', contextBoxId = '', outputBoxId = '' } = turn;
  return { ...made, agentTurnId, agentId, contextBoxId, outputBoxId };
}

async function begun(more: Readonly<Record<string, object>> = {}) {
  const made = await dispatched(more);
  await made.client.agent.begin({ agentTurnId: made.agentTurnId });
  return made;
}

const profileCard = async (client: World['client']): Promise<string> => (await client.profile.find({ name: 'Writer' })).cardId ?? '';

describe('sealed cards', () => {
  test('[B15] a card of a turn keeps its content, and the refusal names the turn', async () => {
    const { client, agentTurnId } = await begun();
    const sealed = { code: 'CONFLICT', data: { id: 'x', agentTurnId } };
    expect(await refusalOf(client.card.add({ card: text('x', 'other') }))).toMatchObject(sealed);
    expect(await refusalOf(client.agent.write({ agentTurnId, cards: [said('mine'), said('other', { cardId: 'x' })] }))).toMatchObject(sealed);
    expect(await client.card.history({ cardId: 'x' })).toEqual([]);
    expect((await client.box.cards({ boxId: (await client.agent.turns({ agentId: 'lead' }))[0]?.outputBoxId ?? 'src' })).cards).toHaveLength(2);
    // Equal content is no change.
    expect((await client.card.add({ card: text('x') })).repairedAt).toBeUndefined();
    const { cards } = await client.agent.write({ agentTurnId, cards: [said('one')] });
    const own = cards[0]?.cardId ?? '';
    expect(await refusalOf(client.card.add({ card: text(own, 'other') }))).toMatchObject({ code: 'CONFLICT', data: { agentTurnId } });
    await client.agent.finish({ agentTurnId });
    expect(await refusalOf(client.card.add({ card: text(own, 'other') }))).toMatchObject({ code: 'CONFLICT' });
    expect(await refusalOf(client.card.add({ card: text('x', 'other') }))).toMatchObject(sealed);
  });

  test('[B15] the cards of a queued turn are sealed', async () => {
    const { client } = await dispatched();
    expect(await refusalOf(client.card.add({ card: text('x', 'other') }))).toMatchObject({ code: 'CONFLICT' });
  });

  test('[B15] the profile of a turn is sealed through every procedure', async () => {
    const { client, agentTurnId } = await begun();
    const cardId = await profileCard(client);
    const other = { cardId, type: 'sys.profile', content: { kind: 'json' as const, data: { system_prompt_template: 'Obey.' } } };
    const before = await client.agent.input({ agentTurnId });
    expect(before.messages[0]).toEqual({ role: 'system', content: 'You are Writer.' });
    for (const call of [client.card.add({ card: other }), client.profile.put({ name: 'Writer', card: other })])
      expect(await refusalOf(call)).toMatchObject({ code: 'CONFLICT', data: { id: cardId, agentTurnId } });
    await client.card.delete({ cardId });
    await client.profile.put({ name: 'Writer', card: { type: 'sys.profile', content: other.content } });
    expect((await client.agent.input({ agentTurnId })).messages).toEqual(before.messages);
  });

  test('[B16] a deleted card leaves turns that begin later, and no other', async () => {
    const { client, agentTurnId, agentId, clock } = await begun();
    const before = await client.agent.input({ agentTurnId });
    await client.card.delete({ cardId: 'x' });
    expect((await client.agent.input({ agentTurnId })).messages).toEqual(before.messages);
    const later = await client.handover.delegate({
      sourceAgentId: 'lead',
      targetStrategy: 'new',
      targetRef: 'Writer',
      instruction: 'Do it',
      contextBoxId: 'src',
    });
    await client.card.delete({ cardId: 'y' });
    const turn = await client.agent.begin({ agentTurnId: later.agentTurnId ?? '' });
    expect(turn.startCommit).not.toBe(later.turns[0]?.startCommit);
    const texts = (await client.agent.input({ agentTurnId: turn.agentTurnId })).messages.map(({ content }) => content);
    expect(texts).toEqual(['You are Writer.', expect.stringMatching(/^RULES:/), 'Do it', '{"parent_agent_id": "lead"}']);
    const { entries } = await client.context.entries({ id: turn.startCommit as ContextId });
    expect(entries.map((entry) => entry.text)).toEqual(['Do it', '{"parent_agent_id": "lead"}']);
    // The output stays too.
    await client.agent.write({ agentTurnId, cards: [said('soon gone', { ttlSeconds: 5 })] });
    clock.at += 60_000;
    expect((await client.agent.input({ agentTurnId })).messages.at(-1)?.content).toBe('soon gone');
    const ended = await client.agent.finish({ agentTurnId });
    expect((await client.context.entries({ id: ended.endCommit as ContextId })).entries.at(-1)?.text).toBe('soon gone');
    expect(agentId).not.toBe('');
  });

  test('[B17] no model is sent the records of a call', async () => {
    const { client, agentTurnId } = await begun();
    const records = [
      { type: 'sys.rendered_prompt', content: { kind: 'text' as const, text: 'RECORD' } },
      { type: 'sys.tools', content: { kind: 'json' as const, data: { tools: [{ name: 'RECORD' }] } } },
      { type: 'sys.parameters', content: { kind: 'json' as const, data: { model: 'RECORD' } } },
    ];
    await client.agent.write({ agentTurnId, cards: [...records, said('words')] });
    expect(JSON.stringify(await client.agent.input({ agentTurnId }))).not.toContain('RECORD');
    const ended = await client.agent.finish({ agentTurnId });
    expect(JSON.stringify(await client.context.entries({ id: ended.endCommit as ContextId }))).not.toContain('RECORD');
  });
});

test('[B18] nobody but its performer writes to the output box of a running turn', async () => {
  const { client, chain, agentTurnId, agentId } = await begun();
  const boxId = (await client.agent.turns({ agentId }))[0]?.outputBoxId ?? '';
  await client.card.add({ card: text('other', 'OTHER TEXT') });
  expect(await refusalOf(client.box.append({ boxId, cardIds: ['other'] }))).toMatchObject({ code: 'CONFLICT', data: { agentTurnId } });
  await client.card.add({ card: text('gone', 'DELETED TEXT') });
  await client.card.delete({ cardId: 'gone' });
  expect(refusal(() => appendToBox(chain, boxId, ['gone'], agentId))).toMatchObject({ code: 'CONFLICT', data: { id: 'gone' } });
  appendToBox(chain, boxId, ['other'], agentId);
  expect(JSON.stringify(await client.agent.input({ agentTurnId }))).toContain('OTHER TEXT');
  await client.agent.finish({ agentTurnId });
  expect((await client.box.append({ boxId, cardIds: ['gone'] })).cardIds).toContain('gone');
});

describe('recorded calls', () => {
  const tool = { type: 'function', function: { name: 'search' } };

  test('[H19, R6] each call of a turn is recorded and reproduced', async () => {
    const { client, agentTurnId, agentId } = await begun({
      Writer: { system_prompt_template: 'Go.', llm_config: { model: 'small', temperature: 0 } },
    });
    const first = await client.agent.input({ agentTurnId, tools: [tool] });
    expect((await client.agent.input({ agentTurnId, tools: [tool] })).requestBoxId).toBe(first.requestBoxId);
    expect((await client.agent.input({ agentTurnId, preview: true })).requestBoxId).toBeUndefined();
    const records = (await client.box.cards({ boxId: first.requestBoxId ?? '' })).cards;
    expect(records.map((card) => [card.type, card.metadata.role])).toEqual([
      ['sys.rendered_prompt', 'system'],
      ['sys.rendered_prompt', 'system'],
      ['sys.tools', 'system'],
      ['sys.parameters', 'system'],
    ]);
    expect(records.map((card) => card.content)).toEqual([
      { kind: 'text', text: 'Go.' },
      { kind: 'text', text: expect.stringMatching(/^RULES:/) },
      { kind: 'json', data: { tools: [tool] } },
      { kind: 'json', data: { model: 'small', temperature: 0 } },
    ]);
    const sealed = await refusalOf(client.card.add({ card: text(records[0]?.cardId ?? '', 'other') }));
    expect(sealed).toMatchObject({ code: 'CONFLICT', data: { agentTurnId } });
    await client.agent.write({ agentTurnId, cards: [said('thinking')] });
    const second = await client.agent.input({ agentTurnId, tools: [tool], stepCount: 7, maxSteps: 8, parameters: { model: 'large' } });
    await client.agent.write({ agentTurnId, cards: [said('done')] });
    const { endCommit } = await client.agent.finish({ agentTurnId });
    await client.card.delete({ cardId: 'x' });
    await client.box.append({ boxId: (await client.agent.turns({ agentId }))[0]?.outputBoxId ?? '', cardIds: ['y'] });
    const proof = { proof: 'recorded', identical: true, calls: 2, differences: [], missing: [] };
    expect(await client.turn.reproduce({ turnId: agentTurnId })).toMatchObject(proof);
    expect(await client.turn.reproduce({ turnId: endCommit as ContextId })).toMatchObject(proof);
    const { requests: calls } = await client.request.list({ turnId: endCommit as ContextId });
    expect(calls).toMatchObject([
      { source: 'stemma', model: 'small', messageCount: first.messages.length, proof: 'recorded', commit: endCommit },
      { source: 'stemma', model: 'large', messageCount: second.messages.length, proof: 'recorded', commit: endCommit },
    ]);
    const bodies = await Promise.all(calls.map(({ requestId }) => client.request.get({ requestId })));
    expect(bodies[0]?.body).toEqual({ model: 'small', temperature: 0, messages: first.messages, tools: [tool] });
    expect(bodies[1]?.body).toEqual({ model: 'large', messages: second.messages, tools: [tool] });
    const entries = (await client.context.entries({ id: endCommit as ContextId })).entries.slice(-2);
    expect(calls.map(({ replyKey }) => replyKey)).toEqual(entries.map(({ key }) => key));
  });

  test('[H19, R6] a turn whose performer read no input has its pinned input as its call', async () => {
    const { client, agentTurnId } = await begun();
    await client.agent.write({ agentTurnId, cards: [said('done')] });
    await client.agent.finish({ agentTurnId });
    expect(await client.turn.reproduce({ turnId: agentTurnId })).toMatchObject({
      proof: 'recorded',
      identical: true,
      calls: 1,
      missing: ['tools', 'parameters'],
    });
  });

  test('[B12] a committed box names no agent as a model', async () => {
    const { client, agentTurnId, outputBoxId } = await begun();
    await client.agent.write({ agentTurnId, cards: [said('done', { metadata: { role: 'assistant' } })] });
    const { id } = await client.box.commit({ boxId: outputBoxId, parent: null });
    expect((await client.request.list({ id })).requests.map(({ model }) => model)).toEqual([null]);
    expect((await client.usage.calls({ id })).calls.map(({ model }) => model)).toEqual([null]);
    // A box of that commit has the same cards.
    const { cardIds } = await client.box.fromContext({ id });
    expect(cardIds).toEqual((await client.box.get({ boxId: outputBoxId })).cardIds);
  });

  test('[R6] a card that was changed in the database is found', async () => {
    const { client, chain, agentTurnId } = await begun();
    await client.agent.input({ agentTurnId });
    await client.agent.write({ agentTurnId, cards: [said('done')] });
    await client.agent.finish({ agentTurnId });
    chain.db.run('UPDATE card SET content = \'{"kind":"text","text":"forged"}\' WHERE cardId = \'x\'');
    const found = await client.turn.reproduce({ turnId: agentTurnId });
    expect(found).toMatchObject({ proof: 'recorded', identical: false, calls: 1 });
    expect(found.differences[0]?.reason).toContain('the card x');
  });

  test('[H20] an agent turn is one turn, named by each of its commits', async () => {
    const { client, agentTurnId, agentId } = await begun();
    await client.agent.write({ agentTurnId, cards: [said('one')] });
    const child = await client.handover.delegate({ sourceAgentId: agentId, targetStrategy: 'new', targetRef: 'Writer', instruction: 'Help' });
    await client.agent.write({ agentTurnId, cards: [said('two')] });
    const ended = await client.agent.finish({ agentTurnId });
    await client.agent.begin({ agentTurnId: child.agentTurnId ?? '' });
    const [row, ...others] = await client.turn.list({ agentId });
    expect(others).toEqual([]);
    expect(row).toMatchObject({ turnId: ended.endCommit, agentTurnId, agentId, number: 1, trigger: { kind: 'prompt', text: 'Do it' } });
    const turn = await client.turn.get({ turnId: agentTurnId });
    expect(turn.output.map((entry) => entry.text)).toEqual(['one', 'two']);
    expect(turn.trigger.key).toBe(turn.input.keys[0]);
    for (const turnId of [ended.startCommit, ended.endCommit]) {
      expect((await client.turn.get({ turnId: turnId as ContextId })).agentTurnId).toBe(agentTurnId);
      expect(await client.turn.reproduce({ turnId: turnId as ContextId })).toMatchObject({ identical: true, calls: 1 });
    }
    expect(await client.turn.list({ agentId: child.agentId ?? '' })).toMatchObject([{ agentTurnId: child.agentTurnId, trigger: { text: 'Help' } }]);
    const refused = await refusalOf(client.turn.reproduce({ turnId: 'turn_none' }));
    expect(refused).toMatchObject({ code: 'NOT_FOUND', data: { id: 'turn_none' } });
  });
});

type Step = { readonly do: string; readonly at: number; readonly card: string; readonly words: string };
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('add', 'delete', 'append', 'replace', 'box', 'delegate', 'begin', 'write', 'finish', 'wait', 'profile'),
  at: fc.nat(7),
  card: fc.constantFrom('a', 'b', 'c', 'd'),
  words: fc.constantFrom('one', 'two', 'three'),
});

test('[H15, H19] each call reaches the model with its result, however the cards are mixed', async () => {
  const { client, chain, agentTurnId } = await begun();
  const card = (type: string, toolCallId: string) => ({
    type,
    toolCallId,
    content: { kind: 'json' as const, data: { tool_name: 'look', result: 1 } },
  });
  const toolCalls = ['c', 'open'].map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }));
  const asked = [card('tool.call', 'a'), card('tool.call', 'b'), card('tool.result', 'b'), card('tool.result', 'a')];
  await client.agent.write({ agentTurnId, cards: [...asked, said('both', { toolCalls }), said('later')] });
  await client.agent.write({ agentTurnId, cards: [card('tool.result', 'c')] });
  const { messages } = await client.agent.input({ agentTurnId, wire: 'openai' });
  const shown = messages.slice(-8).map(({ tool_calls: calls, tool_call_id: id, content }) => calls?.map((call) => call.id) ?? id ?? content);
  expect(shown).toEqual([['a'], 'a', ['b'], 'b', ['c', 'open'], 'c', 'open', 'later']);
  expect(messages.at(-2)?.content).toBe('[no result was recorded]');
  const reproduced = () => client.turn.reproduce({ turnId: agentTurnId });
  expect(await reproduced()).toMatchObject({ identical: true, calls: 1 });
  // Earlier versions recorded the cards as they are.
  const { body } = await client.request.get({ requestId: `card:${agentTurnId}:0` });
  const tail = [0, 2, 3, 1, 4, 7, 5].flatMap((at) => messages.slice(-8)[at] ?? []);
  const earlier = sha256Of(canonicalJson({ ...body, messages: [...messages.slice(0, -8), ...tail] } as Json)).toString('hex');
  chain.db.run('UPDATE cardCall SET digest = ?', earlier);
  expect(await reproduced()).toMatchObject({ identical: true, recordedHash: earlier });
});

test('[B15, B16, H18] after random steps, every turn has the input with which it began', { tags: 'long' }, () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      const { client, chain, clock } = world();
      profiles(chain, { Writer: 'profile-writer' }, { Writer: { system_prompt_template: 'Template' } });
      fill(chain, { box: ['a', 'b', 'c', 'd'] });
      await client.agent.register({ agentId: 'lead', profileName: 'Writer' });
      const boxes = ['box'];
      const turns: string[] = [];
      const inputs = new Map<string, unknown[]>();
      const inputOf = async (agentTurnId: string) => (await client.agent.input({ agentTurnId, preview: true })).messages;
      for (const each of steps) {
        clock.at += 1_000;
        const boxId = boxes[each.at % boxes.length] ?? 'box';
        const agentTurnId = turns[each.at % Math.max(1, turns.length)] ?? '';
        const work: Record<string, () => Promise<unknown>> = {
          add: () => client.card.add({ card: { ...text(each.card, each.words), ...(each.at === 1 && { ttlSeconds: 2 }) } }),
          delete: () => client.card.delete({ cardId: each.card }),
          append: () => client.box.append({ boxId, cardIds: [each.card] }),
          replace: async () => boxes.push((await client.box.replace({ boxId, cardIds: [each.card] })).boxId),
          box: async () => boxes.push((await client.box.create({ cardIds: [each.card, 'a'] })).boxId),
          delegate: async () => {
            const made = await client.handover.delegate({
              sourceAgentId: 'lead',
              targetStrategy: 'new',
              targetRef: 'Writer',
              instruction: each.words,
              contextBoxId: boxId,
            });
            turns.push(made.agentTurnId ?? '');
            boxes.push(made.contextBoxId ?? '', made.outputBoxId ?? '');
          },
          begin: async () => {
            await client.agent.begin({ agentTurnId });
            inputs.set(agentTurnId, await inputOf(agentTurnId));
          },
          write: async () => {
            const before = agentTurnId ? await inputOf(agentTurnId) : [];
            await client.agent.write({ agentTurnId, cards: [said(each.words, each.at % 2 ? { cardId: each.card } : {})] });
            if (!inputs.has(agentTurnId)) inputs.set(agentTurnId, before);
          },
          finish: () => client.agent.finish({ agentTurnId }),
          wait: async () => (clock.at += 10_000),
          profile: async () =>
            client.card.add({ card: { cardId: await profileCard(client), type: 'sys.profile', content: { kind: 'json', data: {} } } }),
        };
        await work[each.do]?.().catch((error: { code?: string }) => {
          if (!['CONFLICT', 'NOT_FOUND', 'BAD_REQUEST'].includes(error.code ?? '')) throw error;
        });
      }
      for (const [agentTurnId, input] of inputs) {
        expect((await inputOf(agentTurnId)).slice(0, input.length)).toEqual(input);
        const found = await client.turn.reproduce({ turnId: agentTurnId });
        expect(found).toMatchObject({ identical: true, differences: [] });
      }
    }),
    { numRuns: 12 },
  ),
);
