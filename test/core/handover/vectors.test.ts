import { describe, expect, test } from 'vitest';
import { boxAt, createBox } from '../../../src/core/cards/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { insertAgent } from '../../../src/core/handover/agents.js';
import { dispatchTurn } from '../../../src/core/handover/ending.js';
import { agentNamed, currentOutput, forkJoin, outcomeOf, requireAgent, validBoxes } from '../../../src/core/handover/index.js';
import { cardsOfBox, counts, fill, profiles, type Refused, refusalOf, shown, type Vector, vectors, type World, world } from './world.js';

const of = (operation: string): Vector[] => vectors.filter((vector) => vector.operation === operation);
const writer = { Writer: 'pbox_writer', Editor: 'pbox_editor' };
const codes: Record<string, string> = { bad_request: 'BAD_REQUEST', not_found: 'NOT_FOUND', auth_failed: 'UNAUTHORIZED' };

/** Expected results where Stemma differs, or where the public system has an unintended error. */
const refusedHere: Record<string, string> = {
  P05: 'BAD_REQUEST',
  P11: 'BAD_REQUEST',
  P17: 'NOT_FOUND',
  P25: 'BAD_REQUEST',
  P38: 'BAD_REQUEST',
  D23: 'NOT_FOUND',
};

function expectRefusal(vector: Vector, refusal: Refused): void {
  expect(refusal.code).toBe(refusedHere[vector.id] ?? codes[vector.expected.error.code]);
  if (!refusedHere[vector.id] && vector.operation !== 'fork_join') expect(refusal.message).toBe(vector.expected.error.message);
}

/** Parses a card of the pack vectors. */
function packedCard(chain: WriteChain, boxId: string, old: ReadonlySet<string>): Vector[] {
  const kinds = { text: 'TextContent', json: 'JsonContent', fields: 'FieldsSchemaContent' };
  return cardsOfBox(chain, boxId).map((card) => {
    if (old.has(card.cardId)) return { ref: card.cardId };
    const { type: _, ...metadata } = card.metadata;
    const { kind, ...content } = card.content;
    return { ref: 'new', type: card.type, role: card.metadata.role, author_id: card.authorId, content: { kind: kinds[kind], ...content }, metadata };
  });
}

describe('vectors: packing', () => {
  test.each(of('pack_context').map((vector) => [vector.id, vector.title, vector]))('[H1, H2, H3, H4, H5, H6] %s %s', async (id, _title, vector) => {
    const { chain, client } = world();
    const { boxes, arguments: args, handover } = vector.given;
    fill(chain, boxes);
    // P17: Stemma has no profile without a box, so the test uses a missing profile.
    profiles(chain, id === 'P17' ? {} : (vector.given.profiles ?? writer));
    const before = counts(chain);
    const call = client.handover.pack({ toolSuffix: 'delegate_async', sourceAgentId: 'agent_src', arguments: args, handover });
    if (!vector.expected.ok || refusedHere[id]) {
      expectRefusal(vector, await refusalOf(call));
      expect(counts(chain)).toEqual(before);
      return;
    }
    const packed = await call;
    const old = new Set<string>(Object.values(boxes ?? {}).flat() as string[]);
    expect(packed.targetProfileBoxId).toBe(vector.expected.profile_box_id);
    expect(packedCard(chain, packed.contextBoxId, old)).toEqual(vector.expected.cards);
    const { cards_saved, boxes_created } = vector.expected.side_effects;
    expect(counts(chain)).toMatchObject({ cards: before.cards + cards_saved, boxes: before.boxes + boxes_created });
  });

  test.each(
    of('pack_context')
      .filter((vector) => vector.expected.ok && !refusedHere[vector.id])
      .map((vector) => [vector.id, vector]),
  )('[H6] the preview of %s is what is packed', async (_id, vector) => {
    const { chain, client } = world();
    fill(chain, vector.given.boxes);
    profiles(chain, vector.given.profiles ?? writer);
    const input = { toolSuffix: 'delegate_async', sourceAgentId: 'agent_src', arguments: vector.given.arguments, handover: vector.given.handover };
    const before = counts(chain);
    const preview = await client.handover.preview(input);
    expect(counts(chain)).toEqual(before);
    const packed = await client.handover.pack(input);
    const cards = cardsOfBox(chain, packed.contextBoxId);
    expect(preview.cards.map(({ type, role, authorId, content }) => ({ type, role, authorId, content }))).toEqual(
      cards.map(({ type, metadata, authorId, content }) => ({ type, role: metadata.role, authorId, content })),
    );
    const { packed: kept } = await client.box.get({ boxId: packed.contextBoxId });
    expect(kept?.dropped).toEqual(preview.dropped);
    expect(kept?.runs.flatMap((run) => Array.from({ length: run.cards }, () => run.reason))).toEqual(preview.cards.map((card) => card.reason));
  });

  test.each(of('pack_context_with_instruction').map((vector) => [vector.id, vector.title, vector]))('[H7] %s %s', async (_id, _title, vector) => {
    const { chain, client } = world();
    fill(chain, vector.given.boxes);
    profiles(chain, writer);
    const packed = await client.handover.packWithInstruction({
      toolSuffix: 'delegate_async',
      sourceAgentId: 'agent_src',
      profileName: vector.given.profile_name,
      instruction: vector.given.instruction,
      inheritBoxIds: vector.given.inherit_box_ids,
    });
    const old = new Set<string>(Object.values(vector.given.boxes ?? {}).flat() as string[]);
    expect(packedCard(chain, packed.contextBoxId, old)).toEqual(vector.expected.cards);
  });

  test.each(of('validate_box_ids_exist').map((vector) => [vector.id, vector.title, vector]))('[H8] %s %s', (_id, _title, vector) => {
    const { chain } = world();
    fill(chain, vector.given.boxes);
    expect(validBoxes(chain, vector.given.box_ids)).toEqual(vector.expected.box_ids);
  });

  test.each(of('resolve_current_output_box_id').map((vector) => [vector.id, vector.title, vector]))('[H10] %s %s', (_id, _title, vector) => {
    const { chain } = world();
    const { agent_id: agentId, state, pointers } = vector.given;
    place(chain, agentId, { ...state[agentId], last_output: pointers?.[agentId]?.last_output_box_id, output: state[agentId].output_box_id });
    const resolve = () => currentOutput(requireAgent(chain, agentId)).boxId;
    if (vector.expected.ok) expect(resolve()).toBe(vector.expected.box_id);
    else expect(resolve).toThrow(vector.expected.error.message);
  });
});

