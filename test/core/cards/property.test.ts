import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addCard, appendToBox, batchCards, boxCards, createBox, deleteCard, getBox, putProfile, replaceBox } from '../../../src/core/cards/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { pack } from '../../../src/core/handover/index.js';
import { runs } from '../../support/properties.js';
import { text, world } from '../handover/world.js';
import { secondProject } from './projects.js';

const cards = ['a', 'b', 'c', 'd', 'e'];

type Step =
  | { readonly do: 'add'; readonly project: 0 | 1; readonly card: string; readonly said: string }
  | { readonly do: 'delete'; readonly project: 0 | 1; readonly card: string; readonly said: string }
  | { readonly do: 'create' | 'append' | 'replace'; readonly project: 0 | 1; readonly box: number; readonly cards: readonly string[] }
  | { readonly do: 'pack'; readonly project: 0 | 1; readonly boxes: readonly number[] };

const project = fc.constantFrom(0 as const, 1 as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('add' as const, 'delete' as const),
    project,
    card: fc.constantFrom(...cards),
    said: fc.constantFrom('one', 'two'),
  }),
  fc.record({
    do: fc.constantFrom('create' as const, 'append' as const, 'append' as const, 'replace' as const),
    project,
    box: fc.nat(5),
    cards: fc.array(fc.constantFrom(...cards, 'of no card'), { maxLength: 6 }),
  }),
  fc.record({ do: fc.constant('pack' as const), project, boxes: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }) }),
);

/** The model: cards by id, and boxes. */
interface Model {
  readonly cards: Map<string, { said: string; deleted: boolean; repairs: number }>;
  readonly boxes: { readonly boxId: string; ids: string[] }[];
}

const first = (ids: readonly string[]): string[] => [...new Set(ids)];
const refused = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

/** Runs a step in the store and in the model, and compares the outcomes. */
function take(chain: WriteChain, model: Model, others: Model, step: Step): void {
  if (step.do === 'add') {
    // The two projects share one id, which causes conflicts.
    const taken = others.cards.has(step.card);
    expect(refused(() => addCard(chain, text(step.card, step.said)))).toBe(taken ? 'CONFLICT' : undefined);
    const known = model.cards.get(step.card);
    if (!taken)
      model.cards.set(step.card, { said: step.said, deleted: false, repairs: (known?.repairs ?? 0) + (known && known.said !== step.said ? 1 : 0) });
    return;
  }
  if (step.do === 'delete') {
    const known = model.cards.get(step.card);
    expect(refused(() => deleteCard(chain, step.card))).toBe(known ? undefined : 'NOT_FOUND');
    if (known) known.deleted = true;
    return;
  }
  if (step.do === 'pack') {
    const boxes = step.boxes.flatMap((at) => model.boxes[at % Math.max(1, model.boxes.length)] ?? []);
    const packed = pack(chain, {
      toolSuffix: 't',
      sourceAgentId: 's',
      arguments: { instruction: 'go', src: boxes.map((box) => box.boxId) },
      handover: {
        target_profile_config: { profile_name: 'writer' },
        context_packing_config: {
          pack_arguments: [{ arg_key: 'instruction' }],
          inherit_context: { include_boxes_from_args: ['src'], include_parent: true },
        },
      },
    });
    const inherited = first(boxes.flatMap((box) => box.ids));
    expect(packed.attachedCardIds.slice(1, -1)).toEqual(inherited);
    expect(getBox(chain, packed.contextBoxId).cardIds).toEqual(packed.attachedCardIds);
    model.boxes.push({ boxId: packed.contextBoxId, ids: packed.attachedCardIds });
    for (const id of [packed.attachedCardIds[0], packed.attachedCardIds.at(-1)]) model.cards.set(id ?? '', { said: '', deleted: false, repairs: 0 });
    return;
  }
  const box = model.boxes[step.box % Math.max(1, model.boxes.length)];
  if (step.do === 'create' || !box) {
    const isRefused = step.cards.some((id) => !model.cards.has(id));
    if (isRefused) expect(refused(() => createBox(chain, step.cards))).toBe('NOT_FOUND');
    else model.boxes.push({ boxId: createBox(chain, step.cards).boxId, ids: [...step.cards] });
    return;
  }
  if (step.do === 'replace') {
    if (step.cards.some((id) => !model.cards.has(id))) {
      expect(refused(() => replaceBox(chain, box.boxId, step.cards))).toBe('NOT_FOUND');
      return;
    }
    const next = replaceBox(chain, box.boxId, step.cards);
    expect(next.replaces).toBe(box.boxId);
    model.boxes.push({ boxId: next.boxId, ids: [...step.cards] });
    return;
  }
  const unknown = step.cards.some((id) => !model.cards.has(id));
  expect(refused(() => appendToBox(chain, box.boxId, step.cards))).toBe(unknown ? 'NOT_FOUND' : undefined);
  if (!unknown) box.ids.push(...first(step.cards).filter((id) => !box.ids.includes(id)));
}

function compare(chain: WriteChain, model: Model): void {
  for (const box of model.boxes) {
    expect(getBox(chain, box.boxId).cardIds).toEqual(box.ids);
    const read = boxCards(chain, box.boxId);
    expect(read.cards.map((card) => card.cardId)).toEqual(box.ids.filter((id) => model.cards.has(id)));
    expect(read.missingCardIds).toEqual(first(box.ids).filter((id) => !model.cards.has(id)));
    expect(read.deletedCardIds).toEqual(first(box.ids).filter((id) => model.cards.get(id)?.deleted));
  }
  const { cards: found, missingCardIds } = batchCards(chain, cards);
  expect(found.map((card) => card.cardId)).toEqual(cards.filter((id) => model.cards.has(id)));
  expect(missingCardIds).toEqual(cards.filter((id) => !model.cards.has(id)));
  for (const card of found) {
    const known = model.cards.get(card.cardId);
    expect(card.content).toEqual({ kind: 'text', text: known?.said });
    expect(card.deletedAt !== undefined).toBe(known?.deleted);
    expect(card.repairedAt !== undefined).toBe((known?.repairs ?? 0) > 0);
  }
}

test('[B5, B7, B10, B11, H3] random steps keep order, first occurrences and isolation', { tags: 'long' }, () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { chain } = world();
      const chains = [chain, secondProject(chain).chain] as const;
      const models = [0, 1].map((): Model => ({ cards: new Map(), boxes: [] })) as [Model, Model];
      for (const own of chains) putProfile(own, 'Writer', { content: { kind: 'json', data: {} } });
      for (const each of steps) take(chains[each.project], models[each.project], models[1 - each.project] as Model, each);
      compare(chains[0], models[0]);
      compare(chains[1], models[1]);
    }),
    { numRuns: runs(60) },
  );
});
