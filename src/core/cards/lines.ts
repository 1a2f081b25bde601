import { defined } from '../base/index.js';
import type { Card } from '../contract/index.js';
import type { CardLine } from '../formats/index.js';

/** Converts a card to a line of a `cardbox-v1` delta, without project-specific fields. */
export const lineOfCard = (card: Card): CardLine => ({
  cardId: card.cardId,
  content: card.content,
  ...(card.toolCalls && { toolCalls: card.toolCalls as CardLine['toolCalls'] & object }),
  ...defined({ toolCallId: card.toolCallId, ttlSeconds: card.ttlSeconds, expiresAt: card.expiresAt }),
  metadata: card.metadata as CardLine['metadata'],
  authorId: card.authorId,
  createdAt: card.createdAt,
});