const boxNo = (chain: WriteChain, boxId: string): number => {
  const known = chain.db.one('SELECT 1 FROM box WHERE boxId = ?', boxId);
  if (!known) createBox(chain, [], boxId);
  return boxAt(chain, boxId).no;
};

/** Creates an agent in the state of a vector. */
function place(chain: WriteChain, agentId: string, state: Vector = {}): void {
  const profile = chain.db.one<{ box: number }>("SELECT box FROM profile WHERE key = 'writer'")?.box;
  const agent = insertAgent(chain, { agentId, displayName: 'Writer', profile });
  const isActive = ['dispatched', 'running', 'suspended'].includes(state.status);
  if (isActive && state.output) {
    dispatchTurn(chain, agent, {
      depth: 0,
      context: boxNo(chain, state.context ?? 'empty'),
      output: boxNo(chain, state.output),
      profile: profile ?? null,
      source: null,
      tool: 'test',
      strategy: 'new',
      parentTurn: null,
      batch: null,
      taskIndex: null,
      fromCommit: null,
    });
  }
  if (isActive) chain.db.run('UPDATE agent SET status = ?, epoch = ? WHERE no = ?', state.status, state.epoch ?? 1, agent.no);
  if (state.last_output) chain.db.run('UPDATE agent SET lastOutput = ? WHERE no = ?', boxNo(chain, state.last_output), agent.no);
}

/** The project of the delegation vectors: a caller with a running turn, and workers. */
function delegation(vector: Vector): World & { old: Set<string>; before: ReturnType<typeof counts> } {
  const made = world();
  const { chain } = made;
  const { boxes, agents = {}, profile_tags: tags = {}, delegation_policy: policy } = vector.given;
  fill(chain, boxes);
  profiles(chain, { Writer: 'Profile-Writer' }, { Writer: { tags: tags.Writer } });
  if (policy) profiles(chain, { Boss: 'Profile-Boss' }, { Boss: { delegation_policy: policy } });
  if (!vector.given.no_caller_roster) {
    place(chain, 'caller', { status: 'running', context: 'ctx_in', output: 'caller_out' });
    if (policy) chain.db.run("UPDATE agent SET profile = (SELECT box FROM profile WHERE key = 'boss') WHERE agentId = 'caller'");
  }
  for (const [agentId, agent] of Object.entries(agents) as [string, Vector][]) place(chain, agentId, agent.state);
  return { ...made, old: new Set(Object.values(boxes).flat() as string[]), before: counts(chain) };
}

