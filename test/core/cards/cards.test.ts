import { describe, expect, test } from 'vitest';
import { whereIds } from '../../../src/core/cards/card.js';
import type { CardInput, ContextId } from '../../../src/core/contract/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { refusalOf, text, world } from '../handover/world.js';
import { secondProject } from './projects.js';

const json = (type: string, data: Record<string, unknown>): CardInput => ({ type, content: { kind: 'json', data } });

describe('cards', () => {
  test('[B1] an equal card with other key order changes nothing', async () => {
    const { client, clock } = world();
    const card = {
      cardId: 'a',
      type: 'task.instruction',
      content: { kind: 'json' as const, data: { x: 1, y: [1, { z: null }] } },
      metadata: { role: 'user' as const, k: 1 },
    };
    const first = await client.card.add({ card });
    clock.at += 5_000;
    const again = { ...card, content: { data: { y: [1, { z: null }], x: 1 }, kind: 'json' as const }, metadata: { k: 1, role: 'user' as const } };
    expect(await client.card.add({ card: again })).toEqual(first);
    expect(await client.card.add({ card: first })).toEqual(first);
    expect(await client.card.history({ cardId: 'a' })).toEqual([]);
  });

  test('[B5] a repair keeps the old content, its author and time', async () => {
    const { client, clock } = world();
    await client.card.add({ card: { ...text('a', 'one'), authorId: 'ann' } });
    clock.at += 1_000;
    const repaired = await client.card.add({ card: { ...text('a', 'two'), authorId: 'bob' } });
    expect(repaired).toMatchObject({ authorId: 'bob', repairedAt: '2026-01-01T00:00:01.000Z', createdAt: '2026-01-01T00:00:00.000Z' });
    expect(await client.card.history({ cardId: 'a' })).toMatchObject([
      { what: 'repaired', by: 'bob', at: '2026-01-01T00:00:01.000Z', before: { content: { kind: 'text', text: 'one' }, authorId: 'ann' } },
    ]);
  });

  test('[B6] a deleted card is readable and flagged, and adding it again restores it', async () => {
    const { client } = world();
    await client.card.add({ card: text('a') });
    const { boxId } = await client.box.create({ cardIds: ['a'] });
    const deleted = await client.card.delete({ cardId: 'a', author: 'ann' });
    expect(deleted.deletedAt).toBeDefined();
    expect(await client.card.delete({ cardId: 'a' })).toEqual(deleted);
    expect(await client.card.get({ cardId: 'a' })).toEqual(deleted);
    expect(await client.box.cards({ boxId })).toMatchObject({ cards: [{ cardId: 'a' }], deletedCardIds: ['a'] });
    expect((await client.box.entries({ boxId })).entries).toEqual([]);
    expect((await client.card.add({ card: text('a') })).deletedAt).toBeUndefined();
    expect((await client.card.history({ cardId: 'a' })).map((version) => version.what)).toEqual(['deleted', 'restored']);
    expect((await client.box.entries({ boxId })).entries).toHaveLength(1);
  });

  test('[B6] a card is visible until it expires', async () => {
    const { client, clock } = world();
    await client.card.add({ card: { ...text('a'), ttlSeconds: 10 } });
    await client.card.add({ card: { ...text('b'), expiresAt: '2026-01-01T00:00:20.000Z' as never } });
    const { boxId } = await client.box.create({ cardIds: ['a', 'b'] });
    const seen = async () => (await client.box.entries({ boxId })).entries.map((entry) => entry.cardId);
    expect(await seen()).toEqual(['a', 'b']);
    clock.at += 9_999;
    expect(await seen()).toEqual(['a', 'b']);
    clock.at += 1;
    expect(await seen()).toEqual(['b']);
    clock.at += 10_000;
    expect(await seen()).toEqual([]);
    expect(await client.box.cards({ boxId })).toMatchObject({ expiredCardIds: ['a', 'b'], cards: [{ expired: true }, { expired: true }] });
  });

  test('[W63] a deleted profile starts nothing and can be brought back with its versions', async () => {
    const { client } = world();
    const put = (prompt: string) =>
      client.profile.put({ name: 'Auditor', card: { type: 'sys.profile', content: { kind: 'json', data: { system_prompt_template: prompt } } } });
    await put('You audit.');
    const { profileBoxId } = await put('You audit twice.');
    expect(await client.profile.delete({ name: 'auditor' })).toEqual({ name: 'Auditor', deleted: true });
    expect((await client.profile.list({})).map(({ name }) => name)).not.toContain('Auditor');
    expect((await refusalOf(client.profile.find({ name: 'Auditor' }))).code).toBe('NOT_FOUND');
    expect((await refusalOf(client.handover.launchPrincipal({ profileName: 'Auditor', instruction: 'x' }))).code).toBe('NOT_FOUND');
    expect((await client.box.get({ boxId: profileBoxId })).boxId).toBe(profileBoxId);
    await client.profile.delete({ name: 'Auditor', deleted: false });
    expect(await client.profile.find({ name: 'Auditor' })).toMatchObject({ profileBoxId });
    await client.profile.delete({ name: 'Auditor' });
    const { profileBoxId: next } = await put('You audit again.');
    expect((await client.box.get({ boxId: next })).replaces).toBe(profileBoxId);
    expect((await refusalOf(client.profile.delete({ name: 'Nobody' }))).code).toBe('NOT_FOUND');
  });

  test('[B3] a card without a role has the role of its type', async () => {
    const { client } = world();
    const roles = {
      'task.instruction': ['user', { kind: 'text', text: 'x' }],
      'agent.thought': ['assistant', { kind: 'text', text: 'x' }],
      'tool.call': ['assistant', { kind: 'json', data: { tool_name: 'search', arguments: { q: 'x' } } }],
      'tool.result': ['tool', { kind: 'json', data: { status: 'success', result: [] } }],
      'task.deliverable': ['assistant', { kind: 'json', data: { summary: 'x', output: 'y' } }],
      'sys.profile': ['system', { kind: 'json', data: { name: 'x', llm_config: {} } }],
      'sys.rendered_prompt': ['system', { kind: 'text', text: 'You are' }],
      'sys.tools': ['system', { kind: 'json', data: { tools: [] } }],
      'meta.parent_pointer': ['system', { kind: 'json', data: { parent_agent_id: 'x' } }],
      'task.result_fields': ['system', { kind: 'fields', fields: [{ name: 'title', description: 'short' }] }],
      'anything.else': ['user', { kind: 'text', text: 'x' }],
    } as const;
    for (const [type, [role, content]] of Object.entries(roles)) {
      const card = await client.card.add({ card: { type, content: content as never, authorId: 'system' } });
      expect(card, type).toMatchObject({ type, metadata: { type, role } });
    }
    expect(await client.card.add({ card: { content: { kind: 'text', text: 'x' }, metadata: { type: 'a.b', role: 'assistant' } } })).toMatchObject({
      type: 'a.b',
    });
  });

  test.each([
    ['meta', { ...text('a'), meta: { role: 'user' } }],
    ['metadata.meta', { ...text('a'), metadata: { meta: { role: 'user' } } }],
    ['colour', { ...text('a'), colour: 'red' }],
    ['metadata.role', { ...text('a'), metadata: { role: 'boss' } }],
    ['type', { ...text('a'), type: 'no type' }],
    ['cardId', { ...text(''), cardId: '' }],
    ['cardId', { ...text('a'.repeat(201)) }],
    ['content.kind', { ...text('a'), content: { kind: 'words' } }],
  ])('[B2, B4] %s is refused by name', async (field, card) => {
    const { client } = world();
    const refusal = await refusalOf(client.card.add({ card: card as never }));
    expect(refusal.code).toBe('BAD_REQUEST');
    expect(`card.${field}`.startsWith(String(refusal.data.field))).toBe(true);
    expect((await client.card.list({})).total).toBe(0);
  });

  test.each([
    json('tool.call', { arguments: {} }),
    json('sys.tools', { tools: 'all' }),
    json('meta.parent_pointer', {}),
    { type: 'sys.profile', content: { kind: 'text', text: 'You are' } } as CardInput,
    { type: 'task.result_fields', content: { kind: 'text', text: 'title' } } as CardInput,
    { type: 'task.result_fields', content: { kind: 'fields', fields: [{ name: ' ', description: '' }] } } as CardInput,
    json('tool.result', { status: 'success', error: { code: 'x', message: 'y' } }),
    { ...text('a'), projectId: 'proj_2' } as CardInput,
    json('a.b', nested(1_000)),
  ])('[B2] a content that its type does not hold is refused: %j', async (card) => {
    const { client } = world();
    expect((await refusalOf(client.card.add({ card }))).code).toBe('BAD_REQUEST');
  });

  test('collection keeps an object that a card references', async () => {
    const { client, clock } = world();
    const put = async (words: string) => (await client.artifact.put({ text: words, contentType: 'text/plain' })).ref;
    const [named, filed, lost] = [await put('a report'), await put('an upload'), await put('nobody asks')];
    await client.card.add({ card: { ...json('task.deliverable', { files: [{ ref: named }] }), metadata: { uploaded_files: [filed] } } });
    clock.at += 7_200_000;
    await client.artifact.gc({});
    for (const ref of [named, filed]) expect((await client.artifact.stat({ ref })).ref).toBe(ref);
    expect(await refusalOf(client.artifact.stat({ ref: lost }))).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('cards can be filtered by type, role, author, time and text', async () => {
    const { client, clock } = world();
    await client.card.add({ card: { ...text('a', '100% sure'), authorId: 'ann' } });
    clock.at += 1_000;
    await client.card.add({ card: { ...json('agent.thought', { x: 1 }), cardId: 'b', authorId: 'bob' } });
    const ids = async (filter: object) => (await client.card.list(filter)).cards.map((card) => card.cardId);
    expect(await ids({})).toEqual(['b', 'a']);
    expect(await ids({ type: 'task.context' })).toEqual(['a']);
    expect(await ids({ role: 'assistant' })).toEqual(['b']);
    expect(await ids({ authorId: 'ann' })).toEqual(['a']);
    expect(await ids({ from: '2026-01-01T00:00:01.000Z' })).toEqual(['b']);
    expect(await ids({ to: '2026-01-01T00:00:00.999Z' })).toEqual(['a']);
    expect(await ids({ text: '0% S' })).toEqual(['a']);
    expect(await ids({ text: '_' })).toEqual([]);
    expect(await client.card.facets({})).toMatchObject({
      roles: [
        { name: 'assistant', count: 1 },
        { name: 'user', count: 1 },
      ],
    });
  });
});

function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let at = 0; at < levels; at++) value = { value };
  return value;
}

