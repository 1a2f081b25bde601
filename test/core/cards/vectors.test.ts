import { describe, expect, test } from 'vitest';
import { cardsInOrder, ensureBox, insertBox, type NewCard } from '../../../src/core/cards/index.js';
import type { Card } from '../../../src/core/contract/index.js';
import { modelCards, renderPrompt, requestOf, stepBudget, submitted } from '../../../src/core/handover/index.js';
import { refusalOf, text, type Vector, vectors, world } from '../handover/world.js';
import { secondProject } from './projects.js';

const vector = (id: string): Vector => vectors.find((each) => each.id === id);

describe('vectors: cards and boxes', () => {
  test('[B5] C01 a later write replaces the content and keeps the creation time', async () => {
    const { client, clock } = world();
    const { writes } = vector('C01').given;
    const first = await client.card.add({ card: text(writes[0].card_id, writes[0].text) });
    clock.at += 1_000;
    const second = await client.card.add({ card: text(writes[1].card_id, writes[1].text) });
    expect(second.content).toEqual({ kind: 'text', text: vector('C01').expected.text });
    expect(second.createdAt).toBe(first.createdAt);
    expect(second.repairedAt).not.toBe(first.createdAt);
    expect((await client.card.list({})).total).toBe(vector('C01').expected.rows);
  });

  test('[B6] C03 every read returns an expired card, flagged', async () => {
    const { client } = world();
    for (const { card_id: cardId, ttl_seconds: ttlSeconds } of vector('C03').given.cards)
      await client.card.add({ card: { ...text(cardId), ttlSeconds } });
    const { cards } = await client.card.batch({ cardIds: vector('C03').expected.read_returns });
    expect(cards.map((card) => card.cardId)).toEqual(vector('C03').expected.read_returns);
    expect(cards.filter((card) => card.expired).map((card) => card.cardId)).toEqual(vector('C03').expected.expired_rows);
  });

  test('[B10] C04 (differs) an id of another project is refused', async () => {
    const { client, chain } = world();
    const other = secondProject(chain);
    const { writes } = vector('C04').given;
    await client.card.add({ card: text(writes[0].card_id) });
    expect(() => other.add({ ...text(writes[1].card_id, writes[1].text) })).toThrowError(expect.objectContaining({ code: 'CONFLICT' }));
    expect((await client.card.get({ cardId: writes[0].card_id })).content).toEqual({ kind: 'text', text: 'a' });
    expect(other.batch([writes[0].card_id])).toEqual({ cards: [], missingCardIds: [writes[0].card_id] });
  });

  test('[B7] C05 (differs) an append keeps first positions, and an unknown card appends nothing', async () => {
    const { client } = world();
    const { box, append } = vector('C05').given;
    for (const cardId of box) await client.card.add({ card: text(cardId) });
    const { boxId } = await client.box.create({ cardIds: box });
    expect(await refusalOf(client.box.append({ boxId, cardIds: append }))).toMatchObject({ code: 'NOT_FOUND', data: { id: 'x' } });
    expect((await client.box.get({ boxId })).cardIds).toEqual(box);
    await client.card.add({ card: text('x') });
    expect((await client.box.append({ boxId, cardIds: append })).cardIds).toEqual(['a', 'x']);
  });

  test('[B7] C07 an empty append needs an existing box', async () => {
    const { client } = world();
    expect(await refusalOf(client.box.append({ boxId: '00000000-0000-7000-8000-000000000001', cardIds: [] }))).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('[B7] C09 a replacement keeps its list', async () => {
    const { client } = world();
    for (const cardId of new Set([...vector('C09').given.box, ...vector('C09').given.save])) await client.card.add({ card: text(cardId as string) });
    const { boxId } = await client.box.create({ cardIds: vector('C09').given.box });
    const next = await client.box.replace({ boxId, cardIds: vector('C09').given.save });
    expect(next.cardIds).toEqual(vector('C09').expected.card_ids);
    expect(next.replaces).toBe(boxId);
    expect(await client.box.get({ boxId })).toMatchObject({ cardIds: vector('C09').given.box, replacedBy: next.boxId });
  });

  test('[B7] C11 ensuring a box creates it', () => {
    const { chain } = world();
    const made = chain.db.transaction(() => ensureBox(chain, vector('C11').given.box_id));
    expect(made.boxId === vector('C11').given.box_id).toBe(vector('C11').expected.same_id);
    expect(chain.db.transaction(() => ensureBox(chain, made.boxId))).toMatchObject({ boxId: made.boxId });
  });

  test('[B11] C12 cards in id order, repeats kept, missing ones skipped', async () => {
    const { client, chain } = world();
    for (const cardId of ['a', 't']) await client.card.add({ card: text(cardId) });
    const ids = vector('C12').given.ids.map((id: string | null) => id ?? '');
    expect(cardsInOrder(chain, ids).map((card) => card.cardId)).toEqual(vector('C12').expected.returned);
  });

  test('[B8] C13 a tool call has one result', async () => {
    const { client } = world();
    const [first, second] = vector('C13').given.cards.map(({ card_id, type, tool_call_id }: Vector) => ({
      cardId: card_id,
      type,
      toolCallId: tool_call_id,
      content: { kind: 'json', data: { status: 'success', result: 1 } },
    }));
    await client.card.add({ card: first });
    await client.card.add({ card: first });
    expect(await refusalOf(client.card.add({ card: second }))).toMatchObject({ code: 'CONFLICT', data: { cardId: 'r1' } });
  });

  test('[B3] C14 author and project in the metadata are ignored; metadata.type wins', async () => {
    const { client } = world();
    const { metadata, card } = vector('C14').given;
    const added = await client.card.add({ card: { type: card.type, authorId: card.author_id, content: { kind: 'text', text: '' }, metadata } });
    expect(added).toMatchObject({ type: 'forged', authorId: 'real', projectId: 'proj_1', metadata: { type: 'forged', role: 'user', k: 1 } });
    const wire = await client.projects.card({ projectId: 'proj_1', cardId: added.cardId });
    expect(Object.keys(wire.metadata).toSorted()).toEqual(vector('C14').expected.stored_metadata_keys);
    expect(wire.metadata).toMatchObject({ author_id: 'real', project_id: 'proj_1', k: 1 });
  });

  test.each(['C16', 'C24'])('[B2] %s content of an unknown kind is refused', async (id) => {
    const { client } = world();
    const content = vector(id).given.content ?? vector(id).given.card.content;
    expect(await refusalOf(client.card.add({ card: { type: 'task.context', content } }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'card.content.kind' },
    });
  });

  test.each(['C17', 'C18', 'C20'])('[B2] %s a result without a valid status is refused', async (id) => {
    const { client } = world();
    const refusal = await refusalOf(client.card.add({ card: { type: 'tool.result', content: { kind: 'json', data: vector(id).given } } }));
    expect(refusal.code).toBe('BAD_REQUEST');
    expect(refusal.message).toContain(vector(id).expected.error.message.replace('ToolResultContent.', ''));
  });
});

const card = (cardId: string, type: string, role: Card['metadata']['role'], content: Card['content']): Card => ({
  cardId,
  projectId: 'proj_1',
  type,
  content,
  metadata: { type, role },
  authorId: 'someone',
  createdAt: '2026-01-01T00:00:00.000Z' as Card['createdAt'],
});
const said = (words: string): Card['content'] => ({ kind: 'text', text: words });

/** The cards of the hydration vectors. */
const cardsInWords: Record<string, Card> = {
  i1: card('i1', 'task.instruction', 'user', said('Write it')),
  pp: card('pp', 'meta.parent_pointer', 'system', { kind: 'json', data: { parent_agent_id: 'boss' } }),
  rf: card('rf', 'task.result_fields', 'system', {
    kind: 'fields',
    fields: [
      { name: 'title', description: 'short' },
      { name: 'body', description: '' },
    ],
  }),
};

describe('vectors: hydration', () => {
  test.each(['H01', 'H03'])('[H15] %s the context, then new cards of the output', (id) => {
    const { context_box, output_box } = vector(id).given;
    expect(modelCards(context_box === 'missing' ? [] : context_box, output_box)).toEqual(vector(id).expected.ids);
  });

  test.each(['H04', 'H05', 'H08', 'H09'])('[H16] %s prompt, tools, cards', (id) => {
    const { given, expected } = vector(id);
    const cards = (given.cards ?? []).map((words: string) => cardsInWords[words.split(' ')[0] ?? '']);
    const profile = card('profile', 'sys.profile', 'system', { kind: 'json', data: given.profile });
    const request = requestOf({ cards, profile, agentId: 'a', tools: given.tools ?? [], appendix: given.system_append });
    expect(request.messages).toEqual(expected.messages);
    expect(request.tools).toEqual(expected.tools ?? null);
  });

  test('[H16] H10 a template with an unbalanced brace is refused', () => {
    expect(() => renderPrompt(vector('H10').given.system_prompt_template, {})).toThrowError(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });

  test.each(['H11', 'H12', 'H13'])('[H16] %s %#: the last steps have a notice and fewer tools', (id) => {
    const { step_count, max_steps, tools } = vector(id).given;
    const budget = stepBudget<string>(step_count, max_steps, tools);
    expect(budget.message ?? null).toBe(vector(id).expected.extra_system_message);
    expect(budget.tools).toEqual(vector(id).expected.tools);
  });

  test.each(['H15', 'H16', 'H19', 'H20'])('[H16] %s submit_result', (id) => {
    const { given, expected } = vector(id);
    const { complete, cards } = submitted(given.args, given.required, 'call');
    expect(complete).toBe(expected.mark_complete);
    expect(cards.map(shownResult)).toEqual(expected.cards);
  });
});

const shownResult = ({ type, metadata, content }: NewCard): Vector => ({
  type,
  role: metadata?.role,
  content:
    type === 'tool.result' && content.kind === 'json'
      ? { ...content.data, ...(!('error' in content.data) && { error: null }) }
      : content.kind === 'json'
        ? { data: content.data }
        : content.kind === 'text'
          ? { text: content.text }
          : {},
});

describe('vectors: read endpoints', () => {
  async function shelves() {
    const made = world();
    for (const each of [cardsInWords.i1, cardsInWords.pp] as Card[]) await made.client.card.add({ card: { ...each, authorId: 'u' } });
    const { boxId } = made.chain.db.transaction(() => insertBox(made.chain, vector('A01').given.box));
    return { ...made, projectId: 'proj_1', boxId };
  }

  test('[B13] A01, A04, A05 a box and its last cards', async () => {
    const { client, projectId, boxId } = await shelves();
    expect(await client.projects.box({ projectId, boxId })).toEqual({ ...vector('A01').expected.body, box_id: boxId });
    const ids = async (limit?: number) => (await client.projects.boxCards({ projectId, boxId, limit })).map((each) => each.card_id);
    expect(await ids()).toEqual(vector('A04').expected.ids);
    for (const [limit, expected] of Object.entries(vector('A05').expected)) expect(await ids(Number(limit))).toEqual(expected);
  });

  test('[B13] A06 a card has its ten fields and its content kind', async () => {
    const { client, projectId } = await shelves();
    const body = await client.projects.card({ projectId, cardId: 'i1' });
    const { content, created_at, metadata, project_id, ...rest } = vector('A06').expected.body;
    expect(body).toEqual({
      ...rest,
      project_id: projectId,
      content: { kind: 'text', ...content },
      created_at: '2026-01-01T00:00:00.000Z',
      metadata: { ...metadata, project_id: projectId, created_at: '2026-01-01T00:00:00.000Z' },
    });
    expect([created_at, project_id]).toEqual(['<iso>', '<project>']);
  });

  test('[B11, B13] A08, A09, A10 cards by id, once each, and missing ids in order', async () => {
    const { client, projectId } = await shelves();
    const { cards, missing_ids } = await client.projects.cards({ projectId, card_ids: vector('A08').given.card_ids });
    expect(cards.map((each) => each.card_id)).toEqual(vector('A08').expected.card_ids_as_set);
    expect(missing_ids).toEqual(vector('A08').expected.missing_ids);
    const many = Array.from({ length: vector('A09').given.distinct_ids }, (_, at) => `c${at}`);
    expect(await refusalOf(client.projects.cards({ projectId, card_ids: many }))).toMatchObject({
      code: 'BAD_REQUEST',
      message: vector('A09').expected.body.detail.error_message,
    });
    expect(await client.projects.cards({ projectId, card_ids: Array.from({ length: 500 }, () => 'x') })).toEqual(vector('A10').expected.body);
  });

  test('[B13] A13, A14 boxes by id', async () => {
    const { client, projectId, boxId } = await shelves();
    expect(await client.projects.boxes({ projectId, box_ids: [] })).toEqual(vector('A13').expected.body);
    expect(await refusalOf(client.projects.boxes({ projectId, box_ids: 'x' as never }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'box_ids' },
    });
    const answer = await client.projects.boxes({ projectId, box_ids: [boxId, 'nope', boxId], hydrate: true, limit: 3 });
    expect(answer).toMatchObject({ missing_box_ids: ['nope'], missing_card_ids: ['ghost'] });
    expect(answer.boxes.map((box) => box.hydrated_cards?.map((each) => each.card_id))).toEqual([['pp', 'i1']]);
    expect(answer.boxes[0]?.card_ids).toEqual(vector('A01').given.box);
  });

  test('[B10, B13] addresses of other projects and invalid ids are not found', async () => {
    const { client, chain, projectId, boxId } = await shelves();
    const other = secondProject(chain);
    other.add({ ...text('theirs') });
    expect(await refusalOf(client.projects.box({ projectId: 'proj_2', boxId }))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusalOf(client.projects.card({ projectId, cardId: 'theirs' }))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusalOf(client.projects.card({ projectId, cardId: 'x'.repeat(10_000) }))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await client.projects.cards({ projectId, card_ids: ['theirs', ''] })).toEqual({ cards: [], missing_ids: ['theirs', ''] });
  });
});

test('every vector of cards, hydration and HTTP is tested', () => {
  const proved =
    'C01 C03 C04 C05 C07 C09 C11 C12 C13 C14 C16 C17 C18 C20 C24 H01 H03 H04 H05 H08 H09 H10 H11 H12 H13 H15 H16 H19 H20 A01 A04 A05 A06 A08 A09 A10 A13 A14';
  const these = vectors.filter((each) => ['cardbox', 'http', 'hydration'].includes(each.operation)).map((each) => each.id);
  expect(these).toEqual(proved.split(' '));
});