const named = (value: string | undefined): string | undefined =>
  value === '$nope' ? '00000000-0000-7000-8000-00000000dead' : value?.replace('$', '');

/** The observations of a vector about dispatched turns. */
function expectObserved(vector: Vector, { chain, old, before }: ReturnType<typeof delegation>, turns: Vector[]): void {
  const { inbox, new_roster, boxes_total, new_instruction_cards } = vector.expected.observed;
  expect(turns).toHaveLength(inbox.length);
  for (const [at, seen] of inbox.entries()) {
    const turn = turns[at];
    const agent = agentNamed(chain, turn.agentId);
    if (seen.agent.startsWith('<new agent')) expect(turn.agentId).toMatch(/^profile-writer_[0-9a-f]{32}$/);
    else expect(turn.agentId).toBe(seen.agent);
    expect(turn.status).toBe(seen.status === 'pending' ? 'dispatched' : seen.status);
    expect(turn.depth).toBe(seen.recursion_depth);
    expect(turn.turnEpoch).toBe(seen.status === 'queued' ? null : 1);
    expect(turn.profileBoxId).toBe('Profile-Writer');
    expect(cardsOfBox(chain, turn.contextBoxId).map((card) => shown(card, old))).toEqual(seen.context_cards);
    expect(cardsOfBox(chain, turn.outputBoxId)).toEqual([]);
    expect(old.has(turn.outputBoxId)).toBe(false);
    expect(agent).toMatchObject({
      status: seen.head_after.status,
      epoch: seen.head_after.turn_epoch,
      depth: seen.head_after.active_recursion_depth,
      outputBoxId: seen.head_after.output === '<fresh>' ? turn.outputBoxId : seen.head_after.output.replace('$', ''),
    });
  }
  const roster = chain.db.all<Vector>('SELECT displayName, owner, spawnedBy, derivedFrom FROM agent ORDER BY no').slice(before.agents);
  expect(roster).toEqual(
    new_roster.map((row: Vector) => ({
      displayName: row.display_name,
      owner: row.owner_agent_id,
      spawnedBy: row.metadata.spawned_by,
      derivedFrom: row.metadata.derived_from ?? null,
    })),
  );
  const after = counts(chain);
  expect(after.boxes - before.boxes).toBe(boxes_total);
  const instructions = chain.db.one<{ n: number }>("SELECT COUNT(*) AS n FROM card WHERE type = 'task.instruction'")?.n;
  expect(instructions).toBe(new_instruction_cards);
}

const calls: Record<string, (client: World['client'], args: Vector, vector: Vector) => Promise<Vector>> = {
  delegate_async: (client, args, vector) =>
    client.handover.delegate({
      sourceAgentId: 'caller',
      targetStrategy: args.target_strategy ?? '',
      targetRef: args.target_ref ?? '',
      instruction: args.instruction ?? '',
      contextBoxId: named(args.context_box_id),
      toolName: vector.tool_name ?? vector.given.tool_name,
    }),
  launch_principal: (client, args) =>
    client.handover.launchPrincipal({
      sourceAgentId: 'caller',
      profileName: args.profile_name,
      // The public system ignores other arguments (L03); the contract refuses them (C24).
      instruction: args.instruction ?? '',
    }),
  ask_expert: (client, args) =>
    client.handover.askExpert({
      sourceAgentId: 'caller',
      profileName: args.expert_profile,
      question: args.question,
      includeHistory: args.include_history,
    }),
};

