import type { Card } from '../contract/index.js';
import type { CardLine } from '../formats/index.js';

/** Converts a card to a line of a `cardbox-v1` delta, without project-specific fields. */
export const lineOfCard = (card: Card): CardLine => ({
  cardId: card.cardId,
  content: card.content,
  ...(card.toolCalls && { toolCalls: card.toolCalls as CardLine['toolCalls'] & object }),
  ...(card.toolCallId !== undefined && { toolCallId: card.toolCallId }),
  ...(card.ttlSeconds !== undefined && { ttlSeconds: card.ttlSeconds }),
  ...(card.expiresAt !== undefined && { expiresAt: card.expiresAt }),
  metadata: card.metadata as CardLine['metadata'],
  authorId: card.authorId,
  createdAt: card.createdAt,
});
