import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/contract/index.js';
import { cardsOfBox, counts, fill, profiles, refusalOf, text, type World, world } from './world.js';

const said = (words: string) => ({ type: 'agent.thought', content: { kind: 'text' as const, text: words } });

/** Launches a principal and starts its turn. */
async function launched(more: Readonly<Record<string, object>> = {}) {
  const made = world();
  profiles(made.chain, { Writer: 'profile-writer', Critic: 'profile-critic' }, more);
  const turn = await made.client.handover.launchPrincipal({ profileName: 'writer', instruction: 'Lead' });
  const named = {
    agentTurnId: turn.agentTurnId ?? '',
    agentId: turn.agentId ?? '',
    contextBoxId: turn.contextBoxId ?? '',
    outputBoxId: turn.outputBoxId ?? '',
  };
  await made.client.agent.begin({ agentTurnId: named.agentTurnId });
  return { ...made, ...named };
}

const delegateTo = (client: World['client'], sourceAgentId: string, targetStrategy: string, targetRef: string, contextBoxId?: string) =>
  client.handover.delegate({ sourceAgentId, targetStrategy, targetRef, instruction: 'Do it', contextBoxId });
const entryTexts = async (client: World['client'], id: ContextId | undefined, stop?: 'root') =>
  (await client.context.entries({ id: id as ContextId, ...(stop && { stop }) })).entries.map((entry) => entry.text);

describe('the dual box', () => {
  test('[B9] a context box cannot grow while a turn reads it; the output box can', async () => {
    const { client, chain, agentTurnId, contextBoxId, outputBoxId } = await launched();
    fill(chain, { other: ['x'] });
    expect(await refusalOf(client.box.append({ boxId: contextBoxId, cardIds: ['x'] }))).toMatchObject({
      code: 'CONFLICT',
      data: { id: contextBoxId },
    });
    expect((await client.box.get({ boxId: contextBoxId })).held).toBe(true);
    await client.agent.write({ agentTurnId, cards: [said('hm')] });
    expect(cardsOfBox(chain, outputBoxId).map((card) => card.type)).toEqual(['agent.thought']);
    await client.agent.finish({ agentTurnId });
    expect((await client.box.append({ boxId: contextBoxId, cardIds: ['x'] })).cardIds).toContain('x');
    expect(await refusalOf(client.agent.write({ agentTurnId, cards: [said('late')] }))).toMatchObject({
      code: 'CONFLICT',
      data: { status: 'success' },
    });
  });

  test('[B9] a queued turn holds its context too', async () => {
    const { client, chain, agentId } = await launched();
    fill(chain, { other: ['x'] });
    const queued = await delegateTo(client, agentId, 'reuse', agentId);
    expect(queued).toMatchObject({ status: 'accepted', turnEpoch: null, turns: [{ status: 'queued' }] });
    expect((await refusalOf(client.box.append({ boxId: queued.contextBoxId ?? '', cardIds: ['x'] }))).code).toBe('CONFLICT');
  });

  test('[H21] a card names its model call and the turn of its delegation, and keeps them', async () => {
    const { client, agentTurnId, agentId, contextBoxId, outputBoxId } = await launched();
    expect(await client.agent.get({ agentId })).toMatchObject({ contextBoxId, outputBoxId });
    const write = async (words: string, cardId?: string) =>
      (await client.agent.write({ agentTurnId, cards: [{ ...said(words), ...(cardId && { cardId }) }] })).cards[0]?.metadata;
    const trace = (step: number) => ({ agent_turn_id: agentTurnId, step_id: `card:${agentTurnId}:${step}`, trace_id: agentTurnId });
    expect(await write('before any call', 'one')).toMatchObject(trace(0));
    await client.agent.input({ agentTurnId });
    expect(await write('first')).toMatchObject(trace(0));
    await client.agent.input({ agentTurnId });
    expect(await write('second')).toMatchObject(trace(1));
    expect(await write('before any call', 'one')).toMatchObject(trace(0));
    expect((await client.request.get({ requestId: `card:${agentTurnId}:1` })).proof).toBe('recorded');
    const { agentTurnId: handed = '' } = await delegateTo(client, agentId, 'new', 'Critic');
    await client.agent.begin({ agentTurnId: handed });
    const [card] = (await client.agent.write({ agentTurnId: handed, cards: [said('reviewed')] })).cards;
    expect(card?.metadata).toMatchObject({ step_id: `card:${handed}:0`, trace_id: agentTurnId });
  });

  test('[H15] the model sees its two boxes in order, and nothing else', async () => {
    const { client, chain, agentTurnId, agentId } = await launched();
    fill(chain, { elsewhere: ['secret'] });
    await client.agent.write({ agentTurnId, cards: [said('first'), { ...said('second'), metadata: { role: 'user' } }] });
    const { messages, cardIds } = await client.agent.input({ agentTurnId });
    expect(messages).toEqual([
      { role: 'system', content: expect.stringMatching(/^RULES:\n/) },
      { role: 'user', content: 'Lead' },
      { role: 'system', content: '{"parent_agent_id": "user"}' },
      { role: 'assistant', content: 'first' },
      { role: 'user', content: 'second' },
    ]);
    await client.card.delete({ cardId: cardIds[2] ?? '' });
    expect((await client.agent.input({ agentTurnId })).messages).toEqual(messages);
    expect(JSON.stringify(await client.agent.input({ agentTurnId }))).not.toContain('secret');
    expect(agentId).toMatch(/^profile-writer_/);
  });

  test('[H15, H16] a call and its result reach the model as a pair', async () => {
    const { client, agentTurnId } = await launched({ Writer: { system_prompt_template: 'You are {display_name}.', allowed_tools: ['search'] } });
    const tool = (name: string) => ({ type: 'function', function: { name } });
    await client.agent.write({
      agentTurnId,
      cards: [
        { ...said('let me look'), toolCalls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } }] },
        { type: 'tool.call', toolCallId: 'c1', content: { kind: 'json', data: { tool_name: 'search', arguments: {} } } },
      ],
    });
    await client.agent.suspend({ agentTurnId, toolCallIds: ['c1'] });
    await client.agent.answer({
      agentTurnId,
      card: { type: 'tool.result', toolCallId: 'c1', content: { kind: 'json', data: { status: 'success', result: { hits: ['é'] } } } },
    });
    const { messages, tools } = await client.agent.input({
      agentTurnId,
      tools: [tool('search'), tool('rm'), tool('submit_result')],
      stepCount: 7,
      maxSteps: 8,
    });
    expect(messages[0]).toEqual({ role: 'system', content: 'You are Writer.' });
    expect(messages.slice(4)).toMatchObject([
      { role: 'assistant', content: 'let me look', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"hits": ["é"]}' },
      { role: 'system', content: expect.stringContaining('final step (1/8') },
    ]);
    expect(tools).toEqual([tool('submit_result')]);
  });
});