describe('vectors: delegation', () => {
  test.each(
    Object.keys(calls)
      .flatMap(of)
      .map((vector) => [vector.id, vector.title, vector]),
  )('[H8, H9, H10, H11, H12] %s %s', async (_id, _title, vector) => {
    const made = delegation(vector);
    const call = (calls[vector.operation] as (typeof calls)[string])(made.client, vector.given.arguments, vector);
    if (!vector.expected.ok) {
      expectRefusal(vector, {
        ...(await refusalOf(call)),
        message: (await refusalOf(call)).message.replace('(project_id=proj_1)', '(project_id=<project>)'),
      });
      expect(counts(made.chain)).toEqual(made.before);
      return;
    }
    const answer = await call;
    expect(answer).toMatchObject({ status: vector.expected.result.status, turnEpoch: vector.expected.result.turn_epoch });
    expect(answer).toMatchObject({ agentId: answer.turns[0].agentId, contextBoxId: answer.turns[0].contextBoxId });
    expectObserved(vector, made, answer.turns);
  });

  /** Field names differ, so the test compares which field is refused. */
  const refusedFields: Record<string, string> = {
    F02: 'tasks',
    F04: 'tasks.0.profile_name',
    F05: 'join',
    F06: 'tasks.0.targetStrategy',
    F08: 'tasks',
    F11: 'failFast',
    F12: 'deadlineSeconds',
    F13: 'deadlineSeconds',
  };

  test.each(of('fork_join').map((vector) => [vector.id, vector.title, vector]))('[H12] %s %s', async (id, _title, vector) => {
    const made = delegation(vector);
    const { tasks, fail_fast, deadline_seconds, ...others } = vector.given.arguments;
    const input = {
      sourceAgentId: 'caller',
      tasks: tasks.map(({ target_strategy, target_ref, context_box_id, ...task }: Vector) => ({
        targetStrategy: target_strategy,
        targetRef: target_ref,
        ...(context_box_id && { contextBoxId: named(context_box_id) }),
        ...task,
      })),
      ...(fail_fast !== undefined && { failFast: fail_fast }),
      ...(deadline_seconds !== undefined && { deadlineSeconds: deadline_seconds }),
      ...others,
    };
    if (!vector.expected.ok) {
      const refusal = await refusalOf(made.client.handover.forkJoin(input));
      expectRefusal(vector, refusal);
      if (refusedFields[id]) expect(refusal.data.field).toBe(refusedFields[id]);
      expect(counts(made.chain)).toEqual(made.before);
      return;
    }
    const defaults = vector.given.handler_config?.default_deadline_seconds;
    const answer = defaults ? forkJoin(made.chain, input, { defaultDeadlineSeconds: defaults }) : await made.client.handover.forkJoin(input);
    expect(answer).toMatchObject({ status: 'accepted', taskCount: vector.expected.result.task_count, batchId: expect.stringMatching(/^batch_/) });
    expectObserved(vector, made, answer.turns);
    const batch = await made.client.handover.batch({ batchId: answer.batchId ?? '' });
    const [seen] = vector.expected.observed.batch;
    expect(batch).toMatchObject({ status: seen.status, failFast: seen.fail_fast });
    expect(batch.deadline !== undefined).toBe(seen.has_deadline);
    expect(batch.results.map(({ taskIndex, label }) => ({ taskIndex, label }))).toEqual(
      vector.expected.observed.batch_tasks.map((task: Vector) => ({ taskIndex: task.task_index, label: task.label })),
    );
  });
});

describe('vectors: turn states', () => {
  test.each(
    of('turn_state')
      .filter((vector) => vector.given.results)
      .map((vector) => [vector.id, vector.title, vector]),
  )('[H13] %s %s', (_id, _title, vector) => {
    const { next, taskStatus } = outcomeOf(vector.given.results);
    expect({ next, task_status: taskStatus }).toEqual(vector.expected);
  });

  test('[H13] T03 compare-and-set with a stale epoch changes nothing', async () => {
    const { chain, client } = world();
    profiles(chain, writer);
    const { agentTurnId, agentId } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'go' });
    const before = agentNamed(chain, agentId ?? '');
    for (const call of [
      client.agent.begin({ agentTurnId: agentTurnId ?? '', turnEpoch: 9 }),
      client.agent.finish({ agentTurnId: agentTurnId ?? '', turnEpoch: 9 }),
    ])
      expect(await refusalOf(call)).toMatchObject({ code: 'CONFLICT', data: { turnEpoch: 1 } });
    expect(agentNamed(chain, agentId ?? '')).toEqual(before);
    expect(before).toMatchObject({ status: 'dispatched', epoch: 1, agentTurnId });
  });
});

test('every vector of handover and turns is tested', () => {
  const run = [
    'pack_context',
    'pack_context_with_instruction',
    'validate_box_ids_exist',
    'resolve_current_output_box_id',
    'fork_join',
    'turn_state',
    ...Object.keys(calls),
  ];
  const others = [...new Set(vectors.map((vector) => vector.operation))].filter((operation) => !run.includes(operation));
  expect(others.toSorted()).toEqual(['cardbox', 'http', 'hydration']);
});