describe('boxes', () => {
  test('[B7] a box keeps its ids; an equal box returns the existing one', async () => {
    const { client } = world();
    const given = ['b', 'a', 'b'];
    const unknown = client.box.create({ cardIds: [...given, 'x'], boxId: 'box' });
    expect(await refusalOf(unknown)).toMatchObject({ code: 'NOT_FOUND', data: { id: 'b', missingCardIds: ['b', 'a', 'x'] } });
    for (const cardId of ['a', 'b']) await client.card.add({ card: text(cardId) });
    const box = await client.box.create({ cardIds: given, boxId: 'box' });
    expect(box.cardIds).toEqual(given);
    expect(await client.box.create({ cardIds: given, boxId: 'box' })).toEqual(box);
    expect(await refusalOf(client.box.create({ cardIds: ['a'], boxId: 'box' }))).toMatchObject({ code: 'CONFLICT' });
    const replaced = client.box.replace({ boxId: 'box', cardIds: ['a', 'x'] });
    expect(await refusalOf(replaced)).toMatchObject({ code: 'NOT_FOUND', data: { missingCardIds: ['x'] } });
    expect((await client.box.list({})).total).toBe(1);
  });

  test('[B2] the content of a card can be a plain string', async () => {
    const { client } = world();
    const added = await client.card.add({ card: { cardId: 'a', type: 'task.instruction', content: 'Please summarize this report' } });
    expect(added.content).toEqual({ kind: 'text', text: 'Please summarize this report' });
    expect(await client.card.add({ card: { cardId: 'a', type: 'task.instruction', content: added.content } })).toEqual(added);
    for (const content of [7, ['a'], { text: 'a' }])
      expect(await refusalOf(client.card.add({ card: { type: 'agent.thought', content } as never }))).toMatchObject({ code: 'BAD_REQUEST' });
  });

  test('[B11] boxes are returned in request order, each once', async () => {
    const { client } = world();
    for (const boxId of ['x', 'y']) await client.box.create({ cardIds: [], boxId });
    const { boxes, missingBoxIds } = await client.box.batch({ boxIds: ['y', 'no', 'x', 'y', 'no'] });
    expect([boxes.map((box) => box.boxId), missingBoxIds]).toEqual([['y', 'x'], ['no']]);
    for (const cardId of ['a', 'b']) await client.card.add({ card: text(cardId) });
    const { cards, missingCardIds } = await client.card.batch({ cardIds: ['b', 'zz', 'a', 'b', 'yy'] });
    expect([cards.map((card) => card.cardId), missingCardIds]).toEqual([
      ['b', 'a'],
      ['zz', 'yy'],
    ]);
  });

  test('[B11] a batch read uses the id index', () => {
    const { chain } = world();
    const plan = chain.db.all<{ detail: string }>(`EXPLAIN QUERY PLAN SELECT no FROM card ${whereIds}`, '[]', 1);
    expect(plan.map((step) => step.detail).join('\n')).toMatch(/SEARCH card USING .*cardId/);
  });

  test('[B10] two projects in one database do not see each other', async () => {
    const { client, chain } = world();
    const other = secondProject(chain);
    await client.card.add({ card: text('mine') });
    await client.box.create({ cardIds: ['mine'], boxId: 'box' });
    other.add(text('theirs'));
    other.create(['theirs', 'mine'], 'box');
    expect(other.box('box').cardIds).toEqual(['theirs', 'mine']);
    expect((await client.box.get({ boxId: 'box' })).cardIds).toEqual(['mine']);
    expect(other.batch(['mine', 'theirs']).missingCardIds).toEqual(['mine']);
    expect(() => other.get('mine')).toThrowError(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(() => other.append('box', ['mine'])).toThrowError(expect.objectContaining({ code: 'NOT_FOUND' }));
    for (const call of [
      client.card.get({ cardId: 'theirs' }),
      client.card.delete({ cardId: 'theirs' }),
      client.card.history({ cardId: 'theirs' }),
      client.box.append({ boxId: 'box', cardIds: ['theirs'] }),
    ])
      expect(await refusalOf(call)).toMatchObject({ code: 'NOT_FOUND' });
    expect((await client.card.list({})).cards.map((card) => card.cardId)).toEqual(['mine']);
    expect((await client.box.list({})).total).toBe(1);
    expect(await client.card.boxes({ cardId: 'mine' })).toEqual(['box']);
  });

  test('a card lists its boxes, despite ids with the same prefix', async () => {
    const { client } = world();
    for (const cardId of ['a', 'ab', 'a"b']) await client.card.add({ card: text(cardId) });
    await client.box.create({ cardIds: ['ab', 'a"b'], boxId: 'x' });
    await client.box.create({ cardIds: ['ab'], boxId: 'y' });
    await client.box.append({ boxId: 'y', cardIds: ['a'] });
    expect(await client.card.boxes({ cardId: 'a' })).toEqual(['y']);
    expect(await client.card.boxes({ cardId: 'ab' })).toEqual(['y', 'x']);
    expect(await client.card.boxes({ cardId: 'a"b' })).toEqual(['x']);
  });
});

describe('boxes and commits', () => {
  const history = () =>
    prompt('u1', 'fix it', { parent: null }) +
    call('a1', 'toolu_1', 'Read', { path: 'x' }, { parent: 'u1' }) +
    result('r1', 'toolu_1', 'text of x', { parent: 'a1' }) +
    answer('a2', 'done', { parent: 'r1' });

  async function imported() {
    const made = world();
    const commit = await made.client.context.checkpoint({
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text: history(),
      template: 'coder',
      checkpoint: 'turn_boundary',
    });
    return { ...made, commit };
  }

  test('[B12] a box of a commit has its conversation, with the same cards each time', async () => {
    const { client, commit } = await imported();
    const box = await client.box.fromContext({ id: commit.id });
    expect((await client.box.cards({ boxId: box.boxId })).cards.map((card) => [card.type, card.metadata.role])).toEqual([
      ['task.instruction', 'user'],
      ['tool.call', 'assistant'],
      ['tool.result', 'tool'],
      ['agent.thought', 'assistant'],
    ]);
    expect((await client.box.fromContext({ id: commit.id })).cardIds).toEqual(box.cardIds);
    const { entries } = await client.context.entries({ id: commit.id });
    const seen = (each: { role: string; kind: string; text?: string; toolName?: string; toolCallId?: string; arguments?: unknown }) => [
      each.role,
      each.kind,
      each.text,
      each.toolName,
      each.toolCallId,
      each.arguments,
    ];
    expect((await client.box.entries({ boxId: box.boxId })).entries.map(seen)).toEqual(entries.map(seen));
  });

  test('[B12] a box committed and read back has the same cards', async () => {
    const { client, commit } = await imported();
    const box = await client.box.fromContext({ id: commit.id });
    const made = await client.box.commit({ boxId: box.boxId, parent: null, principal: 'ann' });
    expect(made).toMatchObject({ format: 'cardbox-v1', type: 'delta', parent: null, principal: 'ann' });
    expect((await client.box.fromContext({ id: made.id })).cardIds).toEqual(box.cardIds);
    await client.card.delete({ cardId: box.cardIds[1] ?? '' });
    const without = await client.box.commit({ boxId: box.boxId, parent: made.id });
    const { entries } = await client.context.entries({ id: without.id, stop: without.id });
    expect(entries.map((entry) => entry.source.commit)).toEqual([without.id, without.id, without.id]);
  });

  test('[B12] a chain of cards materializes in another format with the same conversation', async () => {
    const { client, commit } = await imported();
    const box = await client.box.fromContext({ id: commit.id });
    const made = await client.box.commit({ boxId: box.boxId, parent: null });
    const { text: lines } = await client.export.context({ id: made.id, format: 'claude-code-v1' });
    for (const words of ['fix it', 'toolu_1', 'text of x', 'done']) expect(lines).toContain(words);
    const fork = await client.context.fork({ id: made.id, at: (await client.context.entries({ id: made.id })).entries[2]?.key });
    expect((await client.context.entries({ id: fork.id })).entries.map((entry) => entry.kind)).toEqual(['text', 'tool_call', 'tool_result']);
    const edited = await client.context.fork({
      id: made.id as ContextId,
      edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'and now?' } }],
    });
    expect((await client.context.entries({ id: edited.id })).entries.at(-1)).toMatchObject({ role: 'user', text: 'and now?' });
  });
});