describe('turn states', () => {
  const result = (toolCallId: string, data: Record<string, unknown>) => ({
    type: 'tool.result',
    toolCallId,
    content: { kind: 'json' as const, data },
  });

  test('[H13] a turn waits for all its calls and resumes in a new epoch', async () => {
    const { client, agentTurnId } = await launched();
    expect(await client.agent.suspend({ agentTurnId, toolCallIds: ['c1', 'c2'] })).toMatchObject({
      status: 'suspended',
      waiting: ['c1', 'c2'],
      turnEpoch: 1,
    });
    expect(await refusalOf(client.agent.answer({ agentTurnId, card: result('c9', { status: 'success' }) }))).toMatchObject({ code: 'BAD_REQUEST' });
    expect((await client.agent.answer({ agentTurnId, card: result('c1', { status: 'success' }) })).turn).toMatchObject({
      status: 'suspended',
      waiting: ['c2'],
    });
    const failed = { status: 'failed', error: { code: 'x', message: 'y' } };
    expect((await client.agent.answer({ agentTurnId, turnEpoch: 1, card: result('c2', failed) })).turn).toMatchObject({
      status: 'running',
      turnEpoch: 2,
    });
    expect(await refusalOf(client.agent.finish({ agentTurnId, turnEpoch: 1 }))).toMatchObject({ code: 'CONFLICT', data: { turnEpoch: 2 } });
  });

  test('[H13] a terminating result ends the turn with the first failure', async () => {
    const { client, agentTurnId, agentId } = await launched();
    await client.agent.suspend({ agentTurnId, toolCallIds: ['c1', 'c2'] });
    await client.agent.answer({ agentTurnId, card: result('c1', { status: 'success', after_execution: 'terminate' }) });
    const ended = await client.agent.answer({
      agentTurnId,
      card: result('c2', { status: 'timeout', after_execution: 'terminate', error: { code: 'tool_timeout', message: 'late' } }),
    });
    expect(ended.turn).toMatchObject({ status: 'timeout', turnEpoch: null });
    expect(await client.agent.get({ agentId })).toMatchObject({ status: 'idle', turnEpoch: 2 });
  });

  test('[H11, H13] a busy agent starts its next turn after the current one', async () => {
    const { client, agentId, agentTurnId } = await launched();
    const queued = await delegateTo(client, agentId, 'REUSE', agentId);
    await client.agent.finish({ agentTurnId });
    expect(await client.agent.get({ agentId })).toMatchObject({ status: 'dispatched', agentTurnId: queued.agentTurnId, turnEpoch: 2 });
    expect((await client.agent.turns({ agentId })).map((turn) => turn.status)).toEqual(['success', 'dispatched']);
  });

  test('[H16] the result must have the required fields', async () => {
    const { client, chain } = await launched();
    const { contextBoxId } = await client.handover.pack({
      toolSuffix: 't',
      sourceAgentId: 's',
      arguments: { fields: [{ name: 'title', description: 'short' }] },
      handover: {
        target_profile_config: { profile_name: 'Critic' },
        context_packing_config: { pack_arguments: [{ arg_key: 'fields', as_card_type: 'task.result_fields' }] },
      },
    });
    const [{ agentId }] = chain.db.all<{ agentId: string }>('SELECT agentId FROM agent') as [{ agentId: string }];
    const { agentTurnId = '' } = await delegateTo(client, agentId, 'new', 'Critic', contextBoxId);
    expect((await client.agent.input({ agentTurnId })).messages[0]).toEqual({ role: 'system', content: 'Required result fields:\n- title: short' });
    const refused = await client.agent.submit({ agentTurnId, toolCallId: 'c1', args: { result: 'done' } });
    expect(refused).toMatchObject({ complete: false, turn: { status: 'dispatched' } });
    const done = await client.agent.submit({ agentTurnId, toolCallId: 'c2', args: { result: { fields: [{ name: 'title', value: 'T' }] } } });
    expect(done).toMatchObject({ complete: true, turn: { status: 'success', endCommit: expect.stringMatching(/^ctx-/) } });
  });
});

