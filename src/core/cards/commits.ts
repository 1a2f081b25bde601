import { sha256Of } from '../artifacts/index.js';
import { type ContextId, canonicalJson, type EntryKey, type Json, toTimestamp } from '../base/index.js';
import { checkpoint, contextEntries, type WriteChain, writable } from '../chain/index.js';
import type { Box, Card, Commit, InputOf, Stop } from '../contract/index.js';
import { cardbox, cardsOfEntries, encodeCards, entriesOfCards } from '../formats/index.js';
import { addCard } from './add.js';
import { insertBox } from './boxes.js';
import { readProjectId, selectCard } from './card.js';
import { boxAt, idsAt } from './places.js';
import { cardsInOrder, getBox, lineOfCard, seenByModel } from './read.js';

/** Encodes cards as a `cardbox-v1` delta. */
export const cardsDelta = (cards: readonly Card[]): Uint8Array => encodeCards(cards.map(lineOfCard));

/** Commits the cards of a box that a model would see (B12). @throws NOT_FOUND */
export function commitBox(chain: WriteChain, input: InputOf<'box.commit'>): Commit {
  const cards = cardsInOrder(chain, idsAt(chain, boxAt(chain, input.boxId).no)).filter(seenByModel);
  return checkpoint(chain, {
    parent: input.parent,
    type: input.type ?? 'delta',
    format: cardbox.id,
    data: Buffer.from(cardsDelta(cards)).toString('base64'),
    template: input.template ?? 'cardbox',
    principal: input.principal,
    summary: input.summary,
    checkpoint: 'explicit',
  });
}

/** Creates a box from a context. An entry becomes the card that it was, or one named by a hash, so that equal contexts give equal cards (B12). */
export function boxFromContext(chain: WriteChain, input: { id: ContextId; stop?: Stop | undefined }): Box {
  const entries = contextEntries(chain, input).map(({ entry }) => writable(entry));
  const projectId = readProjectId(chain);
  const lines = cardsOfEntries(entries, { newId: () => chain.newId(), now: toTimestamp(chain.clock()) });
  return chain.db.transaction(() => {
    const ids = lines.map((line) => {
      const own = chain.db.one(`${selectCard} WHERE project = ? AND cardId = ?`, chain.project, line.cardId);
      if (own) return line.cardId;
      const keys = entriesOfCards([line]).map((entry) => entry.key);
      const content = canonicalJson({ ...line, cardId: '', createdAt: '', entryKeys: [] } as unknown as Json);
      const cardId = sha256Of([projectId, ...keys, content].join('\0'))
        .toString('hex')
        .slice(0, 32);
      const { entryKeys: _, createdAt, ...card } = line;
      addCard(chain, {
        ...card,
        cardId,
        toolCalls: card.toolCalls && [...card.toolCalls],
        createdAt: createdAt as Card['createdAt'] | undefined,
        expiresAt: card.expiresAt as Card['createdAt'] | undefined,
        entryKey: (keys[0] ?? cardId) as EntryKey,
      } as Parameters<typeof addCard>[1]);
      return cardId;
    });
    return getBox(chain, insertBox(chain, ids).boxId);
  });
}
