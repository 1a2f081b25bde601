import { badRequest, defined, notFound } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { Card, OutputOf, WireCard } from '../contract/index.js';
import { boxNamed, idsAt } from './places.js';
import { batchCards, cardsInOrder } from './read.js';

/** Converts a card to the field names of the public system, with its content kind. */
export const wireCardOf = (card: Card): WireCard => ({
  card_id: card.cardId,
  project_id: card.projectId,
  type: card.type,
  content: card.content,
  created_at: card.createdAt,
  author_id: card.authorId,
  metadata: { ...card.metadata, author_id: card.authorId, created_at: card.createdAt, project_id: card.projectId },
  tool_calls: card.toolCalls ?? null,
  tool_call_id: card.toolCallId ?? null,
  ttl_seconds: card.ttlSeconds ?? null,
  ...defined({ expires_at: card.expiresAt, deleted_at: card.deletedAt }),
});

interface WireBox {
  box_id: string;
  card_ids: string[];
}

const maxIds = 100;
const maxCards = 500;
const defaultCards = 200;

/** Clamps a limit, as the public system does. */
const clamped = (limit: number): number => (Number.isFinite(limit) ? Math.max(1, Math.min(maxCards, Math.trunc(limit))) : defaultCards);

/** Reads a box in the form of the public system. @throws NOT_FOUND */
export function wireBox(chain: ReadChain, boxId: string): WireBox {
  const box = boxNamed(chain, boxId);
  if (!box) throw notFound(boxId, 'box not found');
  return { box_id: boxId, card_ids: idsAt(chain, box.no) };
}

/** The last cards of a box. Order and repeats are kept, unknown ids skipped. @throws NOT_FOUND */
export const wireBoxCards = (chain: ReadChain, boxId: string, limit: number): WireCard[] =>
  cardsInOrder(chain, wireBox(chain, boxId).card_ids.slice(-clamped(limit))).map(wireCardOf);

/** Reads cards by id. @throws BAD_REQUEST for more than 100 ids. */
export function wireCards(chain: ReadChain, cardIds: readonly string[]): { cards: WireCard[]; missing_ids: string[] } {
  const { cards, missingCardIds } = batchCards(chain, limited(cardIds, 'card_ids'));
  return { cards: cards.map(wireCardOf), missing_ids: missingCardIds };
}

/** Reads boxes, with their last cards if requested. @throws BAD_REQUEST for more than 100 ids. */
export function wireBoxes(chain: ReadChain, boxIds: readonly string[], how: { hydrate: boolean; limit: number }): OutputOf<'projects.boxes'> {
  const asked = limited(boxIds, 'box_ids');
  const found = asked.flatMap((boxId) => {
    const box = boxNamed(chain, boxId);
    return box ? [{ box_id: boxId, card_ids: idsAt(chain, box.no) }] : [];
  });
  const missing_box_ids = asked.filter((boxId) => !found.some((box) => box.box_id === boxId));
  if (!how.hydrate) return { boxes: found, missing_box_ids, missing_card_ids: [] };
  const tail = (box: WireBox): string[] => box.card_ids.slice(-clamped(how.limit));
  const { cards, missingCardIds } = batchCards(chain, found.flatMap(tail));
  const byId = new Map(cards.map((card) => [card.cardId, wireCardOf(card)]));
  const boxes = found.map((box) => ({ ...box, hydrated_cards: tail(box).flatMap((id) => byId.get(id) ?? []) }));
  return { boxes, missing_box_ids, missing_card_ids: missingCardIds };
}

function limited(ids: readonly string[], field: string): string[] {
  const each = [...new Set(ids)];
  if (each.length > maxIds) throw badRequest(field, `${field} exceeds limit ${maxIds}`);
  return each;
}