describe('turns and chains', () => {
  test('[H14] an ended turn is a commit with its output', async () => {
    const { client, agentTurnId, agentId } = await launched();
    await client.agent.write({ agentTurnId, cards: [said('one'), said('two')] });
    const turn = await client.agent.finish({ agentTurnId });
    const commit = await client.context.show({ id: turn.endCommit as ContextId });
    expect(commit).toMatchObject({
      type: 'delta',
      format: 'cardbox-v1',
      principal: agentId,
      template: 'Writer',
      parent: turn.startCommit,
      checkpoint: 'turn_boundary',
      messageCount: 2,
      summary: 'two',
    });
    expect(await entryTexts(client, turn.endCommit)).toEqual(['Lead', '{"parent_agent_id": "user"}', 'one', 'two']);
    expect((await client.context.resolve({ principal: agentId, at: commit.createdAt })).id).toBe(commit.id);
  });

  test('[H14] a delegated agent’s chain starts at the caller’s commit and has its input', async () => {
    const { client, chain, agentTurnId, agentId } = await launched();
    await client.agent.write({ agentTurnId, cards: [said('plan')] });
    const child = await delegateTo(client, agentId, 'new', 'Critic');
    const [turn] = child.turns;
    const caller = await client.agent.get({ agentId });
    expect(turn?.fromCommit).toBe(caller.tip);
    expect((await client.context.show({ id: caller.tip as ContextId })).checkpoint).toBe('tool_call');
    const history = await client.context.history({ id: turn?.startCommit as ContextId });
    expect(history.map((commit) => commit.type)).toEqual(['snapshot', 'delta', 'delta', 'delta']);
    expect(history[2]?.id).toBe(caller.tip);
    // The context of the agent, not that of its parent.
    expect(await entryTexts(client, turn?.startCommit)).toEqual(['Do it', `{"parent_agent_id": "${agentId}"}`]);
    await client.agent.write({ agentTurnId: child.agentTurnId ?? '', cards: [said('no')] });
    const ended = await client.agent.finish({ agentTurnId: child.agentTurnId ?? '' });
    expect(await entryTexts(client, ended.endCommit)).toEqual(['Do it', `{"parent_agent_id": "${agentId}"}`, 'no']);
    // From the root, the whole history.
    expect(await entryTexts(client, ended.endCommit, 'root')).toEqual([
      'Lead',
      '{"parent_agent_id": "user"}',
      'plan',
      'Do it',
      `{"parent_agent_id": "${agentId}"}`,
      'no',
    ]);
    await client.agent.write({ agentTurnId, cards: [said('on')] });
    const own = await client.agent.finish({ agentTurnId });
    expect(await entryTexts(client, own.endCommit)).toEqual(['Lead', '{"parent_agent_id": "user"}', 'plan', 'on']);
    expect(counts(chain)).toMatchObject({ agents: 2, turns: 2 });
  });

  test('[H10, H12, H14] an expert with history gets the caller’s output', async () => {
    const { client, agentTurnId, agentId } = await launched();
    await client.agent.write({ agentTurnId, cards: [said('a'), said('b')] });
    const asked = await client.handover.askExpert({ sourceAgentId: agentId, profileName: 'critic', question: 'Right?', includeHistory: true });
    expect(await entryTexts(client, asked.turns[0]?.startCommit)).toEqual(['Right?', 'a', 'b', `{"parent_agent_id": "${agentId}"}`]);
    await client.agent.finish({ agentTurnId });
    const again = await client.handover.askExpert({ sourceAgentId: agentId, profileName: 'critic', question: 'Still?', includeHistory: true });
    expect(await entryTexts(client, again.turns[0]?.startCommit)).toEqual(['Still?', 'a', 'b', `{"parent_agent_id": "${agentId}"}`]);
    const alone = await client.handover.askExpert({ sourceAgentId: agentId, profileName: 'critic', question: 'Why?' });
    expect(await entryTexts(client, alone.turns[0]?.startCommit)).toEqual(['Why?', `{"parent_agent_id": "${agentId}"}`]);
  });

  test('[H14] a reused agent continues its own chain', async () => {
    const { client, agentTurnId, agentId } = await launched();
    const child = await delegateTo(client, agentId, 'new', 'Critic');
    const childId = child.agentId ?? '';
    await client.agent.write({ agentTurnId: child.agentTurnId ?? '', cards: [said('first')] });
    const first = await client.agent.finish({ agentTurnId: child.agentTurnId ?? '' });
    const second = await delegateTo(client, agentId, 'reuse', childId);
    const history = await client.context.history({ id: second.turns[0]?.startCommit as ContextId });
    expect(history.map((commit) => commit.id)).toContain(first.endCommit);
    expect(await entryTexts(client, second.turns[0]?.startCommit)).toEqual(['Do it', `{"parent_agent_id": "${agentId}"}`]);
    expect(agentTurnId).toBeDefined();
  });

  test('[H14] an agent registered with a commit delegates from there', async () => {
    const { client } = await launched();
    const commit = await client.context.checkpoint({
      parent: null,
      type: 'delta',
      format: 'cardbox-v1',
      text: '',
      template: 't',
      checkpoint: 'explicit',
    });
    await client.agent.register({ agentId: 'imported', contextId: commit.id });
    const { turns } = await delegateTo(client, 'imported', 'new', 'Critic');
    expect(turns[0]?.fromCommit).toBe(commit.id);
    expect(await refusalOf(client.agent.register({ agentId: 'imported' }))).toMatchObject({ code: 'CONFLICT' });
  });
});

