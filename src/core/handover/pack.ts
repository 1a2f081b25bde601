import { addCard, batchCards, insertBox, type NewCard, roleOfType } from '../cards/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { InputOf, OutputOf, Packing, PlannedCard } from '../contract/index.js';
import { type CardRun, type PackInput, type PackPlan, planPack } from './plan.js';

type PackedBox = OutputOf<'handover.pack'>;

/** Packs a context box for another agent (H1 to H6), completely or not at all. @throws BAD_REQUEST, NOT_FOUND */
export function pack(chain: WriteChain, input: PackInput): PackedBox {
  return chain.db.transaction(() => {
    const plan = planPack(chain, input);
    const ids = plan.runs.map((run) => (run.reason === 'inherited' ? run.cardIds : [addCard(chain, run.card).cardId]));
    const attachedCardIds = ids.flat();
    const { boxId } = insertBox(chain, attachedCardIds, { packed: packingOf(plan) });
    return { contextBoxId: boxId, targetProfileBoxId: plan.profile.profileBoxId, attachedCardIds };
  });
}

const packingOf = ({ runs, dropped }: PackPlan): Packing => ({
  runs: runs.map((run) => ({ ...originOf(run), cards: run.reason === 'inherited' ? run.cardIds.length : 1 })),
  dropped: [...dropped],
});

const originOf = (run: CardRun): { reason: CardRun['reason']; argument?: string; boxId?: string } => ({
  reason: run.reason,
  ...(run.reason !== 'parent' && { argument: run.argument }),
  ...(run.reason === 'inherited' && { boxId: run.boxId }),
});

/** Previews the cards that `pack` would write, with the reason for each. */
export function previewPack(chain: ReadChain, input: PackInput): OutputOf<'handover.preview'> {
  const { profile, runs, dropped } = planPack(chain, input);
  const inherited = batchCards(
    chain,
    runs.flatMap((run) => (run.reason === 'inherited' ? run.cardIds : [])),
  );
  const known = new Map(inherited.cards.map((card) => [card.cardId, card]));
  const cards = runs.flatMap((run): PlannedCard[] => {
    if (run.reason !== 'inherited') return [{ ...originOf(run), ...shownNew(run.card) }];
    return run.cardIds.map((cardId): PlannedCard => {
      const card = known.get(cardId);
      if (!card) return { ...originOf(run), cardId, type: 'unknown', role: 'user', authorId: 'unknown', state: 'missing' };
      const state = card.deletedAt === undefined ? (card.expired ? 'expired' : undefined) : 'deleted';
      const { type, metadata, authorId, content } = card;
      return { ...originOf(run), cardId, type, role: metadata.role, authorId, content, ...(state && { state }) };
    });
  });
  return { profile: { name: profile.name, profileBoxId: profile.profileBoxId }, cards, dropped: [...dropped] };
}

const shownNew = (card: NewCard): Pick<PlannedCard, 'type' | 'role' | 'authorId' | 'content'> => ({
  type: card.type ?? '',
  role: card.metadata?.role ?? roleOfType(card.type ?? ''),
  authorId: card.authorId ?? 'unknown',
  content: card.content,
});

/** Packs the context of a delegation (H7): the instruction, the source boxes and the parent pointer. */
export function packWithInstruction(chain: WriteChain, input: InputOf<'handover.packWithInstruction'>): PackedBox {
  const boxes = (input.inheritBoxIds ?? []).filter((boxId) => boxId !== null && boxId !== '');
  return pack(chain, {
    toolSuffix: input.toolSuffix,
    sourceAgentId: input.sourceAgentId,
    arguments: { profile_name: input.profileName, instruction: input.instruction, ...(boxes.length > 0 && { input_box_ids: boxes }) },
    handover: {
      target_profile_config: { profile_name: input.profileName },
      context_packing_config: {
        pack_arguments: [{ arg_key: 'instruction', as_card_type: 'task.instruction' }],
        inherit_context: { include_boxes_from_args: boxes.length > 0 ? ['input_box_ids'] : [], include_parent: true },
      },
    },
  });
}
