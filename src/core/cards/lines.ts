import type { Card } from '../contract/index.js';
import type { CardLine } from '../formats/index.js';

/** A card as it stands in a `cardbox-v1` delta: all that it is, without what this project knows about it. */
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