describe('batches', () => {
  const tasks = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ targetStrategy: 'new' as const, targetRef: 'Critic', instruction: `part ${at}` }));

  test('[H12, H14] tasks are branches from the caller’s commit, in order', async () => {
    const { client, agentTurnId, agentId } = await launched();
    await client.agent.write({ agentTurnId, cards: [said('split')] });
    const { turns, batchId = '', taskCount } = await client.handover.forkJoin({ sourceAgentId: agentId, tasks: tasks(3) });
    expect([turns.length, taskCount, turns.map((turn) => turn.taskIndex)]).toEqual([3, 3, [0, 1, 2]]);
    const { tip } = await client.agent.get({ agentId });
    expect((await client.context.show({ id: tip as ContextId })).children).toHaveLength(3);
    expect((await client.handover.batch({ batchId })).results.map((result) => result.status)).toEqual(['dispatched', 'dispatched', 'dispatched']);
  });

  test('[H12] more than eight tasks are refused, and nothing is written', async () => {
    const { client, chain, agentId } = await launched();
    const before = counts(chain);
    expect((await refusalOf(client.handover.forkJoin({ sourceAgentId: agentId, tasks: tasks(9) }))).message).toContain(
      '9 tasks were given, and at most 8',
    );
    expect(counts(chain)).toEqual(before);
  });

  test('[H17] a batch ends with its last turn and reports each status', async () => {
    const { client, agentId } = await launched();
    const { turns, batchId = '' } = await client.handover.forkJoin({ sourceAgentId: agentId, tasks: tasks(2) });
    const [first, second] = turns.map((turn) => turn.agentTurnId) as [string, string];
    await client.agent.submit({
      agentTurnId: second,
      toolCallId: 'c',
      args: {
        result: {
          fields: [
            { name: 'x', value: 'y' },
            { name: 'z', value: 1 },
          ],
        },
      },
    });
    expect((await client.handover.batch({ batchId })).status).toBe('running');
    await client.agent.finish({ agentTurnId: first, status: 'failed', error: 'no idea' });
    expect(await client.handover.batch({ batchId })).toMatchObject({
      status: 'partial',
      results: [
        { taskIndex: 0, status: 'failed', error: 'no idea' },
        { taskIndex: 1, status: 'success', summary: 'x: y | z: 1' },
      ],
    });
  });

  test('[H17] a fail-fast batch ends at the first failure; a deadline ends any batch', async () => {
    const { client, clock, agentId } = await launched();
    const fast = await client.handover.forkJoin({ sourceAgentId: agentId, tasks: tasks(3), failFast: true });
    await client.agent.finish({ agentTurnId: fast.turns[1]?.agentTurnId ?? '', status: 'failed' });
    expect(await client.handover.batch({ batchId: fast.batchId ?? '' })).toMatchObject({
      status: 'failed',
      results: [{ status: 'canceled' }, { status: 'failed' }, { status: 'canceled' }],
    });
    const slow = await client.handover.forkJoin({ sourceAgentId: agentId, tasks: tasks(1), deadlineSeconds: 30 });
    clock.at += 29_999;
    expect((await client.handover.batch({ batchId: slow.batchId ?? '' })).status).toBe('running');
    clock.at += 1;
    expect(await client.handover.batch({ batchId: slow.batchId ?? '' })).toMatchObject({ status: 'timeout', results: [{ status: 'canceled' }] });
  });
});

test('[H9] a policy without targets refuses delegation; no policy allows it', async () => {
  const { client, agentId } = await launched({ Writer: { delegation_policy: { target_profiles: [] } } });
  expect(await refusalOf(delegateTo(client, agentId, 'new', 'Critic'))).toMatchObject({ code: 'UNAUTHORIZED' });
  const free = await launched();
  expect((await delegateTo(free.client, free.agentId, 'new', 'Critic')).status).toBe('accepted');
});

test('[H8] delegation ends at the maximum depth', async () => {
  const { client, agentId } = await launched();
  let caller = agentId;
  for (let depth = 2; depth < 20; depth++) caller = (await delegateTo(client, caller, 'new', 'Critic')).agentId ?? '';
  expect(await delegateTo(client, caller, 'new', 'Critic')).toEqual({ status: 'rejected', errorCode: 'recursion_depth_exceeded', turns: [] });
});

test('[H5] inherited cards are references: a deleted one is included but not visible', async () => {
  const { client, chain, agentId } = await launched();
  fill(chain, { src: ['x', 'y'] });
  await client.card.add({ card: text('x', 'now') });
  await client.card.delete({ cardId: 'y' });
  const { turns, contextBoxId = '' } = await delegateTo(client, agentId, 'new', 'Critic', 'src');
  expect((await client.box.get({ boxId: contextBoxId })).cardIds.slice(1, 3)).toEqual(['x', 'y']);
  expect(await entryTexts(client, turns[0]?.startCommit)).toEqual(['Do it', 'now', `{"parent_agent_id": "${agentId}"}`]);
});

test('[H4, H14] the map shows who delegated to whom', async () => {
  const { client, agentId } = await launched();
  const child = await delegateTo(client, agentId, 'new', 'Critic');
  const { agents, turns } = await client.handover.map({});
  expect(agents.map((agent) => [agent.displayName, agent.spawnedBy])).toEqual([
    ['Writer', 'user'],
    ['Critic', agentId],
  ]);
  expect(turns).toMatchObject([
    { sourceAgentId: 'user', agentId, tool: 'launch_principal', instruction: 'Lead', cards: 2 },
    { sourceAgentId: agentId, agentId: child.agentId, tool: 'delegate_async', instruction: 'Do it', cards: 2 },
  ]);
});
